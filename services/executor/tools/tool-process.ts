// The processes that run tools: what they see of ours, and how one is stopped with all that it
// started.

/**
 * To a process that leads its group, and all others in it. Fails only when none of the group is
 * left, which is what we want.
 */
export function signalGroup(leader: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-leader, signal)
  } catch {}
}

/**
 * Leaders of the groups that run tools now: of the whole process, because it ends as a whole.
 * Nothing is decided by it.
 */
const runningGroups = new Set<number>()

/** From its start until the returned function is called; then its number may become another's. */
export function groupRuns(leader: number): () => void {
  runningGroups.add(leader)
  return () => runningGroups.delete(leader)
}

/**
 * For who ends this process at once: tools in groups of their own would go on without it, and
 * nobody would take their results.
 */
export function killRunningGroups(): void {
  for (const leader of runningGroups) signalGroup(leader, 'SIGKILL')
}

/**
 * All that a tool sees of our environment, where the keys are: PATH, and what the agent file
 * allows.
 */
export function visibleEnvironment(allowed: string[] = []): NodeJS.ProcessEnv {
  return Object.fromEntries(['PATH', ...allowed].map((name) => [name, process.env[name]]))
}
