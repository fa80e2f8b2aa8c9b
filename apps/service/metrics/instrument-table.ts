// Builds the instruments of a registry from a table with one row for each.

import { Counter, Gauge, Histogram, type Registry } from 'prom-client'

type Row =
  | readonly [kind: 'counter' | 'gauge', name: string, help: string, labels: readonly string[]]
  | readonly [
      kind: 'histogram',
      name: string,
      help: string,
      labels: readonly string[],
      buckets: readonly number[],
    ]

export type InstrumentTable = Readonly<Record<string, Row>>

/** Only the labels of the row are accepted. */
type InstrumentOf<R extends Row> = R[0] extends 'counter'
  ? Counter<R[3][number]>
  : R[0] extends 'gauge'
    ? Gauge<R[3][number]>
    : Histogram<R[3][number]>

/** The registry prints the instruments in the order of the table. */
export function createInstruments<T extends InstrumentTable>(
  registry: Registry,
  table: T,
): { [K in keyof T]: InstrumentOf<T[K]> } {
  const instruments = Object.entries(table).map(([key, row]) => [key, instrumentOf(registry, row)])
  return Object.fromEntries(instruments) as { [K in keyof T]: InstrumentOf<T[K]> }
}

function instrumentOf(registry: Registry, [kind, name, help, labels, buckets]: Row) {
  const options = { name, help, labelNames: labels, registers: [registry] }
  switch (kind) {
    case 'counter':
      return new Counter(options)
    case 'gauge':
      return new Gauge(options)
    case 'histogram':
      return new Histogram({ ...options, buckets: [...buckets] })
    default:
      return kind satisfies never
  }
}
