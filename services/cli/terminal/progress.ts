// How far a long reading has come, on a terminal, when it takes over a second. Elsewhere, and in a short one, nothing is shown.

import type { Clock, Milliseconds } from '../../../shared/clock.ts'
import { createScreen } from './live-screen.ts'
import { count } from './quantities.ts'

export type Progress = {
  /** So many more records are to be read. */
  expect(records: number): void
  read(records: number): void
  end(): void
}

const quietMs: Milliseconds = 1_000
const refreshMs: Milliseconds = 200

export function createProgress(out: NodeJS.WriteStream, clock: Clock, environment: NodeJS.ProcessEnv): Progress {
  if (out.isTTY !== true) return { expect() {}, read() {}, end() {} }
  const screen = createScreen(out, environment)
  let expected = 0
  let done = 0
  let showAt = clock.monotonic() + quietMs
  return {
    expect(records) {
      expected += records
    },
    read(records) {
      done += records
      const now = clock.monotonic()
      if (now < showAt) return
      showAt = now + refreshMs
      screen.live({ text: `reading the log: ${done} of ${count(Math.max(expected, done), 'record')}`, tone: 'faint' })
    },
    end: () => screen.live(undefined),
  }
}
