// Bad histories with the real stages, through the core and through the proxy with and without a veto.
// One that can be read is judged. Another one is an error of the core with its place. The proxy passes
// it on with a mark, and refuses it under a veto.

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { pino } from 'pino'
import type { GuestConversation } from '../../../../../client/guard/guest-conversation.ts'
import { type Fronts, openFronts } from '../../../../../client/guard/log/fronts.ts'
import { waitMaxMs } from '../../../../support/wait-limit.ts'
import { type Proxied, proxied } from './proxied.ts'
import { sendJson } from './scripted-upstream.ts'

type Mode = 'observing' | 'blocking'
const modes: readonly Mode[] = ['observing', 'blocking']
const servers = new Map<Mode, Proxied>()
const conversations = new Map<Mode, (id: string) => GuestConversation>()
let fronts: Fronts

const reply = {
  id: 'm1',
  type: 'message',
  role: 'assistant',
  model: 'm',
  stop_reason: 'end_turn',
  content: [{ type: 'text', text: 'Done.' }],
  usage: { input_tokens: 1, output_tokens: 1 },
}
const htmlWhen = 'answer with a page'

beforeAll(async () => {
  const log = pino({ level: 'silent' })
  fronts = await openFronts({ kind: 'memory' }, { log })
  for (const mode of modes) {
    const guard = fronts.front({ agent: 'main', mode, answerWithinMs: waitMaxMs })
    conversations.set(mode, guard.conversation)
    const respond: Parameters<typeof proxied>[1] = ({ body }, response) => {
      if (!body.includes(htmlWhen)) return sendJson(response, reply)
      response.writeHead(200, { 'content-type': 'text/html' }).end('<html></html>')
    }
    const veto = mode === 'blocking' ? { coversSubscriptions: false } : undefined
    servers.set(mode, await proxied(guard, respond, '', veto))
  }
})
afterAll(async () => {
  for (const server of servers.values()) await server.close()
  await fronts.close()
})

const tools = [
  {
    name: 'exec',
    input_schema: {
      type: 'object',
      properties: { command: { type: 'string' } },
      required: ['command'],
    },
  },
]
const user = (content: unknown) => ({ role: 'user', content })
const call = (id: string, input: object = {}) => ({
  role: 'assistant',
  content: [{ type: 'tool_use', id, name: 'exec', input }],
})
const result = (id: string, content = 'error: no command') =>
  user([{ type: 'tool_result', tool_use_id: id, content, is_error: true }])
const go = user('Go.')
const fortyTimes = Array.from({ length: 40 }, () => [call('same'), result('same')]).flat()
/** Above the bound of a result, near the bound of a body. */
const large = 'x'.repeat(60 * 1024 * 1024)

async function send(mode: Mode, id: string, messages: unknown): Promise<Response> {
  const { url } = servers.get(mode) as Proxied
  const headers = { 'content-type': 'application/json', 'x-weir-conversation': id }
  const body = JSON.stringify({ model: 'm', max_tokens: 9, tools, messages })
  return fetch(`${url}/v1/messages`, { method: 'POST', headers, body })
}

/** The last request at the model server of this proxy. */
function sentOn(mode: Mode): { messages: unknown } {
  const last = servers.get(mode)?.received.splice(0).at(-1)
  return JSON.parse(last?.body.toString() ?? '{}') as { messages: unknown }
}

describe.each(modes)('a history that can be read (%s)', (mode) => {
  it.each<[string, string, unknown]>([
    ['is one text', 'none', 'Go.'],
    ['has a call without a result', 'none', [go, call('a'), call('b'), result('b')]],
    ['has a result without a call', 'none', [go, result('never')]],
    ['begins with a result', 'none', [result('never'), go, call('a'), result('a')]],
    ['ends with a call', 'none', [go, call('a')]],
    // A front that holds calls has refused the later ones, so they are no evidence.
    ['repeats an id forty times', mode === 'observing' ? 'end' : 'none', [go, ...fortyTimes]],
    ['has a result of 60 MiB', 'none', [go, call('a'), result('a', large)]],
  ])('is judged by the core and the proxy: it %s', async (name, action, messages) => {
    const body = { tools, messages }
    const core = conversations.get(mode)?.(`core ${mode} ${name}`)
    const advice = await core?.beforeModel({ format: 'anthropic', body })
    expect(advice).toMatchObject({ judged: true, action })

    const answer = await send(mode, `proxy ${mode} ${name}`, messages)
    expect([answer.status, answer.headers.get('x-weir')]).toEqual([
      200,
      action === 'end' ? expect.stringMatching(/^ended/) : null,
    ])
    await answer.arrayBuffer()
    const { messages: sent } = sentOn(mode)
    if (action === 'none') expect(JSON.stringify(sent) === JSON.stringify(messages)).toBe(true)
    else expect(sent).toBeUndefined()
  })
})

describe.each<[string, unknown, string]>([
  ['is a number', 5, 'body.messages'],
  ['is an object', { 0: go }, 'body.messages'],
  ['has a foreign role', [go, { role: 'robot', content: 'x' }], 'body.messages[1]'],
  ['has a message that is no object', [go, 5], 'body.messages[1]'],
  ['has a call without a name', [go, { ...call('a'), content: [{ type: 'tool_use' }] }], 'body.'],
])('a history that cannot be read: it %s', (name, messages, place) => {
  it('is an error of the core with its place', async () => {
    const request = { format: 'anthropic' as const, body: { tools, messages } }
    const asking = conversations.get('blocking')?.(`core ${name}`).beforeModel(request)
    await expect(asking).rejects.toMatchObject({
      code: 'guest.format',
      message: expect.stringContaining(place),
    })
  })

  it('passes the proxy unchanged with a mark, and not with a veto', async () => {
    const passed = await send('observing', `proxy ${name}`, messages)
    expect([passed.status, passed.headers.get('x-weir')]).toEqual([200, 'unjudged'])
    expect(sentOn('observing').messages).toEqual(messages)

    const refused = await send('blocking', `proxy ${name}`, messages)
    expect([refused.status, await refused.text()]).toEqual([400, expect.stringContaining(place)])
    expect(sentOn('blocking').messages).toBeUndefined()
  })
})

describe.each(modes)('two clients under one id (%s)', (mode) => {
  const broken = [go, ...fortyTimes.slice(0, 6)]
  const honest = [user('List.'), call('c', { command: 'ls' }), result('c', 'no such folder')]

  it('get a reason from the core if they begin at once, and are judged one after the other', async () => {
    const advice = (messages: unknown[]) =>
      conversations
        .get(mode)?.(`core two ${mode}`)
        .beforeModel({ format: 'anthropic', body: { tools, messages } })
    for (const asked of await Promise.all([advice(broken), advice(honest)]))
      if (asked?.judged === false) expect(asked.reason).toContain('its own conversation id')
    expect(await advice(broken)).toMatchObject({ judged: true, action: 'nudge' })
    expect(await advice(honest)).toMatchObject({ judged: true, action: 'none' })
  })

  it('get their own answers through the proxy, and the loop of one stops no other', async () => {
    const id = `proxy two ${mode}`
    for (const answer of await Promise.all([send(mode, id, broken), send(mode, id, honest)])) {
      const isClear = (await answer.text()).includes(
        answer.ok ? 'Done.' : 'its own conversation id',
      )
      expect(isClear).toBe(true)
    }
    const notes: (string | null)[] = []
    for (const messages of [broken, honest]) {
      const answer = await send(mode, id, messages)
      notes.push(answer.headers.get('x-weir'))
      await answer.arrayBuffer()
    }
    expect(notes).toEqual([expect.stringMatching(/^nudge/), null])
  })
})

it('a web page in place of an answer is an error under a veto', async () => {
  const answer = await send('blocking', 'page', [user(htmlWhen)])
  expect([answer.status, await answer.text()]).toEqual([502, expect.not.stringContaining('<html>')])
})
