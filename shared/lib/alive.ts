// Timers of the clock, SQLite and promises do not keep a process alive. Work that must finish does.

const longestMs = 2 ** 31 - 1

/** Keeps the process alive until the returned function is called. */
export function keepAlive(): () => void {
  const timer = setInterval(() => {}, longestMs)
  return () => clearInterval(timer)
}
