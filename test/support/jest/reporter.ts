// The end of a jest run. For each failed test, prints the command that repeats it alone, the seed and
// the logs of its processes. For a tier, prints the table of counts, seconds, CPU time and slowest files.

import { existsSync, readdirSync, rmdirSync, rmSync } from 'node:fs'
import { relative } from 'node:path'
import {
  type FileSummary,
  summariesOf,
  summaryFolderVariable,
  summaryTable,
  writeSummary,
} from '../../run/summary.ts'
import { runFolderVariable } from '../kafka/broker.ts'
import { busyVariable } from '../wait-limit.ts'
import { logFolderOf, logsFolder, logsVariable } from './process-logs.ts'

type TestFile = { path: string }
type FileResult = {
  numPassingTests: number
  numFailingTests: number
  numPendingTests: number
  numTodoTests: number
  /** Undefined: the worker died. */
  cpuSeconds?: number
  testExecError?: unknown
  testResults: { ancestorTitles: string[]; title: string; status: string }[]
}
const defaultSeed = 1

/** Variables that the runner sets itself. */
const ownVariables = [
  'WEIR_TEST_TIER',
  logsVariable,
  runFolderVariable,
  summaryFolderVariable,
  busyVariable,
]

export default class RunReporter {
  readonly #root: string
  readonly #started = new Map<string, number>()
  readonly #files: FileSummary[] = []
  readonly #begun = performance.now()
  readonly #failures: string[] = []

  constructor({ rootDir }: { rootDir: string }) {
    this.#root = rootDir
  }

  onTestFileStart({ path }: TestFile): void {
    this.#started.set(path, performance.now())
  }

  onTestFileResult({ path }: TestFile, result: FileResult): void {
    const file = relative(this.#root, path)
    const ended = performance.now()
    const isBroken = result.numFailingTests === 0 && result.testExecError != null
    this.#files.push({
      path: file,
      begun: this.#started.get(path) ?? ended,
      ended,
      cpuSeconds: result.cpuSeconds ?? 0,
      passed: result.numPassingTests,
      failed: result.numFailingTests + (isBroken ? 1 : 0),
      skipped: result.numPendingTests + result.numTodoTests,
    })
    const logs = logFolderOf(file)

    if (result.numFailingTests === 0 && !isBroken) {
      if (logs !== undefined) rmSync(logs, { recursive: true, force: true })
      return
    }
    const failed = result.testResults.filter(({ status }) => status === 'failed')
    const failures =
      failed.length === 0
        ? [failureText(file)]
        : failed.map(({ ancestorTitles, title }) => failureText(file, [...ancestorTitles, title]))
    if (logs !== undefined && existsSync(logs)) failures.push(`    logs of its processes: ${logs}`)
    this.#failures.push(...failures)
  }

  onRunComplete(): void {
    if (this.#failures.length > 0)
      print(`Failed with seed ${seed()}. To repeat one alone:\n\n${this.#failures.join('\n')}`)
    const logs = logsFolder()
    if (logs !== undefined && existsSync(logs) && readdirSync(logs).length === 0) rmdirSync(logs)

    const tier = process.env.WEIR_TEST_TIER
    if (tier === undefined) return
    const summaries = summariesOf(this.#files, tier)
    print(summaryTable(summaries, (performance.now() - this.#begun) / 1_000))
    const folder = process.env[summaryFolderVariable]
    if (folder !== undefined) for (const summary of summaries) writeSummary(folder, summary)
  }
}

function failureText(file: string, names: string[] = []): string {
  // A title can be a hook, such as "(beforeAll)". It runs with any test of its file.
  const isTest = names.length > 0 && !/^\((before|after)(All|Each)\)$/.test(names.at(-1) ?? '')
  const pattern = isTest ? `-t "${names.join(' ').replace(/[^\w ,-]/g, '.')}" ` : ''
  const title = names.length > 0 ? names.join(' › ') : file
  return `  ${title}\n    ${variables()}make test ARGS='${pattern}${file}'`
}

function seed(): string {
  return process.env.WEIR_TEST_SEED ?? `${defaultSeed}`
}

/** The variables of this run that tests read. */
function variables(): string {
  return Object.entries(process.env)
    .filter(([name]) => name.startsWith('WEIR_TEST_') && !ownVariables.includes(name))
    .map(([name, value]) => `${name}=${value} `)
    .join('')
}

function print(text: string): void {
  process.stderr.write(`\n${text}\n`)
}
