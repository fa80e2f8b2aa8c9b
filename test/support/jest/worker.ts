// A worker of a test run: runs one file after another in the same process (runner.ts).

import type { TestTask } from './runner.ts'

// The package exports its runner alone.
const library = new URL('worker-runner.js', import.meta.resolve('jest-light-runner'))
const { default: run, setWorkerData } = await import(library.href)

export default function runFile({ path, workerData }: TestTask): Promise<unknown> {
  setWorkerData(workerData)
  return run(path)
}
