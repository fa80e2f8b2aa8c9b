// `weir traces`: sends the turns of a log as traces, those of the past and then the new ones. It
// reads next to everything else and writes nothing, so it slows no stage and can start again at any
// time: a turn always has the same ids. Exit codes: 0, also after Ctrl-C. Throws on bad usage, on
// failures, and with `once` or a bundle if the backend refused spans or was away for a minute.

import type { Logger } from 'pino'
import { agentsInFiles } from '../../client/agents/agents-in-files.ts'
import { type Activity, activityIn } from '../../client/edge/edge.ts'
import { endsOf } from '../../client/history/readable-log.ts'
import { recordView } from '../../client/history/redacted.ts'
import { batchesOf, firstOffsetSince, leadersApartMs } from '../../shared/bus/range.ts'
import type { Bus, Offset, PartitionEnds, StoredRecord } from '../../shared/contract/bus.ts'
import type { Milliseconds } from '../../shared/lib/clock.ts'
import { usageError, WeirError } from '../../shared/lib/errors.ts'
import { createLog } from '../../shared/lib/log/log.ts'
import type { Settings } from '../../shared/settings/settings.ts'
import { hiddenText } from '../history/hidden-text.ts'
import { type OpenLog, withLog } from '../history/open-log.ts'
import { listenForInterrupts } from '../terminal/interrupts.ts'
import { instantOfFlag } from '../terminal/text/instant-text.ts'
import { metricNamesIn, metricsSender, type SendMetrics } from './send-metrics.ts'
import { backendOf, type SendSpans, sender } from './send-spans.ts'
import type { Span } from './span.ts'
import { createTurnSpans, type SpanOptions } from './turn-spans.ts'

export type TracesOptions = {
  endpoint?: string
  since: string
  /** Ends at the end of the log. */
  once?: boolean
  content?: boolean
  unredacted?: boolean
  /** Counts the turns that end from now on. */
  metrics?: boolean
  /** A file with other names of metrics. */
  metricNames?: string
  bundle?: string | undefined
}

/** Resolves when a signal comes, or with `once` or a bundle when all traces are sent. */
export async function traces(
  {
    endpoint,
    since,
    once = false,
    content = false,
    unredacted,
    metrics = false,
    metricNames,
    bundle,
  }: TracesOptions,
  settings: Settings,
): Promise<void> {
  const backend = backendOf(endpoint, process.env)
  const isOnce = once || bundle !== undefined
  if (metrics && isOnce)
    throw usageError(
      '--metrics counts the turns that end while the command runs: leave --once and --bundle out',
    )
  const metricsBackend = metrics ? backendOf(endpoint, process.env, 'metrics') : undefined
  const named = metricNamesIn(metricNames)
  const log = createLog({ level: settings.logLevel })
  const start = since === 'beginning' ? 0 : instantOfFlag('--since', since, Date.now())
  const models = modelsOf(settings.agents)
  const stop = new AbortController()
  const stopListening = listenForInterrupts(() => stop.abort())
  const sending: Sending = {
    send: sender(backend, log, isOnce ? awayMsMax : undefined),
    options: { content, modelOf: (agent) => models.get(agent) },
    since: start,
    counted: metricsBackend && metricsSender(metricsBackend, named, log),
    isOnce,
    signal: stop.signal,
    log,
  }
  try {
    await withLog(settings, (opened) => sendTraces(opened, sending), { bundle, unredacted })
  } catch (error) {
    if (!stop.signal.aborted) throw error
  } finally {
    await sending.counted?.end()
    stopListening()
  }
}

/** The conventions name the company: `openai` for both of its protocols. */
function modelsOf(path: string): Map<string, { provider: string; name: string }> {
  if (path === '') return new Map()
  const agents = agentsInFiles(path, process.env, [])
  return new Map(
    [...agents].map(([agent, { model }]) => {
      const [provider = ''] = model.provider.split('-')
      return [agent, { provider, name: model.name }]
    }),
  )
}

/** A command that ends at the end of the log waits so long for its backend. */
const awayMsMax = 60_000

type Sending = {
  send: SendSpans
  options: SpanOptions
  since: Milliseconds
  /** Undefined: no metrics are wanted. */
  counted: SendMetrics | undefined
  isOnce: boolean
  signal: AbortSignal
  log: Logger
}

async function sendTraces(opened: OpenLog, sending: Sending): Promise<void> {
  const partitions = await endsOf(opened, 'activity')
  if (partitions.length === 0)
    throw new WeirError(
      'bus.topic-missing',
      `there is no topic ${opened.topicPrefix}activity; give the prefix of the writing Weir (--topic-prefix)`,
    )
  const failed = new AbortController()
  const signal = AbortSignal.any([sending.signal, failed.signal])
  const sums = await Promise.all(
    partitions.map((ends) =>
      sendPartition(opened, ends, { ...sending, signal }).catch((error: unknown) => {
        failed.abort(error) // the others must not run on
        throw error
      }),
    ),
  )
  const spans = sums.reduce((sum, one) => sum + one.spans, 0)
  const refused = sums.reduce((sum, one) => sum + one.refused, 0)
  if (refused > 0)
    throw new WeirError(
      'traces.refused',
      `the backend refused ${refused} of ${spans} spans; check --endpoint and OTEL_EXPORTER_OTLP_HEADERS`,
    )
  sending.log.info({ spans }, 'all traces are sent')
}

/** `refused`: those that the backend did not take. */
type SentSpans = { spans: number; refused: number }

async function sendPartition(
  opened: OpenLog,
  ends: PartitionEnds,
  { send, counted, options, since, isOnce, signal, log }: Sending,
): Promise<SentSpans> {
  const { bus, topicPrefix } = opened
  const view = recordView(opened)
  const topic = `${topicPrefix}activity`
  const range = { topic, partition: ends.partition, from: ends.begin, to: ends.end }
  const from = await firstOffsetSince(bus, range, since - leadersApartMs)
  const spans = createTurnSpans(options)
  const sum: SentSpans = { spans: 0, refused: 0 }
  const warnOfHidden = isOnce ? () => {} : hiddenWarnings(bus, log)
  const batches = isOnce
    ? batchesOf(bus, { ...range, from }, signal)
    : bus.follow({ topic, partition: ends.partition, from, signal })
  for await (const records of batches) {
    if (signal.aborted) break
    const ended: Span[] = []
    for (const record of records) {
      const activity = activityOf(record, (error) => {
        if (!isEncrypted(error)) warnOf(record, error, log)
      })
      if (activity === undefined) continue
      // Other records of the activity have no such values, and no span has the text of the reply.
      const isShown = options.content && activity.type === 'model-answered'
      const shown = isShown ? await view(activity) : activity
      ended.push(...spans.read(shown as Activity, record.time))
    }
    warnOfHidden()
    if (ended.length > 0) sum.refused += ended.length - (await send(ended, signal))
    sum.spans += ended.length
    await counted?.count(ended, signal)
  }
  return sum
}

function activityOf(
  { value }: StoredRecord,
  onUnreadable: (error: unknown) => void,
): Activity | undefined {
  if (value === null) return undefined
  try {
    return activityIn(value)
  } catch (error) {
    onUnreadable(error)
    return undefined
  }
}

/** Such a record belongs to a group that is reported once. */
function isEncrypted(error: unknown): boolean {
  return error instanceof WeirError && error.code === 'codec.encrypted'
}

function warnOf(record: StoredRecord, err: unknown, log: Logger): void {
  const { partition, offset }: { partition: number; offset: Offset } = record
  log.warn({ err, partition, offset }, 'an activity record cannot be read; it is left out')
}

/** Warns of each group of records without a key once. A reader that follows the log has no end. */
function hiddenWarnings(bus: Bus, log: Logger): () => void {
  const warned = new Set<string>()
  return () => {
    for (const group of bus.hidden?.() ?? []) {
      const { tenant, name, reason } = group
      const key = JSON.stringify([tenant, name, reason])
      if (warned.has(key)) continue
      warned.add(key)
      log.warn({ tenant, key: name }, `${hiddenText(group)}; they have no spans`)
    }
  }
}
