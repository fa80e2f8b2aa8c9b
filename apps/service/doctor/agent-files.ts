// The agent files of a fleet's processes: the partition of a turn decides which process works on it, so
// all processes need the same files.

import type { FleetMember } from '../../../shared/bus/fleet/fleet-members.ts'
import { WeirError } from '../../../shared/lib/errors.ts'
import { type Check, ok, skipped, warning, wrongBy } from './check.ts'

const name = 'agent files'

/** `members`: those of the stages that read agent files. A rebalance is no fault. */
export async function fleetFilesCheck(
  members: () => Promise<readonly FleetMember[]>,
): Promise<Check> {
  try {
    return agentFilesCheck(await members())
  } catch (error) {
    if (error instanceof WeirError && error.code === 'bus.refused' && error.retryable)
      return skipped(name, 'not compared during a rebalance of the stages')
    return wrongBy(name, error)
  }
}

export function agentFilesCheck(members: readonly FleetMember[]): Check {
  const processes = new Map(members.map((member) => [member.process, member]))
  const byHash = Map.groupBy(processes.values(), ({ agents }) => agents)
  byHash.delete(undefined)
  const groups = [...byHash].sort(([, one], [, other]) => other.length - one.length)
  const [first] = groups
  if (first === undefined)
    return skipped(name, 'not compared, because no process announces its agent files')
  if (groups.length === 1) return ok(name, `all processes run the files ${first[0]}`)
  const listed = groups.map(
    ([files, those]) =>
      `${files} in ${those.map((one) => `${one.process} at ${one.host}`).join(', ')}`,
  )
  return warning(
    name,
    `processes run different agent files: ${listed.join('; ')}`,
    'give all processes with this prefix the same files (--agents) and start them again, or give one of the deployments its own prefix (--topic-prefix)',
  )
}
