// The processes that run tools: their environment, and how to stop one with all that it started.

/** Signals a group by its leader. Fails only if no process of the group is left, which is fine. */
export function signalGroup(leader: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-leader, signal)
  } catch {}
}

/**
 * Leaders of the groups that run tools now. For the whole process, because it ends as a whole. No
 * decision depends on it.
 */
const runningGroups = new Set<number>()

/**
 * From its start until the returned function is called. Then another process may get its number.
 */
export function groupRuns(leader: number): () => void {
  runningGroups.add(leader)
  return () => runningGroups.delete(leader)
}

/**
 * For an immediate end of this process: tools in their own groups would run on, without a reader of
 * their results.
 */
export function killRunningGroups(): void {
  for (const leader of runningGroups) signalGroup(leader, 'SIGKILL')
}

/**
 * The environment of a tool: PATH, and the variables that the agent file allows. Ours holds the
 * keys.
 */
export function visibleEnvironment(allowed: string[] = []): NodeJS.ProcessEnv {
  return Object.fromEntries(['PATH', ...allowed].map((name) => [name, process.env[name]]))
}
