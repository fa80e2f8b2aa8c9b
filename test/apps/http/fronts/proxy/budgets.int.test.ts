// Budgets on the requests of guests through the proxy, with the real stages and a data folder.

import { mkdtempSync, rmSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import Anthropic from '@anthropic-ai/sdk'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { pino } from 'pino'
import { startFrontServer } from '../../../../../apps/http/front-server.ts'
import type { VetoOptions } from '../../../../../apps/http/fronts/proxy/veto/veto.ts'
import type { HttpServer } from '../../../../../apps/http/server.ts'
import { type BudgetOptions, budgetChange } from '../../../../../apps/service/budgets/change.ts'
import { budgetList, type ShownBudget } from '../../../../../apps/service/budgets/list.ts'
import {
  changeSetting,
  listSettings,
  removalOf,
} from '../../../../../apps/service/setting-command.ts'
import { type Fronts, openFronts } from '../../../../../client/guard/log/fronts.ts'
import { readSettings, type Settings } from '../../../../../shared/settings/settings.ts'
import { type ApiCase, apiCases, messagesCase } from './requests.ts'
import {
  type Received,
  type ScriptedUpstream,
  scriptedUpstream,
  sendJson,
} from './scripted-upstream.ts'

const log = pino({ level: 'silent' })
let folder: string
let settings: Settings
let fronts: Fronts
let upstream: ScriptedUpstream
let server: HttpServer
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'weir-proxy-budget-'))
  settings = readSettings(
    { dataFolder: join(folder, 'data') },
    { WEIR_BUS: 'embedded', WEIR_LOG_LEVEL: 'silent' },
  )
  fronts = await openFronts({ kind: 'folder', settings }, { log })
})
afterEach(async () => {
  await server.close()
  await upstream.close()
  await fronts.close()
  rmSync(folder, { recursive: true })
})

const streams = () => ({ out: new PassThrough() as never, errors: new PassThrough() as never })
const set = (options: Partial<BudgetOptions>) =>
  changeSetting(budgetChange, { window: 'day', ...options } as BudgetOptions, settings, streams())

async function start(
  respond: (request: Received, response: ServerResponse, n: number) => unknown,
  veto?: VetoOptions,
): Promise<void> {
  upstream = await scriptedUpstream(respond)
  server = await startFrontServer({
    host: '127.0.0.1',
    port: 0,
    fronts,
    upstream: upstream.url,
    agent: 'main',
    veto,
    log,
  })
}

function post(path: string, body: string, headers: Record<string, string> = {}) {
  return fetch(server.url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body,
  })
}

/** The answer with a call that may run. */
function validAnswer({ answer }: ApiCase): unknown {
  const text = JSON.stringify(answer)
    .replaceAll('"input":{}', '"input":{"cmd":"ls"}')
    .replaceAll('"{}"', JSON.stringify('{"cmd":"ls"}'))
  return JSON.parse(text)
}

const reachedText = (id: string) => expect.stringContaining(`the budget ${id} is reached: `)

/** The first budget, with the use of its accounts. Closes the server: then all answers are settled. */
async function useAtEnd(): Promise<ShownBudget['use']> {
  await server.close()
  const text = new PassThrough()
  await listSettings(budgetList, { json: true }, settings, text as unknown as NodeJS.WriteStream)
  const [line = ''] = String(text.read()).split('\n')
  return (JSON.parse(line) as ShownBudget).use
}

const modes: [string, VetoOptions | undefined][] = [
  ['that only observes', undefined],
  ['with a veto', { coversSubscriptions: false }],
]

describe.each(modes)('a proxy %s, under a hard budget', (_, veto) => {
  it.each(apiCases)('refuses a request of $name before it reaches the provider', async (api) => {
    await set({ tokens: '1' })
    await start((_, response) => sendJson(response, validAnswer(api)), veto)
    expect((await post(api.path, api.first)).status).toBe(200)

    const refused = await post(api.path, api.request)
    expect([refused.status, refused.headers.get('x-should-retry')]).toEqual([400, 'false'])
    expect(await refused.json()).toEqual({
      type: 'error',
      error: {
        type: 'invalid_request_error',
        code: 'budget.reached',
        message: reachedText('default/tenant/day/tokens'),
        param: null,
      },
    })
    expect(upstream.received).toHaveLength(1)
    expect(await useAtEnd()).toMatchObject([{ used: 7, held: 0 }])
  })

  it('lets requests pass again when the budget is removed', async () => {
    await set({ tokens: '1' })
    await start((_, response) => sendJson(response, validAnswer(messagesCase)), veto)
    const { path, first, request } = messagesCase
    const headers = { 'x-weir-conversation': 'c' }
    const statusOf = async (body: string) => (await post(path, body, headers)).status
    expect([await statusOf(first), await statusOf(request)]).toEqual([200, 400])
    await changeSetting(
      removalOf('budget'),
      { id: 'default/tenant/day/tokens' },
      settings,
      streams(),
    )
    expect(await statusOf(request)).toBe(200)
  })

  it('counts nothing for a request that the provider refuses', async () => {
    await set({ tokens: '1' })
    await start((_, response) => sendJson(response, { type: 'error' }, 529), veto)
    expect((await post(messagesCase.path, messagesCase.request)).status).toBe(529)
    expect(await useAtEnd()).toMatchObject([{ used: 0, held: 0 }])
  })

  it('counts nothing for a request that no provider answers', async () => {
    await set({ tokens: '1' })
    await start((_, response) => response.destroy(), veto)
    expect((await post(messagesCase.path, messagesCase.request)).status).toBe(502)
    expect(await useAtEnd()).toMatchObject([{ used: 0, held: 0 }])
  })

  it('grants 64 parallel requests until the last of them passes the budget', async () => {
    const hard = 1_000
    await set({ tokens: `${hard}` })
    let decided = 0
    const all = Promise.withResolvers<void>()
    const decide = () => {
      decided += 1
      if (decided === 64) all.resolve()
    }
    await start(async (_, response) => {
      decide()
      await all.promise // so all granted requests are open at once
      sendJson(response, validAnswer(messagesCase))
    }, veto)
    const { path, request } = messagesCase
    const statuses = await Promise.all(
      Array.from({ length: 64 }, async (_, n) => {
        const answer = await post(path, request, { 'x-weir-conversation': `c${n}` })
        if (answer.status === 400) decide()
        await answer.arrayBuffer()
        return answer.status
      }),
    )
    const bound = Math.ceil(JSON.stringify(JSON.parse(request)).length / 2) + 10
    const granted = statuses.filter((status) => status === 200).length
    expect(granted).toBe(Math.ceil(hard / bound))
    expect(upstream.received).toHaveLength(granted)
    expect(await useAtEnd()).toMatchObject([{ used: granted * 7, held: 0 }])
  })
})

describe('a proxy that repeats a request with refused calls', () => {
  it('reserves each repeat, and ends with the error of the budget', async () => {
    await set({ tokens: '1' })
    await start((_, response) => sendJson(response, messagesCase.answer), {
      coversSubscriptions: false,
    })
    const refused = await post(messagesCase.path, messagesCase.request)
    expect([refused.status, upstream.received.length]).toEqual([400, 1])
    expect(await refused.json()).toMatchObject({ error: { code: 'budget.reached' } })
    expect(await useAtEnd()).toMatchObject([{ used: 7, held: 0 }])
  })
})

describe('a budget on requests of guests', () => {
  const answers = (_: Received, response: ServerResponse) => sendJson(response, messagesCase.answer)
  const statusOf = async (conversation: string, prefix = '') =>
    (
      await post(prefix + messagesCase.path, messagesCase.request, {
        'x-weir-conversation': conversation,
      })
    ).status

  it('of a conversation counts its requests only', async () => {
    await set({ conversation: 'guest:main:a', tokens: '1' })
    await start(answers)
    expect([await statusOf('a'), await statusOf('a'), await statusOf('b')]).toEqual([200, 400, 200])
  })

  it('of an agent counts its requests only', async () => {
    await set({ agent: 'main', tokens: '1' })
    await start(answers)
    const other = () => statusOf('c', '/proxy/other')
    expect([await statusOf('a'), await statusOf('b'), await other()]).toEqual([200, 400, 200])
  })

  it('of a turn counts the requests of one turn of a user', async () => {
    await set({ window: 'turn', tokens: '1' })
    await start(answers)
    const nextTurn = JSON.parse(messagesCase.request) as { messages: unknown[] }
    nextTurn.messages.push(
      { role: 'assistant', content: 'It is done.' },
      { role: 'user', content: 'And now the next.' },
    )
    const headers = { 'x-weir-conversation': 'a' }
    const next = () => post(messagesCase.path, JSON.stringify(nextTurn), headers)
    expect([await statusOf('a'), await statusOf('a'), (await next()).status]).toEqual([
      200, 400, 200,
    ])
  })

  it('counts a title or summary without tools, and refuses it as an error, never with a text', async () => {
    await set({ tokens: '1' })
    await start(answers)
    const title = JSON.stringify({
      model: 'm',
      max_tokens: 10,
      messages: [{ role: 'user', content: 'Name this.' }],
    })
    const statuses = [await post(messagesCase.path, title), await post(messagesCase.path, title)]
    expect(statuses.map(({ status }) => status)).toEqual([200, 400])
  })

  it('is an error that the SDK of the provider does not retry', async () => {
    await set({ tokens: '1' })
    await start(answers)
    const client = new Anthropic({ apiKey: 'k', baseURL: server.url, maxRetries: 5 })
    const messages = [{ role: 'user' as const, content: 'Go.' }]
    const ask = () => client.messages.create({ model: 'm', max_tokens: 10, messages })
    await ask()
    await expect(ask()).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining('the budget default/tenant/day/tokens is reached'),
    })
    expect(upstream.received).toHaveLength(1)
  })

  it('in money refuses a model without a price, and counts with --unpriced allow', async () => {
    await set({ money: '0.01USD' })
    await start(answers)
    const refused = await post(messagesCase.path, messagesCase.request)
    expect(refused.status).toBe(400)
    expect(await refused.text()).toContain('the price of the model')
    await set({ money: '0.01USD', unpriced: 'allow' })
    expect((await post(messagesCase.path, messagesCase.request)).status).toBe(200)
  })
})
