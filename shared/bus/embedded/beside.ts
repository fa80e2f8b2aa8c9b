// The embedded bus in a process beside the one that writes the file: it reads the file itself and has the owner write, over the owner's socket.
// What it writes is in the file, and can be read here, when append resolves.
// B1. It keeps no commits and no members: each subscription begins without a commit, and two with the same group both read everything. That is for
//     readers whose outputs can be repeated, and who can tell from the log what they have written: a guard (shared/guards/run-guard.ts).
// B2. The owner may be started anew meanwhile: what a subscription wrote is asked for again for a while, before it fails.

import type { Clock } from '../../clock.ts'
import { WeirError } from '../../errors.ts'
import { limits } from '../../limits.ts'
import type { OutsideRequest } from '../../outside-requests.ts'
import { outsideRecord } from '../../outside-requests.ts'
import { guardTopicName } from '../../topology.ts'
import type { Appended, Bus, PartitionReader, RecordToAppend, SubscribeOptions, Subscription, TopicSpec } from '../port.ts'
import { openEmbeddedBus } from './bus.ts'
import { askOwner, ownerListens } from './owner-socket.ts'

export type BesideOptions = { file: string; clock: Clock; topicPrefix: string; log: { warn(fields: object, message: string): void } }

/** Undefined: nobody listens. Throws `bus.unreachable` where this user may not ask, and what keeps the file from being read. */
export async function openBesideOwner({ file, clock, topicPrefix, log }: BesideOptions): Promise<Bus | undefined> {
  if (!(await ownerListens(file))) return undefined
  const reading = await openEmbeddedBus({ file, clock, readOnly: true })
  const ask = (request: OutsideRequest) => askOwner(file, request)

  async function append(records: RecordToAppend[]): Promise<Appended[]> {
    const appended: Appended[] = []
    for (const piece of inPieces(records))
      appended.push(...((await ask({ type: 'append', topicPrefix, records: piece.map(outsideRecord) })) as Appended[]))
    return appended
  }

  /** Keeps B2. */
  async function appendPatiently(records: RecordToAppend[], signal: AbortSignal): Promise<void> {
    for (const until = clock.monotonic() + limits.ownerAwaitedMs; ; ) {
      try {
        await append(records)
        return
      } catch (error) {
        if (signal.aborted || !(error instanceof WeirError && error.retryable) || clock.monotonic() >= until) throw error
        log.warn({ err: error }, 'the owner of the log does not answer; it is asked again')
        await new Promise<void>((resolve) => clock.after(limits.ownerAskedAgainMs, resolve))
      }
    }
  }

  async function subscribe({ topic, assign }: SubscribeOptions): Promise<Subscription> {
    const stop = new AbortController()
    const { promise: failed, reject } = Promise.withResolvers<never>()
    failed.catch(() => {}) // whoever does not ask is not brought down by the answer
    let joined = true
    const fail = (error: unknown): void => {
      joined = false
      if (!stop.signal.aborted) reject(error)
      stop.abort()
    }
    const readers: PartitionReader[] = []
    const ends = await reading.ends(topic)
    for (const one of ends) readers.push(await assign({ topic, ends: one, committed: undefined }))
    const lanes = readers.map((reader, at) => readOn(reader, topic, ends[at]?.partition ?? at, stop.signal).catch(fail))
    return {
      get joined() {
        return joined
      },
      failed,
      async close() {
        joined = false
        stop.abort()
        await Promise.all(lanes)
        await Promise.all(readers.map((reader) => reader.close('shutdown')))
      },
    }
  }

  async function readOn(reader: PartitionReader, topic: string, partition: number, signal: AbortSignal): Promise<void> {
    for await (const records of reading.follow({ topic, partition, from: reader.position, signal })) {
      if (signal.aborted) return
      const { outputs } = await reader.read(records)
      if (outputs.length > 0) await appendPatiently(outputs, signal)
      reader.acknowledged()
    }
  }

  /** Topics of guards are all that may come to a Weir that runs; it is an error that others are missing. */
  async function ensureTopics(specs: TopicSpec[]): Promise<void> {
    for (const spec of specs) {
      const { name, partitions, retentionMs = 0 } = spec
      const guardsBegin = topicPrefix + guardTopicName('')
      const isMissing = await reading.ends(name).then(
        () => false,
        (error: unknown) => {
          if (error instanceof WeirError && error.code === 'bus.topic-missing' && name.startsWith(guardsBegin)) return true
          throw error
        },
      )
      if (isMissing) await ask({ type: 'guard-topic', topicPrefix, guard: name.slice(guardsBegin.length), partitions, retentionMs })
      else await reading.ensureTopics([spec]) // it compares
    }
  }

  return { ...reading, append, ensureTopics, subscribe }
}

/** A request has a limit in bytes, and one record of a guard is within it. */
function inPieces(records: RecordToAppend[]): RecordToAppend[][] {
  const pieces: RecordToAppend[][] = []
  let bytes = Number.POSITIVE_INFINITY
  for (const record of records) {
    const size = record.value?.length ?? 0
    if (bytes + size > limits.guardVerdictBytesMax) {
      pieces.push([])
      bytes = 0
    }
    bytes += size
    pieces.at(-1)?.push(record)
  }
  return pieces
}
