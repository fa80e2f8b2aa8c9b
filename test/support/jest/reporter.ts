// The end of a jest run. For each failed test, prints the command that repeats it alone, the seed and
// the logs of its processes. For a tier, prints the table of counts, seconds, CPU time and slowest files.

import { existsSync, readdirSync, rmdirSync, rmSync } from 'node:fs'
import { relative } from 'node:path'
import {
  type FileTime,
  summaryFolderVariable,
  summaryTable,
  writeSummary,
} from '../../run/summary.ts'
import { runFolderVariable } from '../kafka/broker.ts'
import { busyVariable } from '../wait-limit.ts'
import { logFolderOf, logsFolder, logsVariable } from './process-logs.ts'

type TestFile = { path: string }
type FileResult = {
  numFailingTests: number
  /** Undefined: the worker died. */
  cpuSeconds?: number
  testExecError?: unknown
  testResults: { ancestorTitles: string[]; title: string; status: string }[]
}
type RunResult = {
  numPassedTests: number
  numFailedTests: number
  numPendingTests: number
  numTodoTests: number
  numRuntimeErrorTestSuites: number
  startTime: number
}

const slowestMax = 5
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
  readonly #files: FileTime[] = []
  readonly #failures: string[] = []

  constructor({ rootDir }: { rootDir: string }) {
    this.#root = rootDir
  }

  onTestFileStart({ path }: TestFile): void {
    this.#started.set(path, performance.now())
  }

  onTestFileResult({ path }: TestFile, result: FileResult): void {
    const file = relative(this.#root, path)
    const started = this.#started.get(path) ?? performance.now()
    const seconds = (performance.now() - started) / 1_000
    this.#files.push({ path: file, seconds, cpuSeconds: result.cpuSeconds ?? 0 })
    const logs = logFolderOf(file)

    if (result.numFailingTests === 0 && result.testExecError == null) {
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

  onRunComplete(_contexts: unknown, result: RunResult): void {
    if (this.#failures.length > 0)
      print(`Failed with seed ${seed()}. To repeat one alone:\n\n${this.#failures.join('\n')}`)
    const logs = logsFolder()
    if (logs !== undefined && existsSync(logs) && readdirSync(logs).length === 0) rmdirSync(logs)

    const tier = process.env.WEIR_TEST_TIER
    if (tier === undefined) return
    const summary = {
      tier,
      passed: result.numPassedTests,
      failed: result.numFailedTests + result.numRuntimeErrorTestSuites,
      skipped: result.numPendingTests + result.numTodoTests,
      seconds: (Date.now() - result.startTime) / 1_000,
      cpuSeconds: this.#files.reduce((sum, { cpuSeconds }) => sum + cpuSeconds, 0),
      slowest: this.#files.sort((a, b) => b.seconds - a.seconds).slice(0, slowestMax),
    }
    const folder = process.env[summaryFolderVariable]
    if (folder === undefined) print(summaryTable([summary]))
    else writeSummary(folder, summary)
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
