// Timers of the clock, SQLite and promises do not keep a process alive; work that must not be
// dropped has to.

const longestMs = 2 ** 31 - 1

/** Keeps the process alive until the function that it answers is called. */
export function keepAlive(): () => void {
  const timer = setInterval(() => {}, longestMs)
  return () => clearInterval(timer)
}
