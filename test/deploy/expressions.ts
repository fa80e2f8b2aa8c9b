// Checks an expression of Prometheus against the metrics that the code registers.

import { guardMetricTable } from '../../apps/service/metrics/guard-metrics.ts'
import type { InstrumentTable } from '../../apps/service/metrics/instrument-table.ts'
import { metricTable } from '../../apps/service/metrics/metrics.ts'

/** The last two are of a PodMonitor with `podTargetLabels`. */
const labelsOfPrometheus = ['instance', 'job', 'namespace', 'app_kubernetes_io_instance']

/** The labels of each series that a process exposes, by its name. Prometheus adds some. */
function seriesOf(...tables: InstrumentTable[]): Map<string, Set<string>> {
  const found = new Map<string, Set<string>>()
  const all = (labels: readonly string[]) => new Set([...labels, ...labelsOfPrometheus])
  for (const { counters, histograms, gauges } of tables) {
    for (const [name, , labels] of Object.values({ ...counters, ...gauges }))
      found.set(name, all(labels))
    for (const [name, , labels] of Object.values(histograms))
      for (const suffix of ['_bucket', '_sum', '_count'])
        found.set(name + suffix, all(suffix === '_bucket' ? [...labels, 'le'] : labels))
  }
  return found
}

const known = seriesOf(metricTable, guardMetricTable)
for (const name of ['up', 'process_resident_memory_bytes'])
  known.set(name, new Set(labelsOfPrometheus))

/** Mistakes of an expression: an unknown metric, a label that no metric of it has, open brackets. */
export function mistakesIn(expr: string): string[] {
  const names = [...expr.matchAll(/\b(?:weir_|process_|nodejs_)\w+|\bup\b/g)].map(([name]) => name)
  const unknown = names.filter((name) => !known.has(name)).map((name) => `unknown metric ${name}`)
  const labels = new Set(names.flatMap((name) => [...(known.get(name) ?? [])]))
  const used = [
    ...[...expr.matchAll(/(\w+)\s*(?:=~|!~|!=|=)\s*"/g)].map(([, label]) => label ?? ''),
    ...[...expr.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, list = '']) => list.split(/,\s*/)),
  ]
  const foreign = used.filter((label) => !labels.has(label)).map((label) => `no label ${label}`)
  const isOpen = ['()', '{}', '[]'].some(
    ([open = '', close = '']) => expr.split(open).length !== expr.split(close).length,
  )
  const empty = names.length === 0 ? ['no metric'] : []
  return [...unknown, ...foreign, ...(isOpen ? ['unbalanced brackets'] : []), ...empty]
}
