// A member of a consumer group: joins, sends heartbeats, joins again when the group changes,
// commits, leaves. It does not know the records.
// A join waits for nobody: reading goes on, and partitions that moved are released
// by the response. Double outputs and commits are harmless (R3, R4); a wait stops the group.
// Its own timer keeps the membership alive, however slow a partition is. Heartbeats are three times rarer
// while nothing is committed, so an idle member learns later that its group changes.
// If the coordinator does not know the member, all partitions are lost at once, and
// it joins as a new one. While no coordinator answers, it keeps them.
// A commit is an offset and its metadata. All commits of one call go in one request.
// The next process of a static member gets its partitions at once, and a second
// process with its name ends the first. A member whose name a person chose does not leave.

import type { Logger } from 'pino'
import type { Commit } from '../../../contract/bus.ts'
import type { Milliseconds } from '../../../lib/clock.ts'
import { WeirError } from '../../../lib/errors.ts'
import { pause } from '../../../lib/pause.ts'
import { backoffMs } from '../backoff.ts'
import type { Cluster } from '../cluster/cluster.ts'
import { type Coordinator, createCoordinator } from '../cluster/coordinator.ts'
import type { Link } from '../cluster/link.ts'
import { type Member, memberAssignment, memberBroker, memberMetadata } from '../driver.ts'
import { asBusError, protocolTypeOf, recoveryOf } from '../failure.ts'
import { createLogThrottle } from '../log-throttle.ts'
import { within } from '../within.ts'
import { ownAnnouncement } from './announcement.ts'
import { assignPartitions } from './assignment.ts'
import { commitRequest, fetchCommits } from './group-commits.ts'

/** The name of the assignor. A group rejects members with another one. */
const protocolName = 'weir-sticky'

export type Membership = {
  /** It has joined, and the coordinator answered within the session's time. */
  readonly isMember: boolean
  commit(commits: Map<number, Commit>): Promise<void>
  /** The group's commits of these partitions. */
  committed(partitions: number[]): Promise<Map<number, Commit>>
  /** Leaves the group, so the others need not wait for the session's end. */
  leave(): Promise<void>
}

export type MembershipOptions = {
  cluster: Cluster
  log: Logger
  group: string
  topic: string
  sessionMs: Milliseconds
  /** Of a static member. Undefined: a usual member. */
  instanceId?: string | undefined
  /** The hash of the process's agent files, for its announcement. */
  agents?: string | undefined
  /** Whether it leaves at its end. False: the group waits for its next process. */
  leaves: boolean
  heartbeatMs: Milliseconds
  /** How long the group waits for a member that does not join again. */
  rebalanceMs: Milliseconds
  /** The member's partitions from now on. All its others belong to another member. */
  onAssigned(partitions: number[]): void
  /** All its partitions may belong to another member. */
  onLost(): void
  /** Called before it joins again, to commit partitions that may move. Must not throw. */
  beforeJoin(): Promise<void>
  /** It cannot be a member. */
  onFailed(error: WeirError): void
}

/** The id is known from the first join on, also when the generation is over. */
type Identity = { member: string; generation: number; owned: number[] }

/** `answeredAt`: when the coordinator last answered. */
type Phase = { kind: 'joining' } | { kind: 'joined'; answeredAt: Milliseconds }

export function joinGroup(options: MembershipOptions): Membership {
  const { cluster, log, group, topic, sessionMs, heartbeatMs, instanceId, leaves } = options
  const { clock } = cluster
  const left = new AbortController()
  const coordinator = createCoordinator(cluster, group, left.signal)
  let identity: Identity = newcomer
  let phase: Phase = { kind: 'joining' }
  let busyUntil = 0

  /** Three of them always fit into a session. */
  function heartbeatGapMs(): Milliseconds {
    return clock.monotonic() < busyUntil ? heartbeatMs : Math.min(3 * heartbeatMs, sessionMs / 3)
  }

  function isBusyNow(): void {
    busyUntil = clock.monotonic() + sessionMs
  }

  async function join(): Promise<void> {
    if (identity.member !== '') await options.beforeJoin()
    identity = await joinAndSync(options, coordinator, identity, (member) => {
      identity = { ...identity, member }
    })
    phase = { kind: 'joined', answeredAt: clock.monotonic() }
    isBusyNow()
    const { generation, owned } = identity
    log.info({ topic, generation, partitions: owned }, 'joined the group')
    options.onAssigned(owned)
  }

  async function heartbeat(): Promise<void> {
    await pause(clock, heartbeatGapMs(), left.signal)
    if (left.signal.aborted) return
    const { member: memberId, generation: groupGenerationId } = identity
    await coordinator.request((broker) =>
      memberBroker(broker, instanceId).heartbeat({ groupId: group, groupGenerationId, memberId }),
    )
    if (phase.kind === 'joined') phase = { kind: 'joined', answeredAt: clock.monotonic() }
  }

  async function run(): Promise<void> {
    const throttle = createLogThrottle(clock)
    let failingSince = 0
    let rejoins = 0
    for (let failures = 0; !left.signal.aborted; ) {
      try {
        await (phase.kind === 'joined' ? heartbeat() : join())
        failures = 0
        rejoins = 0
        if (throttle.reset()) log.info('the group coordinator answers again')
      } catch (error) {
        if (left.signal.aborted) return
        const isAnother = !leaves && (phase.kind === 'joined' || rejoins >= fencedJoinsMax)
        const next = nextStep(error, isAnother)
        if (next === 'join-as-new') {
          log.warn('the group dropped this process: its partitions are lost, and it joins again')
          identity = newcomer
        }
        if (next === 'join-again' || next === 'join-as-new') {
          phase = { kind: 'joining' }
          if (next === 'join-as-new') options.onLost()
          rejoins += 1
          if (rejoins > rejoinsAtOnce)
            await pause(clock, backoffMs(rejoins - rejoinsAtOnce), left.signal)
          continue
        }
        const reason = failureOf(options, error)
        if (next !== 'retry') return options.onFailed(reason)
        failures += 1
        if (failures === 1) failingSince = clock.monotonic()
        if (throttle.isDue(failingSince))
          log.warn(
            { reason: reason.message, tries: failures },
            'the group coordinator cannot be reached; retrying',
          )
        await pause(clock, backoffMs(failures), left.signal)
      }
    }
  }

  /**
   * On another connection if a join waits on this one. Otherwise the group waits for a member that
   * will not come.
   */
  async function sendLeave(link: Link): Promise<void> {
    const isJoined = phase.kind === 'joined'
    const used = isJoined ? link : await cluster.connect({ id: -1, ...link.node })
    try {
      await used.request((broker) =>
        broker.leaveGroup({ groupId: group, memberId: identity.member }),
      )
    } finally {
      used.close()
    }
  }

  void run()

  return {
    get isMember() {
      return phase.kind === 'joined' && clock.monotonic() - phase.answeredAt < sessionMs
    },

    async commit(commits) {
      isBusyNow()
      // The identity when it is sent: a join may be before it on the link.
      await coordinator.request((broker) =>
        broker.offsetCommit(commitRequest({ group, topic }, identity, commits)),
      )
    },

    committed: (partitions) => fetchCommits(options, coordinator, partitions),

    async leave() {
      left.abort()
      const link = coordinator.link()
      if (identity.member !== '' && link !== undefined && leaves)
        await within(clock, leaveMs, sendLeave(link))
      coordinator.close()
    },
  }
}

const newcomer: Identity = { member: '', generation: -1, owned: [] }

/** How long a leaving member waits for the response. */
const leaveMs = 2_000

/**
 * Joins in a row without a pause. A new group rejects once or twice. More joins must not run as
 * fast as the coordinator answers.
 */
const rejoinsAtOnce = 2

const groupChanged = new Set(['REBALANCE_IN_PROGRESS', 'ILLEGAL_GENERATION', 'MEMBER_ID_REQUIRED'])

/** Two processes with one name fence each other while both join. */
const fencedJoinsMax = 5

/**
 * `isAnother`: another process fenced it, if it was fenced. Otherwise a coordinator that moved fenced it:
 * it knows only the former id of a member that joins. A name of Weir belongs to one process.
 */
function nextStep(
  error: unknown,
  isAnother: boolean,
): 'join-again' | 'join-as-new' | 'fail' | 'retry' {
  const type = protocolTypeOf(error) ?? ''
  if (groupChanged.has(type)) return 'join-again'
  if (type === 'UNKNOWN_MEMBER_ID') return 'join-as-new'
  if (type === 'FENCED_INSTANCE_ID') return isAnother ? 'fail' : 'join-as-new'
  return recoveryOf(error) === 'fail' ? 'fail' : 'retry'
}

/** `onMember`: called with the id between the two requests: it is valid even if the second fails. */
async function joinAndSync(
  options: MembershipOptions,
  coordinator: Coordinator,
  { member: memberId, generation, owned }: Identity,
  onMember: (member: string) => void,
): Promise<Identity> {
  const { cluster, group: groupId, topic, sessionMs, rebalanceMs, instanceId } = options
  const userData = Buffer.from(
    JSON.stringify({ generation, owned, ...ownAnnouncement(options.agents) }),
  )
  const metadata = memberMetadata.encode({ version: 1, topics: [topic], userData })
  const joined = await coordinator.request(
    (broker) =>
      memberBroker(broker, instanceId).joinGroup({
        groupId,
        memberId,
        sessionTimeout: sessionMs,
        rebalanceTimeout: rebalanceMs,
        groupProtocols: [{ name: protocolName, metadata }],
      }),
    rebalanceMs + sessionMs,
  )
  const { memberId: member, generationId, leaderId, members } = joined
  onMember(member)
  const groupAssignment = leaderId === member ? await assignAll(cluster, topic, members) : []
  const synced = await coordinator.request(
    (broker) =>
      memberBroker(broker, instanceId).syncGroup({
        groupId,
        generationId,
        memberId: member,
        groupAssignment,
      }),
    rebalanceMs + sessionMs,
  )
  const bytes = synced.memberAssignment
  const assigned = bytes.length === 0 ? undefined : memberAssignment.decode(bytes)
  return { member, generation: generationId, owned: assigned?.assignment[topic] ?? [] }
}

async function assignAll(
  cluster: Cluster,
  topic: string,
  members: Member[],
): Promise<{ memberId: string; memberAssignment: Buffer }[]> {
  const { leaders } = await cluster.topic(topic)
  const claimants = members.map((each) => ({
    member: each.memberId,
    ...claimOf(each.memberMetadata),
  }))
  return [...assignPartitions(claimants, leaders.length)].map(([memberId, partitions]) => ({
    memberId,
    memberAssignment: memberAssignment.encode({
      version: 1,
      assignment: { [topic]: partitions },
      userData: Buffer.alloc(0),
    }),
  }))
}

/** The metadata may come from another version of Weir. If it cannot be read, it claims nothing. */
function claimOf(metadata: Buffer): { generation: number; owned: number[] } {
  try {
    const { userData } = memberMetadata.decode(metadata)
    const { generation, owned } = JSON.parse(userData?.toString() ?? '') as {
      generation: unknown
      owned: unknown
    }
    if (typeof generation === 'number' && Array.isArray(owned))
      return { generation, owned: owned.filter(Number.isInteger) }
  } catch {}
  return { generation: -1, owned: [] }
}

function failureOf({ group, instanceId }: MembershipOptions, error: unknown): WeirError {
  switch (protocolTypeOf(error)) {
    case 'INCONSISTENT_GROUP_PROTOCOL':
      return foreignGroup(group)
    case 'FENCED_INSTANCE_ID':
      return new WeirError(
        'bus.refused',
        `another process joined the group ${group} as ${instanceId}: give each process its own name (--group-instance-id, WEIR_GROUP_INSTANCE_ID)`,
      )
    case 'INVALID_SESSION_TIMEOUT':
      return new WeirError(
        'bus.refused',
        `the broker rejects the session time: set --session-timeout-ms (WEIR_SESSION_TIMEOUT_MS) between its group.min.session.timeout.ms and group.max.session.timeout.ms`,
      )
    default:
      return asBusError(error, {
        text: `be a member of the group ${group}`,
        right: `Read on group ${group}`,
      })
  }
}

function foreignGroup(group: string): WeirError {
  return new WeirError(
    'bus.group-foreign',
    `the group ${group} has members that are not Weir, or another version of it: stop them, or set another topic prefix`,
  )
}
