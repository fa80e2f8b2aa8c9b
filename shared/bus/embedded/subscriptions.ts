// Runs readers over partitions: reads a batch, hands it to the reader, has the step written, tells the reader, and so on while there are records.
// S1. One partition does one thing at a time: read, write, acknowledged. Partitions do not wait for each other, so a slow one holds up only itself.
// S2. Fair: partitions with records take turns, one batch each; what does not fit into a tick is first in the next.
// S3. A subscription keeps the process alive until it is closed, as a connection to a broker would.
// S4. A subscription that failed hands out no more records; its steps that were under way are still written, and its readers stay until close().

import { WeirError } from '../../errors.ts'
import type { Commit, Offset, PartitionReader, StoredRecord, SubscribeOptions, Subscription } from '../port.ts'
import { keepAlive } from './alive.ts'
import type { Log, PartitionName } from './log.ts'
import { batchBytesMax, batchRecordsMax } from './reading.ts'
import type { Writer } from './writer.ts'

/** Records that one tick of the process hands to readers; then timers and sockets have their turn. */
const tickRecordsMax = 2048

export type Subscriptions = {
  subscribe(options: SubscribeOptions): Promise<Subscription>
  /** Hands batches to readers. Called by whoever was told to by `wake`. */
  pump(): void
  grown(partition: PartitionName): void
  /** The lowest offset of a partition that a reader of ours may still have to fold from, and which groups those are. */
  neededFrom(partition: PartitionName): { offset: Offset; groups: Set<string> }
  closeAll(): Promise<void>
}

export type SubscriptionsOptions = {
  log: Log
  writer: Writer
  /** Somebody has to call pump() soon. */
  wake: () => void
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
  fail(error: unknown): void
  /** Lets the process end when it has nothing else to do (S3). */
  mayEnd(): void
  close(): Promise<void>
}

/** One partition of a group. `from`: where its reader began; `next`: the offset to read next; `committed`: its reader's newest. */
type Lane = PartitionName & {
  owner: Group
  reader: PartitionReader
  from: Offset
  next: Offset
  committed: Commit | undefined
  phase: LanePhase
}

type LanePhase = { kind: 'idle' } | { kind: 'queued' } | { kind: 'stepping'; done: Promise<void> }

const idle: LanePhase = { kind: 'idle' }

export function createSubscriptions({ log, writer, wake, assertOpen, keepFrom, failed }: SubscriptionsOptions): Subscriptions {
  const groups = new Map<string, Group>()
  const lanes = new Map<string, Set<Lane>>()
  const queued: Lane[] = []

  /** Queues a lane that has something to read and is not at it already. */
  function consider(lane: Lane): void {
    if (lane.phase.kind !== 'idle' || !lane.owner.isReading || log.end(lane) <= lane.next) return
    lane.phase = { kind: 'queued' }
    queued.push(lane)
    wake()
  }

  function pump(): void {
    let left = tickRecordsMax
    while (left > 0) {
      const lane = queued.shift()
      if (lane === undefined) return
      lane.phase = idle
      if (lane.owner.isReading) left -= beginStep(lane)
    }
    if (queued.length > 0) wake()
  }

  function beginStep(lane: Lane): number {
    const batch = readBatch(lane)
    if (batch.length > 0) lane.phase = { kind: 'stepping', done: step(lane, batch) }
    return batch.length
  }

  function readBatch(lane: Lane): StoredRecord[] {
    try {
      const { topic, partition, next } = lane
      return log.read({ topic, partition, from: next, limit: batchRecordsMax, bytesMax: batchBytesMax })
    } catch (error) {
      lane.owner.fail(error)
      return []
    }
  }

  async function step(lane: Lane, batch: StoredRecord[]): Promise<void> {
    const { group, topic } = lane.owner
    const { partition } = lane
    try {
      const { outputs, commit } = await lane.reader.read(batch)
      await writer.writeStep({ outputs, commit: commit === undefined ? undefined : { ...commit, group, topic, partition } })
      lane.committed = commit ?? lane.committed
      lane.next = (batch.at(-1)?.offset ?? lane.next) + 1
      lane.reader.acknowledged()
    } catch (error) {
      lane.owner.fail(error)
    }
    lane.phase = idle
    consider(lane)
  }

  /** Asks for a reader of every partition, all at once. If one cannot be had, those that were are closed again. */
  async function assignAll(owner: Group, assign: SubscribeOptions['assign']): Promise<void> {
    const { group, topic } = owner
    const asked = log.ends(topic).map(async (ends) => {
      const { partition } = ends
      const reader = await assign({ topic, ends, committed: log.committed({ group, topic, partition }) })
      owner.lanes.push({ topic, partition, owner, reader, from: reader.position, next: reader.position, committed: undefined, phase: idle })
    })
    for (const answer of await Promise.allSettled(asked)) if (answer.status === 'rejected') throw answer.reason
    assertOpen()
  }

  async function closeGroup(owner: Group): Promise<void> {
    owner.isReading = false
    await Promise.all(owner.lanes.map(({ phase }) => (phase.kind === 'stepping' ? phase.done : undefined)))
    const closed = await Promise.allSettled(owner.lanes.map(({ reader }) => reader.close('shutdown')))
    for (const lane of owner.lanes) lanes.get(laneName(lane))?.delete(lane)
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
      const owner: Group = {
        group,
        topic,
        lanes: [],
        isReading: false,
        mayEnd: keepAlive(),
        fail(error) {
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
        const others = lanes.get(laneName(lane)) ?? new Set()
        lanes.set(laneName(lane), others.add(lane))
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

    grown(partition) {
      for (const lane of lanes.get(laneName(partition)) ?? []) consider(lane)
    },

    neededFrom(partition) {
      const readers = [...(lanes.get(laneName(partition)) ?? [])]
      return {
        offset: Math.min(
          Number.MAX_SAFE_INTEGER,
          ...readers.map(({ committed, from }) => (committed === undefined ? from : keepFrom(committed))),
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

function laneName({ topic, partition }: PartitionName): string {
  return `${topic}/${partition}`
}
