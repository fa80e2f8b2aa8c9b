// The summary of a test run: counts, seconds and the slowest files by tier, as a file and as a table.

import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** For the reporter: the folder for summaries. */
export const summaryFolderVariable = 'WEIR_TEST_RESULTS'

/** `failed` also counts each file that could not be loaded. */
export type TierSummary = {
  tier: string
  passed: number
  failed: number
  skipped: number
  seconds: number
  slowest: { path: string; seconds: number }[]
}

export const tiers = ['unit', 'int', 'e2e'] as const

export function writeSummary(folder: string, summary: TierSummary): void {
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, `${summary.tier}.json`), `${JSON.stringify(summary)}\n`)
}

/** In the order of the tiers. */
export function readSummaries(folder: string): TierSummary[] {
  const place = ({ tier }: TierSummary) => (tiers as readonly string[]).indexOf(tier)
  return readdirSync(folder)
    .map((file) => JSON.parse(readFileSync(join(folder, file), 'utf8')) as TierSummary)
    .sort((a, b) => place(a) - place(b))
}

export function summaryTable(summaries: readonly TierSummary[]): string {
  const rows = summaries.flatMap((summary) => {
    const [first, ...others] = summary.slowest.map(
      ({ path, seconds }) => `${seconds.toFixed(1).padStart(7)}  ${path}`,
    )
    return [row(summary.tier, summary, first), ...others.map((file) => `${' '.repeat(40)}${file}`)]
  })
  if (summaries.length > 1) rows.push(row('all', totalOf(summaries)))
  return ['tier    passed  failed  skipped  seconds  slowest files', ...rows].join('\n')
}

function row(
  tier: string,
  { passed, failed, skipped, seconds }: Omit<TierSummary, 'tier' | 'slowest'>,
  file = '',
): string {
  const counts = [
    `${passed}`.padStart(8),
    `${failed}`.padStart(8),
    `${skipped}`.padStart(9),
    `${Math.round(seconds)}`.padStart(9),
  ]
  return `${tier.padEnd(6)}${counts.join('')}${file}`.trimEnd()
}

function totalOf(summaries: readonly TierSummary[]): Omit<TierSummary, 'tier' | 'slowest'> {
  const sum = (member: 'passed' | 'failed' | 'skipped' | 'seconds') =>
    summaries.reduce((total, summary) => total + summary[member], 0)
  return {
    passed: sum('passed'),
    failed: sum('failed'),
    skipped: sum('skipped'),
    seconds: sum('seconds'),
  }
}
