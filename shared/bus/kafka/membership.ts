// A member of a consumer group: joins, says that it lives, joins again when the group changes,
// commits, leaves. It knows nothing of what is read.
// MEMBERSHIP-1. Joining waits for nobody: what is read goes on meanwhile, and what went elsewhere
//     is given up when the answer says so. A stage's outputs and commits are harmless twice (R3,
//     R4), and a rebalance that waited for a tool would stop the whole group for as long as that
//     runs.
// MEMBERSHIP-2. It stays a member by its own timer, however slow a partition is.
// MEMBERSHIP-3. When the coordinator does not know it any more, another may act already: all
//     partitions are lost at once, and it comes back as a new member. While no coordinator can be
//     asked nothing is given up: it may know us when it is back.
// MEMBERSHIP-4. A commit is a pair of offset and metadata for each partition, and the pairs of one
//     call go in one request.

import type { Logger } from 'pino'
import type { Commit } from '../../contract/bus.ts'
import type { Milliseconds } from '../../lib/clock.ts'
import { WeirError } from '../../lib/errors.ts'
import { pause } from '../../lib/pause.ts'
import { assignPartitions } from './assignment.ts'
import { backoffMs } from './backoff.ts'
import type { Cluster } from './cluster.ts'
import { type DriverBroker, type Member, memberAssignment, memberMetadata } from './driver.ts'
import { asBusError, protocolTypeOf, recoveryOf } from './failure.ts'
import type { Link } from './link.ts'
import { createLogThrottle } from './log-throttle.ts'

/** The name of the assignment, by which a group refuses members that would assign otherwise. */
const protocolName = 'weir-sticky'

export type Membership = {
  /** A member whose group is settled, and the coordinator was heard within the session's time. */
  readonly isMember: boolean
  commit(commits: Map<number, Commit>): Promise<void>
  /** The group's commits of these partitions. */
  committed(partitions: number[]): Promise<Map<number, Commit>>
  /** Leaves the group, so that others need not wait for the session's end. */
  leave(): Promise<void>
}

export type MembershipOptions = {
  cluster: Cluster
  log: Logger
  group: string
  topic: string
  sessionMs: Milliseconds
  heartbeatMs: Milliseconds
  /** How long the group waits for a member that does not join again. */
  rebalanceMs: Milliseconds
  /** Its partitions from now on; those that it had and are not among them are another's. */
  onAssigned(partitions: number[]): void
  /** All its partitions may be another's. */
  onLost(): void
  /** Called before it joins again: the last commits of what may go elsewhere. Must not throw. */
  beforeJoin(): Promise<void>
  /** It cannot be a member. */
  onFailed(error: WeirError): void
}

export function joinGroup(options: MembershipOptions): Membership {
  const { cluster, log, group, topic, sessionMs, heartbeatMs, rebalanceMs } = options
  const { clock } = cluster
  const left = new AbortController()
  let link: Link | undefined
  let member = ''
  let generation = -1
  let owned: number[] = []
  let isSettled = false
  let heardAt = Number.NEGATIVE_INFINITY
  let connecting: Promise<Link> | undefined

  async function coordinator(): Promise<Link> {
    if (link?.isOpen) return link
    connecting ??= cluster
      .coordinatorOf(group)
      .then((node) => cluster.connect(node))
      .finally(() => {
        connecting = undefined
      })
    link = await connecting
    if (left.signal.aborted) link.close() // it must not join a group that it has left, nor keep the process
    return link
  }

  async function ask<Answer>(
    question: (broker: DriverBroker) => Promise<Answer>,
    waitMs?: Milliseconds,
  ): Promise<Answer> {
    const asked = await coordinator()
    try {
      return await asked.request(question, waitMs)
    } catch (error) {
      if (notHere.has(protocolTypeOf(error) ?? '')) asked.close() // the group is coordinated elsewhere now
      throw error
    }
  }

  async function join(): Promise<void> {
    if (member !== '') await options.beforeJoin()
    const userData = Buffer.from(JSON.stringify({ generation, owned }))
    const metadata = memberMetadata.encode({ version: 1, topics: [topic], userData })
    const request = {
      groupId: group,
      sessionTimeout: sessionMs,
      rebalanceTimeout: rebalanceMs,
      memberId: member,
    }
    const joined = await ask(
      (broker) =>
        broker.joinGroup({ ...request, groupProtocols: [{ name: protocolName, metadata }] }),
      rebalanceMs + sessionMs,
    )
    member = joined.memberId
    const groupAssignment = joined.leaderId === member ? await assignAll(joined.members) : []
    const { generationId } = joined
    const synced = await ask(
      (broker) =>
        broker.syncGroup({ groupId: group, generationId, memberId: member, groupAssignment }),
      rebalanceMs + sessionMs,
    )
    generation = generationId
    heardAt = clock.monotonic()
    const given =
      synced.memberAssignment.length === 0
        ? undefined
        : memberAssignment.decode(synced.memberAssignment)
    owned = given?.assignment[topic] ?? []
    isSettled = true
    log.info({ topic, generation, partitions: owned }, 'joined the group')
    options.onAssigned(owned)
  }

  async function assignAll(
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

  async function beat(): Promise<void> {
    await pause(clock, heartbeatMs, left.signal)
    if (left.signal.aborted) return
    await ask((broker) =>
      broker.heartbeat({ groupId: group, groupGenerationId: generation, memberId: member }),
    )
    heardAt = clock.monotonic()
  }

  async function live(): Promise<void> {
    const throttle = createLogThrottle(clock)
    let failingSince = 0
    let rejoins = 0
    for (let failures = 0; !left.signal.aborted; ) {
      try {
        await (isSettled ? beat() : join())
        failures = 0
        rejoins = 0
        if (throttle.reset()) log.info('the group coordinator can be asked again')
      } catch (error) {
        if (left.signal.aborted) return
        const type = protocolTypeOf(error) ?? ''
        if (changed.has(type)) {
          isSettled = false
          await pauseBeforeRejoin()
        } else if (type === 'UNKNOWN_MEMBER_ID') {
          log.warn(
            'the group took this process for dead; its partitions are lost, and it joins again',
          )
          forget()
          await pauseBeforeRejoin()
        } else if (type === 'INCONSISTENT_GROUP_PROTOCOL') {
          return options.onFailed(foreignGroup(group))
        } else {
          const action = `be a member of the group ${group}`
          if (recoveryOf(error) === 'fail') return options.onFailed(asBusError(error, action))
          failures += 1
          if (failures === 1) failingSince = clock.monotonic()
          if (throttle.isDue(failingSince))
            log.warn(
              { reason: asBusError(error, action).message, tries: failures },
              'the group coordinator cannot be asked; it is tried again',
            )
          await pause(clock, backoffMs(failures), left.signal)
        }
      }
    }

    /**
     * A group that comes together refuses once or twice; one that goes on refusing must not be
     * asked as fast as it answers.
     */
    async function pauseBeforeRejoin(): Promise<void> {
      rejoins += 1
      if (rejoins > rejoinsAtOnce)
        await pause(clock, backoffMs(rejoins - rejoinsAtOnce), left.signal)
    }
  }

  /**
   * On a connection of its own if a join is waiting on the other: the group must not wait for who
   * will not come.
   */
  async function sayGoodbye(known: Link): Promise<void> {
    const own = isSettled ? known : await cluster.connect({ id: -1, ...known.node })
    try {
      await own.request((broker) => broker.leaveGroup({ groupId: group, memberId: member }))
    } finally {
      own.close()
    }
  }

  function forget(): void {
    member = ''
    generation = -1
    owned = []
    isSettled = false
    options.onLost()
  }

  void live()

  return {
    get isMember() {
      return isSettled && clock.monotonic() - heardAt < sessionMs
    },

    async commit(commits) {
      const partitions = [...commits].map(([partition, { offset, metadata }]) => ({
        partition,
        offset: String(offset),
        metadata,
      }))
      const topics = [{ topic, partitions }]
      await ask((broker) =>
        broker.offsetCommit({
          groupId: group,
          groupGenerationId: generation,
          memberId: member,
          topics,
        }),
      )
    },

    async committed(partitions) {
      const topics = [{ topic, partitions: partitions.map((partition) => ({ partition })) }]
      const { responses } = await cluster.retry(`read the commits of the group ${group}`, () =>
        ask((broker) => broker.offsetFetch({ groupId: group, topics })),
      )
      const found = responses
        .flatMap((response) => response.partitions)
        .filter(({ offset }) => Number(offset) >= 0)
      return new Map(
        found.map(({ partition, offset, metadata }) => [
          partition,
          { offset: Number(offset), metadata: metadata ?? '' },
        ]),
      )
    },

    async leave() {
      left.abort()
      if (member !== '' && link?.isOpen) {
        const leaving = sayGoodbye(link)
        const { promise: tooLate, resolve } = Promise.withResolvers<void>()
        const cancel = clock.after(leaveMs, resolve)
        await Promise.race([leaving.catch(() => {}), tooLate])
        cancel()
      }
      link?.close()
    },
  }
}

/** What a leaving member waits for the answer; without it the group waits for the session's end. */
const leaveMs = 2_000

/** Refusals in a row after which it joins again without a wait. */
const rejoinsAtOnce = 2

const changed = new Set(['REBALANCE_IN_PROGRESS', 'ILLEGAL_GENERATION', 'MEMBER_ID_REQUIRED'])
const notHere = new Set(['NOT_COORDINATOR_FOR_GROUP', 'GROUP_COORDINATOR_NOT_AVAILABLE'])

/**
 * What a member said of itself, in whichever version of Weir: what cannot be read claims nothing.
 */
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

function foreignGroup(group: string): WeirError {
  return new WeirError(
    'bus.group-foreign',
    `the group ${group} has members that are not Weir's, or of another version of it: stop them, or set another topic prefix`,
  )
}
