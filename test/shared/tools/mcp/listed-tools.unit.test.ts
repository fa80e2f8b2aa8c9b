// The tools of an MCP server as tools of an agent.

import { describe, expect, it } from '@jest/globals'
import type { Tool as ServerTool } from '@modelcontextprotocol/client'
import type { McpServer } from '../../../../shared/agents/agents.ts'
import { limits } from '../../../../shared/contract/limits.ts'
import { toolsOfServer } from '../../../../shared/tools/mcp/listed-tools.ts'
import { declarationWith } from '../../../support/messages.ts'

const server: McpServer = {
  name: 'files',
  run: { kind: 'url', url: 'http://127.0.0.1', headers: {} },
  isTrusted: false,
  timeoutMs: 1000,
  wallMs: 5000,
}
const tool = (name: string, more: Partial<ServerTool> = {}): ServerTool => ({
  name,
  inputSchema: { type: 'object' },
  ...more,
})
const readOnly = { annotations: { readOnlyHint: true, idempotentHint: true } }

describe('toolsOfServer', () => {
  it('names a tool by its server, with the wall time as its timeout', () => {
    const { tools } = toolsOfServer(server, [tool('read', { description: 'Reads' })], new Set())
    expect(tools).toEqual([
      {
        declaration: declarationWith({
          name: 'files__read',
          description: 'Reads',
          schema: '{"type":"object"}',
          timeoutMs: 5000,
        }),
        run: { kind: 'mcp', server, tool: 'read' },
      },
    ])
  })

  it('believes a hint of a trusted server only, and never one that a call may start again', () => {
    const hintsOf = (isTrusted: boolean) =>
      toolsOfServer({ ...server, isTrusted }, [tool('read', readOnly)], new Set()).tools[0]
        ?.declaration
    expect(hintsOf(false)).toMatchObject({ hints: null, idempotent: false })
    expect(hintsOf(true)).toMatchObject({ hints: { mutates: false }, idempotent: false })
  })

  it('gives a tool the labels of all patterns that match its own name', () => {
    const labels: McpServer['labels'] = [
      ['*', ['reads:untrusted']],
      ['read*', ['reads:private', 'reads:untrusted']],
      ['send', ['sends:out']],
    ]
    const listed = ['read', 'send'].map((name) => tool(name))
    const { tools } = toolsOfServer({ ...server, labels }, listed, new Set())
    expect(tools.map(({ declaration }) => declaration.hints)).toMatchObject([
      { labels: ['reads:untrusted', 'reads:private'], mutates: null },
      { labels: ['reads:untrusted', 'sends:out'], mutates: null },
    ])
  })

  it('leaves out a tool whose name the agent has already, with the reason', () => {
    expect(toolsOfServer(server, [tool('read')], new Set(['files__read']))).toEqual({
      tools: [],
      leftOut: [{ tool: 'read', reason: 'the agent has a tool files__read already' }],
    })
  })

  it('takes as many tools as the limit, and leaves out the rest', () => {
    const many = Array.from({ length: limits.mcpToolsMax + 2 }, (_, n) => tool(`t${n}`))
    const { tools, leftOut } = toolsOfServer(server, many, new Set())
    expect(tools).toHaveLength(limits.mcpToolsMax)
    expect(leftOut.map(({ tool }) => tool)).toEqual([
      `t${limits.mcpToolsMax}`,
      `t${limits.mcpToolsMax + 1}`,
    ])
  })

  it('accepts a schema of 2020-12 and leaves out one that refers to another document', () => {
    const schemaOf = (schema: object) =>
      toolsOfServer(
        server,
        [tool('t', { inputSchema: { type: 'object', ...schema } as ServerTool['inputSchema'] })],
        new Set(),
      )
    expect(
      schemaOf({
        $schema: 'https://json-schema.org/draft/2020-12/schema',
        properties: { pair: { prefixItems: [{ type: 'string' }] } },
      }).tools,
    ).toHaveLength(1)
    expect(schemaOf({ properties: { x: { $ref: 'https://example.invalid/x' } } })).toMatchObject({
      tools: [],
      leftOut: [{ reason: expect.stringContaining('its schema is unusable') }],
    })
  })
})
