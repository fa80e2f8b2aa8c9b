// The metrics of OpenTelemetry's conventions for generative AI, counted from spans.
// A span counts once, and only if it ends after the start of the command: a second
// reading of the log adds nothing.
// Labels are names from agent files and conventions, never an id. Their number is
// bounded, and further ones are left out.

import type { Milliseconds } from '../../shared/lib/clock.ts'
import { type MetricKey, type MetricNames, names, operations } from './names.ts'
import type { HistogramPoint, Metric } from './otlp-request.ts'
import type { Attributes, AttributeValue, Span } from './span.ts'

export type TurnMetrics = {
  count(span: Span): void
  /** Cumulative since the start. Empty: nothing was counted. */
  all(): Metric[]
}

type Series = HistogramPoint & { buckets: number[] }

/** Upper bounds, as the conventions advise: seconds, tokens or calls. */
const seconds = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96]
const counts = [0, 1, 2, 4, 8, 16, 32, 64, 128, 256]

type Form = { unit: string; bounds: readonly number[] | undefined }

/** `bounds` undefined: a counter. */
const forms: Record<MetricKey, Form> = {
  attemptDuration: { unit: 's', bounds: seconds },
  inputTokens: { unit: '{token}', bounds: undefined },
  outputTokens: { unit: '{token}', bounds: undefined },
  cacheReadTokens: { unit: '{token}', bounds: undefined },
  cacheWriteTokens: { unit: '{token}', bounds: undefined },
  callDuration: { unit: 's', bounds: seconds },
  turnDuration: { unit: 's', bounds: seconds },
  turnAttempts: { unit: '{call}', bounds: counts },
  turnCalls: { unit: '{call}', bounds: counts },
}

/** Of all metrics together. */
const seriesMax = 2_000

export function turnMetrics(metricNames: MetricNames, since: Milliseconds): TurnMetrics {
  const metrics = new Map<MetricKey, Map<string, Series>>()
  let kept = 0

  function add(key: MetricKey, value: number, attributes: Attributes): void {
    const { bounds } = forms[key]
    const all = metrics.get(key) ?? new Map<string, Series>()
    metrics.set(key, all)
    const label = JSON.stringify(attributes)
    let series = all.get(label)
    if (series === undefined) {
      if (kept >= seriesMax) return
      kept += 1
      const buckets = bounds === undefined ? [] : Array.from({ length: bounds.length + 1 }, () => 0)
      series = { attributes, count: 0, sum: 0, buckets }
      all.set(label, series)
    }
    series.count += 1
    series.sum += value
    if (bounds === undefined) return
    const at = bounds.findIndex((bound) => value <= bound)
    const bucket = at < 0 ? bounds.length : at
    series.buckets[bucket] = (series.buckets[bucket] ?? 0) + 1
  }

  return {
    count({ start, end, attributes }) {
      if (end < since) return
      const lasted = Math.max(0, end - start) / 1000
      const label = (...keys: (keyof typeof names)[]) =>
        Object.fromEntries(
          keys.flatMap((key) => {
            const value = attributes[names[key]]
            return value === undefined ? [] : [[names[key], value]]
          }),
        )
      switch (attributes[names.operation]) {
        case operations.attempt: {
          const own = label('operation', 'provider', 'model')
          add('attemptDuration', lasted, { ...own, ...label('errorType') })
          for (const key of tokenKeys) addCount(key, attributes[names[key]], own)
          return
        }
        case operations.call:
          return add('callDuration', lasted, label('operation', 'tool', 'errorType'))
        case operations.turn: {
          const own = label('operation', 'agent')
          add('turnDuration', lasted, { ...own, ...label('errorType') })
          addCount('turnAttempts', attributes[names.rounds], own)
          addCount('turnCalls', attributes[names.calls], own)
          return
        }
        default:
          return
      }

      function addCount(key: MetricKey, value: AttributeValue, own: Attributes): void {
        if (typeof value === 'number') add(key, value, own)
      }
    },

    all: () =>
      [...metrics].flatMap(([key, all]): Metric[] => {
        const name = metricNames[key]
        if (name === undefined) return []
        const { unit, bounds } = forms[key]
        const series = [...all.values()]
        return bounds === undefined
          ? [{ name, unit, kind: 'sum', points: series.map(sumOf) }]
          : [{ name, unit, kind: 'histogram', bounds, points: series }]
      }),
  }
}

function sumOf({ attributes, sum }: Series): { attributes: Attributes; value: number } {
  return { attributes, value: sum }
}

const tokenKeys = ['inputTokens', 'outputTokens', 'cacheReadTokens', 'cacheWriteTokens'] as const
