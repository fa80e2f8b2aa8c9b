// The sandboxes of an executor's tools, checked when it starts: the operator learns of missing
// bubblewrap before the first call.

import type { Logger } from 'pino'
import type { Agents, Tool } from '../../agents/agents.ts'
import { type Found, sandboxBackend } from '../../lib/sandbox/backend.ts'
import { protectPrograms } from '../tool-program.ts'

/** Makes the programs of all tools read-only in each sandbox, and logs why none can be made. */
export function prepareSandboxes(
  agents: Agents,
  log: Pick<Logger, 'error'>,
  backend: () => Found = sandboxBackend,
): void {
  protectPrograms(agents)
  const names = [...agents.values()].flatMap(({ tools }) => tools.filter(hasSandbox).map(nameOf))
  if (names.length === 0) return
  const found = backend()
  if ('missing' in found)
    log.error(
      { tools: names },
      `no sandbox can be made here: ${found.missing}; calls of these tools do not start`,
    )
}

function hasSandbox({ run }: Tool): boolean {
  return 'sandbox' in run && run.sandbox !== undefined && run.sandbox !== 'off'
}

function nameOf({ declaration }: Tool): string {
  return declaration.name
}
