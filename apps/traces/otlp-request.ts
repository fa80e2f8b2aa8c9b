// The content of a request to a backend of OpenTelemetry. otlp.ts writes it in OTLP.

import type { Milliseconds } from '../../shared/lib/clock.ts'
import type { Attributes, Span } from './span.ts'

export type TracesRequest = { signal: 'traces'; resource: Attributes; spans: readonly Span[] }

/** Cumulative from `since` to `at`. */
export type MetricsRequest = {
  signal: 'metrics'
  resource: Attributes
  metrics: readonly Metric[]
  since: Milliseconds
  at: Milliseconds
}

/** `unit`: of UCUM; '' is none. */
export type Metric = { name: string; unit: string; description?: string } & (
  | { kind: 'sum' | 'gauge'; points: { attributes: Attributes; value: number }[] }
  | { kind: 'histogram'; bounds: readonly number[]; points: HistogramPoint[] }
)

/** `buckets`: the counts of each bucket, with one more than `bounds`. */
export type HistogramPoint = {
  attributes: Attributes
  count: number
  sum: number
  buckets: readonly number[]
}
