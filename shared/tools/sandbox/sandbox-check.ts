// The sandboxes of all tools and MCP servers of the loaded agents, declared before the first program
// starts. An executor also checks them: the operator learns of missing bubblewrap before the first call.

import type { Logger } from 'pino'
import type { Agents, McpServer, Tool } from '../../agents/agents.ts'
import { type Found, sandboxBackend } from '../../lib/sandbox/backend.ts'
import { protectPrograms } from '../tool-program.ts'
import { declareSandbox } from './sandboxed.ts'

/** Makes the programs of all tools read-only in each sandbox, and declares each writable folder. */
export function declareSandboxes(agents: Agents): void {
  protectPrograms(agents)
  for (const { tools, mcp = [] } of agents.values()) {
    for (const { run } of tools)
      if (run.kind === 'command' || run.kind === 'module') declareSandbox(run)
    declareServers(mcp)
  }
}

export function declareServers(servers: readonly McpServer[]): void {
  for (const { run } of servers) if (run.kind === 'command') declareSandbox(run)
}

/** Declares the sandboxes, and logs why none can be made. */
export function prepareSandboxes(
  agents: Agents,
  log: Pick<Logger, 'error'>,
  backend: () => Found = sandboxBackend,
): void {
  declareSandboxes(agents)
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
