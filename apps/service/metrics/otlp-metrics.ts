// The metrics of a registry of prom-client as those of OpenTelemetry.

import type { MetricObjectWithValues, MetricValue } from 'prom-client'
import type { HistogramPoint, Metric } from '../../traces/otlp-request.ts'

type Found = MetricObjectWithValues<MetricValue<string>>

/** The metrics of a registry. A metric without values is left out. */
export function otlpMetrics(found: readonly Found[]): Metric[] {
  return found
    .filter(({ values }) => values.length > 0)
    .map((metric): Metric => {
      const { name, help: description, values } = metric
      const about = { name, description, unit: unitOf(name) }
      // The library has names here, and its types have numbers.
      if (`${metric.type}` === 'histogram') return { ...about, ...histogramOf(metric) }
      const kind = `${metric.type}` === 'counter' ? 'sum' : 'gauge'
      const points = values.map(({ labels, value }) => ({ attributes: labels, value }))
      return { ...about, kind, points }
    })
}

/** The units of UCUM for the ends of our names. */
function unitOf(name: string): string {
  const plain = name.replace(/_total$/, '')
  if (plain.endsWith('_seconds')) return 's'
  return plain.endsWith('_bytes') ? 'By' : ''
}

/** The library counts all values up to a bound, and OTLP those between two bounds. */
function histogramOf({ name, values }: Found): {
  kind: 'histogram'
  bounds: number[]
  points: HistogramPoint[]
} {
  const points = new Map<string, HistogramPoint & { upTo: [bound: number, count: number][] }>()
  for (const { labels, metricName, value } of values as (MetricValue<string> & {
    metricName?: string
  })[]) {
    const { le, ...attributes } = labels as Record<string, string | number>
    const key = JSON.stringify(attributes)
    const point = points.get(key) ?? { attributes, count: 0, sum: 0, buckets: [], upTo: [] }
    points.set(key, point)
    if (metricName === `${name}_sum`) point.sum = value
    else if (metricName === `${name}_count`) point.count = value
    else if (le !== '+Inf') point.upTo.push([Number(le), value])
  }
  const all = [...points.values()]
  const bounds = (all[0]?.upTo ?? []).map(([bound]) => bound)
  return {
    kind: 'histogram',
    bounds,
    points: all.map(({ upTo, ...point }) => {
      const counts = [...upTo.map(([, count]) => count), point.count]
      return { ...point, buckets: counts.map((count, at) => count - (counts[at - 1] ?? 0)) }
    }),
  }
}
