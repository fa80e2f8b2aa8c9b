// The processes that run tools: what they see of ours, and how one is stopped with all that it started.

/** To a process that leads its group, and all others in it. Fails only when none of the group is left, which is what we want. */
export function signalGroup(leader: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-leader, signal)
  } catch {}
}

/** All that a tool sees of our environment, where the keys are: PATH, and what the agent file allows. */
export function visibleEnvironment(allowed: string[] = []): NodeJS.ProcessEnv {
  return Object.fromEntries(['PATH', ...allowed].map((name) => [name, process.env[name]]))
}
