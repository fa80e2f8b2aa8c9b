// Shared limits: the requests that a limited provider refuses, and the part of its limit that is used.
// Does not measure: real providers, the stages around the request, Kafka's delay, two machines' clocks.

import { type LimitsCase, limitsFigures, refusedShare } from '../support/limited-provider.ts'
import type { Row } from './row.ts'

const names: Record<LimitsCase, string> = {
  limits: 'limits: { requestsPerMinute: 20 }',
  learned: 'no limits in the file, from the second minute on',
  alone: 'each conversation waits alone',
}

export async function benchLimits(): Promise<Row[]> {
  const rows: Row[] = []
  for (const how of Object.keys(names) as LimitsCase[]) {
    const figures = await limitsFigures(how, 30)
    const { accepted, possible } = figures
    rows.push(
      { name: `${names[how]}: refused`, value: 100 * refusedShare(figures, how), unit: '%' },
      { name: `${names[how]}: accepted`, value: (100 * accepted) / possible, unit: '%' },
    )
  }
  return rows
}
