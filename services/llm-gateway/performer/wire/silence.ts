// The stall limit (I5.3). It fires if no byte arrives for too long, sooner before the first one, or if
// only keep-alives arrive for too long. Without the last limit, a server that sends only comments could hold a round as
// long as its turn may last.
// A byte only moves a timestamp, which one timer checks: a timer for each small piece would cost
// more.

import type { Clock, Milliseconds } from '../../../../shared/lib/clock.ts'

export type SilenceWatch = {
  /** A byte arrived. */
  onBytes(): void
  /** A piece of the answer arrived. */
  onAnswer(): void
  /** Stops the count while this process is slow; `resume` starts it anew. */
  pause(): void
  resume(): void
  stop(): void
}

/**
 * Monotonic milliseconds to the first byte, without a byte, and without a piece of the answer. Before
 * the first byte the lower of `first` and `silent` counts.
 */
export type SilenceLimits = { first: Milliseconds; silent: Milliseconds; wordless: Milliseconds }

/**
 * A timer this late means that the process stood still. That time does not count, and bytes may
 * wait in the socket, which Node reads only after the timers. So the watch checks once more after
 * that read.
 */
const lateMsMax = 10

/**
 * Calls `tooLong` once with the limit that was reached. Each limit counts from the start or from
 * the last event of its kind.
 */
export function watchSilence(
  clock: Clock,
  limits: SilenceLimits,
  tooLong: (limit: keyof SilenceLimits) => void,
): SilenceWatch {
  let bytesAt = clock.monotonic()
  let answerAt = bytesAt
  let paused = false
  let hasBytes = false
  let dueAt = bytesAt + Math.min(limits.first, limits.silent, limits.wordless)
  let isSecondCheck = false
  let cancel = clock.after(dueAt - bytesAt, check)

  function check(): void {
    const now = clock.monotonic()
    if (paused) countAnew()
    const late = now - dueAt
    if (late > lateMsMax) {
      bytesAt = Math.min(now, bytesAt + late)
      answerAt = Math.min(now, answerAt + late)
    }
    const left = {
      first: hasBytes ? Number.POSITIVE_INFINITY : bytesAt + limits.first - now,
      silent: bytesAt + limits.silent - now,
      wordless: answerAt + limits.wordless - now,
    }
    const wait = Math.min(left.first, left.silent, left.wordless)
    if (wait > 0) checkIn(wait)
    else if (late > lateMsMax && !isSecondCheck) checkIn(0)
    else if (left.silent <= 0) tooLong('silent')
    else tooLong(left.first <= 0 ? 'first' : 'wordless')
  }

  function checkIn(wait: Milliseconds): void {
    isSecondCheck = wait === 0
    dueAt = clock.monotonic() + wait
    cancel = clock.after(wait, check)
  }

  function countAnew(): void {
    bytesAt = clock.monotonic()
    answerAt = bytesAt
  }

  return {
    onBytes() {
      hasBytes = true
      bytesAt = clock.monotonic()
    },
    onAnswer() {
      answerAt = clock.monotonic()
    },
    pause() {
      paused = true
    },
    resume() {
      paused = false
      countAnew()
    },
    stop: () => cancel(),
  }
}
