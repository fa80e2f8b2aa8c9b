// `weir fleet`: the processes of a fleet with their versions and formats, the format in force, and the
// processes that hold the fleet back. Pins a format.

import { fleetMembers } from '../../../client/place/fleet.ts'
import { openBusBeside } from '../../../client/place/open-bus.ts'
import { personHere } from '../../../services/approval/performer/person.ts'
import type { FleetMember } from '../../../shared/bus/fleet/fleet-members.ts'
import { busKindOf } from '../../../shared/bus/kinds.ts'
import { ownFormat } from '../../../shared/codec/codec.ts'
import { usageError, WeirError } from '../../../shared/lib/errors.ts'
import { createLog } from '../../../shared/lib/log/log.ts'
import { commonFormat, memberName } from '../../../shared/runtime/fleet/fleet-rules.ts'
import { formatInForce, storeFleetFormat } from '../../../shared/runtime/fleet/stored-formats.ts'
import type { Settings } from '../../../shared/settings/settings.ts'
import { inColumns } from '../../terminal/text/in-columns.ts'
import { printable, printableJson } from '../../terminal/text/printable.ts'

/** `format`: a number, or `newest` to remove the pin. */
export type FleetFlags = { format?: string; by?: string; json?: boolean }

/** One process, with its groups without the prefix. */
type FleetProcess = Omit<FleetMember, 'group'> & { groups: string[] }

/** The object that `--json` prints. `common`: null: a stage has no process. */
export type FleetReport = {
  format: number
  isPinned: boolean
  setBy: string
  own: number
  common: number | null
  processes: FleetProcess[]
  holdBack: string[]
}

/**
 * Sets the format first, if there is one. Throws `usage` for a format that this Weir does not have, and
 * `fleet.apart` if a live process does not read the format.
 */
export async function showFleet(
  { format, by = personHere(), json = false }: FleetFlags,
  settings: Settings,
  out: Pick<NodeJS.WriteStream, 'write'>,
): Promise<void> {
  if (busKindOf(settings).isLocal)
    throw usageError(
      'a data folder has no fleet, because one process writes it: give the brokers with --bootstrap-server, and --bus kafka',
    )
  const pin = pinOf(format)
  const log = createLog({ level: 'silent' })
  const bus = await openBusBeside(settings, log, { connectMs, keepsTables: false })
  try {
    const { topicPrefix } = settings
    const members = await fleetMembers({ bus, settings, log })
    if (pin !== undefined) {
      const wanted = pin === 'newest' ? ownFormat : pin
      const tooOld = members.find((member) => member.format < wanted)
      if (tooOld !== undefined && pin !== 'newest')
        throw new WeirError(
          'fleet.apart',
          `--format is ${wanted}, and ${memberName(tooOld)} reads format ${tooOld.format} at most: upgrade or stop that process first`,
        )
      const before = await formatInForce({ bus, topicPrefix })
      await storeFleetFormat(
        { bus, topicPrefix },
        {
          format: pin === 'newest' ? (commonFormat(members, topicPrefix) ?? before.format) : pin,
          isPinned: pin !== 'newest',
          setBy: by,
        },
      )
    }
    const inForce = await formatInForce({ bus, topicPrefix })
    const report = reportOf(members, { ...inForce, topicPrefix })
    if (json) out.write(`${printableJson(report)}\n`)
    else for (const line of linesOf(report)) out.write(`${printable(line)}\n`)
  } finally {
    await bus.close()
  }
}

/** Short, because a person waits. */
const connectMs = 10_000

function pinOf(format: string | undefined): number | 'newest' | undefined {
  if (format === undefined || format === 'newest') return format
  const number = Number(format)
  if (/^\d+$/.test(format) && number >= 1 && number <= ownFormat) return number
  throw usageError(
    `--format is '${printable(format.slice(0, 80))}'; this Weir writes formats 1 to ${ownFormat}, and 'newest' removes a pin`,
  )
}

function reportOf(
  members: readonly FleetMember[],
  fleet: { topicPrefix: string; format: number; isPinned: boolean; setBy: string },
): FleetReport {
  const { topicPrefix, format, isPinned, setBy } = fleet
  const processes = new Map<string, FleetProcess>()
  for (const { group, ...member } of members) {
    const known = processes.get(member.process) ?? { ...member, groups: [] }
    known.groups.push(group.slice(topicPrefix.length))
    processes.set(member.process, known)
  }
  const newest = Math.max(format, ...members.map((member) => member.format))
  return {
    format,
    isPinned,
    setBy,
    own: ownFormat,
    common: commonFormat(members, topicPrefix) ?? null,
    processes: [...processes.values()],
    holdBack: [...processes.values()]
      .filter((member) => member.format < newest)
      .map((member) => member.process),
  }
}

function linesOf({ format, isPinned, setBy, own, common, processes, holdBack }: FleetReport) {
  const pinned = isPinned ? `, pinned by ${setBy}` : ''
  const shared = common === null ? 'a stage has no process now' : `all processes read ${common}`
  const table = inColumns([
    ['PROCESS', 'HOST', 'WEIR', 'FORMAT', 'STAGES AND GUARDS'],
    ...processes.map(({ process, host, weir, format, groups }) => [
      process,
      host,
      weir ?? 'unknown',
      String(format),
      groups.join(', '),
    ]),
  ])
  return [
    `record format ${format} is in force${pinned}; ${shared}, and this Weir writes ${own}`,
    ...(processes.length === 0 ? ['no process runs'] : table),
    ...holdBack.map((process) => `${process} holds the fleet back`),
  ]
}
