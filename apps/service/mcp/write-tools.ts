// `weir mcp tools`: writes the tools of the MCP servers of agents into the files that `toolsFile` names,
// for processes that cannot reach the servers. Exit codes: 0 all are written, 1 a server gave no list.

import { relative } from 'node:path'
import type { Writable } from 'node:stream'
import { agentsInFiles } from '../../../client/agents/agents-in-files.ts'
import { closeMcpOf } from '../../../client/agents/mcp-agents.ts'
import type { McpServer } from '../../../shared/agents/agents.ts'
import { secretsOf } from '../../../shared/agents/secrets.ts'
import { usageError } from '../../../shared/lib/errors.ts'
import { createLog } from '../../../shared/lib/log/log.ts'
import { connectionTo } from '../../../shared/tools/mcp/connection.ts'
import { writeToolList } from '../../../shared/tools/mcp/tool-list-file.ts'
import { commandSettings, type SettingFlags } from '../../terminal/command-settings.ts'
import { printable } from '../../terminal/text/printable.ts'
import { count } from '../../terminal/text/quantities.ts'

/** Throws `usage`, `agent.invalid` and `output.unwritable`. */
export async function writeTools(flags: SettingFlags, out: Writable): Promise<0 | 1> {
  const { agents: path, logLevel } = commandSettings(flags)
  if (path === '') throw usageError('give a file or a folder of agents with --agents (WEIR_AGENTS)')
  const agents = agentsInFiles(path, process.env, ['tools'])
  const log = createLog({ level: logLevel, secrets: secretsOf(agents) })
  const servers = [...agents.values()].flatMap(({ mcp = [] }) => mcp)
  const written = servers.filter(({ toolsFile }) => toolsFile !== undefined)
  if (written.length === 0)
    throw usageError(`no server in ${printable(path)} has toolsFile: name a file there`)
  try {
    const ends = await Promise.all(written.map((server) => write(server)))
    return ends.every(Boolean) ? 0 : 1
  } finally {
    for (const agent of agents.values()) await closeMcpOf(agent)
  }

  async function write(server: McpServer): Promise<boolean> {
    const { name, toolsFile = '' } = server
    let tools: Awaited<ReturnType<ReturnType<typeof connectionTo>['tools']>>
    try {
      tools = await connectionTo(server, log).tools()
    } catch (error) {
      out.write(`${printable((error as Error).message)}\n`)
      return false
    }
    writeToolList(toolsFile, tools)
    const file = printable(relative('.', toolsFile))
    out.write(`${name}: ${count(tools.length, 'tool')} in ${file}\n`)
    return true
  }
}
