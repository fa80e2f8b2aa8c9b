// `weir tail TOPIC`: prints the records of a topic as JSON lines: the existing ones, or with
// --follow the new ones. Exit codes: 0, also after Ctrl-C or if the reader has gone. Throws on bad
// usage and on failures.

import { once } from 'node:events'
import { endsOf } from '../../../client/history/readable-log.ts'
import { recordView } from '../../../client/history/redacted.ts'
import { batchesOf, firstOffsetSince, type Range } from '../../../shared/bus/range.ts'
import type { Bus, PartitionEnds, StoredRecord } from '../../../shared/contract/bus.ts'
import { guardTopicName } from '../../../shared/contract/topology.ts'
import { WeirError } from '../../../shared/lib/errors.ts'
import type { Settings } from '../../../shared/settings/settings.ts'
import { listenForInterrupts } from '../../terminal/interrupts.ts'
import { type OpenLog, withLog } from '../open-log.ts'
import { contentOf, lineOf } from './record-line.ts'
import {
  isOfConversation,
  partitionsOf,
  type TailOptions,
  type TailRequest,
  tailRequestOf,
} from './tail-request.ts'

/** Resolves when all requested records are printed. */
export async function tail(
  topic: string,
  options: TailOptions,
  settings: Settings,
  out: NodeJS.WriteStream,
): Promise<void> {
  const request = tailRequestOf(topic, settings.topicPrefix, options, Date.now())
  const stop = new AbortController()
  const stopListening = listenForInterrupts(() => stop.abort())
  const abort = (): void => stop.abort()
  out.on('error', abort)
  try {
    await withLog(settings, (log) => print(request, log, stop, out), {
      bundle: options.bundle,
      unredacted: options.unredacted,
    })
  } finally {
    stopListening()
    out.off('error', abort)
  }
}

async function print(
  request: TailRequest,
  log: OpenLog,
  stop: AbortController,
  out: NodeJS.WriteStream,
): Promise<void> {
  let left = request.limit
  const stopWaiting = stopAt(request, log, stop)
  const view = recordView(log)
  try {
    for await (const record of recordsOf(request, log, stop.signal)) {
      if (stop.signal.aborted) return
      if (record.time >= request.until || !isOfConversation(request, record.key)) continue
      const content = contentOf(record.value)
      if (request.types.size > 0 && (content.type === null || !request.types.has(content.type)))
        continue
      const { message } = content
      const shown = message && (await view(message))
      if (!out.write(lineOf(record, { ...content, message: shown ?? null })))
        await once(out, 'drain', { signal: stop.signal }).catch(() => {})
      left -= 1
      if (left === 0) return
    }
  } finally {
    stopWaiting()
    stop.abort()
  }
}

/** With --follow and --until, a timer ends the command. It must not wait for a newer record. */
function stopAt(
  { follow, until }: TailRequest,
  { bus }: OpenLog,
  stop: AbortController,
): () => void {
  if (!follow || until === Number.POSITIVE_INFINITY) return () => {}
  return bus.clock.after(Math.max(0, until - bus.clock.now()), () => stop.abort())
}

async function* recordsOf(
  request: TailRequest,
  log: OpenLog,
  signal: AbortSignal,
): AsyncGenerator<StoredRecord> {
  const topic = log.topicPrefix + request.topic
  const ends = await endsOf(log, request.topic)
  if (ends.length === 0 && request.topic.startsWith(guardTopicName('')))
    throw new WeirError(
      'guard.unknown',
      `there is no topic ${topic}: no such guard was ever registered (weir guard list)`,
    )
  if (ends.length === 0)
    throw new WeirError(
      'bus.topic-missing',
      `there is no topic ${topic}: this log is older than the topic`,
    )
  const partitions = partitionsOf(request, ends.length)
  const ranges: Range[] = []
  for (const one of ends.filter(({ partition }) => partitions.includes(partition)))
    ranges.push(await rangeOf(request, log, topic, one))
  yield* inTimeOrder(log.bus, ranges, signal)
  if (request.follow && !signal.aborted)
    yield* asAppended(
      log.bus,
      ranges.map(({ to, ...range }) => ({ ...range, from: Math.max(range.from, to) })),
      signal,
    )
}

async function rangeOf(
  { start, until }: TailRequest,
  { bus }: OpenLog,
  topic: string,
  { partition, begin, end }: PartitionEnds,
): Promise<Range> {
  const whole: Range = { topic, partition, from: begin, to: end }
  const from = await fromOf()
  const to =
    until === Number.POSITIVE_INFINITY
      ? end
      : await firstOffsetSince(bus, { ...whole, from: Math.min(from, end) }, until)
  return { ...whole, from, to }

  async function fromOf(): Promise<number> {
    switch (start.kind) {
      case 'beginning':
        return begin
      case 'end':
        return end
      case 'offset':
        return Math.max(begin, start.offset)
      case 'time':
        return firstOffsetSince(bus, whole, start.time)
      default:
        return start satisfies never
    }
  }
}

type Source = { batches: AsyncGenerator<StoredRecord[]>; waiting: StoredRecord[]; next: number }

/** By append time. At equal times, the lower partition comes first. */
async function* inTimeOrder(
  bus: Bus,
  ranges: Range[],
  signal: AbortSignal,
): AsyncGenerator<StoredRecord> {
  const sources = ranges.map(
    (range): Source => ({ batches: batchesOf(bus, range, signal), waiting: [], next: 0 }),
  )
  await Promise.all(sources.map(fill))
  for (;;) {
    const oldest = sources.reduce<Source | undefined>(
      (best, source) => (timeOf(source) < timeOf(best) ? source : best),
      undefined,
    )
    const record = oldest?.waiting[oldest.next]
    if (oldest === undefined || record === undefined || signal.aborted) return
    oldest.next += 1
    yield record
    if (oldest.next === oldest.waiting.length) await fill(oldest)
  }
}

async function fill(source: Source): Promise<void> {
  const { value } = await source.batches.next()
  source.waiting = value ?? []
  source.next = 0
}

function timeOf(source: Source | undefined): number {
  return source?.waiting[source.next]?.time ?? Number.POSITIVE_INFINITY
}

/**
 * The records from these offsets on, until `signal` aborts. Reads a partition again only after its
 * last batch was consumed.
 */
async function* asAppended(
  bus: Bus,
  starts: Pick<Range, 'topic' | 'partition' | 'from'>[],
  signal: AbortSignal,
): AsyncGenerator<StoredRecord> {
  type Pulled = { index: number; records: StoredRecord[] | undefined }
  const sources = starts.map((start) => bus.follow({ ...start, signal })[Symbol.asyncIterator]())
  const pull = async (index: number): Promise<Pulled> => {
    const next = await sources[index]?.next()
    return { index, records: next?.value }
  }
  const pulls = new Map(sources.map((_, index) => [index, pull(index)]))
  while (pulls.size > 0) {
    const { index, records } = await Promise.race(pulls.values())
    if (records === undefined) {
      pulls.delete(index) // aborted
      continue
    }
    yield* records
    pulls.set(index, pull(index))
  }
}
