// The stall limit: tells when nothing was heard for too long (I5.3). Bytes only move a time; one timer looks at it now and then, because a
// stream of small pieces would otherwise set a timer for each of them.

import type { Clock, Milliseconds } from '../../shared/clock.ts'

export type SilenceWatch = {
  /** Something came. */
  heard(): void
  /** Not the other side but we are slow now; the silence counts from `resume` on. */
  pause(): void
  resume(): void
  stop(): void
}

/** Calls `tooLong` once, when `silenceMsMax` have passed on the monotonic clock since the start or since anything was heard. */
export function watchSilence(clock: Clock, silenceMsMax: Milliseconds, tooLong: () => void): SilenceWatch {
  let heardAt = clock.monotonic()
  let paused = false
  let cancel = clock.after(silenceMsMax, look)

  function look(): void {
    if (paused) heardAt = clock.monotonic()
    const left = heardAt + silenceMsMax - clock.monotonic()
    if (left <= 0) tooLong()
    else cancel = clock.after(left, look)
  }

  return {
    heard() {
      heardAt = clock.monotonic()
    },
    pause() {
      paused = true
    },
    resume() {
      paused = false
      heardAt = clock.monotonic()
    },
    stop: () => cancel(),
  }
}
