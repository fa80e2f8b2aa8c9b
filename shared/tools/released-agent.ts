// A call that runs a turn of another agent, at the shutdown of its executor. The turn goes on
// wherever the stages run next, and a further start of the call waits for the same turn. So the call
// is given back, and nobody cancels the turn.

import type { ToolRun } from '../agents/agents.ts'
import type { RunningTool, ToolEnding } from './tool.ts'

export type Releasable = RunningTool & { release?: () => void }

/** With `release` if the tool runs a turn of an agent. */
export function releasable(run: ToolRun, tool: RunningTool): Releasable {
  if (run.kind !== 'function' || run.runsAgent === undefined) return tool
  const { promise, resolve } = Promise.withResolvers<ToolEnding>()
  return {
    started: tool.started,
    ended: Promise.race([tool.ended, promise]),
    stop: tool.stop,
    release: () => resolve(givenBack),
  }
}

const givenBack: ToolEnding = {
  status: 'skipped',
  text: '',
  reason: '',
  isGivenBack: true,
  goesOn: true,
}
