// The file with the tools of an MCP server.

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import type { Tool as ServerTool } from '@modelcontextprotocol/client'
import type { McpServer } from '../../../../shared/agents/agents.ts'
import { toolsOfServer } from '../../../../shared/tools/mcp/listed-tools.ts'
import {
  inToolList,
  readToolList,
  writeToolList,
} from '../../../../shared/tools/mcp/tool-list-file.ts'

let folder: string
let server: McpServer

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weir-tool-list-'))
  server = {
    name: 'files',
    run: { kind: 'elsewhere' },
    toolsFile: join(folder, 'tools.json'),
    isTrusted: false,
    timeoutMs: 1000,
    wallMs: 5000,
  }
})

afterEach(() => rm(folder, { recursive: true, force: true }))

const tool = (name: string, more: Partial<ServerTool> = {}): ServerTool => ({
  name,
  inputSchema: { type: 'object' },
  ...more,
})
const toolsOf = (...listed: ServerTool[]) => toolsOfServer(server, listed, new Set()).tools

describe('the file of tools', () => {
  it('gives back the tools that were written', () => {
    const tools = [tool('read', { description: 'Reads', annotations: { readOnlyHint: true } })]
    writeToolList(server.toolsFile ?? '', tools)
    expect(readToolList(server)).toEqual(tools)
  })

  it.each([
    ['[]', 'has no list of tools'],
    ['{"tools": [{"name": 5, "inputSchema": {}}]}', 'has no list of tools'],
    ['{"tools": [{"name": "a"}]}', 'has no list of tools'],
    ['{"tools": [', 'has no list of tools'],
  ])('is refused with the remedy if it is %s', async (content, fault) => {
    await writeFile(server.toolsFile ?? '', content)
    expect(() => readToolList(server)).toThrow(fault)
    expect(() => readToolList(server)).toThrow('write it with weir mcp tools')
  })

  it('is refused with the remedy if it does not exist', () => {
    expect(() => readToolList(server)).toThrow(/does not exist; write it with weir mcp tools$/)
  })
})

describe('a server with a file of tools', () => {
  it('gives only the tools that are the same in both, and names the others', () => {
    const { tools, leftOut } = inToolList(
      toolsOf(tool('same'), tool('changed', { description: 'Now it sends.' }), tool('added')),
      toolsOf(tool('same'), tool('changed'), tool('gone')),
    )
    expect(tools.map(({ declaration }) => declaration.name)).toEqual(['files__same'])
    expect(leftOut).toEqual([
      { tool: 'files__changed', reason: expect.stringContaining('another one in toolsFile') },
      { tool: 'files__added', reason: expect.stringContaining('not in toolsFile') },
      { tool: 'files__gone', reason: expect.stringContaining('does not have it') },
    ])
  })
})
