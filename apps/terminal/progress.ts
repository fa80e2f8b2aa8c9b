// How far a long reading has come, on a terminal, when it takes over a second. Elsewhere, and in a
// short one, nothing is shown.

import type { Clock, Milliseconds } from '../../shared/lib/clock.ts'

import { createScreen } from './live-screen.ts'
import { bytesText, count, durationText } from './quantities.ts'

export type Progress = {
  /** So many more records, or whatever it counts, are to be read. */
  expect(records: number): void
  read(records: number): void
  end(): void
}

const quietMs: Milliseconds = 1_000
const refreshMs: Milliseconds = 200

/**
 * `doing`, `what`: in words, and one of what is counted. A `byte` is shown in the unit that fits.
 */
export type ProgressWords = { doing: string; what: string }

const readingTheLog: ProgressWords = { doing: 'reading the log', what: 'record' }

export function createProgress(
  out: NodeJS.WriteStream,
  clock: Clock,
  environment: NodeJS.ProcessEnv,
  words = readingTheLog,
): Progress {
  if (out.isTTY !== true) return { expect() {}, read() {}, end() {} }
  const screen = createScreen(out, environment)
  const startedAt = clock.monotonic()
  let expected = 0
  let done = 0
  let showAt = startedAt + quietMs
  return {
    expect(records) {
      expected += records
    },
    read(records) {
      done += records
      const now = clock.monotonic()
      if (now < showAt) return
      showAt = now + refreshMs
      screen.live({
        text: progressText(
          { done, expected: Math.max(expected, done), ms: now - startedAt },
          words,
        ),
        tone: 'faint',
      })
    },
    end: () => screen.live(undefined),
  }
}

/**
 * `reading the log: 120000 of 1000000 records, 40000 a second, 22 s left`; the rate is that of the
 * whole time so far.
 */
export function progressText(
  { done, expected, ms }: { done: number; expected: number; ms: Milliseconds },
  { doing, what } = readingTheLog,
): string {
  const perSecond = (done / Math.max(1, ms)) * 1000
  const left =
    perSecond === 0 ? '' : `, ${durationText(((expected - done) / perSecond) * 1000)} left`
  if (what === 'byte')
    return `${doing}: ${bytesText(done)} of ${bytesText(expected)}, ${bytesText(perSecond)} a second${left}`
  return `${doing}: ${done} of ${count(expected, what)}, ${Math.round(perSecond)} a second${left}`
}
