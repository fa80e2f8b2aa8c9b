// Calls after `weir mcp` that wait for a person: the answer in the host, and the commands of Weir. The
// list of waiting calls is read in this process, because tests look at it again and again.

import { execFile } from 'node:child_process'
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import type { Client, ElicitResult } from '@modelcontextprotocol/client'
import { withLog } from '../../../../../apps/history/open-log.ts'
import { approvalList } from '../../../../../apps/service/approvals/list.ts'
import type { WaitingApproval } from '../../../../../services/approval/performer/approvals.ts'
import { readSettings } from '../../../../../shared/settings/settings.ts'
import { until } from '../../../../support/inbox.ts'
import {
  type Era,
  eras,
  gatewayOverHttp,
  hostOnPipe,
  hostOverHttp,
  textOf,
} from '../../../../support/mcp/gateway.ts'
import { weirCommand } from '../../../../support/programs.ts'

const run = promisify(execFile)

const folders: string[] = []
const clients: Client[] = []
let prepared: string
let questions: string[] = []

/** Making the rule starts a process, so each gateway gets a copy of the data. */
beforeAll(async () => {
  prepared = await newFolder()
  await addRule(prepared, 600_000)
})

afterAll(async () => {
  for (const client of clients) await client.close()
  for (const folder of folders) await rm(folder, { recursive: true, force: true })
})

beforeEach(() => {
  questions = []
})

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'weir-gateway-'))
  folders.push(folder)
  return folder
}

/** The weather of a city waits for a person. */
async function addRule(folder: string, waitMs: number): Promise<void> {
  const rules = { rules: [{ name: 'asks', tools: ['weather'] }], waitMs }
  await writeFile(join(folder, 'rules.json'), JSON.stringify(rules))
  await commandIn(folder, 'approvals', 'rules', 'rules.json')
}

async function commandIn(folder: string, ...args: string[]): Promise<string> {
  return (await run(weirCommand, [...args, '--data-folder', 'data'], { cwd: folder })).stdout
}

/** A folder with the data of a gateway, and the journal of the server after it. */
type Place = {
  folder: string
  journal: string
  command(...args: string[]): Promise<string>
  /** The calls that the server has received, since `forgetCalls` if it was called. */
  calls(): Promise<string>
  forgetCalls(): Promise<void>
  waiting(): Promise<readonly WaitingApproval[]>
  waitingApproval(isIt?: (approval: WaitingApproval) => boolean): Promise<WaitingApproval>
}

async function newPlace(): Promise<Place> {
  const folder = await newFolder()
  await cp(prepared, folder, { recursive: true })
  const journal = join(folder, 'journal')
  const all = () => readFile(journal, 'utf8').catch(() => '')
  const command = (...args: string[]) => commandIn(folder, ...args)
  const settings = readSettings({ dataFolder: join(folder, 'data') }, {})
  const waiting = () => withLog(settings, approvalList.read({}))
  let forgotten = 0
  return {
    folder,
    journal,
    command,
    calls: async () => (await all()).slice(forgotten),
    async forgetCalls() {
      forgotten = (await all()).length
    },
    waiting,
    async waitingApproval(isIt = () => true) {
      let approval: WaitingApproval | undefined
      await until(async () => {
        approval = (await waiting()).find(isIt)
        return approval !== undefined
      })
      return approval as WaitingApproval
    },
  }
}

type Asked = { answer: () => ElicitResult | Promise<ElicitResult>; asksInSecondProcess?: boolean }

/** `asked`: the host asks its user. */
async function hostIn({ folder, journal }: Place, era: Era, asked?: Asked): Promise<Client> {
  const { client } = await hostOnPipe(
    {
      era,
      folder,
      environment: { MCP_JOURNAL: journal },
      capabilities: asked === undefined ? {} : { elicitation: { form: {} } },
      args: ['--agent', 'coder', '--env', 'MCP_JOURNAL', '--data-folder', 'data'],
      asksInSecondProcess: asked?.asksInSecondProcess ?? false,
    },
    (one) => {
      if (asked === undefined) return
      one.setRequestHandler('elicitation/create', async ({ params }) => {
        questions.push(params.message)
        return asked.answer()
      })
    },
  )
  clients.push(client)
  return client
}

describe.each(eras)('a person at a host of the %s era', (era) => {
  let answer: ElicitResult
  let place: Place
  let one: Client
  beforeAll(async () => {
    place = await newPlace()
    one = await hostIn(place, era, { answer: () => answer, asksInSecondProcess: true })
  })
  beforeEach(() => place.forgetCalls())

  it('reads the call and lets it run', async () => {
    answer = { action: 'accept', content: { run: true } }
    expect(await textOf(one, 'weather', { city: 'Rome\u202e' })).toEqual({
      text: '18 °C in Rome', // the gateway removes text that nobody sees from results
      isError: false,
    })
    expect(questions).toEqual([expect.stringContaining('weather {"city":"Rome\\u202e"}')])
    expect(await place.calls()).toBe('weather\n')
  })

  it.each<ElicitResult>([
    { action: 'decline' },
    { action: 'cancel' },
    { action: 'accept', content: { run: false } },
  ])('keeps the call from the server with %j', async (refusal) => {
    answer = refusal
    // No two tests send the same call: that would be a loop.
    const city = JSON.stringify(refusal)
    expect(await textOf(one, 'weather', { city })).toEqual({
      text: expect.stringContaining('declined in the host'),
      isError: true,
    })
    expect(await place.calls()).toBe('')
    expect(await textOf(one, 'fail', { city })).toMatchObject({ text: 'no such city' })
  })
})

describe.each(eras)('a person at a host of the %s era', (era) => {
  it('decides with the command where the host cannot ask', async () => {
    const place = await newPlace()
    const one = await hostIn(place, era)
    const answer = textOf(one, 'weather', { city: 'Rome' })
    const { id, rawArguments: shown } = await place.waitingApproval()
    expect(shown).toBe('{"city":"Rome"}')
    await place.command('allow', id)
    expect(await answer).toEqual({ text: '18 °C in Rome', isError: false })
  })
})

describe('a call that a command allows while its host asks', () => {
  it.each<[string, ElicitResult, string[]]>([
    ['the person at the host declines', { action: 'decline' }, []],
    [
      'an operator stops the tool',
      { action: 'accept', content: { run: true } },
      ['stop', '--tool', 'weather', '--reason', 'test'],
    ],
  ])('does not run if %s', async (_, answer, command) => {
    const place = await newPlace()
    const one = await hostIn(place, 'modern', {
      async answer() {
        const { id } = await place.waitingApproval()
        await place.command('allow', id)
        if (command.length > 0) await place.command(...command)
        return answer
      },
    })
    expect(await textOf(one, 'weather', { city: 'Rome' })).toMatchObject({ isError: true })
    expect(await place.calls()).toBe('')
  })
})

describe('a call that nobody decides', () => {
  let place: Place
  beforeEach(async () => {
    place = await newPlace()
  })

  it('is refused at its deadline with the id of the approval', async () => {
    await addRule(place.folder, 1_000)
    const one = await hostIn(place, 'modern')
    const refusal = await textOf(one, 'weather', { city: 'Rome' })
    const pending = JSON.parse(
      await place.command('tail', 'activity', '--type', 'approval-pending'),
    )
    expect(refusal).toEqual({
      text: expect.stringContaining(pending.message.calls[0].id),
      isError: true,
    })
    expect(await place.calls()).toBe('')
  })

  it('is shown to its host as progress, and withdrawn when the host cancels it', async () => {
    const one = await hostIn(place, 'modern')
    const cancel = new AbortController()
    const progress: string[] = []
    const onprogress = ({ message = '' }) => void progress.push(message)
    const options = { signal: cancel.signal, onprogress }
    const call = textOf(one, 'weather', { city: 'Rome' }, options)
    call.catch(() => {})
    const { id } = await place.waitingApproval()
    await until(async () => progress.length > 0)
    expect(progress[0]).toContain(`weir allow ${id} `)
    cancel.abort()
    await expect(call).rejects.toThrow()
    await until(async () => (await place.waiting()).length === 0)
    expect(await textOf(one, 'fail')).toMatchObject({ text: 'no such city' })
    expect(await place.calls()).toBe('fail\n')
  })
})

describe('a host over HTTP that can ask', () => {
  let place: Place
  let gateway: Awaited<ReturnType<typeof gatewayOverHttp>>

  beforeAll(async () => {
    place = await newPlace()
    gateway = await gatewayOverHttp({
      folder: place.folder,
      environment: { MCP_JOURNAL: place.journal },
      args: ['--env', 'MCP_JOURNAL', '--data-folder', 'data'],
    })
  })
  beforeEach(() => place.forgetCalls())
  afterAll(() => gateway.close())

  const keyHeader = async () => ({
    authorization: `Bearer ${(await readFile(join(place.folder, gateway.keyFile ?? ''), 'utf8')).trim()}`,
  })

  async function asking(thread: string, headers: Record<string, string>): Promise<Client> {
    const host = { era: 'modern', capabilities: { elicitation: { form: {} } } } as const
    const client = await hostOverHttp(
      `${gateway.url}/mcp/coder/${thread}`,
      host,
      (one) =>
        one.setRequestHandler('elicitation/create', async ({ params }) => {
          questions.push(params.message)
          return { action: 'accept', content: { run: true } }
        }),
      headers,
    )
    clients.push(client)
    return client
  }

  it('asks its user with the key of the data folder', async () => {
    const client = await asking('with-key', await keyHeader())
    expect(await textOf(client, 'weather', { city: 'Rome' })).toMatchObject({ isError: false })
    expect(questions).toHaveLength(1)
  })

  it.each([
    ['no key', {}],
    ['another key', { authorization: `Bearer weir_${'A'.repeat(43)}` }],
  ])('asks nobody with %s, and the call waits for a person at Weir', async (title, headers) => {
    const client = await asking(title.replace(' ', '-'), headers)
    const call = textOf(client, 'weather', { city: 'Rome' })
    const { id } = await place.waitingApproval()
    expect(questions).toEqual([])
    expect(await place.calls()).toBe('')
    await place.command('allow', id)
    expect(await call).toMatchObject({ isError: false })
    expect(questions).toEqual([])
  })

  it('decides nothing by an answer without the key', async () => {
    const key = 'io.modelcontextprotocol'
    const post = async (params: object, headers: Record<string, string>) => {
      const _meta = {
        [`${key}/protocolVersion`]: '2026-07-28',
        [`${key}/clientInfo`]: { name: 'host', version: '1' },
        [`${key}/clientCapabilities`]: { elicitation: { form: {} } },
      }
      const answer = await fetch(`${gateway.url}/mcp/coder/answers`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          'mcp-protocol-version': '2026-07-28',
          'mcp-method': 'tools/call',
          'mcp-name': 'weather',
          ...headers,
        },
        body: JSON.stringify({
          jsonrpc: '2.0',
          id: 1,
          method: 'tools/call',
          params: { name: 'weather', arguments: { city: 'Rome' }, _meta, ...params },
        }),
      })
      const { result } = JSON.parse((await answer.text()).replace(/^event:.*\ndata: /, ''))
      return result as { resultType: string; requestState?: string }
    }
    const asked = await post({}, await keyHeader())
    expect(asked.resultType).toBe('input_required')
    const content = { run: true }
    const reply = {
      requestState: asked.requestState,
      inputResponses: { approval: { action: 'accept', content } },
    }
    expect((await post(reply, {})).resultType).toBe('input_required')
    expect(await place.waiting()).toHaveLength(1)
    expect(await place.calls()).toBe('')
    expect((await post(reply, await keyHeader())).resultType).toBe('complete')
    expect(await place.calls()).toBe('weather\n')
  })
})

describe('a host with tasks that cannot ask', () => {
  let place: Place
  let gateway: Awaited<ReturnType<typeof gatewayOverHttp>>
  /** Each test has one. */
  let conversation: string
  let tests = 0
  type Answer = {
    result?: { resultType: string; taskId: string; status: string; result?: object }
    error?: { code: number; message: string }
  }

  beforeAll(async () => {
    place = await newPlace()
    gateway = await gatewayOverHttp({
      folder: place.folder,
      environment: { MCP_JOURNAL: place.journal },
      args: ['--env', 'MCP_JOURNAL', '--data-folder', 'data'],
    })
  })
  beforeEach(async () => {
    conversation = `of-test-${++tests}`
    await place.forgetCalls()
  })
  afterAll(() => gateway.close())

  /** By hand: the client of the SDK refuses a task as a result. */
  async function request(
    method: string,
    params: { name?: string; taskId?: string; arguments?: object },
    { thread = conversation, extensions = { 'io.modelcontextprotocol/tasks': {} } } = {},
  ): Promise<Answer> {
    const key = 'io.modelcontextprotocol'
    const _meta = {
      [`${key}/protocolVersion`]: '2026-07-28',
      [`${key}/clientInfo`]: { name: 'host', version: '1' },
      [`${key}/clientCapabilities`]: { extensions },
    }
    const answer = await fetch(`${gateway.url}/mcp/coder/${thread}`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': method,
        'mcp-name': params.name ?? params.taskId ?? '',
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { ...params, _meta } }),
    })
    const body = await answer.text()
    return JSON.parse(
      body
        .split('\n')
        .findLast((line) => line.startsWith('data: '))
        ?.slice(6) ?? body,
    )
  }

  const weather = { name: 'weather', arguments: { city: 'Rome' } }
  const begun = async () => (await request('tools/call', weather)).result?.taskId ?? ''
  const task = (taskId: string) => request('tasks/get', { taskId })
  const isOwn = (approval: WaitingApproval) => approval.conversation.endsWith(`:${conversation}`)
  const waitingApproval = () => place.waitingApproval(isOwn)

  it('gets a task at once, and its result when a person has approved the call', async () => {
    const first = await request('tools/call', weather)
    const { id } = await waitingApproval()
    expect(first.result).toMatchObject({
      resultType: 'task',
      status: 'working',
      ttlMs: 86_400_000,
      pollIntervalMs: 2_000,
      statusMessage: `waits for a person: weir allow ${id} (weir approvals shows the call)`,
    })
    const taskId = first.result?.taskId ?? ''
    expect((await task(taskId)).result).toMatchObject({ resultType: 'complete', status: 'working' })
    await place.command('allow', id)
    await until(async () => (await task(taskId)).result?.status === 'completed')
    expect((await task(taskId)).result?.result).toMatchObject({
      content: [{ type: 'text', text: '18 °C in Rome' }],
    })
    expect(await place.calls()).toBe('weather\n')
  })

  it('gets the refusal of a person as the result', async () => {
    const taskId = await begun()
    const { id } = await waitingApproval()
    await place.command('deny', id, '--reason', 'not today')
    await until(async () => (await task(taskId)).result?.status === 'completed')
    expect((await task(taskId)).result?.result).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('not today') }],
    })
    expect(await place.calls()).toBe('')
  })

  it('withdraws the question when it cancels the task', async () => {
    const taskId = await begun()
    await waitingApproval()
    expect((await request('tasks/cancel', { taskId })).result).toMatchObject({})
    expect((await task(taskId)).result).toMatchObject({ status: 'cancelled' })
    await until(async () => !(await place.waiting()).some(isOwn))
    expect((await task(taskId)).result).toMatchObject({ status: 'cancelled' })
    expect(await place.calls()).toBe('')
  })

  it('finds no task of another conversation, an unknown one, or without the extension', async () => {
    const taskId = await begun()
    for (const answer of [
      await request('tasks/get', { taskId }, { thread: 'two' }),
      await request('tasks/cancel', { taskId }, { thread: 'two' }),
      await request('tasks/get', { taskId: 'guessed' }),
      await request('tasks/get', { taskId }, { extensions: {} as never }),
    ])
      expect(answer.error).toMatchObject({ code: -32602 })
    expect((await task(taskId)).result).toMatchObject({ status: 'working' })
  })
})

describe('a host that answers a question itself', () => {
  let place: Place
  let one: Client
  beforeAll(async () => {
    place = await newPlace()
    one = await hostIn(place, 'modern', { answer: () => ({ action: 'cancel' }) })
  })
  beforeEach(() => place.forgetCalls())

  /** A call until its question, and its repeats with an approval that no person gave. */
  async function asked(city: string) {
    const call = (city: string, more: object = {}) =>
      one.callTool({ name: 'weather', arguments: { city }, ...more }, { allowInputRequired: true })
    const { requestState } = (await call(city)) as { requestState?: string }
    const inputResponses = { approval: { action: 'accept', content: { run: true } } }
    return (city: string, state = requestState) =>
      call(city, { requestState: state, inputResponses })
  }

  it('cannot run a call with other arguments, or twice', async () => {
    const repeat = await asked('Rome')
    expect(await repeat('Oslo')).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('other arguments') }],
    })
    expect(await repeat('Rome')).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('is over') }],
    })
    expect(await place.calls()).toBe('')
  })

  it('cannot make up the state of a question', async () => {
    const repeat = await asked('Bonn')
    await expect(repeat('Bonn', 'v1.e30.AAAA')).rejects.toThrow('Invalid or expired requestState')
    expect(await place.calls()).toBe('')
  })
})
