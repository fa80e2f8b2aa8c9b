// The embedded bus in a process next to the one that writes the file. It reads the file itself, and
// the owner writes for it, over the owner's socket. When append resolves, its records are in the
// file and can be read here.
// It keeps no commits and no members: two subscriptions of one group both read everything.
// It is for readers that recognise their own outputs in the log, such as run-guard.ts.
// The owner may restart: a subscription repeats its write for a while before it fails.
// A hanging owner keeps nothing from closing: close() waits a moment for its answer. The
// owner may still write the records then.

import type {
  Appended,
  Bus,
  Erased,
  PartitionReader,
  RecordToAppend,
  SubscribeOptions,
  Subscription,
  TopicSpec,
} from '../../../contract/bus.ts'
import { limits } from '../../../contract/limits.ts'
import { guardTopicName } from '../../../contract/topology.ts'
import type { Clock } from '../../../lib/clock.ts'
import { WeirError } from '../../../lib/errors.ts'
import { pause } from '../../../lib/pause.ts'
import { openEmbeddedBus } from '../bus.ts'
import { type OutsideRequest, outsideErasure, outsideRecord } from './outside-requests.ts'
import { ownerListens, requestFromOwner } from './owner-socket.ts'

/** How long a guard next to the owner waits at its end for the last answer's acknowledgement. */
const ownerLastWordMs = 2_000

export type BesideOptions = {
  file: string
  clock: Clock
  topicPrefix: string
  log: { warn(fields: object, message: string): void }
  /** Sends a request to the owner. Default: over a connection for each request. */
  request?: SendRequest | undefined
}

export type SendRequest = (request: OutsideRequest, signal?: AbortSignal) => Promise<unknown>

/** `ending` comes before `gone`. */
type Leaving = { ending: AbortSignal; gone: AbortSignal }

type Subscribing = {
  reading: Bus
  clock: Clock
  closed: AbortSignal
  write(outputs: RecordToAppend[], leaving: Leaving): Promise<void>
}

/**
 * Undefined if no owner listens. Throws `bus.unreachable` if this user may not send requests, and
 * every error of reading the file.
 */
export async function openBesideOwner(options: BesideOptions): Promise<Bus | undefined> {
  return (await ownerListens(options.file)) ? openBeside(options) : undefined
}

/** As openBesideOwner, also if no owner listens now. */
export async function openBeside({
  file,
  clock,
  topicPrefix,
  log,
  request: send = (request, signal) => requestFromOwner(file, request, signal),
}: BesideOptions): Promise<Bus> {
  const reading = await openEmbeddedBus({ file, clock, readOnly: true })
  const closed = new AbortController()

  async function append(records: RecordToAppend[], signal = closed.signal): Promise<Appended[]> {
    const appended: Appended[] = []
    for (const piece of inPieces(records)) {
      const request: OutsideRequest = {
        type: 'append',
        topicPrefix,
        records: piece.map(outsideRecord),
      }
      appended.push(...((await send(request, signal)) as Appended[]))
    }
    return appended
  }

  /** `ending` ends the retries, `gone` also the wait for the answer. */
  async function appendPatiently(
    records: RecordToAppend[],
    { ending, gone }: Leaving,
  ): Promise<void> {
    for (const until = clock.monotonic() + limits.ownerAwaitedMs; ; ) {
      try {
        await append(records, gone)
        return
      } catch (error) {
        if (
          ending.aborted ||
          !(error instanceof WeirError && error.retryable) ||
          clock.monotonic() >= until
        )
          throw error
        log.warn({ err: error }, 'the owner of the log does not answer; will retry')
        await pause(clock, limits.ownerAskedAgainMs, ending)
        if (ending.aborted) throw error
      }
    }
  }

  /**
   * Only topics of guards may be added while Weir runs. Any other missing topic is an error.
   */
  async function ensureTopics(specs: TopicSpec[]): Promise<void> {
    for (const spec of specs) {
      const { name, partitions, retentionMs = 0 } = spec
      const guardsBegin = topicPrefix + guardTopicName('')
      const isMissing = await lacksGuardTopic(reading, name, guardsBegin)
      const request: OutsideRequest = {
        type: 'guard-topic',
        topicPrefix,
        guard: name.slice(guardsBegin.length),
        partitions,
        retentionMs,
      }
      if (isMissing) await send(request, closed.signal)
      else await reading.ensureTopics([spec]) // this compares the topic with its spec
    }
  }

  return {
    ...reading,
    append: (records) => append(records),
    async erase(erasure) {
      const request: OutsideRequest = { type: 'erase', ...outsideErasure(erasure) }
      const erased = await send(request, closed.signal)
      return (erased ?? undefined) as Erased | undefined
    },
    ensureTopics,
    subscribe: (to) =>
      subscribeTo(to, { reading, clock, closed: closed.signal, write: appendPatiently }),
    async close() {
      closed.abort()
      await reading.close()
    },
  }
}

/** A subscription that writes its outputs by `write`, until it or the bus (`closed`) ends. */
async function subscribeTo(
  { topic, assign }: SubscribeOptions,
  { reading, clock, closed, write }: Subscribing,
): Promise<Subscription> {
  const stop = new AbortController()
  const late = new AbortController()
  const leaving = {
    ending: AbortSignal.any([stop.signal, closed]),
    gone: AbortSignal.any([late.signal, closed]),
  }
  const { promise: failed, reject } = Promise.withResolvers<never>()
  failed.catch(() => {}) // an unused promise must not end the process
  let joined = true
  const fail = (error: unknown): void => {
    joined = false
    if (!stop.signal.aborted) reject(error)
    stop.abort()
  }
  const readers: PartitionReader[] = []
  const ends = await reading.ends(topic)
  const closeReaders = () => Promise.all(readers.map((reader) => reader.close('shutdown')))
  try {
    for (const one of ends) readers.push(await assign({ topic, ends: one, committed: undefined }))
  } catch (error) {
    await closeReaders()
    throw error
  }
  const lanes = readers.map((reader, at) =>
    readOn(reader, { topic, partition: ends[at]?.partition ?? at }).catch(fail),
  )
  return {
    get joined() {
      return joined
    },
    failed,
    async close() {
      joined = false
      stop.abort()
      const stopWaiting = clock.after(ownerLastWordMs, () => late.abort())
      await Promise.all(lanes)
      stopWaiting()
      await closeReaders()
    },
  }

  async function readOn(
    reader: PartitionReader,
    place: { topic: string; partition: number },
  ): Promise<void> {
    const signal = leaving.ending
    for await (const records of reading.follow({ ...place, from: reader.position, signal })) {
      if (signal.aborted) return
      const { outputs } = await reader.read(records)
      if (outputs.length > 0) await write(outputs, leaving)
      reader.acknowledged()
    }
  }
}

/** Throws `bus.topic-missing` if it is no topic of a guard. */
async function lacksGuardTopic(
  { ends }: Pick<Bus, 'ends'>,
  name: string,
  guardsBegin: string,
): Promise<boolean> {
  try {
    await ends(name)
    return false
  } catch (error) {
    const isMissing = error instanceof WeirError && error.code === 'bus.topic-missing'
    if (isMissing && name.startsWith(guardsBegin)) return true
    throw error
  }
}

/** A request has a limit in bytes. One record of a guard is within it. */
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
