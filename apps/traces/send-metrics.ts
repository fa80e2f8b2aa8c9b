// Sends the metrics of turns to the backend, now and then. They are cumulative, so a request that fails
// loses nothing: the next one has all counts.

import { randomUUID } from 'node:crypto'
import type { Logger } from 'pino'
import { limits } from '../../shared/contract/limits.ts'
import type { Milliseconds } from '../../shared/lib/clock.ts'
import { usageError, type WeirError } from '../../shared/lib/errors.ts'
import { boundedJson } from '../../shared/lib/json/bounded-json.ts'
import { isObject } from '../../shared/lib/json/json-object.ts'
import { shortened } from '../../shared/lib/text-cut.ts'
import { version } from '../../shared/lib/version.ts'
import { readText } from '../../shared/settings/text-file.ts'
import { printable } from '../terminal/text/printable.ts'
import { type MetricNames, metricNames } from './names.ts'
import { type Backend, sendRequest } from './send-spans.ts'
import type { Span } from './span.ts'
import { turnMetrics } from './turn-metrics.ts'

export type SendMetrics = {
  /** Counts the spans, and sends all counts if the last time is some seconds ago. */
  count(spans: readonly Span[], signal: AbortSignal): Promise<void>
  /** Sends the rest. */
  end(): Promise<void>
}

const everyMs = 10_000
/** A person waits for the end of the command. */
const endMs = 2_000

export function metricsSender(
  backend: Backend,
  given: MetricNames,
  log: Pick<Logger, 'warn'>,
): SendMetrics {
  const since = Date.now()
  const metrics = turnMetrics(given, since)
  const resource = {
    'service.name': backend.serviceName,
    'service.version': version(),
    'service.instance.id': randomUUID(), // two commands count separately
  }
  let sentAt: Milliseconds = since
  let isSending = false

  async function send(signal: AbortSignal): Promise<void> {
    const counted = metrics.all()
    if (counted.length === 0) return
    sentAt = Date.now()
    const request = { signal: 'metrics', resource, metrics: counted, since, at: sentAt } as const
    const fault = await sendRequest(backend, request, signal)
    if (fault !== undefined && !signal.aborted)
      log.warn(
        { reason: fault.reason },
        'the backend does not take metrics; the next ones have all',
      )
  }

  return {
    async count(spans, signal) {
      for (const span of spans) metrics.count(span)
      if (isSending || Date.now() - sentAt < everyMs) return
      isSending = true
      await send(signal).finally(() => {
        isSending = false
      })
    },
    end: () => send(AbortSignal.timeout(endMs)),
  }
}

/** The names in a file: `{ "gen_ai.…": "other.name" }`, or null for one that is left out. Throws `usage`. */
export function metricNamesIn(file: string | undefined): MetricNames {
  if (file === undefined) return metricNames
  const read = readText(file, fileBytesMax)
  if ('fault' in read) throw unusable(file, read.fault)
  const given = jsonIn(file, read.text)
  const known = new Map(Object.entries(metricNames).map(([key, name]) => [name as string, key]))
  const changed: Record<string, string | undefined> = {}
  for (const [name, other] of Object.entries(given)) {
    const key = known.get(name)
    if (key === undefined)
      throw unusable(
        file,
        `has no metric ${JSON.stringify(shortened(name, 80))}; they are: ${[...known.keys()].join(', ')}`,
      )
    if (other !== null && !(typeof other === 'string' && /^[A-Za-z][\w./-]{0,254}$/.test(other)))
      throw unusable(
        file,
        `has a wrong name for ${name}; give a letter, then letters, digits, ., _, / and -, or null`,
      )
    changed[key] = other ?? undefined
  }
  return { ...metricNames, ...changed }
}

const fileBytesMax = 64 * 1024

function jsonIn(file: string, text: string): Record<string, unknown> {
  const value = boundedJson(text, limits.jsonDepthMax)
  if (isObject(value)) return value
  throw unusable(file, value === undefined ? 'is not JSON' : 'must be an object')
}

function unusable(file: string, why: string): WeirError {
  return usageError(printable(`the file ${file} (--metric-names) ${why}`))
}
