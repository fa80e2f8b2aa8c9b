// The rules of two versions in one fleet. Pure.
// Two neighbouring formats run together, in both directions. Two apart do not.
// A format is raised only when every live member knows it, and every stage has a member.
// A format is raised after all members knew it for `limits.fleetSettledMs`. An older member lowers
// it at once, also while a stage has no member.

import type { FleetMember } from '../../bus/fleet/fleet-members.ts'
import { limits } from '../../contract/limits.ts'
import { stageNames } from '../../contract/topology.ts'
import type { Milliseconds } from '../../lib/clock.ts'
import { WeirError } from '../../lib/errors.ts'

/** `weirOf`: the version of the Weir that brought a format, for the text. */
export function assertNeighbours({
  own,
  inForce,
  members,
  weirOf,
}: {
  own: number
  inForce: number
  members: readonly FleetMember[]
  weirOf: (format: number) => string | undefined
}): void {
  if (inForce > own + 1) {
    const step = weirOf(own + 1)
    const named = step === undefined ? '' : ` (${step})`
    throw new WeirError(
      'fleet.apart',
      `this Weir writes record format ${own}, and format ${inForce} is in force: run a version with format ${own + 1}${named} in between (docs/operate/upgrade.md)`,
    )
  }
  const oldest = members.find(({ format }) => format < own - 1)
  if (oldest !== undefined)
    throw new WeirError(
      'fleet.apart',
      `this Weir writes record format ${own}, and ${memberName(oldest)} reads format ${oldest.format} at most: upgrade that process to a version with format ${own - 1} first, or stop the whole fleet (docs/operate/upgrade.md)`,
    )
}

/**
 * For a log that has records and no partition count, which every Weir since format 1 stores. A process that
 * announces its version is newer.
 */
export function assertNoneBefore(members: readonly FleetMember[]): void {
  const older = members.find(({ weir }) => weir === undefined)
  if (older === undefined) return
  throw new WeirError(
    'fleet.apart',
    `${memberName(older)} may be older than record format 1, and cannot run next to this version: stop the whole fleet, then start all processes of this version (docs/operate/upgrade.md)`,
  )
}

/** The newest format that every live member reads. Undefined: a stage has no member now. */
export function commonFormat(
  members: readonly FleetMember[],
  topicPrefix: string,
): number | undefined {
  const groups = new Set(members.map(({ group }) => group))
  if (!stageNames.every((name) => groups.has(topicPrefix + name))) return undefined
  return Math.min(...members.map(({ format }) => format))
}

/** `own`: the newest format of this process, which changes to no newer one. */
export function createFormatChoice(own: number) {
  let since: { format: number; at: Milliseconds } | undefined

  return {
    /** The format to set now. Undefined: none. */
    next({
      inForce,
      members,
      topicPrefix,
      now,
    }: {
      inForce: number
      members: readonly FleetMember[]
      topicPrefix: string
      now: Milliseconds
    }): number | undefined {
      const oldest = Math.min(own, ...members.map((member) => member.format))
      if (oldest < inForce) return oldest
      const format = Math.min(commonFormat(members, topicPrefix) ?? inForce, own)
      if (format === inForce) since = undefined
      else if (since?.format !== format) since = { format, at: now }
      else if (now - since.at >= limits.fleetSettledMs) return format
      return undefined
    },
  }
}

/** The groups of all stages and of the guards that are registered. */
export function fleetGroups(topicPrefix: string, guards: readonly string[]): string[] {
  return [...stageNames, ...guards.map((guard) => `guard.${guard}`)].map(
    (name) => topicPrefix + name,
  )
}

export function memberName({ process, host, group, weir }: FleetMember): string {
  return `${process} at ${host} (${weir === undefined ? 'of an unknown version' : `Weir ${weir}`}, group ${group})`
}
