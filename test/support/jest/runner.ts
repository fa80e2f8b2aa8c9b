// Runs the test files of a run in worker processes. jest-light-runner sends the configuration to
// workers on its own. A worker that still loads modules misses the message and waits for ever. Here
// each file carries it.
// TEST-RUNNER-1. A file that runs far too long fails, and its worker ends.
// TEST-RUNNER-2. No later file shares a worker with work that a limit cut off.

import Tinypool from 'tinypool'
import { limitText, patience } from '../wait-limit.ts'

/** `path`: absolute. */
type TestFile = { path: string; context: { config: object } }
type FileResult = { failureMessage: string }

/** A worker gets the file, and the configuration of the run and of the project. */
export type TestTask = { path: string; workerData: object }

/** The longest file takes three minutes on an idle machine. */
const fileLimitMs = 30 * 60_000
const lookMs = 10_000

/** Jest makes one for a run. */
export default class ProcessRunner {
  readonly #globalConfig: { maxWorkers: number }

  constructor(globalConfig: { maxWorkers: number }) {
    this.#globalConfig = globalConfig
  }

  async runTests(
    files: TestFile[],
    watcher: { isInterrupted(): boolean },
    onStart: (file: TestFile) => Promise<void>,
    onResult: (file: TestFile, result: FileResult) => Promise<void>,
    onFailure: (file: TestFile, error: unknown) => Promise<void>,
  ): Promise<void> {
    const workers = Math.min(this.#globalConfig.maxWorkers, files.length)
    const pool = new Tinypool({
      filename: new URL('worker.ts', import.meta.url).href,
      runtime: 'child_process',
      minThreads: workers,
      maxThreads: workers,
      env: process.env as Record<string, string>,
    })
    const waiting = [...files]
    const runAll = async () => {
      for (let file = waiting.shift(); file !== undefined; file = waiting.shift()) {
        if (watcher.isInterrupted()) return
        await onStart(file)
        const run = this.#run(pool, file)
        await run.then(
          (result) => onResult(file, result),
          (error) => onFailure(file, error),
        )
      }
    }
    await Promise.all(Array.from({ length: workers }, runAll))
    await pool.destroy()
  }

  /** Keeps TEST-RUNNER-1 and TEST-RUNNER-2. */
  async #run(pool: Tinypool, { path, context }: TestFile): Promise<FileResult> {
    const workerData = {
      globalConfig: this.#globalConfig,
      projectConfig: context.config,
      runtime: 'child_process',
    }
    const limit = new AbortController()
    const begun = performance.now()
    const watch = setInterval(() => {
      if (performance.now() - begun > fileLimitMs * patience()) limit.abort()
    }, lookMs)
    try {
      const task: TestTask = { path, workerData }
      const result: FileResult = await pool.run(task, { signal: limit.signal })
      if (result.failureMessage.includes(limitText)) await pool.recycleWorkers()
      return result
    } catch (error) {
      if (!limit.signal.aborted) throw error
      const text = `The file took longer than ${fileLimitMs / 60_000} minutes.`
      throw new Error(text, { cause: error })
    } finally {
      clearInterval(watch)
    }
  }
}
