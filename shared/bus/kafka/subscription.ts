// A stage's subscription: a member of its consumer group, a consumer for each assigned partition,
// and their commits.
// A partition is restored when it is assigned, not at its first record: its open
// units have deadlines that must tick.
// A partition that stays keeps its reader. One that moves is closed as lost at
// once, and the group does not wait for that.
// Commits are gathered and sent every commitMs, before a join, and at the end:
// each stays true.
// A damaged partition is not read, and the others go on. Any other failure fails
// the subscription: its readers get no more records, and stay until close().

import type { Logger } from 'pino'
import type { RecordToAppend, SubscribeOptions, Subscription } from '../../contract/bus.ts'
import type { Milliseconds } from '../../lib/clock.ts'
import type { Cluster } from './cluster/cluster.ts'
import { asBusError, isPartitionDamage, recoveryOf } from './failure.ts'
import type { Fetching } from './fetch/fetching.ts'
import { createCommitSchedule } from './group/commit-schedule.ts'
import { joinGroup, type Membership } from './group/membership.ts'
import { createClosings, createConsumers } from './group/partition-consumers.ts'
import { createPartitionRestore } from './group/partition-restore.ts'
import { within } from './within.ts'

export type SubscriptionTimes = {
  /** How long the group waits for a silent member before it reassigns the partitions. */
  sessionMs: Milliseconds
  heartbeatMs: Milliseconds
  /** How long the group waits for a member to join again. */
  rebalanceMs: Milliseconds
  /** Between two commits. */
  commitMs: Milliseconds
}

export type KafkaSubscriptionOptions = SubscribeOptions & {
  /** The name of a static member. */
  instanceId?: string | undefined
  leaves?: boolean | undefined
  agents?: string | undefined
  cluster: Cluster
  /** Shared by all readers of the bus. */
  fetching: Fetching
  log: Logger
  times: SubscriptionTimes
  write(records: RecordToAppend[]): Promise<void>
}

/** How long a close waits for running steps and for the last commits: the broker may be away. */
const closeStepsMs = 10_000
const closeCommitMs = 3_000

/** The topic is known to exist. */
export function startSubscription(options: KafkaSubscriptionOptions): Subscription {
  const { cluster, group, topic, times, fetching } = options
  const { clock } = cluster
  const { commitMs, ...memberTimes } = times
  const log = options.log.child({ group })
  const closings = createClosings(log, topic)
  const { promise: failed, reject } = Promise.withResolvers<never>()
  failed.catch(() => {}) // a caller without a handler must not crash
  let life: 'open' | 'failed' | 'closing' | 'closed' = 'open'
  let closing: Promise<void> | undefined
  const damaged = new Map<number, string>()

  const commits = createCommitSchedule({
    clock,
    commitMs,
    commit: (pairs) => membership.commit(pairs),
    isOwned: (partition) => consumers.has(partition),
    onFailed: onCommitFailed,
  })
  const consumers = createConsumers({
    topic,
    log,
    fetching,
    commits,
    closings,
    write: options.write,
    onFailed: onPartitionFailed,
  })
  const restores = createPartitionRestore({
    cluster,
    log,
    topic,
    assign: options.assign,
    committed: (partitions) => membership.committed(partitions),
    onRestored: consumers.start,
    onCancelled: (partition, reader) =>
      closings.addReader(reader.close(life === 'open' ? 'lost' : 'shutdown'), partition),
    onFailed: onPartitionFailed,
  })
  const membership: Membership = joinGroup({
    cluster,
    log,
    group,
    topic,
    ...memberTimes,
    instanceId: options.instanceId,
    agents: options.agents,
    leaves: options.leaves ?? true,
    onAssigned,
    onLost: () => onAssigned([]),
    beforeJoin: commits.flush,
    onFailed: fail,
  })

  const stopWatching = cluster.whenResized(fail)

  function onAssigned(partitions: number[]): void {
    consumers.keepOnly(partitions)
    restores.keepOnly(partitions)
    if (life !== 'open') return
    for (const partition of damaged.keys())
      if (!partitions.includes(partition)) damaged.delete(partition)
    const added = partitions.filter(
      (each) => !consumers.has(each) && !restores.has(each) && !damaged.has(each),
    )
    if (added.length > 0) closings.add(restores.restore(added))
  }

  function onCommitFailed(error: unknown): 'retry' | 'stop' {
    if (recoveryOf(error) === 'fail' && !isAboutMembership(error)) {
      fail(error)
      return 'stop'
    }
    return life === 'open' ? 'retry' : 'stop'
  }

  function onPartitionFailed(error: unknown, partition?: number): void {
    if (partition === undefined || !isPartitionDamage(error)) return fail(error)
    if (life !== 'open') return
    damaged.set(partition, error.message)
    consumers.abandon(partition)
    log.error(
      { err: error, topic, partition },
      'a damaged partition is not read; the others go on (weir reset)',
    )
  }

  function fail(error: unknown): void {
    if (life !== 'open') return
    life = 'failed'
    stopReading()
    const isKafkajs = (error as Error)?.name?.startsWith('KafkaJS') === true
    const reason = isKafkajs ? asBusError(error, `read ${topic}`) : error
    log.fatal({ err: reason }, 'the subscription failed and reads no more')
    reject(reason)
  }

  function stopReading(): void {
    restores.stop()
    consumers.stop()
  }

  async function close(): Promise<void> {
    if (life === 'open') stopReading()
    life = 'closing'
    stopWatching()
    await within(clock, closeStepsMs, consumers.idle())
    consumers.close()
    await closings.done()
    commits.stop()
    await within(clock, closeCommitMs, commits.flush())
    await membership.leave()
    life = 'closed'
  }

  return {
    get joined() {
      return life === 'open' && membership.isMember && restores.isIdle
    },
    damaged,
    get unready() {
      return cluster.lost()
    },
    failed,
    close() {
      closing ??= close()
      return closing
    },
  }
}

/** The group changed, or dropped this member: the membership finds out by itself. */
function isAboutMembership(error: unknown): boolean {
  const { type } = (error ?? {}) as { type?: unknown }
  return (
    type === 'UNKNOWN_MEMBER_ID' ||
    type === 'ILLEGAL_GENERATION' ||
    type === 'REBALANCE_IN_PROGRESS'
  )
}
