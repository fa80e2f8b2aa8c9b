// A recorded tool as a shell script, which costs a fraction of a Node process, for tests with many
// calls. It records its start and answers `done with <arguments>`.

import type { CommandTool } from '../../shared/agents/agents.ts'
import type { Declaration } from '../../shared/contract/messages.ts'
import { type RecordedTool, recordedTool } from './pipeline.ts'

/** Writes the key as raw JSON, because a shell would need another process to quote it. */
const program = `read -r arguments
printf '{"key":%s}\\n' "$WEIR_IDEMPOTENCY_KEY" >> "$0"
printf 'done with %s' "$arguments"`

export function quickTool(
  tool: RecordedTool,
  startsFile: string,
): { declaration: Declaration; run: CommandTool } {
  return {
    ...recordedTool(tool, startsFile),
    run: { kind: 'command', argv: ['/bin/sh', '-c', program, startsFile] },
  }
}
