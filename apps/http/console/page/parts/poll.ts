// Data of a page that is read now and again while the page is open.

import { read } from './server.ts'

export type Polled<T> = {
  readonly data: T | undefined
  readonly problem: string | null
  /** Reads at once, and again every few seconds until `leave`. Cancels the request before. */
  open(path: string): void
  /** Reads again now. */
  refresh(): void
  leave(): void
}

export function polled<T>(onChange: () => void, everyMs: number | null): Polled<T> {
  let data: T | undefined
  let problem: string | null = null
  let path: string | undefined
  let running = new AbortController()
  let timer: ReturnType<typeof setTimeout> | undefined

  async function load(): Promise<void> {
    if (path === undefined) return
    running.abort()
    clearTimeout(timer)
    const own = new AbortController()
    running = own
    try {
      const found = await read<T>(path, own.signal)
      if (own.signal.aborted) return
      data = found
      problem = null
    } catch (error) {
      if (own.signal.aborted) return
      problem = error instanceof Error ? error.message : String(error)
    }
    onChange()
    if (everyMs !== null) timer = setTimeout(() => void load(), everyMs)
  }

  return {
    get data() {
      return data
    },
    get problem() {
      return problem
    },
    open(given) {
      if (path !== given) data = undefined
      problem = null // of a reading before, maybe with another key
      path = given
      void load()
      onChange()
    },
    refresh: () => void load(),
    leave() {
      path = undefined
      running.abort()
      clearTimeout(timer)
    },
  }
}
