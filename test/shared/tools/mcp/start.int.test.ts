// The start of an MCP server that is a program: its first answer may come late, never, or not to the
// question for its revision.

import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import type { McpServer } from '../../../../shared/agents/agents.ts'
import { connectionTo } from '../../../../shared/tools/mcp/connection.ts'

const program = join(import.meta.dirname, '../../../support/mcp/starting-server.ts')

let folder: string
const opened: McpServer[] = []

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weir-start-'))
})

afterEach(async () => {
  await Promise.all(opened.splice(0).map((server) => connectionTo(server).close()))
  await rm(folder, { recursive: true, force: true })
})

function serverOf(kind: string, more: Partial<McpServer> = {}): McpServer {
  const file = join(folder, 'starts')
  const argv = [process.execPath, '--disable-warning=ExperimentalWarning', program, kind, file]
  const server: McpServer = {
    name: 'starting',
    run: { kind: 'command', argv: argv as [string] },
    isTrusted: false,
    timeoutMs: 60_000,
    wallMs: 60_000,
    ...more,
  }
  opened.push(server)
  return server
}

async function startOf(server: McpServer) {
  const tools = await connectionTo(server).tools()
  const starts = (await readFile(join(folder, 'starts'), 'utf8')).split('\n').length - 1
  const client = await connectionTo(server).client()
  return { tools: tools.map(({ name }) => name), starts, era: client.getProtocolEra() }
}

describe('a program that speaks MCP', () => {
  it.each([
    ['gives its first answers late, and to the question for its revision too', 'late', 1, 'legacy'],
    ['never answers the question for its revision', 'silent', 1, 'legacy'],
    ['ends at the question for its revision', 'fragile', 2, 'legacy'],
    ['reads that question late and ends at it', 'late-fragile', 2, 'legacy'],
    ['knows only the newest revision, and names it late', 'late-modern', 2, 'modern'],
  ])('gives its list if it %s', async (_, kind, starts, era) => {
    expect(await startOf(serverOf(kind))).toEqual({ tools: ['ping'], starts, era })
  })

  it('has startMs for its whole start, and the fault names the field', async () => {
    const server = serverOf('mute', { startMs: 2_000 })
    await expect(connectionTo(server).tools()).rejects.toThrow(
      'the MCP server starting cannot be reached: its program gives no answer in time; give it more time (startMs',
    )
  })
})
