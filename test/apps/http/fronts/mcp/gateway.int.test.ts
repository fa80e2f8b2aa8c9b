// `weir mcp` between a host of the SDK and a server of the SDK, in both eras of the protocol.

import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import type { CallToolResult, Client } from '@modelcontextprotocol/client'
import { withExactNumbers } from '../../../../../shared/lib/json/raw-numbers.ts'
import { until } from '../../../../support/inbox.ts'
import {
  eras,
  type GatewayOptions,
  hostOnPipe,
  serverCommand,
  textOf,
} from '../../../../support/mcp/gateway.ts'
import { weirCommand } from '../../../../support/programs.ts'

type Connected = Awaited<ReturnType<typeof hostOnPipe>>

let folder: string
/** One for each test. */
let clients: Client[]

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weir-gateway-'))
  clients = []
})

afterEach(async () => {
  for (const client of clients) await client.close()
  await rm(folder, { recursive: true, force: true })
})

/** A gateway for one test. `isAlone`: one server after `--`, which writes the journal. */
async function host(
  options: Partial<GatewayOptions> = {},
  prepare?: (client: Client) => void,
  isAlone = true,
): Promise<Connected> {
  const found = await opened({ folder, ...options }, prepare, isAlone)
  clients.push(found.client)
  return found
}

function opened(
  { environment, args = [], ...options }: Partial<GatewayOptions> & { folder: string },
  prepare?: (client: Client) => void,
  isAlone = true,
): Promise<Connected> {
  return hostOnPipe(
    {
      era: 'modern',
      ...options,
      args: [...(isAlone ? ['--env', 'MCP_JOURNAL'] : []), ...args],
      environment: { MCP_JOURNAL: join(options.folder, 'journal'), ...environment },
    },
    prepare,
  )
}

/** A gateway for the tests of a group that leave its turn and its server as they were. */
function sharedHost(
  prepared: (folder: string) => Promise<Partial<GatewayOptions>>,
  isAlone = true,
): { host(): Connected; calls(): Promise<string[]> } {
  let connected: Connected
  let sharedFolder: string
  let before = 0
  const all = () => callsIn(sharedFolder)
  beforeAll(async () => {
    sharedFolder = await mkdtemp(join(tmpdir(), 'weir-gateway-'))
    const options = await prepared(sharedFolder)
    connected = await opened({ folder: sharedFolder, ...options }, undefined, isAlone)
  })
  beforeEach(async () => {
    before = (await all()).length
  })
  afterAll(async () => {
    await connected.client.close()
    await rm(sharedFolder, { recursive: true, force: true })
  })
  return { host: () => connected, calls: async () => (await all()).slice(before) }
}

/** The calls that the server of a gateway received. */
const callsIn = (folder: string) =>
  readFile(join(folder, 'journal'), 'utf8').then(
    (text) => text.trim().split('\n'),
    () => [],
  )

const calls = () => callsIn(folder)

describe.each(eras)('a host of the %s era under weir mcp', (era) => {
  const instructions = '  Search first.\n\u001b[1mThen read.\n'
  const shared = sharedHost(async () => ({
    era,
    args: ['--env', 'MCP_TEXT'],
    environment: { MCP_TEXT: instructions },
    asksInSecondProcess: true,
  }))

  it('gets the tools of the server and its results', async () => {
    const { client } = shared.host()
    const { tools } = await client.listTools()
    expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining(['weather', 'fail']))
    expect(await textOf(client, 'weather', { city: 'Paris' })).toEqual({
      text: '18 °C in Paris',
      isError: false,
    })
    expect(await textOf(client, 'fail')).toEqual({ text: 'no such city', isError: true })
  })

  it('gets the instructions of one server unchanged', async () => {
    expect(shared.host().client.getInstructions()).toBe(instructions)
  })

  it('has its arguments sent on with each digit and each name', async () => {
    const { client } = shared.host()
    const sent = '{"account":9007199254740993,"limit":1e999,"__proto__":{"deep":[-0]}}'
    const { text } = await textOf(
      client,
      'received',
      withExactNumbers(sent) as Record<string, unknown>,
    )
    expect(text).toContain(`"arguments":${sent}`)
  })

  it('is stopped in incident I1, and the third answer reports the repetition', async () => {
    const { client } = await host({ era })
    const answers: { text: string; isError: boolean }[] = []
    for (let n = 0; n < 25; n += 1) answers.push(await textOf(client, 'weather', {}))
    expect(answers.every(({ isError }) => isError)).toBe(true)
    expect(answers[0]?.text).toContain("'city'")
    expect(answers[1]?.text).not.toContain('LOOP DETECTED')
    expect(answers[2]?.text).toContain('LOOP DETECTED')
    expect(answers[4]?.text).toContain('no tool can be called')
    expect(answers.at(-1)?.text).toContain('Weir has ended this turn')
    expect(answers.at(-1)?.text).toContain('the model called a tool again')
    expect(answers.at(-1)?.text).not.toContain('visible text')
    expect(await calls()).toEqual([])
  })

  it('gets advice after the third equal failure and the fourth, and the fifth call does not run', async () => {
    const { client } = await host({ era })
    const answers: { text: string; isError: boolean }[] = []
    for (let n = 0; n < 6; n += 1) answers.push(await textOf(client, 'fail'))
    const advised = answers.map(({ text }) => text.includes('LOOP DETECTED'))
    expect(advised.slice(0, 4)).toEqual([false, false, true, true])
    expect(answers[4]?.text).toContain('no tool can be called')
    expect(await calls()).toEqual(['fail', 'fail', 'fail', 'fail'])
  })

  it.each(['pictures', 'numbers'])(
    'is not stopped by equal calls of %s with new results',
    async (tool) => {
      const { client } = shared.host()
      const answers: CallToolResult[] = []
      for (let n = 0; n < 7; n += 1)
        answers.push(await client.callTool({ name: tool, arguments: {} }))
      expect(answers.map(({ content }) => content?.length)).toEqual([1, 1, 1, 1, 1, 1, 1])
      expect(answers.some(({ isError }) => isError)).toBe(false)
    },
  )

  it('gets an unknown outcome if the server dies during a call, which is never sent twice', async () => {
    const { client } = shared.host()
    expect(await textOf(client, 'die')).toEqual({
      text: expect.stringContaining('broke during the call'),
      isError: true,
    })
    expect(await textOf(client, 'weather', { city: 'Rome' })).toMatchObject({ isError: false })
    expect(await shared.calls()).toEqual(['die', 'weather'])
  })

  it.each(['ask', 'page', 'sample'])(
    'gets an error for the tool %s, whose server asks for input',
    async (tool) => {
      const { client } = shared.host()
      expect(await textOf(client, tool)).toMatchObject({ isError: true })
    },
  )

  it('gets the notice of a changed list, and can call the new tool', async () => {
    const changed = Promise.withResolvers<void>()
    const { client } = shared.host()
    client.setNotificationHandler('notifications/tools/list_changed', () => changed.resolve())
    await client.listTools()
    if (era === 'modern') await client.listen({ toolsListChanged: true })
    await textOf(client, 'grow')
    await changed.promise
    const { tools } = await client.listTools(undefined, { cacheMode: 'refresh' })
    expect(tools.map(({ name }) => name)).toContain('grown')
    expect(await textOf(client, 'grown')).toEqual({ text: 'I am new', isError: false })
  })
})

describe('weir mcp', () => {
  const shared = sharedHost(async () => ({ environment: { OTHER_SECRET: 'sk-1' } }))

  it('refuses a tool that its server dropped, and the server sees nothing', async () => {
    const { client } = await host()
    await client.listTools()
    await textOf(client, 'shrink')
    await until(async () => {
      const { tools } = await client.listTools(undefined, { cacheMode: 'refresh' })
      return !tools.some(({ name }) => name === 'weather')
    })
    const before = await calls()
    expect((await textOf(client, 'weather', { city: 'Bonn' })).text).toContain(
      "unknown tool 'weather'",
    )
    expect(await calls()).toEqual(before)
  })

  it('passes parallel calls on at the same time', async () => {
    const { client } = shared.host()
    const cities = ['Paris', 'Rome', 'Oslo']
    const answers = await Promise.all(cities.map((city) => textOf(client, 'weather', { city })))
    expect(answers.map(({ text }) => text)).toEqual(cities.map((city) => `18 °C in ${city}`))
    const [slow, quick] = [textOf(client, 'slow'), textOf(client, 'weather', { city: 'Bonn' })]
    expect((await quick).text).toContain('Bonn')
    expect((await slow).text).toContain('slow, but here')
  })

  it('passes progress, pictures and structured content on unchanged', async () => {
    const { client } = shared.host()
    const progress: number[] = []
    await client.callTool(
      { name: 'slow', arguments: {} },
      { onprogress: (one) => void progress.push(one.progress) },
    )
    expect(progress).toContain(1)
    expect((await client.callTool({ name: 'picture', arguments: {} })).content).toEqual([
      { type: 'image', data: 'AAAA', mimeType: 'image/png' },
    ])
    const { structuredContent } = await client.callTool({ name: 'structured', arguments: {} })
    expect(structuredContent).toEqual({ celsius: 18 })
  })

  it('passes escape sequences on as data', async () => {
    const { client, errors } = shared.host()
    expect((await textOf(client, 'colours')).text).toBe('\u001b[2J\u001b]0;owned\u0007red')
    expect(errors()).not.toContain('\u001b')
  })

  it('keeps variables from the server that nobody named', async () => {
    const { client } = shared.host()
    const { text } = await textOf(client, 'environment')
    expect(Object.keys(JSON.parse(text)).sort()).toEqual(['MCP_JOURNAL', 'PATH'])
  })

  it('answers an unknown tool with the tools that there are', async () => {
    const { client } = shared.host()
    expect(await textOf(client, 'wether')).toEqual({
      text: expect.stringContaining('weather'),
      isError: true,
    })
    expect(await shared.calls()).toEqual([])
  })

  it('judges hostile arguments, and goes on', async () => {
    const { client } = shared.host()
    const deep = JSON.parse(`${'{"a":'.repeat(3000)}1${'}'.repeat(3000)}`)
    const hostile: Record<string, unknown>[] = [
      JSON.parse('{"__proto__": {"city": "x"}}'),
      { city: '\ud800' },
      { city: 5 },
      { city: 'x', other: '\u001b[2J' },
    ]
    for (const args of hostile) await textOf(client, 'weather', args)
    await expect(textOf(client, 'weather', deep)).rejects.toThrow('levels: send flatter arguments')
    expect(await textOf(client, 'weather', { city: 'Rome' })).toMatchObject({ isError: false })
  })

  it('goes on after a host that cancels a call', async () => {
    const { client } = shared.host()
    const cancel = new AbortController()
    const call = textOf(client, 'hang', {}, { signal: cancel.signal })
    await until(async () => (await shared.calls())[0] === 'hang')
    cancel.abort()
    await expect(call).rejects.toThrow()
    expect(await textOf(client, 'weather', { city: 'Rome' })).toMatchObject({ isError: false })
  })

  it('ends with its server when the host leaves during a call', async () => {
    const { client, pid } = await host({ behind: ['--', ...serverCommand, folder] })
    const programs = () => execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' })
    textOf(client, 'hang').catch(() => {})
    await until(async () => (await calls())[0] === 'hang')
    expect(programs()).toContain(folder)
    await client.close()
    await until(() => !runs(pid) && !programs().includes(folder))
  })

  it('gives its host the instructions of several servers, each with its name, up to a limit', async () => {
    const [command = '', ...args] = serverCommand
    const file = join(folder, 'mcp.json')
    const env = { MCP_TEXT: `\${${'MCP_TEXT'}}` }
    const mcpServers = {
      a: { command, args, env },
      b: { command, args },
      c: { command, args, env },
    }
    await writeFile(file, JSON.stringify({ mcpServers }))
    const instructionsOf = async (text: string) => {
      const options = { behind: ['--servers', file], environment: { MCP_TEXT: text } }
      const { client } = await host(options, undefined, false)
      return client.getInstructions() ?? ''
    }
    const texts = (await instructionsOf('Search first.')).split('\n\n')
    expect(texts.sort()).toEqual(['a:\nSearch first.', 'c:\nSearch first.'])
    expect(await instructionsOf('x'.repeat(100_000))).toHaveLength(65_536)
  })

  it('gives a server after -- the time of --start-ms', async () => {
    const behind = (ms: string, kind: string) => ['--start-ms', ms, '--', ...starting, kind]
    expect((await host({ behind: behind('60000', 'quick') }, undefined, false)).errors()).toBe('')
    await expect(host({ behind: behind('1500', 'mute') }, undefined, false)).rejects.toThrow()
  })

  it('ends with 0 at a signal while its server does not answer', async () => {
    const starts = join(folder, 'starts')
    const command = ['mcp', '--', ...starting, 'mute', starts]
    const env = { PATH: process.env.PATH }
    const gateway = spawn(weirCommand, command, { cwd: folder, env, stdio: 'pipe' })
    await until(() => existsSync(starts))
    gateway.kill('SIGTERM')
    expect(await once(gateway, 'exit')).toEqual([0, null])
  })

  it('ends if none of its servers starts', async () => {
    await expect(host({ behind: ['--', 'no-such-program'] })).rejects.toThrow()
  })

  it('passes more than 200 tools, resources, prompts and completions on', async () => {
    const { client } = await host({ behind: ['--', process.execPath, everything] })
    expect((await client.listTools()).tools).toHaveLength(208)
    expect(await textOf(client, 'tool.199', { n: 1 })).toMatchObject({ text: 'tool.199' })
    expect((await client.listResources()).resources).toHaveLength(2)
    expect((await client.listResourceTemplates()).resourceTemplates).toHaveLength(1)
    const uri = 'test://static-text'
    expect((await client.readResource({ uri })).contents).toEqual([
      { uri, mimeType: 'text/plain', text: 'static text' },
    ])
    expect((await client.listPrompts()).prompts).toHaveLength(5)
    const { messages } = await client.getPrompt({ name: 'greet', arguments: { who: 'Ada' } })
    expect(messages[0]?.content).toMatchObject({ text: 'Greet Ada.' })
    const ref = { type: 'ref/prompt' as const, name: 'greet' }
    const { completion } = await client.complete({ ref, argument: { name: 'who', value: 'A' } })
    expect(completion.values).toEqual(['A!'])
  })
})

describe('weir mcp with a file of servers', () => {
  let gate: string
  const shared = sharedHost(async (folder) => {
    const [command = '', ...args] = serverCommand
    const file = join(folder, 'mcp.json')
    gate = join(folder, 'dead')
    await writeFile(gate, '')
    const server = { command, args }
    const variable = (name: string) => ({ [name]: `\${${name}}` })
    const mcpServers = {
      test: { type: 'stdio', ...server, env: variable('MCP_JOURNAL') },
      all: { command, args: [everything] },
      late: { ...server, env: variable('MCP_DEAD') },
      traced: { ...server, traceparent: true },
      plain: server,
    }
    await writeFile(file, JSON.stringify({ mcpServers }))
    return { behind: ['--servers', file], environment: { MCP_DEAD: gate } }
  }, false)

  it('works without a server that does not start, and gets its tools later', async () => {
    const { client, errors } = shared.host()
    const names = async () =>
      (await client.listTools(undefined, { cacheMode: 'refresh' })).tools.map(({ name }) => name)
    expect(await names()).toContain('plain__weather')
    expect(await names()).not.toContain('late__weather')
    expect(errors()).toContain('no licence; run its command in a terminal')
    await rm(gate)
    await until(async () => (await names()).includes('late__weather'))
    expect(await textOf(client, 'late__weather', { city: 'Rome' })).toMatchObject({
      isError: false,
    })
  })

  it('passes the trace of its host on only to a server with traceparent', async () => {
    const { client } = shared.host()
    const given = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
    const metaOf = async (name: string, traceparent: string) => {
      const { content } = await client.callTool({ name, arguments: {}, _meta: { traceparent } })
      const [block] = content
      return JSON.parse(block?.type === 'text' ? block.text : '') as { traceparent?: string }
    }
    expect((await metaOf('traced__meta', given)).traceparent).toBe(given)
    expect(await metaOf('traced__meta', 'a\nb')).not.toHaveProperty('traceparent')
    expect(await metaOf('plain__meta', given)).not.toHaveProperty('traceparent')
  })

  it('puts the servers of a file after one, with the names of the servers', async () => {
    const { client } = shared.host()
    expect(await textOf(client, 'test__weather', { city: 'Rome' })).toMatchObject({
      text: '18 °C in Rome',
    })
    expect((await client.listPrompts()).prompts.map(({ name }) => name)).toContain('all__greet')
    const { messages } = await client.getPrompt({ name: 'all__greet', arguments: { who: 'Ada' } })
    expect(messages).toHaveLength(1)
    const uri = 'test://static-text'
    expect((await client.readResource({ uri })).contents).toHaveLength(1)
  })
})

const starting = [
  process.execPath,
  ...['--disable-warning=ExperimentalWarning'],
  join(import.meta.dirname, '../../../../support/mcp/starting-server.ts'),
]
const everything = join(import.meta.dirname, '../../../../support/mcp/everything.ts')

function runs(pid: number | null): boolean {
  try {
    return pid !== null && process.kill(pid, 0)
  } catch {
    return false
  }
}
