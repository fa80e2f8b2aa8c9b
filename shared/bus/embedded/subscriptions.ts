// Runs readers over partitions: reads a batch, hands it to the reader, has the step written, tells
// the reader, and so on while there are records.
// SUBSCRIPTIONS-1. One partition does one thing at a time: read, write, acknowledged. Partitions do
//     not wait for each other, so a slow one holds up only itself.
// SUBSCRIPTIONS-2. Fair: partitions with records take turns, one batch each; what does not fit into
//     a tick is first in the next. Within a tick those of the group that subscribed first come
//     first, one after the other: what a reader leads to is then in the batch of the next one, and
//     not in a later tick.
// SUBSCRIPTIONS-3. A subscription keeps the process alive until it is closed, as a connection to a
//     broker would.
// SUBSCRIPTIONS-4. A subscription that failed hands out no more records; its steps that were under
//     way are still written, and its readers stay until close().
// SUBSCRIPTIONS-5. Readers read ahead of the file: what a step leads to goes to the next reader at
//     once, and one transaction takes all that a tick has led to. Nobody acts on it before: a
//     reader must not touch the world, and is told `acknowledged` after the transaction. One that
//     fails for good fails all subscriptions with a step under way, because what they have read may
//     never have been there.

import type {
  Commit,
  Offset,
  PartitionReader,
  StoredRecord,
  SubscribeOptions,
  Subscription,
} from '../../contract/bus.ts'
import { WeirError } from '../../lib/errors.ts'
import { keepAlive } from './alive.ts'
import type { Log, PartitionName } from './log.ts'
import { batchBytesMax, batchRecordsMax } from './reading.ts'
import type { Writer } from './writer.ts'

/**
 * Records that one tick of the process hands to readers; then timers and sockets have their turn.
 */
const tickRecordsMax = 2048

export type Subscriptions = {
  subscribe(options: SubscribeOptions): Promise<Subscription>
  /**
   * Hands batches to readers, and calls `flush` when they have all answered. Called by whoever was
   * told to by `wake`.
   */
  pump(): void
  /** Nothing that was read ahead of the file counts. */
  failStepping(error: unknown): void
  /** `partition`: as the log names it. */
  grown(partition: PartitionName): void
  /**
   * The lowest offset of a partition that a reader of ours may still have to fold from, and which
   * groups those are.
   */
  neededFrom(partition: PartitionName): { offset: Offset; groups: Set<string> }
  closeAll(): Promise<void>
}

export type SubscriptionsOptions = {
  log: Log
  writer: Writer
  /** Somebody has to call pump() soon. */
  wake: () => void
  /** Writes what steps have led to. */
  flush: () => void
  assertOpen: () => void
  /** Where a group has to fold from after that commit. */
  keepFrom: (commit: Commit) => Offset
  failed: (options: { group: string; topic: string }, error: unknown) => void
}

type Group = {
  group: string
  topic: string
  lanes: Lane[]
  isReading: boolean
  /** Which one it is of those that have subscribed. */
  place: number
  fail(error: unknown): void
  /** Lets the process end when it has nothing else to do (SUBSCRIPTIONS-3). */
  mayEnd(): void
  close(): Promise<void>
}

/**
 * One partition of a group. `from`: where its reader began; `next`: the offset to read next;
 * `committed`: its reader's newest that is durable.
 */
type Lane = PartitionName & {
  group: string
  owner: Group
  reader: PartitionReader
  from: Offset
  next: Offset
  committed: Commit | undefined
  phase: LanePhase
}

type LanePhase = { kind: 'idle' } | { kind: 'queued' } | { kind: 'stepping'; done: Promise<void> }

const idle: LanePhase = { kind: 'idle' }

export function createSubscriptions({
  log,
  writer,
  wake,
  flush,
  assertOpen,
  keepFrom,
  failed,
}: SubscriptionsOptions): Subscriptions {
  const groups = new Map<string, Group>()
  /** By the partition, as the log names it. */
  const lanes = new Map<PartitionName, Set<Lane>>()
  /**
   * Lanes with something to read: those whose turn it is, in order, and those that follow, by their
   * group's place.
   */
  const turns: Lane[] = []
  const queued: Lane[][] = []
  let subscribed = 0
  /**
   * What this tick may still hand out, whether a reader has not answered yet, and which tick it is:
   * who answers later counts for nothing.
   */
  let left = 0
  let isAnswerDue = false
  let ticks = 0
  /** How often steps were given up. */
  let era = 0

  /** Queues a lane that has something to read and is not at it already. */
  function consider(lane: Lane): void {
    if (lane.phase.kind !== 'idle' || !lane.owner.isReading || log.endAhead(lane) <= lane.next)
      return
    lane.phase = { kind: 'queued' }
    queued[lane.owner.place]?.push(lane)
    wake()
  }

  function pump(): void {
    if (isAnswerDue) flush() // a reader takes longer than a tick; it must not hold up the others
    ticks += 1
    left = tickRecordsMax
    isAnswerDue = false
    turns.push(...queued.flatMap((lanes) => lanes.splice(0)))
    goOn()
  }

  /** The next reader, or the end of the tick. */
  function goOn(): void {
    while (left > 0 && !isAnswerDue) {
      const lane = turns.shift() ?? queued.find((lanes) => lanes.length > 0)?.shift()
      if (lane === undefined) break
      lane.phase = idle
      if (lane.owner.isReading) left -= beginStep(lane)
    }
    if (isAnswerDue || left <= 0) wake()
    if (!isAnswerDue) flush()
  }

  /** What the answer led to goes on to the next readers in the same tick. */
  function answered(tick: number): void {
    if (tick !== ticks) {
      wake()
      return
    }
    isAnswerDue = false
    goOn()
  }

  function beginStep(lane: Lane): number {
    const batch = readBatch(lane)
    if (batch.length > 0) lane.phase = { kind: 'stepping', done: step(lane, batch) }
    return batch.length
  }

  function readBatch(lane: Lane): StoredRecord[] {
    try {
      const { topic, partition, next } = lane
      return log.readAhead({
        topic,
        partition,
        from: next,
        limit: batchRecordsMax,
        bytesMax: batchBytesMax,
      })
    } catch (error) {
      lane.owner.fail(error)
      return []
    }
  }

  async function step(lane: Lane, batch: StoredRecord[]): Promise<void> {
    try {
      const answer = await stepOf(lane, batch)
      await answer?.written
      if (answer !== undefined) {
        lane.next = (batch.at(-1)?.offset ?? lane.next) + 1
        lane.reader.acknowledged()
      }
    } catch (error) {
      lane.owner.fail(error)
    }
    lane.phase = idle
    consider(lane)
  }

  /** Hands over the batch and queues what it led to. Undefined: what was read is void by now. */
  async function stepOf(
    lane: Lane,
    batch: StoredRecord[],
  ): Promise<{ written: Promise<void> } | undefined> {
    const { reader } = lane
    const [tick, readIn] = [ticks, era]
    isAnswerDue = true
    try {
      const { outputs, commit } = await reader.read(batch)
      if (readIn !== era) return undefined
      const committed = () => {
        lane.committed = commit
      }
      return {
        written: writer.writeStep({
          outputs,
          commitment: commit && { of: lane, commit, committed },
        }),
      }
    } finally {
      answered(tick)
    }
  }

  /**
   * Asks for a reader of every partition, all at once. If one cannot be had, those that were are
   * closed again.
   */
  async function assignAll(owner: Group, assign: SubscribeOptions['assign']): Promise<void> {
    const { group, topic } = owner
    const asked = log.ends(topic).map(async (ends) => {
      const { partition } = ends
      const reader = await assign({
        topic,
        ends,
        committed: log.committed({ group, topic, partition }),
      })
      owner.lanes.push({
        topic,
        partition,
        group,
        owner,
        reader,
        from: reader.position,
        next: reader.position,
        committed: undefined,
        phase: idle,
      })
    })
    for (const answer of await Promise.allSettled(asked))
      if (answer.status === 'rejected') throw answer.reason
    assertOpen()
  }

  async function closeGroup(owner: Group): Promise<void> {
    owner.isReading = false
    await Promise.all(
      owner.lanes.map(({ phase }) => (phase.kind === 'stepping' ? phase.done : undefined)),
    )
    const closed = await Promise.allSettled(
      owner.lanes.map(({ reader }) => reader.close('shutdown')),
    )
    writer.flushCommits()
    for (const lane of owner.lanes) lanes.get(log.placeOf(lane))?.delete(lane)
    groups.delete(groupName(owner))
    owner.mayEnd()
    for (const answer of closed) if (answer.status === 'rejected') throw answer.reason
  }

  return {
    async subscribe({ group, topic, assign }) {
      log.topic(topic)
      if (groups.has(groupName({ group, topic }))) {
        throw new WeirError(
          'bus.locked',
          `group ${group} reads ${topic} in this process already, and on the embedded bus it has all partitions: close that subscription first, or use another group`,
        )
      }
      const { promise: failure, reject } = Promise.withResolvers<never>()
      failure.catch(() => {}) // a subscription that is dropped without a look at it must not end the process; `failed` has logged it
      const { promise: assigned, resolve: assignedOrNot } = Promise.withResolvers<void>()
      let closing: Promise<void> | undefined
      let isSound = true
      const owner: Group = {
        group,
        topic,
        lanes: [],
        isReading: false,
        place: subscribed,
        mayEnd: keepAlive(),
        fail(error) {
          if (!isSound) return
          isSound = false
          owner.isReading = false
          failed({ group, topic }, error)
          reject(error)
        },
        close() {
          closing ??= assigned.then(() => closeGroup(owner))
          return closing
        },
      }
      groups.set(groupName(owner), owner)
      queued[subscribed] = []
      subscribed += 1
      try {
        await assignAll(owner, assign)
      } catch (error) {
        assignedOrNot()
        await owner.close()
        throw error
      }
      assignedOrNot()
      owner.isReading = true
      for (const lane of owner.lanes) {
        const others = lanes.get(log.placeOf(lane)) ?? new Set()
        lanes.set(log.placeOf(lane), others.add(lane))
        consider(lane)
      }
      return {
        get joined() {
          return owner.isReading
        },
        failed: failure,
        close: owner.close,
      }
    },

    pump,

    failStepping(error) {
      era += 1
      for (const { lanes, fail } of groups.values())
        if (lanes.some(({ phase }) => phase.kind === 'stepping')) fail(error)
    },

    grown(partition) {
      for (const lane of lanes.get(partition) ?? []) consider(lane)
    },

    neededFrom(partition) {
      const readers = [...(lanes.get(log.placeOf(partition)) ?? [])]
      return {
        offset: Math.min(
          Number.MAX_SAFE_INTEGER,
          ...readers.map(({ committed, from }) =>
            committed === undefined ? from : keepFrom(committed),
          ),
        ),
        groups: new Set(readers.map(({ owner }) => owner.group)),
      }
    },

    async closeAll() {
      const closed = await Promise.allSettled([...groups.values()].map((group) => group.close()))
      for (const answer of closed) if (answer.status === 'rejected') throw answer.reason
    },
  }
}

function groupName({ group, topic }: { group: string; topic: string }): string {
  return JSON.stringify([group, topic])
}
