// The version and the format of a process, in the metadata of its membership. So a fleet knows its live
// processes without another heartbeat, and a dead one is forgotten with its session.
// A broker gives the metadata of members only for a stable group. A group in a rebalance
// says nothing about the formats of its members.

import { hostname } from 'node:os'
import type { GroupDescription } from 'kafkajs'
import { ownFormat } from '../../../codec/codec.ts'
import { objectIn } from '../../../lib/json/json-object.ts'
import { version } from '../../../lib/version.ts'
import type { FleetMember } from '../../fleet/fleet-members.ts'
import { memberMetadata } from '../driver.ts'

type Announcement = Pick<FleetMember, 'process' | 'weir' | 'format' | 'agents'>

export function ownAnnouncement(agents?: string): Announcement {
  return { process: `${hostname()}/${process.pid}`, weir: version(), format: ownFormat, agents }
}

export function isSettled({ state, members }: GroupDescription): boolean {
  return state === 'Stable' || members.length === 0
}

/** The members of a settled group. */
export function membersIn({ groupId: group, members }: GroupDescription): FleetMember[] {
  return members.map(({ clientHost, memberId, memberMetadata }) => ({
    group,
    host: clientHost.replace(/^\//, ''),
    ...announcementIn(memberMetadata, memberId),
  }))
}

/** `member`: the id of the member, for a Weir or another program that announces nothing. */
function announcementIn(metadata: Buffer, member: string): Announcement {
  const { process, weir, format, agents } = announced(metadata) ?? {}
  return {
    process: typeof process === 'string' ? process : member,
    weir: typeof weir === 'string' ? weir : undefined,
    format: Number.isInteger(format) && Number(format) > 0 ? Number(format) : 1,
    agents: typeof agents === 'string' ? agents : undefined,
  }
}

function announced(metadata: Buffer): Record<string, unknown> | undefined {
  try {
    return objectIn(memberMetadata.decode(metadata).userData?.toString())
  } catch {
    return undefined // another program is a member
  }
}
