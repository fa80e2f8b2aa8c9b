// Runs the test files of a run in worker processes. The runner of jest-light-runner sends the
// configuration to its workers on its own, and one that still loads modules misses it and waits for
// ever. Here each file carries it.
// TEST-RUNNER-1. A file that runs far too long fails, and its worker ends.
// TEST-RUNNER-2. No later file shares a worker with work that a limit cut off.
// TEST-RUNNER-3. A run of all tiers has further workers of low priority for the files that compute. They
//     use the cores while the other files wait, and do not slow the processes of those.

import { availableParallelism } from 'node:os'
import Tinypool from 'tinypool'

import { limitText, patience } from '../wait-limit.ts'
import { computes } from './computing.ts'

/** `path`: absolute. */
type TestFile = { path: string; context: { config: object } }
type FileResult = { failureMessage: string }

/** A worker gets the file, and the configuration of the run and of the project. */
export type TestTask = { path: string; workerData: object }

/** For a worker: its priority, 0 to 19. */
export const niceVariable = 'WEIR_TEST_NICE'

/** The longest file takes three minutes on an idle machine. */
const fileLimitMs = 30 * 60_000
const lookMs = 10_000
/** A tenth of the CPU time of a usual process, if both want all of a core. */
const lowPriority = 10

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
    const waiting = files.filter(({ path }) => !computes(path))
    const computing = files.filter(({ path }) => computes(path))
    const runAll = async (pool: Tinypool, lanes: TestFile[][]) => {
      const next = () => lanes.find(({ length }) => length > 0)?.shift()
      for (let file = next(); file !== undefined; file = next()) {
        if (watcher.isInterrupted()) return
        await onStart(file)
        const run = this.#run(pool, file)
        await run.then(
          (result) => onResult(file, result),
          (error) => onFailure(file, error),
        )
      }
    }
    const runIn = async (workers: number, nice: number, lanes: TestFile[][]) => {
      const pool = poolOf(workers, nice)
      await Promise.all(Array.from({ length: workers }, () => runAll(pool, lanes)))
      await pool.destroy()
    }

    const workers = Math.min(this.#globalConfig.maxWorkers, files.length)
    const pools = [runIn(workers, 0, [waiting, computing])]
    if (workers > 1 && waiting.length > 0 && computing.length > 0)
      pools.push(
        runIn(Math.min(availableParallelism(), computing.length), lowPriority, [computing]),
      )
    await Promise.all(pools)
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

/** `nice`: the priority of its workers, and of the processes that they start. */
function poolOf(workers: number, nice: number): Tinypool {
  return new Tinypool({
    filename: new URL('worker.ts', import.meta.url).href,
    runtime: 'child_process',
    minThreads: workers,
    maxThreads: workers,
    env: { ...(process.env as Record<string, string>), [niceVariable]: `${nice}` },
  })
}
