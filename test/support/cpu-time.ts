// The cost of an act in CPU time, which other processes of the machine do not change.

/** In milliseconds. */
export function cpuMsOf(act: () => void): number {
  const before = process.cpuUsage()
  act()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1_000
}
