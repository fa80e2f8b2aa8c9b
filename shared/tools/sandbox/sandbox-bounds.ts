// Watches all processes of a sandbox together: their memory and their number. `prlimit` bounds each
// process only, has no bound on the processes of root, and counts memory that a runtime reserves and
// never uses.
// An excess ends the whole sandbox. A burst can be shorter than the time between
// two looks, so the bounds of `prlimit` stay after it.

import { readdirSync, readFileSync } from 'node:fs'
import type { Clock, Milliseconds } from '../../lib/clock.ts'
import { launchersMax } from '../../lib/sandbox/process-cap.ts'

export type Bounds = { memoryBytes: number; processes: number }

const betweenMs: Milliseconds = 100

/** Calls `exceeded` once, with the bound. `leader`: the started process. Returns how to end it. */
export function watchBounds(
  leader: number,
  bounds: Bounds,
  clock: Clock,
  exceeded: (what: string) => void,
): () => void {
  let cancel = clock.after(betweenMs, look)
  return () => cancel()

  function look(): void {
    const what = excess(leader, bounds)
    if (what !== undefined) return exceeded(what)
    cancel = clock.after(betweenMs, look)
  }
}

/** The bound that the processes below `leader` exceed. Reads no more of them than needed. */
function excess(leader: number, { memoryBytes, processes }: Bounds): string | undefined {
  const open = childrenOf(leader).pids
  let memory = 0
  let tasks = 0
  for (let pid = open.pop(); pid !== undefined; pid = open.pop()) {
    const { pids, threads } = childrenOf(pid)
    open.push(...pids)
    tasks += threads
    memory += memoryOf(pid)
    if (memory > memoryBytes) return `${Math.round(memoryBytes / 2 ** 20)} MiB of memory`
    if (tasks + open.length > processes + launchersMax) return `${processes} processes`
  }
  return undefined
}

/** An ended process has none. */
function childrenOf(pid: number): { pids: number[]; threads: number } {
  try {
    const threads = readdirSync(`/proc/${pid}/task`)
    const pids = threads.flatMap((thread) =>
      readFileSync(`/proc/${pid}/task/${thread}/children`, 'latin1').split(' ').flatMap(numberIn),
    )
    return { pids, threads: threads.length }
  } catch {
    return { pids: [], threads: 0 }
  }
}

function numberIn(text: string): number[] {
  return text === '' ? [] : [Number(text)]
}

/** Bytes that are its own: not those of files, which processes share. */
function memoryOf(pid: number): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'latin1')
    const parts = [...status.matchAll(/^Rss(?:Anon|Shmem):\s+(\d+) kB$/gm)]
    return parts.reduce((sum, [, kibibytes]) => sum + Number(kibibytes) * 1024, 0)
  } catch {
    return 0
  }
}
