// The MCP servers of the agents: whether each gives its list of tools, and the tools that are left
// out. A server over a pipe is started, as for its first call, and ended again. No tool is called.

import { closeMcpOf, type McpReading, mcpToolsOf } from '../../../client/agents/mcp-agents.ts'
import type { Agent, Agents } from '../../../shared/agents/agents.ts'
import { createLog } from '../../../shared/lib/log/log.ts'
import { count } from '../../terminal/text/quantities.ts'
import { type Check, ok, warning } from './check.ts'

const name = 'mcp'
const shownMax = 10

export async function mcpChecks(agents: Agents): Promise<Check[]> {
  const checks: Check[] = []
  for (const agent of agents.values()) checks.push(...(await checksOf(agent)))
  return checks
}

async function checksOf(agent: Agent): Promise<Check[]> {
  try {
    const readings = await mcpToolsOf(agent, createLog({ level: 'silent' }))
    return readings.flatMap((reading) => checksIn(agent.name, reading))
  } finally {
    await closeMcpOf(agent)
  }
}

function checksIn(agent: string, reading: McpReading): Check[] {
  const place = `${agent}/${reading.server.name}`
  if ('fault' in reading) return [{ name, state: 'wrong', finding: `${place}: ${reading.fault}` }]
  const { tools, leftOut } = reading
  const given = `${place}: ${count(tools.length, 'tool')}`
  if (leftOut.length === 0) {
    if (tools.length > 0) return [ok(name, given)]
    return [warning(name, `${given}`, 'look at allow and deny of the server in the agent file')]
  }
  const reasons = leftOut.slice(0, shownMax).map(({ tool, reason }) => `${tool} (${reason})`)
  const more = leftOut.length - reasons.length
  return [
    warning(
      name,
      `${given}, ${leftOut.length} left out: ${reasons.join('; ')}${more > 0 ? `; ${more} more` : ''}`,
      'rename them on the server, or exclude them with deny',
    ),
  ]
}
