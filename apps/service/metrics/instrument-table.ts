// Builds the instruments of a registry from a table with one row for each.

import { Counter, Gauge, Histogram, type Registry } from 'prom-client'

type Row = readonly [name: string, help: string, labels: readonly string[]]
type Rows<R extends readonly unknown[] = Row> = Readonly<Record<string, R>>

export type InstrumentTable = {
  counters: Rows
  histograms: Rows<readonly [...Row, buckets: readonly number[]]>
  gauges: Rows
}

/** Only the labels of the row are accepted. */
type Instruments<T extends InstrumentTable> = {
  [K in keyof T['counters']]: Counter<T['counters'][K][2][number]>
} & { [K in keyof T['histograms']]: Histogram<T['histograms'][K][2][number]> } & {
  [K in keyof T['gauges']]: Gauge<T['gauges'][K][2][number]>
}

/** The registry prints the instruments in the order of the table. */
export function createInstruments<T extends InstrumentTable>(
  registry: Registry,
  { counters, histograms, gauges }: T,
): Instruments<T> {
  const about = ([name, help, labelNames]: readonly [...Row, ...unknown[]]) => {
    return { name, help, labelNames, registers: [registry] }
  }
  return Object.fromEntries([
    ...Object.entries(counters).map(([key, row]) => [key, new Counter(about(row))]),
    ...Object.entries(histograms).map(([key, row]) => [
      key,
      new Histogram({ ...about(row), buckets: [...row[3]] }),
    ]),
    ...Object.entries(gauges).map(([key, row]) => [key, new Gauge(about(row))]),
  ]) as Instruments<T>
}
