// Calls behind `weir mcp` that wait for a person: the answer in the host, and the commands of Weir.

import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import type { Client, ElicitResult } from '@modelcontextprotocol/client'
import type { WaitingApproval } from '../../../../../services/approval/performer/approvals.ts'
import { until } from '../../../../support/inbox.ts'
import {
  type Era,
  eras,
  gatewayOverHttp,
  hostOnPipe,
  textOf,
} from '../../../../support/mcp/gateway.ts'

const weir = join(import.meta.dirname, '../../../../../bin/weir')
const run = promisify(execFile)

let folder: string
let journal: string
let client: Client | undefined

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weir-gateway-'))
  journal = join(folder, 'journal')
})

afterEach(async () => {
  await client?.close()
  await rm(folder, { recursive: true, force: true })
})

const command = async (...args: string[]) =>
  (await run(weir, [...args, '--data-folder', 'data'], { cwd: folder })).stdout

const calls = () => readFile(journal, 'utf8').catch(() => '')

/** The weather of a city waits for a person. */
async function host(era: Era, answer?: () => ElicitResult, waitMs = 600_000): Promise<Client> {
  const rules = { rules: [{ name: 'asks', tools: ['weather'] }], waitMs }
  await writeFile(join(folder, 'rules.json'), JSON.stringify(rules))
  await command('approvals', 'rules', 'rules.json')
  const found = await hostOnPipe(
    {
      era,
      folder,
      environment: { MCP_JOURNAL: journal },
      capabilities: answer === undefined ? {} : { elicitation: { form: {} } },
      args: ['--agent', 'coder', '--env', 'MCP_JOURNAL', '--data-folder', 'data'],
    },
    (one) => {
      if (answer === undefined) return
      one.setRequestHandler('elicitation/create', async ({ params }) => {
        questions.push(params.message)
        return answer()
      })
    },
  )
  client = found.client
  return client
}

let questions: string[] = []

beforeEach(() => {
  questions = []
})

async function waitingApproval(): Promise<WaitingApproval> {
  let line = ''
  await until(async () => {
    line = (await command('approvals', 'list', '--json')).trim()
    return line !== ''
  })
  return JSON.parse(line) as WaitingApproval
}

describe.each(eras)('a person at a host of the %s era', (era) => {
  it('reads the call and lets it run', async () => {
    const one = await host(era, () => ({ action: 'accept', content: { run: true } }))
    expect(await textOf(one, 'weather', { city: 'Rome\u202e' })).toEqual({
      text: '18 °C in Rome\u202e',
      isError: false,
    })
    expect(questions).toEqual([expect.stringContaining('weather {"city":"Rome\\u202e"}')])
    expect(await calls()).toBe('weather\n')
  })

  it.each<ElicitResult>([
    { action: 'decline' },
    { action: 'cancel' },
    { action: 'accept', content: { run: false } },
  ])('keeps the call from the server with %j', async (answer) => {
    const one = await host(era, () => answer)
    expect(await textOf(one, 'weather', { city: 'Rome' })).toEqual({
      text: expect.stringContaining('declined in the host'),
      isError: true,
    })
    expect(await calls()).toBe('')
    expect(await textOf(one, 'fail')).toMatchObject({ text: 'no such city' })
  })

  it('decides with the command where the host cannot ask', async () => {
    const one = await host(era)
    const answer = textOf(one, 'weather', { city: 'Rome' })
    const { id, arguments: shown } = await waitingApproval()
    expect(shown).toBe('{"city":"Rome"}')
    await command('allow', id)
    expect(await answer).toEqual({ text: '18 °C in Rome', isError: false })
  })
})

describe('a call that nobody decides', () => {
  it('is refused at its deadline with the id of the approval', async () => {
    const one = await host('modern', undefined, 3_000)
    const progress: string[] = []
    const { content, isError } = await one.callTool(
      { name: 'weather', arguments: { city: 'Rome' } },
      { onprogress: ({ message = '' }) => void progress.push(message) },
    )
    const [, id = ''] = /weir allow (\w+)/.exec(progress[0] ?? '') ?? []
    expect({ isError, content }).toEqual({
      isError: true,
      content: [{ type: 'text', text: expect.stringContaining(id) }],
    })
    expect(id).not.toBe('')
    expect(await calls()).toBe('')
  })

  it('is withdrawn when its host cancels it', async () => {
    const one = await host('modern')
    const cancel = new AbortController()
    const call = textOf(one, 'weather', { city: 'Rome' }, { signal: cancel.signal })
    call.catch(() => {})
    await waitingApproval()
    cancel.abort()
    await expect(call).rejects.toThrow()
    await until(async () => (await command('approvals', 'list', '--json')) === '')
    expect(await textOf(one, 'fail')).toMatchObject({ text: 'no such city' })
    expect(await calls()).toBe('fail\n')
  })
})

describe('a host with tasks that cannot ask', () => {
  let gateway: Awaited<ReturnType<typeof gatewayOverHttp>>
  type Answer = {
    result?: { resultType: string; taskId: string; status: string; result?: object }
    error?: { code: number; message: string }
  }

  beforeEach(async () => {
    const rules = { rules: [{ name: 'asks', tools: ['weather'] }], waitMs: 600_000 }
    await writeFile(join(folder, 'rules.json'), JSON.stringify(rules))
    await command('approvals', 'rules', 'rules.json')
    gateway = await gatewayOverHttp({
      folder,
      environment: { MCP_JOURNAL: journal },
      args: ['--env', 'MCP_JOURNAL', '--data-folder', 'data'],
    })
  })

  afterEach(() => gateway.close())

  /** By hand: the client of the SDK refuses a task as a result. */
  async function request(
    method: string,
    params: { name?: string; taskId?: string; arguments?: object },
    { conversation = 'one', extensions = { 'io.modelcontextprotocol/tasks': {} } } = {},
  ): Promise<Answer> {
    const key = 'io.modelcontextprotocol'
    const _meta = {
      [`${key}/protocolVersion`]: '2026-07-28',
      [`${key}/clientInfo`]: { name: 'host', version: '1' },
      [`${key}/clientCapabilities`]: { extensions },
    }
    const answer = await fetch(`${gateway.url}/mcp/coder/${conversation}`, {
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
    await command('allow', id)
    await until(async () => (await task(taskId)).result?.status === 'completed')
    expect((await task(taskId)).result?.result).toMatchObject({
      content: [{ type: 'text', text: '18 °C in Rome' }],
    })
    expect(await calls()).toBe('weather\n')
  })

  it('gets the refusal of a person as the result', async () => {
    const taskId = await begun()
    const { id } = await waitingApproval()
    await command('deny', id, '--reason', 'not today')
    await until(async () => (await task(taskId)).result?.status === 'completed')
    expect((await task(taskId)).result?.result).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('not today') }],
    })
    expect(await calls()).toBe('')
  })

  it('withdraws the question when it cancels the task', async () => {
    const taskId = await begun()
    await waitingApproval()
    expect((await request('tasks/cancel', { taskId })).result).toMatchObject({})
    expect((await task(taskId)).result).toMatchObject({ status: 'cancelled' })
    await until(async () => (await command('approvals', 'list', '--json')) === '')
    expect((await task(taskId)).result).toMatchObject({ status: 'cancelled' })
    expect(await calls()).toBe('')
  })

  it('finds no task of another conversation, an unknown one, or without the extension', async () => {
    const taskId = await begun()
    for (const answer of [
      await request('tasks/get', { taskId }, { conversation: 'two' }),
      await request('tasks/cancel', { taskId }, { conversation: 'two' }),
      await request('tasks/get', { taskId: 'guessed' }),
      await request('tasks/get', { taskId }, { extensions: {} as never }),
    ])
      expect(answer.error).toMatchObject({ code: -32602 })
    expect((await task(taskId)).result).toMatchObject({ status: 'working' })
  })
})

describe('a host that answers a question itself', () => {
  /** A call until its question, and its repeats with an approval that no person gave. */
  async function asked() {
    const one = await host('modern', () => ({ action: 'cancel' }))
    const call = (city: string, more: object = {}) =>
      one.callTool({ name: 'weather', arguments: { city }, ...more }, { allowInputRequired: true })
    const { requestState } = (await call('Rome')) as { requestState?: string }
    const inputResponses = { approval: { action: 'accept', content: { run: true } } }
    return (city: string, state = requestState) =>
      call(city, { requestState: state, inputResponses })
  }

  it('cannot run a call with other arguments, or twice', async () => {
    const repeat = await asked()
    expect(await repeat('Oslo')).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('other arguments') }],
    })
    expect(await repeat('Rome')).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('is over') }],
    })
    expect(await calls()).toBe('')
  })

  it('cannot make up the state of a question', async () => {
    const repeat = await asked()
    await expect(repeat('Rome', 'v1.e30.AAAA')).rejects.toThrow('Invalid or expired requestState')
    expect(await calls()).toBe('')
  })
})
