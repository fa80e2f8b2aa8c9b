// Shows the progress of a long read on a terminal, after one second. Shows nothing if the output
// is not a terminal, or the read is short.

import type { Clock, Milliseconds } from '../../shared/lib/clock.ts'

import { createScreen } from './live-screen.ts'
import { bytesText, count, durationText, number } from './text/quantities.ts'

export type Progress = {
  /** Adds to the number of records (or other units) to read. */
  expect(records: number): void
  read(records: number): void
  end(): void
}

const quietMs: Milliseconds = 1_000
const refreshMs: Milliseconds = 200

/**
 * `doing`: the activity. `what`: the counted unit, singular. A `byte` is shown in a fitting unit.
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
 * `reading the log: 120,000 of 1,000,000 records, 40,000 a second, 22 s left`. The rate is the average
 * over the whole time.
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
  return `${doing}: ${number(done)} of ${count(expected, what)}, ${number(Math.round(perSecond))} a second${left}`
}
