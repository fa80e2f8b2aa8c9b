// A stage's subscription: a member of its group, a lane for each partition that the group gave it,
// and their commits.
// SUBSCRIPTION-1. A new partition is restored when the group gives it, not when its first record
//     comes: a quiet one has open units, too, whose deadlines must tick.
// SUBSCRIPTION-2. A partition that a rebalance gives back keeps its reader and goes on undisturbed.
//     One that went elsewhere is closed as lost at once, and the group does not wait for that.
// SUBSCRIPTION-3. Commits are pairs that are true once they are here (lane.ts), so they are
//     gathered and written once in a while, before joining again, and at the end.
// SUBSCRIPTION-4. A failure of any partition fails the subscription, which then hands out nothing;
//     its readers stay until close().

import type { Logger } from 'pino'
import type {
  Commit,
  PartitionReader,
  RecordToAppend,
  SubscribeOptions,
  Subscription,
} from '../../contract/bus.ts'
import type { Milliseconds } from '../../lib/clock.ts'
import { WeirError } from '../../lib/errors.ts'
import { pause } from '../../lib/pause.ts'
import type { Cluster } from './cluster.ts'
import { asBusError, troubleOf } from './failure.ts'
import { createFetching } from './fetching.ts'
import { createLane, type Lane } from './lane.ts'
import { joinGroup, type Membership } from './membership.ts'

export type SubscriptionTimes = {
  /** How long the group waits for a silent member until it gives its partitions away. */
  sessionMs: Milliseconds
  heartbeatMs: Milliseconds
  /** How long the group waits for a member to join again. */
  rebalanceMs: Milliseconds
  /** Between two commits. */
  commitMs: Milliseconds
}

export type KafkaSubscriptionOptions = SubscribeOptions & {
  cluster: Cluster
  log: Logger
  times: SubscriptionTimes
  write(records: RecordToAppend[]): Promise<void>
}

/** Bytes that are fetched ahead, for all partitions together and for each. */
const heldBytesMax = 64 * 1024 * 1024
const laneHeldBytesMax = 2 * 1024 * 1024
const laneHeldBytesMin = 128 * 1024
/**
 * How long a close waits for steps that are under way, and for the last commits: the broker may be
 * gone.
 */
const closeStepsMs = 10_000
const closeCommitMs = 3_000

/** The topic is known to exist. */
export function startSubscription(options: KafkaSubscriptionOptions): Subscription {
  const { cluster, group, topic, times } = options
  const { clock } = cluster
  const log = options.log.child({ group })
  const fetching = createFetching({
    cluster,
    log,
    requestsMax: 2,
    partitionBytesMax: 1024 * 1024,
    bytesMax: 8 * 1024 * 1024,
  })
  const lanes = new Map<number, Lane>()
  /** Those that were lost and in which something runs to its end. */
  const leaving = new Set<Lane>()
  /** Those that are being restored, each by the object of its try. */
  const opening = new Map<number, object>()
  /** What close() waits for beside its own readers: those that were lost, and restores. */
  const closings = new Set<Promise<void>>()
  const commits = new Map<number, Commit>()
  const { promise: failed, reject } = Promise.withResolvers<never>()
  failed.catch(() => {}) // whoever does not ask is not brought down by the answer
  const stopped = new AbortController()
  const { promise: isStopped, reject: stopAsking } = Promise.withResolvers<never>()
  isStopped.catch(() => {}) // only who asks hears it
  let life: 'open' | 'failed' | 'closing' | 'closed' = 'open'
  let cancelCommit: (() => void) | undefined
  let committing: Promise<void> = Promise.resolve()
  let closing: Promise<void> | undefined

  const membership: Membership = joinGroup({
    ...{ cluster, log, group, topic },
    ...{
      sessionMs: times.sessionMs,
      heartbeatMs: times.heartbeatMs,
      rebalanceMs: times.rebalanceMs,
    },
    assigned,
    lost: () => assigned([]),
    beforeJoin: () => commitNow(),
    failed: fail,
  })

  function assigned(partitions: number[]): void {
    for (const [partition, lane] of lanes)
      if (!partitions.includes(partition)) lose(partition, lane)
    for (const partition of [...opening.keys()])
      if (!partitions.includes(partition)) opening.delete(partition)
    if (life !== 'open') return
    const added = partitions.filter((partition) => !lanes.has(partition) && !opening.has(partition))
    if (added.length === 0) return
    const restoring = restore(added).finally(() => closings.delete(restoring))
    closings.add(restoring)
  }

  function lose(partition: number, lane: Lane): void {
    lanes.delete(partition)
    commits.delete(partition)
    fetching.remove(lane.cursor)
    lane.stop()
    log.info({ topic, partition }, 'the partition went to another member')
    leaving.add(lane)
    track(
      lane.close('lost').finally(() => leaving.delete(lane)),
      partition,
    )
  }

  function track(closingReader: Promise<void>, partition: number): void {
    const tracked = closingReader
      .catch((error: unknown) =>
        log.error({ err: error, topic, partition }, 'a reader could not be closed'),
      )
      .finally(() => closings.delete(tracked))
    closings.add(tracked)
  }

  async function restore(partitions: number[]): Promise<void> {
    const attempt = {}
    for (const partition of partitions) opening.set(partition, attempt)
    const isWanted = (partition: number): boolean =>
      life === 'open' && opening.get(partition) === attempt
    try {
      const { committed, ends } = await untilKnown(partitions, isWanted)
      await Promise.all(
        ends.map(async (each) => {
          const { partition } = each
          if (!isWanted(partition)) return
          try {
            const reader = await options.assign({
              topic,
              ends: each,
              committed: committed.get(partition),
            })
            if (isWanted(partition)) begin(partition, reader)
            else track(reader.close(life === 'open' ? 'lost' : 'shutdown'), partition)
          } catch (error) {
            if (isWanted(partition)) fail(error) // else it is another's, and so is what is wrong with it
          }
        }),
      )
    } catch (error) {
      if (partitions.some(isWanted)) fail(error)
    }
    for (const partition of partitions)
      if (opening.get(partition) === attempt) opening.delete(partition)
  }

  /** As long as they are wanted: without them nothing can be read, and the broker may come back. */
  async function untilKnown(partitions: number[], isWanted: (partition: number) => boolean) {
    for (;;) {
      try {
        // The commits first: a former owner may still commit, and what it has done must not be
        // behind the ends that we know.
        const committed = await Promise.race([membership.committed(partitions), isStopped])
        return { committed, ends: await Promise.race([cluster.ends(topic, partitions), isStopped]) }
      } catch (error) {
        if (troubleOf(error) === 'lasting' || !partitions.some(isWanted)) throw error
        log.warn(
          { reason: (error as Error).message, topic, partitions },
          'partitions cannot be restored yet; it is tried again',
        )
        await pause(clock, 1_000, stopped.signal)
      }
    }
  }

  function begin(partition: number, reader: PartitionReader): void {
    const lane = createLane({
      ...{ topic, partition, reader },
      heldBytesMax: Math.max(
        laneHeldBytesMin,
        Math.min(laneHeldBytesMax, heldBytesMax / (lanes.size + 1)),
      ),
      write: options.write,
      done(commit) {
        commits.set(partition, commit)
        commitSoon()
      },
      roomAgain: () => fetching.wake(),
      failed: fail,
    })
    opening.delete(partition)
    lanes.set(partition, lane)
    fetching.add(lane.cursor)
  }

  function commitSoon(): void {
    cancelCommit ??= clock.after(times.commitMs, () => {
      cancelCommit = undefined
      void commitNow()
    })
  }

  /**
   * One at a time, so that no older pair follows a newer one. Never rejects: what could not be
   * committed stays for the next time.
   */
  function commitNow(): Promise<void> {
    committing = committing.then(async () => {
      if (commits.size === 0) return
      const taken = new Map(commits)
      commits.clear()
      try {
        await membership.commit(taken)
      } catch (error) {
        for (const [partition, commit] of taken)
          if (!commits.has(partition) && lanes.has(partition)) commits.set(partition, commit)
        if (troubleOf(error) === 'lasting' && !isAboutMembership(error)) return fail(error)
        if (life === 'open') commitSoon()
      }
    })
    return committing
  }

  function fail(error: unknown): void {
    if (life !== 'open') return
    life = 'failed'
    stopReading()
    const said =
      error instanceof WeirError || !(error as Error)?.name?.startsWith('KafkaJS')
        ? error
        : asBusError(error, `read ${topic}`)
    log.error({ err: said }, 'a subscription failed; nothing more is read for it')
    reject(said)
  }

  function stopReading(): void {
    opening.clear()
    stopped.abort()
    stopAsking(new WeirError('bus.closed', 'nothing is read any more')) // a close does not wait for a broker that is away
    for (const lane of lanes.values()) {
      fetching.remove(lane.cursor)
      lane.stop()
    }
  }

  async function close(): Promise<void> {
    if (life === 'open') stopReading()
    life = 'closing'
    await within(closeStepsMs, Promise.all([...lanes.values()].map((lane) => lane.idle())))
    for (const lane of [...lanes.values(), ...leaving])
      track(lane.close('shutdown'), lane.partition)
    while (closings.size > 0) await Promise.all(closings)
    cancelCommit?.()
    await within(closeCommitMs, commitNow())
    await membership.leave()
    fetching.close()
    life = 'closed'
  }

  async function within(ms: Milliseconds, work: Promise<unknown>): Promise<void> {
    const { promise: tooLate, resolve } = Promise.withResolvers<void>()
    const cancel = clock.after(ms, resolve)
    await Promise.race([work.catch(() => {}), tooLate])
    cancel()
  }

  return {
    get joined() {
      return life === 'open' && membership.isMember && opening.size === 0
    },
    failed,
    close() {
      closing ??= close()
      return closing
    },
  }
}

/** The group has changed, or forgot us: the membership finds out by itself. */
function isAboutMembership(error: unknown): boolean {
  const { type } = (error ?? {}) as { type?: unknown }
  return (
    type === 'UNKNOWN_MEMBER_ID' ||
    type === 'ILLEGAL_GENERATION' ||
    type === 'REBALANCE_IN_PROGRESS'
  )
}
