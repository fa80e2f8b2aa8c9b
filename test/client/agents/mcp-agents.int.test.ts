// Tools of MCP servers in an agent: a real server of the SDK over a pipe and over HTTP.

import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { serve } from '@hono/node-server'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { createMcpHandler } from '@modelcontextprotocol/server'
import { pino } from 'pino'
import { call, type Reply, says, scriptedModel } from '../../../client/testing/testing.ts'
import { defineAgent, Weir } from '../../../client/weir.ts'
import type { Clock } from '../../../shared/lib/clock.ts'
import { acceptPin, heldPins, pinId } from '../../../shared/tools/mcp/tool-pins.ts'
import { clockFiring } from '../../support/clock-firing.ts'
import { until } from '../../support/inbox.ts'
import { serverCommand } from '../../support/mcp/gateway.ts'
import { testServer } from '../../support/mcp/server.ts'

let folder: string
let journal: string
const logged: Record<string, unknown>[] = []
const log = pino({ level: 'warn' }, { write: (line: string) => void logged.push(JSON.parse(line)) })

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weir-mcp-'))
  journal = join(folder, 'journal')
  process.env.MCP_JOURNAL = journal
  logged.length = 0
})

afterEach(async () => {
  for (const name of ['MCP_CHANGED', 'MCP_JOURNAL', 'MCP_NOISE', 'MCP_DEAD', 'MCP_SECRET_TOKEN'])
    delete process.env[name]
  await rm(folder, { recursive: true, force: true })
})

type Settings = {
  env?: string[]
  timeoutMs?: number
  wallMs?: number
  allow?: string[]
  deny?: string[]
  labels?: Record<string, { reads?: 'untrusted'[] }>
  isTrusted?: boolean
  url?: string
  headers?: Record<string, string>
  clock?: Clock
}

function agentWith(
  replies: Reply[],
  { env = [], url, headers, isTrusted = false, clock, ...settings }: Settings = {},
) {
  const model = scriptedModel(...replies)
  const run =
    url === undefined
      ? {
          command: [...serverCommand, folder],
          env: ['MCP_JOURNAL', ...env],
        }
      : { url, ...(headers && { headers }) }
  const agent = defineAgent({
    name: 'helper',
    model,
    system: 'Help.',
    sandbox: 'off',
    mcp: { test: { ...run, ...settings } },
    trust: isTrusted ? ['test'] : [],
  })
  return {
    agent,
    model,
    open: () =>
      Weir.open({
        agents: [agent],
        dataFolder: join(folder, 'data'),
        ...(clock && { bus: { kind: 'embedded', clock } }),
        log,
      }),
  }
}

/** The result of one call, and the status of its end. */
async function resultOf(tool: string, args: object | string = {}, settings: Settings = {}) {
  const { agent, model, open } = agentWith(
    [says(call(`test__${tool}`, args)), says('Done.')],
    settings,
  )
  await using weir = await open()
  const turn = weir.ask({ agent, text: 'Go.' })
  const statuses: string[] = []
  for await (const event of turn) if (event.type === 'call-finished') statuses.push(event.status)
  await turn.finished
  return {
    status: statuses[0],
    text: model.requests[1]?.results[0],
    offered: model.requests[0]?.tools,
  }
}

const programs = () => execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' })
const calls = () =>
  readFile(journal, 'utf8').then(
    (text) => text.trim().split('\n'),
    () => [],
  )

/** JSON.parse changes its numbers. Libraries that merge objects lose `__proto__`. */
const oddArguments =
  '{"account":9007199254740993,"limit":1e999,"share":1.0,"__proto__":{"deep":[-0]},"text":"é"}'

describe('a tool of an MCP server', () => {
  it('is held after a change of its server, also in a running process, until a person accepts it', async () => {
    process.env.MCP_CHANGED = join(folder, 'changed')
    const { open } = agentWith([], { env: ['MCP_CHANGED'] })
    const offered = (weir: Weir) =>
      weir.agents.get('helper')?.tools.map(({ declaration }) => declaration.name)
    const first = await open()
    expect(offered(first)).toContain('test__weather')
    await first.close()
    await writeFile(process.env.MCP_CHANGED, '')
    await using second = await open()
    expect(offered(second)).not.toContain('test__weather')
    expect(offered(second)).toContain('test__received')
    expect(JSON.stringify(logged)).toContain('it changed after its first use: weir mcp approve')
    const held = heldPins(join(folder, 'data')).map(pinId)
    expect(held).toHaveLength(1)
    for (const id of held) acceptPin(join(folder, 'data'), id)
    await until(async () => offered(second)?.includes('test__weather') === true)
  })

  it('runs, and its text is the result', async () => {
    const { status, text, offered } = await resultOf('weather', { city: 'Paris' })
    expect({ status, text }).toEqual({ status: 'ok', text: '18 °C in Paris' })
    expect(offered).toContain('test__weather')
  })

  it('gets the arguments as the log has them, with each digit and each name', async () => {
    const { text } = await resultOf('received', oddArguments)
    expect(text).toContain(`"arguments":${oddArguments}`)
  })

  it('is judged by its schema before the server sees the call', async () => {
    expect(await resultOf('weather', {})).toMatchObject({
      text: expect.stringContaining("'city'"),
    })
    expect(await calls()).toEqual([])
  })

  it('reports its own error as an error with its text', async () => {
    expect(await resultOf('fail')).toMatchObject({ status: 'error', text: 'no such city' })
  })

  it('keeps structured content where there is no text', async () => {
    expect(await resultOf('structured')).toMatchObject({ status: 'ok', text: '{"celsius":18}' })
  })

  it.each([
    ['', {}],
    [', though a trusted server calls it idempotent', { isTrusted: true }],
  ])(
    'has an unknown outcome if the server dies during the call, and is not started again%s',
    async (_, settings) => {
      expect(await resultOf('die', {}, settings)).toMatchObject({
        status: 'unknown',
        text: expect.stringContaining('broke during the call'),
      })
      expect(await calls()).toEqual(['die'])
    },
  )

  it('may send a storm of progress, and terminal codes are part of its text', async () => {
    expect(await resultOf('storm')).toMatchObject({ status: 'ok', text: 'the storm is over' })
    expect(await resultOf('colours')).toMatchObject({
      status: 'ok',
      text: '\u001b[2J\u001b]0;owned\u0007red',
    })
  })

  it.each([
    [
      'without progress for its timeout',
      { timeoutMs: 1_000, clock: clockFiring(1_000, () => existsSync(journal)) },
      'hang',
      1_000,
    ],
    // Progress leaves the wall time as the nearer deadline. The other one never comes.
    [
      'beyond its wall time, even with progress',
      { timeoutMs: 1_003, wallMs: 1_503, clock: clockFiring(1_003, () => false) },
      'progress',
      1_503,
    ],
  ])('is ended %s', async (_title, settings, tool, ms) => {
    expect(await resultOf(tool, {}, settings)).toMatchObject({
      status: 'timed_out',
      text: expect.stringContaining(`did not finish within ${ms} ms`),
    })
  })

  it('has a bounded result', async () => {
    const { text } = await resultOf('flood')
    expect(Buffer.byteLength(text ?? '')).toBeLessThan(40_000)
    expect(text).toContain('[cut: this is the beginning of 1000000 bytes]')
  })

  it('sees PATH and the named variables only, and no result contains their values', async () => {
    process.env.MCP_SECRET_TOKEN = 'token-very-secret-012345'
    const { text } = await resultOf('environment', {}, { env: ['MCP_SECRET_TOKEN'] })
    expect(text).not.toContain('very-secret')
    expect(Object.keys(JSON.parse(text ?? ''))).toEqual(
      expect.arrayContaining(['PATH', 'MCP_SECRET_TOKEN']),
    )
    expect(Object.keys(JSON.parse(text ?? ''))).not.toContain('HOME')
  })
})

describe('the list of an MCP server', () => {
  it('leaves out tools that differ only in case, that are too long, or with a remote schema, and logs them', async () => {
    const { offered } = await resultOf('weather', { city: 'Ulm' })
    expect(offered).not.toContain('test__Twin')
    expect(offered).not.toContain('test__twin')
    expect(offered?.some((name) => name.startsWith('test__long'))).toBe(false)
    expect(offered).not.toContain('test__remote')
    const [{ leftOut }] = logged.filter(({ msg }) => /left out/.test(String(msg))) as [
      { leftOut: { tool: string }[] },
    ]
    expect(leftOut.map(({ tool }) => tool.slice(0, 6))).toEqual([
      'Twin',
      'twin',
      'long-x',
      'remote',
    ])
  })

  it('is judged once while it stays the same, so its faults are logged once', async () => {
    const { agent, open } = agentWith([says('One.'), says('Two.'), says('Three.')])
    await using weir = await open()
    for (const text of ['a', 'b', 'c']) await weir.ask({ agent, text }).finished
    expect(logged.filter(({ msg }) => /left out/.test(String(msg)))).toHaveLength(1)
  })

  it('has only the allowed tools, without the denied ones', async () => {
    const { offered } = await resultOf(
      'weather',
      { city: 'Ulm' },
      { allow: ['w*', 'f*'], deny: ['flood'] },
    )
    expect(offered).toEqual(['test__weather', 'test__fail'])
  })

  it('gives its tools the labels of an agent', async () => {
    const { agent, open } = agentWith([], { labels: { 'w*': { reads: ['untrusted'] } } })
    await using weir = await open()
    const labels = weir.agents
      .get(agent.name)
      ?.tools.find(({ declaration }) => declaration.name === 'test__weather')?.declaration.hints
    expect(labels).toMatchObject({ labels: ['reads:untrusted'] })
  })

  it('is read again between turns when the server says that it changed', async () => {
    const { agent, model, open } = agentWith([
      says(call('test__grow', {})),
      says('Done.'),
      says(call('test__grown', {})),
      says('Done.'),
    ])
    await using weir = await open()
    await weir.ask({ agent, text: 'Grow.' }).finished
    await until(
      async () =>
        weir.agents
          .get('helper')
          ?.tools.some(({ declaration }) => declaration.name === 'test__grown') ?? false,
    )
    await weir.ask({ agent, text: 'Use it.' }).finished
    expect(model.requests[1]?.tools).not.toContain('test__grown')
    expect(model.requests[3]?.results.at(-1)).toBe('I am new')
  })
})

describe('a tool that its server drops between the offer and the call', () => {
  it('is denied by the server, and the next turn does not offer it', async () => {
    const { agent, model, open } = agentWith([
      says(call('test__shrink', {})),
      says(call('test__weather', { city: 'Rome' })),
      says('Done.'),
      says('Bye.'),
    ])
    await using weir = await open()
    const turn = weir.ask({ agent, text: 'Go.' })
    const statuses: string[] = []
    for await (const event of turn) if (event.type === 'call-finished') statuses.push(event.status)
    await turn.finished
    expect(model.requests[1]?.tools).toContain('test__weather')
    expect(statuses).toEqual(['ok', 'denied'])
    expect(model.requests[2]?.results.at(-1)).toContain('unknown tool weather')
    await until(async () => {
      const tools = weir.agents.get('helper')?.tools ?? []
      return !tools.some(({ declaration }) => declaration.name === 'test__weather')
    })
    await weir.ask({ agent, text: 'Again.' }).finished
    expect(model.requests[3]?.tools).not.toContain('test__weather')
  })

  it('is no former tool once it comes back changed, so no open round calls it', async () => {
    process.env.MCP_CHANGED = join(folder, 'changed')
    const replies = [says(call('test__shrink', {})), says('Done.')]
    const { agent, open } = agentWith([...replies, ...replies], { env: ['MCP_CHANGED'] })
    await using weir = await open()
    const isFormer = () =>
      weir.agents
        .get('helper')
        ?.formerTools?.some(({ declaration }) => declaration.name === 'test__weather') === true
    await weir.ask({ agent, text: 'Go.' }).finished
    await until(async () => isFormer())
    await writeFile(process.env.MCP_CHANGED, '')
    await weir.ask({ agent, text: 'Again.' }).finished
    await until(async () => !isFormer())
  })
})

describe('an MCP server', () => {
  it('is started again between calls after it died', async () => {
    const { agent, model, open } = agentWith([
      says(call('test__die', {})),
      says(call('test__weather', { city: 'Rome' })),
      says('Done.'),
    ])
    await using weir = await open()
    await weir.ask({ agent, text: 'Go.' }).finished
    expect(model.requests[2]?.results.at(-1)).toBe('18 °C in Rome')
  })

  it('that does not start is a warning, and its tools come after its start', async () => {
    const gate = join(folder, 'dead')
    await writeFile(gate, '')
    process.env.MCP_DEAD = gate
    const { agent, model, open } = agentWith([says('No.'), says('No.'), says('Yes.')], {
      env: ['MCP_DEAD'],
    })
    await using weir = await open()
    await weir.ask({ agent, text: 'Go.' }).finished
    expect(model.requests[0]?.tools).toEqual([])
    expect(logged).toContainEqual(
      expect.objectContaining({
        agent: 'helper',
        server: 'test',
        fault: expect.stringMatching(
          /^the MCP server test cannot be reached: its program ended with code \d+: no licence; run its command in a terminal, [^\n]*$/,
        ),
        msg: expect.stringContaining('gives no tools'),
      }),
    )
    await rm(gate)
    await until(async () => {
      await weir.ask({ agent, text: 'Go.' }).finished
      return model.requests.at(-1)?.tools.includes('test__weather') === true
    })
  })

  it('that does not start leaves the other servers and agents their tools', async () => {
    const [model, other] = [scriptedModel(says('One.')), scriptedModel(says('Two.'))]
    const run = {
      command: serverCommand,
      env: ['MCP_JOURNAL'],
    }
    const helper = defineAgent({
      name: 'helper',
      model,
      system: 'Help.',
      sandbox: 'off',
      mcp: { dead: { command: [process.execPath, '-e', 'process.exit(3)'] }, test: run },
    })
    const plain = defineAgent({ name: 'plain', model: other, system: 'Help.' })
    const dataFolder = join(folder, 'data')
    await using weir = await Weir.open({ agents: [helper, plain], dataFolder, log })
    await weir.ask({ agent: helper, text: 'Go.' }).finished
    expect(model.requests[0]?.tools).toContain('test__weather')
    await weir.ask({ agent: plain, text: 'Go.' }).finished
    expect(other.requests).toHaveLength(1)
    const warnings = logged.filter(({ server: name }) => name === 'dead')
    expect(warnings).toHaveLength(1) // the question tried it again: the same fault is no news
    expect(warnings[0]?.fault).toContain('its program ended with code 3')
  })

  it('over HTTP is a warning with its status, and without the query of its URL', async () => {
    const refusing = createServer((_, response) => response.writeHead(401).end('<html>no</html>'))
    await new Promise<void>((resolve) => refusing.listen(0, '127.0.0.1', resolve))
    const origin = `http://127.0.0.1:${(refusing.address() as AddressInfo).port}`
    await using weir = await agentWith([], { url: `${origin}/mcp?key=hidden` }).open()
    expect(weir.agents.get('helper')?.tools).toEqual([])
    expect(logged.map(({ fault }) => fault)).toEqual([
      `the MCP server test cannot be reached: ${origin}/mcp answers with 401; correct its headers or its auth`,
    ])
    refusing.close()
  })

  it('may print text between its messages, which is reported once', async () => {
    process.env.MCP_NOISE = '1'
    expect(await resultOf('weather', { city: 'Oslo' }, { env: ['MCP_NOISE'] })).toMatchObject({
      status: 'ok',
    })
    expect(logged.filter(({ msg }) => /prints text between/.test(String(msg)))).toHaveLength(1)
  })

  it('ends with Weir, with all that it started', async () => {
    const { agent, open } = agentWith([
      says(call('test__weather', { city: 'Bern' })),
      says('Done.'),
    ])
    const weir = await open()
    await weir.ask({ agent, text: 'Go.' }).finished
    expect(programs()).toContain(folder)
    await weir.close()
    await until(async () => !programs().includes(folder))
  })

  it('is reached over HTTP, with exact arguments and headers that no result contains', async () => {
    const handler = createMcpHandler(testServer)
    const seen: (string | null)[] = []
    const bodies: string[] = []
    const http = await new Promise<ReturnType<typeof serve>>((resolve) => {
      const listening = serve(
        {
          port: 0,
          hostname: '127.0.0.1',
          fetch: async (request) => {
            seen.push(request.headers.get('authorization'))
            bodies.push(await request.clone().text())
            return handler.fetch(request)
          },
        },
        () => resolve(listening),
      )
    })
    const { port } = http.address() as { port: number }
    const url = `http://127.0.0.1:${port}/mcp`
    const headers = { Authorization: 'Bearer secret-bearer-0123456789' }
    expect(await resultOf('weather', { city: 'Paris' }, { url, headers })).toMatchObject({
      status: 'ok',
      text: '18 °C in Paris',
    })
    await resultOf('fail', oddArguments, { url, headers })
    expect(bodies.find((body) => body.includes('"fail"'))).toContain(`"arguments":${oddArguments}`)
    expect(new Set(seen)).toEqual(new Set(['Bearer secret-bearer-0123456789']))
    await new Promise((resolve) => http.close(resolve))
  })
})
