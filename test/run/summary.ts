// The summary of a test run: counts, seconds, CPU time and the slowest files by tier, as a file and as a
// table. The CPU time is that of the tests and the processes that they start, without the shared broker. The
// tiers of a run overlap: the seconds of a tier are from its first file to its last one.

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** For the reporter: the folder for summaries. */
export const summaryFolderVariable = 'WEIR_TEST_RESULTS'

type Counts = { passed: number; failed: number; skipped: number; cpuSeconds: number }

/** `path`: relative. `begun`, `ended`: milliseconds of one clock. `failed`: a file that does not load is one. */
export type FileSummary = Counts & { path: string; begun: number; ended: number }

/** `files`: the slowest first. */
export type TierSummary = Counts & { tier: string; seconds: number; files: FileTime[] }

type FileTime = { path: string; seconds: number; cpuSeconds: number }

const tiers = ['unit', 'int', 'e2e']
const slowestMax = 5

/** `of`: one tier, or all three. */
export function summariesOf(files: readonly FileSummary[], of: string): TierSummary[] {
  return tiers.flatMap((tier) => {
    const own = of === tier ? files : files.filter(({ path }) => path.includes(`.${tier}.test.`))
    return own.length > 0 && (of === tier || of === 'all') ? [summaryOf(tier, own)] : []
  })
}

function summaryOf(tier: string, files: readonly FileSummary[]): TierSummary {
  const times = files.map(({ path, begun, ended, cpuSeconds }) => {
    return { path, seconds: (ended - begun) / 1_000, cpuSeconds }
  })
  const first = Math.min(...files.map(({ begun }) => begun))
  const last = Math.max(...files.map(({ ended }) => ended))
  return {
    tier,
    ...totalOf(files),
    seconds: (last - first) / 1_000,
    files: times.sort((a, b) => b.seconds - a.seconds),
  }
}

export function writeSummary(folder: string, summary: TierSummary): void {
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, `${summary.tier}.json`), `${JSON.stringify(summary)}\n`)
}

/** `seconds`: of the whole run. */
export function summaryTable(summaries: readonly TierSummary[], seconds: number): string {
  const rows = summaries.flatMap((summary) => {
    const [first, ...others] = summary.files
      .slice(0, slowestMax)
      .map(
        (file) =>
          `${file.seconds.toFixed(1).padStart(7)}${file.cpuSeconds.toFixed(1).padStart(8)}  ${file.path}`,
      )
    return [row(summary.tier, summary, first), ...others.map((file) => `${' '.repeat(47)}${file}`)]
  })
  if (summaries.length > 1) rows.push(row('all', { ...totalOf(summaries), seconds }))
  return [
    'tier    passed  failed  skipped  seconds    CPU  seconds    CPU  slowest files',
    ...rows,
  ].join('\n')
}

function row(
  tier: string,
  { passed, failed, skipped, seconds, cpuSeconds }: Counts & { seconds: number },
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

function totalOf(parts: readonly Counts[]): Counts {
  const sum = (member: keyof Counts) => parts.reduce((total, part) => total + part[member], 0)
  return {
    passed: sum('passed'),
    failed: sum('failed'),
    skipped: sum('skipped'),
    cpuSeconds: sum('cpuSeconds'),
  }
}
