// `weir serve` and `weir up --http-port` as processes: keys, a killed server, and a feed that goes on.

import { on, once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { afterEach, describe, expect, it } from '@jest/globals'
import OpenAI from 'openai'
import { post, serverSentEvents } from '../apps/http/edge/edge-server.ts'
import { loopingModel } from '../apps/http/fronts/proxy/looping-model.ts'
import { scriptedUpstream } from '../apps/http/fronts/proxy/scripted-upstream.ts'
import { sdkAgents } from '../apps/http/fronts/proxy/sdk-clients.ts'
import { until } from '../support/inbox.ts'
import { call, says, script, text } from '../support/script.ts'
import { type CommandFolder, openCommandFolder } from '../support/weir-command.ts'
import { startUp } from '../support/weir-up.ts'

let commands: CommandFolder
afterEach(() => commands.close())

/** By default a server that each program of this machine may use. */
async function served(...args: string[]) {
  const access = args.length === 0 ? ['--keyless'] : args
  return listening(
    commands.start([
      ...['serve', '--agents', 'agent.yaml', '--http-port', '0', '--json', ...access],
    ]),
  )
}

/** Resolves once the server prints its address. */
async function listening(running: ReturnType<CommandFolder['start']>) {
  const lines = createInterface({ input: running.child.stdout })
  const line: string[] = await Promise.race([
    once(lines, 'line'),
    running.ended.then(({ errors }) => {
      throw new Error(errors)
    }),
  ])
  return { ...running, url: (JSON.parse(line[0] ?? '') as { url: string }).url }
}

type Seen = { id?: string; event?: string; data: string }

/** Reads the feed until an event of this type, or until the server is gone. */
async function feed(url: string, last: string, after?: string): Promise<Seen[]> {
  const headers: Record<string, string> = after === undefined ? {} : { 'last-event-id': after }
  let response = await fetch(`${url}/v1/conversations/c/events`, { headers })
  while (response.status === 404)
    response = await fetch(`${url}/v1/conversations/c/events`, { headers })
  const seen: Seen[] = []
  for await (const event of serverSentEvents(response)) {
    seen.push(event)
    if (event.event === last) break
  }
  return seen
}

const records = (events: Seen[]) => events.filter(({ event = '' }) => !/delta|reset/.test(event))

describe('weir serve', () => {
  it('serves the agents of a module, and later their history and controls without them', async () => {
    commands = await openCommandFolder(script(says(text('unused'))))
    const client = fileURLToPath(new URL('../../client', import.meta.url))
    await writeFile(
      join(commands.folder, 'app.mts'),
      `import { defineAgent, defineTool } from '${client}/weir.ts'
import { call, says, scriptedModel } from '${client}/testing/testing.ts'
const tool = { name: 'act', description: 'acts', parameters: { type: 'object' } }
export const helper = defineAgent({
  name: 'helper',
  model: scriptedModel(says(call('act')), says('Done.')),
  system: 'Help.',
  tools: [defineTool({ ...tool, run: async () => 'ran in the program' })],
})
export const port = 3000
`,
    )
    const flags = ['--http-port', '0', '--json', '--keyless']
    const first = await listening(commands.start(['serve', 'app.mts', ...flags]))
    const question = { model: 'weir/helper', input: 'go', conversation: 'c' }
    const answer = await (await post(`${first.url}/v1/responses`, question)).text()
    expect(answer).toContain('ran in the program')
    first.child.kill('SIGTERM')
    expect((await first.ended).code).toBe(0)

    const second = await listening(commands.start(['serve', '--agents', '', ...flags]))
    const get = async (path: string) => (await fetch(second.url + path)).json()
    expect(await get('/v1/models')).toMatchObject({ data: [] })
    expect(await get('/console/api/conversations')).toMatchObject({
      conversations: [{ conversation: 'c', agent: 'helper' }],
    })
    const refused = await post(`${second.url}/v1/responses`, question)
    expect([refused.status, await refused.text()]).toEqual([
      404,
      expect.stringContaining('only the history and the controls'),
    ])
    const stop = { scope: 'agent', name: 'helper', mode: 'drain', reason: 'a test' }
    const headers = { origin: second.url }
    expect((await post(`${second.url}/console/api/stop`, stop, headers)).status).toBe(200)

    const third = await listening(commands.start(['serve', 'app.mts', ...flags]))
    const stopped = await post(`${third.url}/v1/responses`, { ...question, conversation: 'd' })
    expect(await stopped.text()).toContain('a test')
    for (const { child } of [second, third]) child.kill('SIGTERM')
    expect((await Promise.all([second.ended, third.ended])).map(({ code }) => code)).toEqual([0, 0])
  })

  it('is started by weir console where no server answers', async () => {
    commands = await openCommandFolder(script(says(text('Hello.'))))
    const flags = ['--http-port', '0']
    const without = await commands.start(['console', ...flags]).ended
    expect([without.code, without.errors]).toEqual([
      2,
      expect.stringContaining('no console answers'),
    ])
    await commands.start(['ask', '--agent', 'agent.yaml', 'Hi']).ended
    const running = commands.start(['console', ...flags])
    const [greeting] = await once(running.child.stdout, 'data')
    const [, server = '', key = ''] =
      /The console: (\S+)\/console#\/key\/(\S+)/.exec(String(greeting)) ?? []
    const headers = { authorization: `Bearer ${key}` }
    const found = await fetch(`${server}/console/api/conversations`, { headers })
    expect(await found.json()).toMatchObject({ conversations: [{ question: 'Hi' }] })
    running.child.kill('SIGTERM')
    expect((await running.ended).code).toBe(0)
  })

  it('goes on with a feed after its last event after a kill -9 of its process', async () => {
    commands = await openCommandFolder(
      script(says(call('act', { n: 1 })), says(call('act', { n: 2 })), says(text('Done.'))),
    )
    const first = await served()
    const second = await served()
    await post(`${first.url}/v1/conversations/c/messages`, { text: 'go' })
    const before = await feed(first.url, 'call-finished')
    first.child.kill('SIGKILL')
    await first.ended
    const after = await feed(second.url, 'turn-finished', before.at(-1)?.id)
    const whole = await feed(second.url, 'turn-finished')
    expect(records([...before, ...after])).toEqual(records(whole))
    expect(JSON.parse(after.at(-1)?.data ?? '')).toMatchObject({ reply: 'Done.' })
    second.child.kill('SIGTERM')
    expect((await second.ended).code).toBe(0)
  })

  it('continues a response at another server after a kill -9 in mid-stream', async () => {
    commands = await openCommandFolder(
      script(says(call('act', { n: 1 })), says(call('act', { n: 2 })), says(text('Done.'))),
    )
    const [first, second] = [await served(), await served()]
    const at = ({ url }: typeof first) => new OpenAI({ apiKey: 'none', baseURL: `${url}/v1` })
    const body = { model: 'weir/agent', input: 'go', stream: true as const }
    const seen: OpenAI.Responses.ResponseStreamEvent[] = []
    for await (const event of await at(first).responses.create(body)) {
      seen.push(event)
      if (event.type === 'response.mcp_call.completed') break
    }
    first.child.kill('SIGKILL')
    await first.ended
    const [begun] = seen
    const id = begun?.type === 'response.created' ? begun.response.id : ''
    const read = async (after?: number) => {
      const events: OpenAI.Responses.ResponseStreamEvent[] = []
      const query = { stream: true as const, ...(after !== undefined && { starting_after: after }) }
      for await (const event of await at(second).responses.retrieve(id, query)) events.push(event)
      return events
    }
    const rest = await read(seen.at(-1)?.sequence_number)
    const shown = (events: typeof seen) =>
      events.map(({ type, sequence_number: number }) => `${number} ${type}`)
    expect(shown([...seen, ...rest])).toEqual(shown(await read()))
    expect(rest.at(-1)).toMatchObject({ response: { status: 'completed' } })
    second.child.kill('SIGTERM')
    expect((await second.ended).code).toBe(0)
  })

  it('listens where other machines can connect only with keys', async () => {
    commands = await openCommandFolder(script())
    const open = ['serve', '--agents', 'agent.yaml', '--http-host', '0.0.0.0']
    expect(await commands.run(open)).toMatchObject({
      code: 2,
      errors: expect.stringContaining('give --api-keys FILE or --oidc-issuer URL first'),
    })
    const create = ['api-keys', 'create', 'ci', '--file', 'keys.json', '--tenant', 'acme']
    const { out } = await commands.run([...create, '--role', 'ask'])
    const { url, child } = await served('--http-host', '0.0.0.0', '--api-keys', 'keys.json')
    const baseURL = `${url.replace('0.0.0.0', '127.0.0.1')}/v1`
    const client = new OpenAI({ apiKey: out.trim(), baseURL })
    const answer = await client.chat.completions.create({
      model: 'weir/agent',
      messages: [{ role: 'user', content: 'hi' }],
    })
    expect(answer.choices[0]?.message.content).toBe('The script is over.')
    await expect(new OpenAI({ apiKey: 'weir_x', baseURL }).models.list()).rejects.toMatchObject({
      status: 401,
    })
    child.kill('SIGTERM')
  })
})

describe('weir serve without keys', () => {
  it('refuses a program without the key of its data folder, which all its servers have', async () => {
    commands = await openCommandFolder(script(says(text('Hello.'))))
    const serve = ['serve', '--agents', 'agent.yaml', '--http-port', '0']
    const first = commands.start(serve)
    const seen: string[] = []
    for await (const [line] of on(createInterface({ input: first.child.stdout }), 'line')) {
      seen.push(String(line))
      if (seen.length === 3) break
    }
    const shown = seen.join('\n')
    const [, url = ''] = /answers at (\S+)\. /.exec(shown) ?? []
    const key = (await readFile(join(commands.folder, '.weir', 'weir.key'), 'utf8')).trim()
    expect(shown).toContain(`Clients send the key in .weir/weir.key: ${key}`)
    expect(shown).toContain(`The console: ${url}/console#/key/${key}`)
    const ask = (apiKey: string, at: string, input = 'hi') =>
      new OpenAI({ apiKey, baseURL: `${at}/v1` }).responses.create({
        model: 'weir/agent',
        input,
      })
    await expect(ask('none', url)).rejects.toMatchObject({ status: 401 })
    expect(commands.server.requests).toEqual([])
    expect((await ask(key, url)).output_text).toBe('Hello.')

    const opened = join(commands.folder, 'opened')
    await writeFile(join(commands.folder, 'xdg-open'), `#!/bin/sh\necho "$@" > ${opened}\n`, {
      mode: 0o755,
    })
    const PATH = `${commands.folder}:${process.env.PATH}`
    const { port } = new URL(url)
    const { out } = await commands.run(['console', '--open', '--http-port', port], {
      environment: { PATH },
    })
    expect(out).toBe(`${url}/console#/key/${key}\n`)
    let opener = ''
    await until(async () => {
      opener = await readFile(opened, 'utf8').catch(() => '')
      return opener !== ''
    })
    expect(opener).not.toContain(key)
    expect(await readFile(fileURLToPath(opener.trim()), 'utf8')).toContain(`/console#/key/${key}`)
    first.child.kill('SIGTERM')
    const { errors } = await first.ended
    expect(errors).not.toContain(key)

    const args = ['--agents', 'agent.yaml', '--health-port', '0', '--http-port', '0']
    const up = startUp(commands, { args })
    const { edge, keyFile } = await up.line('the HTTP edge is started')
    expect(keyFile).toBe('.weir/weir.key')
    await expect(ask('none', String(edge))).rejects.toMatchObject({ status: 401 })
    expect((await ask(key, String(edge), 'bye')).output_text).toBe('The script is over.')
    up.signal('SIGTERM')
    expect((await up.ended).errors).not.toContain(key)
  })
})

const closing = ['up', 'serve'] as const

describe.each(closing)('weir %s with open requests', (command) => {
  it('ends its streams at SIGTERM, answers the others with 503, and logs no error', async () => {
    commands = await openCommandFolder(() => ({ kind: 'stall', blocks: [text('Wait')] }))
    const flags = ['--agents', 'agent.yaml', '--http-port', '0', '--keyless']
    const health = command === 'up' ? ['--health-port', '0'] : ['--json']
    const running = commands.start([command, ...flags, ...health])
    const [output, pattern] =
      command === 'up'
        ? [running.child.stderr, /"edge":"([^"]+)"/]
        : [running.child.stdout, /"url":"([^"]+)"/]
    let url: string | undefined
    for await (const [line] of on(createInterface({ input: output }), 'line')) {
      url = pattern.exec(line)?.[1]
      if (url !== undefined) break
    }
    const user = (content: string) => ({ role: 'user', content })
    const part = { type: 'text', text: 'a' }
    const streams = await Promise.all([
      post(`${url}/v1/responses`, { model: 'weir/agent', input: 'a', stream: true }),
      post(`${url}/v1/chat/completions`, {
        model: 'weir/agent',
        messages: [user('b')],
        stream: true,
      }),
      post(`${url}/v1/ui-stream`, {
        id: 'u',
        messages: [{ id: 'm', ...user('a'), parts: [part] }],
      }),
      post(`${url}/v1/ag-ui/agent`, { threadId: 't', runId: 'r', messages: [user('a')] }),
    ])
    const whole = [
      post(`${url}/v1/responses`, { model: 'weir/agent', input: 'c', conversation: 'c' }),
      post(`${url}/v1/chat/completions`, { model: 'weir/agent', messages: [user('d')] }),
    ]
    await until(() => (commands?.server.requests.length ?? 0) >= 6)
    running.child.kill('SIGTERM')
    for (const stream of streams) {
      const end = await stream.text() // rejects if the connection breaks
      expect([stream.status, end]).toEqual([
        200,
        expect.not.stringMatching(/interrupted|RUN_ERROR|event: error/),
      ])
    }
    for (const answer of await Promise.all(whole)) {
      expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '1'])
      expect(await answer.json()).toMatchObject({ error: { code: 'edge.interrupted' } })
    }
    const { code, errors } = await running.ended
    expect([code, errors.split('\n').filter((line) => /"level":[456]0/.test(line))]).toEqual([
      0,
      [],
    ])
  })
})

describe('weir up --http-port', () => {
  it('answers in the process of the stages', async () => {
    commands = await openCommandFolder(script(says(text('Hello.'))))
    const up = startUp(commands, {
      args: ['--agents', 'agent.yaml', '--health-port', '0', '--http-port', '0', '--keyless'],
    })
    const { edge } = await up.line('the HTTP edge is started')
    const client = new OpenAI({ apiKey: 'none', baseURL: `${edge}/v1` })
    const { output_text: reply } = await client.responses.create({
      model: 'weir/agent',
      input: 'hi',
    })
    expect(reply).toBe('Hello.')
    up.signal('SIGTERM')
    expect((await up.ended).code).toBe(0)
  })

  it('serves guests on the same port, and not once it asks for keys', async () => {
    commands = await openCommandFolder(script(says(text('Hello.'))))
    const model = await scriptedUpstream(loopingModel())
    const args = ['--agents', 'agent.yaml', '--health-port', '0', '--http-port', '0']
    const up = startUp(commands, { args: [...args, '--keyless', '--upstream', `${model.url}/v1`] })
    const { edge } = await up.line('the HTTP edge is started')
    for (const [, run] of sdkAgents)
      expect(await run(`${edge}/proxy/coder`, true)).toEqual({ requests: 5, reply: 'I stop here.' })
    expect((await post(`${edge}/v1/hooks/claude-code/prompt`, {})).status).not.toBe(404)
    expect((await post(`${edge}/v1/guest/coder/end-turn`, {})).status).toBe(400)
    const client = new OpenAI({ apiKey: 'none', baseURL: `${edge}/v1` })
    expect((await client.models.list()).data).toHaveLength(1)
    up.signal('SIGTERM')
    expect((await up.ended).code).toBe(0)
    await model.close()
    const create = ['api-keys', 'create', 'ci', '--file', 'keys.json', '--tenant', 'acme']
    await commands.run([...create, '--role', 'ask'])
    const keys = ['--api-keys', 'keys.json']
    const closed = startUp(commands, { args: [...args, ...keys] })
    const url = (await closed.line('the HTTP edge is started')).edge
    expect((await post(`${url}/v1/guest/coder/end-turn`, {})).status).toBe(401)
    closed.signal('SIGTERM')
    await closed.ended
    expect(
      await startUp(commands, { args: [...args, ...keys, '--upstream', model.url] }).ended,
    ).toMatchObject({ code: 2, errors: expect.stringContaining('--front-port') })
  })
})
