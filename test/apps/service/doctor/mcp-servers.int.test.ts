// The doctor's lines about the MCP servers of an agent, with real servers over a pipe.

import { execFileSync } from 'node:child_process'
import { describe, expect, it } from '@jest/globals'
import { mcpChecks } from '../../../../apps/service/doctor/mcp-servers.ts'
import type { Agents, McpServer } from '../../../../shared/agents/agents.ts'
import { defaultSettings } from '../../../../shared/agents/policy/policy.ts'
import { until } from '../../../support/inbox.ts'
import { mcpServerProcess as program } from '../../../support/programs.ts'

const quiet = '--disable-warning=ExperimentalWarning'

function server(name: string, file: string, more: Partial<McpServer> = {}): McpServer {
  return {
    name,
    isTrusted: false,
    timeoutMs: 1_000,
    wallMs: 1_000,
    ...more,
    run: { kind: 'command', argv: [process.execPath, quiet, file] },
  }
}

function agentsOf(...mcp: McpServer[]): Agents {
  const model = { provider: 'p', name: 'm', apiKey: '', maxOutputTokens: 1 }
  const agent = { name: 'a', system: '', model, settings: defaultSettings, tools: [], mcp }
  return new Map([['a', agent]])
}

describe('the MCP servers of an agent', () => {
  it('are well with their number of tools, and end after the check', async () => {
    const marker = `--title=weir-doctor-${process.pid}`
    const well = server('test', program, { allow: ['weather', 'slow'] })
    const run: McpServer['run'] = {
      kind: 'command',
      argv: [process.execPath, quiet, marker, program],
    }
    expect(await mcpChecks(agentsOf({ ...well, run }))).toEqual([
      { name: 'mcp', state: 'ok', finding: 'a/test: 2 tools' },
    ])
    const programs = () => execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' })
    await until(() => !programs().includes(marker))
  })

  it('are wrong with their fault, next to a server that is well', async () => {
    const missing = server('gone', 'missing.mjs')
    const well = server('test', program, { allow: ['weather', 'Twin', 'twin'] })
    const [first, second] = await mcpChecks(agentsOf(missing, well))
    expect(first).toEqual({
      name: 'mcp',
      state: 'wrong',
      finding: expect.stringMatching(
        /^a\/gone: the MCP server gone cannot be reached: its program ended with code 1: .*missing\.mjs.*; run its command/,
      ),
    })
    expect(second?.finding).toMatch(/^a\/test: 1 tool, 2 left out: /)
  })

  it('have a warning with each tool that is left out, and the reason', async () => {
    const [check] = await mcpChecks(agentsOf(server('test', program)))
    expect(check).toMatchObject({ state: 'warning', remedy: expect.any(String) })
    expect(check?.finding).toContain('Twin (another tool has this name, perhaps in other letters)')
    expect(check?.finding).toContain('remote (its schema is unusable: ')
  })
})
