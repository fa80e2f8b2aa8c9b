// A worker of a test run: runs one file after another in the same process (runner.ts), and reports the
// CPU time of each file.

import { readFileSync } from 'node:fs'
import type { TestTask } from './runner.ts'

// The package exports its runner alone.
const library = new URL('worker-runner.js', import.meta.resolve('jest-light-runner'))
const { default: run, setWorkerData } = await import(library.href)

export default async function runFile({ path, workerData }: TestTask): Promise<unknown> {
  setWorkerData(workerData)
  const before = cpuSeconds()
  const result = await run(path)
  return { ...result, cpuSeconds: cpuSeconds() - before }
}

/**
 * Of this process and of all processes under it that have ended. Elsewhere than on Linux, of this process
 * alone.
 */
function cpuSeconds(): number {
  try {
    const text = readFileSync('/proc/self/stat', 'utf8')
    // utime, stime, cutime and cstime, in hundredths. The name is in brackets and may contain spaces.
    const ticks = text
      .slice(text.lastIndexOf(')') + 2)
      .split(' ')
      .slice(11, 15)
    return ticks.reduce((sum, count) => sum + Number(count), 0) / 100
  } catch {
    const { user, system } = process.cpuUsage()
    return (user + system) / 1_000_000
  }
}
