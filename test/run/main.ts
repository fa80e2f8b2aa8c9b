// Runs the three tiers one after another, also after a failure, and ends with a table. With arguments,
// runs jest once with them. `--busy N` keeps N processes busy meanwhile. `--results FOLDER` keeps the
// summary of each tier.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { busyVariable } from '../support/wait-limit.ts'
import { readSummaries, summaryFolderVariable, summaryTable, tiers } from './summary.ts'

const jest = join(import.meta.dirname, '..', '..', 'node_modules', 'jest', 'bin', 'jest.js')

/** It also ends if its parent was killed. */
const busySource = `
const parent = Number(process.argv[1])
while (process.ppid === parent) {
  const end = performance.now() + 100
  while (performance.now() < end);
}`

const jestArguments = process.argv.slice(2)
const busyCount = Number(takeOption('--busy') ?? 0)
const keptResults = takeOption('--results')

const load = Array.from({ length: busyCount }, () =>
  spawn(process.execPath, ['--eval', busySource, `${process.pid}`], { stdio: 'ignore' }),
)
let jestProcess: ChildProcess | undefined
let isStopped = false
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.on(signal, () => {
    isStopped = true
    jestProcess?.kill(signal)
  })
try {
  process.exitCode = jestArguments.length > 0 ? await runJest({}) : await runTiers()
} finally {
  for (const process of load) process.kill('SIGKILL')
}

async function runTiers(): Promise<number> {
  const results = keptResults ?? mkdtempSync(join(tmpdir(), 'weir-test-results-'))
  let code = 0
  for (const tier of tiers) {
    const ended = await runJest({ WEIR_TEST_TIER: tier, [summaryFolderVariable]: results })
    code ||= ended
    if (isStopped) break
  }
  process.stdout.write(`\n${summaryTable(readSummaries(results))}\n`)
  if (keptResults === undefined) rmSync(results, { recursive: true })
  return code
}

async function runJest(environment: Record<string, string>): Promise<number> {
  jestProcess = spawn(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', jest, ...jestArguments],
    { stdio: 'inherit', env: { ...process.env, ...environment, [busyVariable]: `${busyCount}` } },
  )
  const [code] = await once(jestProcess, 'exit')
  return code ?? 1
}

/** The value of an option, which is taken out of the arguments. */
function takeOption(name: string): string | undefined {
  const at = jestArguments.indexOf(name)
  return at < 0 ? undefined : jestArguments.splice(at, 2)[1]
}
