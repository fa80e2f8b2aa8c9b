// The stall limit: tells when nothing was heard for too long (I5.3), and when there were only signs
// of life for too long: a server that sends a comment every few seconds and never an answer would
// else hold a round for as long as its turn may last. Bytes only move a time; one timer looks at it
// now and then, because a stream of small pieces would otherwise set a timer for each of them.

import type { Clock, Milliseconds } from '../../../shared/lib/clock.ts'

export type SilenceWatch = {
  /** Something came, whatever it was. */
  heard(): void
  /** Something of an answer came. */
  said(): void
  /** Not the other side but we are slow now; the silence counts from `resume` on. */
  pause(): void
  resume(): void
  stop(): void
}

/** In milliseconds on the monotonic clock: without a byte, and without anything of an answer. */
export type SilenceLimits = { silent: Milliseconds; wordless: Milliseconds }

/**
 * A timer that is so late says that this process stood still: that time does not count, and what
 * came meanwhile waits in its socket, which is read only after the timers. So the silence is looked
 * at once more, when it has been read.
 */
const lateMsMax = 10

/**
 * Calls `tooLong` once, with the limit that was reached, counted from the start or from what was
 * heard or said last.
 */
export function watchSilence(
  clock: Clock,
  limits: SilenceLimits,
  tooLong: (limit: keyof SilenceLimits) => void,
): SilenceWatch {
  let heardAt = clock.monotonic()
  let saidAt = heardAt
  let paused = false
  let dueAt = heardAt + Math.min(limits.silent, limits.wordless)
  let isSecondLook = false
  let cancel = clock.after(dueAt - heardAt, look)

  function look(): void {
    const now = clock.monotonic()
    if (paused) countAnew()
    const late = now - dueAt
    if (late > lateMsMax) {
      heardAt = Math.min(now, heardAt + late)
      saidAt = Math.min(now, saidAt + late)
    }
    const left = { silent: heardAt + limits.silent - now, wordless: saidAt + limits.wordless - now }
    const wait = Math.min(left.silent, left.wordless)
    if (wait > 0) lookIn(wait)
    else if (late > lateMsMax && !isSecondLook) lookIn(0)
    else tooLong(left.silent <= 0 ? 'silent' : 'wordless')
  }

  function lookIn(wait: Milliseconds): void {
    isSecondLook = wait === 0
    dueAt = clock.monotonic() + wait
    cancel = clock.after(wait, look)
  }

  function countAnew(): void {
    heardAt = clock.monotonic()
    saidAt = heardAt
  }

  return {
    heard() {
      heardAt = clock.monotonic()
    },
    said() {
      saidAt = clock.monotonic()
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
