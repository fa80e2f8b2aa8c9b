// Timers of the clock, SQLite and promises do not keep a process alive. Work that must finish does.

const longestMs = 2 ** 31 - 1

/** One timer for all: one for each piece of work would cost more than a short one does. */
let timer: NodeJS.Timeout | undefined
let working = 0

/** Keeps the process alive until the returned function is called. */
export function keepAlive(): () => void {
  let isWorking = true
  working += 1
  timer ??= setInterval(() => {}, longestMs)
  timer.ref()
  return () => {
    if (!isWorking) return
    isWorking = false
    working -= 1
    if (working === 0) timer?.unref()
  }
}
