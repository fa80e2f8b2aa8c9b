// The summary of a test run: counts, seconds, CPU time and the slowest files by tier, as a file and as a
// table. The CPU time is that of the tests and the processes that they start, without the shared broker.

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
  cpuSeconds: number
  slowest: FileTime[]
}

export type FileTime = { path: string; seconds: number; cpuSeconds: number }

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
      ({ path, seconds, cpuSeconds }) =>
        `${seconds.toFixed(1).padStart(7)}${cpuSeconds.toFixed(1).padStart(8)}  ${path}`,
    )
    return [row(summary.tier, summary, first), ...others.map((file) => `${' '.repeat(47)}${file}`)]
  })
  if (summaries.length > 1) rows.push(row('all', totalOf(summaries)))
  return [
    'tier    passed  failed  skipped  seconds    CPU  seconds    CPU  slowest files',
    ...rows,
  ].join('\n')
}

type Totals = Omit<TierSummary, 'tier' | 'slowest'>

function row(
  tier: string,
  { passed, failed, skipped, seconds, cpuSeconds }: Totals,
  file = '',
): string {
  const counts = [
    `${passed}`.padStart(8),
    `${failed}`.padStart(8),
    `${skipped}`.padStart(9),
    `${Math.round(seconds)}`.padStart(9),
    `${Math.round(cpuSeconds)}`.padStart(7),
  ]
  return `${tier.padEnd(6)}${counts.join('')}${file}`.trimEnd()
}

function totalOf(summaries: readonly TierSummary[]): Totals {
  const sum = (member: keyof Totals) =>
    summaries.reduce((total, summary) => total + summary[member], 0)
  return {
    passed: sum('passed'),
    failed: sum('failed'),
    skipped: sum('skipped'),
    seconds: sum('seconds'),
    cpuSeconds: sum('cpuSeconds'),
  }
}
