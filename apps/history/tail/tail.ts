// `weir tail TOPIC`: the records of a topic, decoded, as JSON lines. Of what is there now, or with
// --follow of what comes. Exit codes: 0, also when Ctrl-C ended it or its reader has gone. Trouble
// and bad usage are thrown.

import { once } from 'node:events'
import { firstOffsetSince, type Range } from '../../../shared/bus/range.ts'
import type { PartitionEnds, StoredRecord } from '../../../shared/contract/bus.ts'
import { guardTopicName } from '../../../shared/contract/topology.ts'
import { WeirError } from '../../../shared/lib/errors.ts'
import type { Settings } from '../../../shared/settings/settings.ts'
import { listenForInterrupts } from '../../terminal/interrupts.ts'
import { endsOf, type OpenLog, withLog } from '../open-log.ts'
import { asTheyCome, inTimeOrder } from './merged.ts'
import { contentOf, lineOf } from './record-line.ts'
import {
  isOfConversation,
  partitionsOf,
  type TailOptions,
  type Wanted,
  wantedOf,
} from './wanted.ts'

/** Resolves when all that was asked for is printed. */
export async function tail(
  topic: string,
  options: TailOptions,
  settings: Settings,
  out: NodeJS.WriteStream,
): Promise<void> {
  const wanted = wantedOf(topic, settings.topicPrefix, options, Date.now())
  const stop = new AbortController()
  const stopListening = listenForInterrupts(() => stop.abort())
  const gone = (): void => stop.abort()
  out.on('error', gone)
  try {
    await withLog(settings, (log) => print(wanted, log, stop, out), { bundle: options.bundle })
  } finally {
    stopListening()
    out.off('error', gone)
  }
}

async function print(
  wanted: Wanted,
  log: OpenLog,
  stop: AbortController,
  out: NodeJS.WriteStream,
): Promise<void> {
  let left = wanted.limit
  const stopWaiting = stopAt(wanted, log, stop)
  try {
    for await (const record of recordsOf(wanted, log, stop.signal)) {
      if (stop.signal.aborted) return
      if (record.time >= wanted.until || !isOfConversation(wanted, record.key)) continue
      const content = contentOf(record.value)
      if (wanted.types.size > 0 && (content.type === null || !wanted.types.has(content.type)))
        continue
      if (!out.write(lineOf(record, content)))
        await once(out, 'drain', { signal: stop.signal }).catch(() => {})
      left -= 1
      if (left === 0) return
    }
  } finally {
    stopWaiting()
    stop.abort()
  }
}

/** Who follows until a time waits for that time, not for a record that is newer. */
function stopAt({ follow, until }: Wanted, { bus }: OpenLog, stop: AbortController): () => void {
  if (!follow || until === Number.POSITIVE_INFINITY) return () => {}
  return bus.clock.after(Math.max(0, until - bus.clock.now()), () => stop.abort())
}

async function* recordsOf(
  wanted: Wanted,
  log: OpenLog,
  signal: AbortSignal,
): AsyncGenerator<StoredRecord> {
  const topic = log.topicPrefix + wanted.topic
  const ends = await endsOf(log, wanted.topic)
  if (ends.length === 0 && wanted.topic.startsWith(guardTopicName('')))
    throw new WeirError(
      'guard.unknown',
      `the topic ${topic} is not there: no such guard was ever registered (weir guard list)`,
    )
  if (ends.length === 0)
    throw new WeirError(
      'bus.topic-missing',
      `the topic ${topic} is not there: this log is older than it`,
    )
  const chosen = partitionsOf(wanted, ends.length)
  const ranges: Range[] = []
  for (const one of ends.filter(({ partition }) => chosen.includes(partition)))
    ranges.push(await rangeOf(wanted, log, topic, one))
  yield* inTimeOrder(log.bus, ranges, signal)
  if (wanted.follow && !signal.aborted)
    yield* asTheyCome(
      log.bus,
      ranges.map(({ to, ...range }) => ({ ...range, from: Math.max(range.from, to) })),
      signal,
    )
}

async function rangeOf(
  { start, until }: Wanted,
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
