// Runs the three tiers together, and ends with a table. With arguments, runs jest with them. `--busy N`
// keeps N processes busy meanwhile. `--results FOLDER` keeps the summary of each tier.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { busyVariable } from '../support/wait-limit.ts'
import { summaryFolderVariable } from './summary.ts'

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
const environment: Record<string, string> = { [busyVariable]: `${busyCount}` }
if (jestArguments.length === 0) environment.WEIR_TEST_TIER = 'all'
if (keptResults !== undefined) environment[summaryFolderVariable] = keptResults
const jestProcess = spawn(
  process.execPath,
  ['--disable-warning=ExperimentalWarning', jest, ...jestArguments],
  { stdio: 'inherit', env: { ...process.env, ...environment } },
)
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.on(signal, () => jestProcess.kill(signal))
try {
  const [code] = await once(jestProcess, 'exit')
  process.exitCode = code ?? 1
} finally {
  for (const process of load) process.kill('SIGKILL')
}

/** The value of an option, which is taken out of the arguments. */
function takeOption(name: string): string | undefined {
  const at = jestArguments.indexOf(name)
  return at < 0 ? undefined : jestArguments.splice(at, 2)[1]
}
