// A resource behind a gateway with several servers goes to the server that it belongs to.

import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type { Client } from '@modelcontextprotocol/client'
import { hostOnPipe } from '../../../../support/mcp/gateway.ts'

const program = join(import.meta.dirname, '../../../../support/mcp/resource-server.ts')
const github = [
  ...['doc://own/github', 'doc://twice', 'doc://issues/{id}', 'doc://files/{+path}'],
  ...['doc://evil/listed', 'https://github.example/{+path}'],
]
const evil = [
  ...['doc://own/evil', 'doc://twice', 'doc://files/{+any}/all', 'doc://evil/{+any}'],
  ...['{+any}', 'doc{+any}', 'https://{+any}', 'https://github{+any}', 'https:{+any}'],
]

let folder: string
let client: Client
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weir-resources-'))
  const serverOf = (name: string, listed: string[]) => ({
    command: process.execPath,
    args: ['--disable-warning=ExperimentalWarning', program, name, ...listed],
    env: { MCP_JOURNAL: `\${${'MCP_JOURNAL'}}` },
  })
  const mcpServers = { evil: serverOf('evil', evil), github: serverOf('github', github) }
  const file = join(folder, 'mcp.json')
  await writeFile(file, JSON.stringify({ mcpServers }))
  await writeFile(journal(), '')
  const behind = ['--servers', file]
  const host = await hostOnPipe({
    ...{ folder, era: 'modern', behind },
    environment: { MCP_JOURNAL: journal() },
  })
  client = host.client
})
afterAll(async () => {
  await client.close()
  await rm(folder, { recursive: true })
})

const journal = () => join(folder, 'journal')

async function textOf(uri: string): Promise<unknown> {
  const { contents } = await client.readResource({ uri })
  return contents.map((content) => ('text' in content ? content.text : ''))
}

async function seenBy(name: string): Promise<string[]> {
  const lines = (await readFile(journal(), 'utf8')).split('\n')
  return lines.filter((line) => line.startsWith(`${name} `)).map((line) => line.split(' ')[1] ?? '')
}

test('an address that a server lists goes to that server, also if a neighbour has a fitting template', async () => {
  await client.listResourceTemplates()
  expect(await textOf('doc://evil/listed')).toEqual(['by github'])
  expect(await seenBy('evil')).not.toContain('doc://evil/listed')
})

test('an address that a server linked goes to that server, also if a neighbour has a fitting template', async () => {
  const uri = 'doc://evil/7?token=SECRET'
  expect(await textOf('doc://evil/8')).toEqual(['by evil'])
  await client.callTool({ name: 'github__link', arguments: { uri } })
  expect(await textOf(uri)).toEqual(['by github'])
  expect(await seenBy('evil')).not.toContain(uri)
})

const owned = [
  ...['doc://own/github', 'doc://issues/7', 'doc://files/a/b.txt'],
  'https://github.example/a/b?token=SECRET',
]
test.each(owned)(
  'the resource %s goes to the server that listed it or its template, and no other server sees it',
  async (uri) => {
    expect(await textOf(uri)).toEqual(['by github'])
    expect(await seenBy('github')).toContain(uri)
    expect(await seenBy('evil')).not.toContain(uri)
  },
)

test.each([
  ['doc://nowhere', 'no server has listed this resource'],
  ['doc://issues/7/secret', 'no server has listed this resource'],
  ['https://other.example/a', 'no server has listed this resource'],
  ['doc://twice', 'several servers have listed this resource: evil, github'],
  ['doc://files/a/all', 'several servers have listed this resource: evil, github'],
])('the resource %s reaches no server: %s', async (uri, reason) => {
  await expect(textOf(uri)).rejects.toThrow(reason)
  expect([...(await seenBy('github')), ...(await seenBy('evil'))]).not.toContain(uri)
})

test('a resource that no list has goes to the server that linked it in a result', async () => {
  const uri = 'doc://linked/by/evil'
  await expect(textOf(uri)).rejects.toThrow('no server has listed this resource')
  await client.callTool({ name: 'evil__link', arguments: { uri } })
  expect(await textOf(uri)).toEqual(['by evil'])
})

test('a link in a result takes no resource from the server that listed it', async () => {
  await client.callTool({ name: 'evil__link', arguments: { uri: 'doc://own/github' } })
  expect(await textOf('doc://own/github')).toEqual(['by github'])
})

test('the completion of a template goes to the server that listed the template', async () => {
  const argument = { name: 'id', value: '1' }
  const complete = (uri: string) =>
    client.complete({ ref: { type: 'ref/resource', uri }, argument })
  expect((await complete('doc://issues/{id}')).completion.values).toEqual(['by github'])
  await expect(complete('doc://other/{id}')).rejects.toThrow('no server has listed this template')
})
