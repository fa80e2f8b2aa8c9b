// The proxy with a veto before a scripted model server, with a scripted guard: the client's
// answer, and its moments.

import { once } from 'node:events'
import { request as nodeRequest, type ServerResponse } from 'node:http'
import { afterEach, describe, expect, it } from '@jest/globals'
import { proxySilenceMs } from '../../../../../../apps/http/fronts/proxy/veto/attempts.ts'
import type {
  CallVerdict,
  GuestAnswer,
  ReadGuestAnswer,
} from '../../../../../../client/guard/guest-conversation.ts'
import { type FakeClock, fakeClock } from '../../../../../../client/testing/fake-clock.ts'
import { scriptedGuard } from '../../../scripted-guard.ts'
import { type Proxied, proxied } from '../proxied.ts'
import { apiCases, chatCase, messagesCase } from '../requests.ts'
import type { Received } from '../scripted-upstream.ts'
import { begin, piecesOf, type Spoken, speaking } from './answers.ts'
import { sdkForms } from './sdk-chats.ts'

let proxy: Proxied | undefined

afterEach(() => proxy?.close())

const veto = { coversSubscriptions: false }
const good: Spoken = { text: 'Looking.', calls: [{ id: 'good_1', args: '{"cmd":"ls"}' }] }
const bad = (n: number, text?: string): Spoken => ({
  ...(text === undefined ? {} : { text }),
  calls: [{ id: `bad_${n}`, args: '{"cmd":"rm"}' }],
})

/** Refuses calls whose id begins with `bad`. */
function verdictsOn(judged: GuestAnswer | ReadGuestAnswer): CallVerdict[] {
  const answer = 'pieces' in judged ? judged.pieces : judged.answer
  const ids = new Set(JSON.stringify(answer).match(/\b(good|bad)_\d+/g))
  return [...ids].map((callId) =>
    callId.startsWith('bad')
      ? { callId, name: 'exec', verdict: 'deny', text: 'Never rm.', code: 'guard.denied' }
      : { callId, name: 'exec', verdict: 'allow', text: '', code: '' },
  )
}

const guarded = () => scriptedGuard({ after: verdictsOn })
const streamed = (body: string) => body.replace(/^\{/, '{"stream":true,')
const post = (path: string, body: string, headers: Record<string, string> = {}) =>
  fetch(`${proxy?.url}${path}`, { method: 'POST', body, headers })

describe('the veto on an answer that clients read differently', () => {
  const call = '{"index":0,"id":"bad_1","function":{"name":"exec","arguments":"{}"}}'
  it.each([
    `"delta":{"Tool_Calls":[${call}]}`,
    `"delta":{"tool_calls":[${call}]},"delta":{"content":"x"}`,
    `"delta":{"tool_calls":{"0":${call},"length":1}}`,
  ])('gives the client an error in the place of %s', async (delta) => {
    proxy = await proxied(
      guarded(),
      (received, response) => {
        begin(received, response)
        response.write('data: {"choices":[{"index":0,"delta":{"content":"Looking."}}]}\n\n')
        response.end(`data: {"choices":[{"index":0,${delta}}]}\n\ndata: [DONE]\n\n`)
      },
      '',
      veto,
    )
    const { path, request } = chatCase
    const text = await (await post(path, streamed(request))).text()
    expect(text).toContain('Weir cannot judge the answer of the upstream')
    expect(text).not.toContain('bad_1')
  })
})

describe('the veto on a text with other members', () => {
  const { path, request } = chatCase
  it.each<[string, Record<string, unknown>]>([
    ['tool_calls null', { delta: { tool_calls: null } }],
    ['tool_calls empty', { delta: { tool_calls: [] } }],
    ['tool_calls with an empty entry', { delta: { tool_calls: [{ index: 0 }] } }],
    ['function_call empty', { delta: { function_call: {} } }],
    ['function_call null', { delta: { function_call: null } }],
    ['audio null', { delta: { audio: null } }],
    ['images empty', { delta: { images: [] } }],
    ['provider_specific_fields', { delta: { provider_specific_fields: { citation: 'a' } } }],
    ['extra_content', { delta: { extra_content: { google: { thought_signature: 's+/=' } } } }],
    ['name null', { delta: { name: null } }],
    ['thinking', { delta: { thinking: 'Hm.' } }],
    ['reasoning_text', { delta: { reasoning_text: 'Hm.' } }],
    ['usage in each chunk', { usage: { prompt_tokens: 3, completion_tokens: 1 } }],
  ])('passes the text on at once: %s', async (_, { delta: members = {}, ...rest }) => {
    const seen = Promise.withResolvers<void>()
    const chunk = (delta: object, finish_reason: string | null = null) =>
      `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason }], ...rest })}\n\n`
    const first = chunk({ role: 'assistant', content: 'Looking.', ...(members as object) })
    const last = `${chunk({}, 'stop')}data: [DONE]\n\n`
    proxy = await proxied(
      guarded(),
      async (received, response) => {
        begin(received, response)
        response.write(first)
        await seen.promise
        response.end(last)
      },
      '',
      veto,
    )
    const { body } = await post(path, streamed(request))
    let text = ''
    for await (const piece of body?.pipeThrough(new TextDecoderStream()) ?? []) {
      text += piece
      if (text.includes('Looking.')) seen.resolve()
    }
    expect(text).toBe(first + last)
  })
})

describe('the veto on other paths', () => {
  it('holds calls under each spelling of a path, and refuses paths that it does not know', async () => {
    const { path, request } = messagesCase
    const speak = speaking(bad(1), good)
    const anyPath: typeof speak = (received, ...more) => speak({ ...received, url: path }, ...more)
    proxy = await proxied(guarded(), anyPath, '', veto)
    const held = await post(`/${path}/`, request)
    expect(await held.text()).not.toContain('bad_1')
    const received = proxy.received.length
    const unknown = await post('/api/generate', request)
    expect(unknown.status).toBe(400)
    expect(await unknown.text()).toContain('an answer to POST \\"/api/generate\\": use Messages')
    expect(proxy.received).toHaveLength(received)
  })

  it('refuses nothing for a client that it does not hold, and marks the answer as unjudged', async () => {
    proxy = await proxied(guarded(), (_, response) => response.end('{}'))
    const passed = await post('/api/generate', messagesCase.request)
    expect([passed.status, passed.headers.get('x-weir')]).toEqual([200, 'unjudged'])
  })
})

describe.each(apiCases)('the veto with $name', ({ path, request }) => {
  it.each([
    ['whole', request],
    ['streamed', streamed(request)],
  ])('prints an allowed answer as the model sends it (%s)', async (_, body) => {
    proxy = await proxied(guarded(), speaking(good), '', veto)
    const answered = await post(path, body)
    const sent = { url: path, body: Buffer.from(body) }
    expect(await answered.text()).toBe(piecesOf(sent, good).join(''))
    expect(proxy.received[0]?.body.toString()).toBe(body)
  })

  it('passes text on while the model still speaks, and no call before its verdict', async () => {
    const seen = Promise.withResolvers<void>()
    const verdict = Promise.withResolvers<void>()
    const guard = scriptedGuard({
      async after(answer) {
        await verdict.promise
        return verdictsOn(answer)
      },
    })
    proxy = await proxied(
      guard,
      async (received: Received, response: ServerResponse) => {
        begin(received, response)
        const pieces = piecesOf(received, good)
        const at = pieces.findIndex((piece) => piece.includes('good_1'))
        for (const piece of pieces.slice(0, at)) response.write(piece)
        await seen.promise
        response.end(pieces.slice(at).join(''))
      },
      '',
      { ...veto, pingMs: 5 },
    )
    const { body } = await post(path, streamed(request))
    let text = ''
    for await (const piece of body?.pipeThrough(new TextDecoderStream()) ?? []) {
      text += piece
      if (!text.includes('Looking.')) continue
      seen.resolve()
      if (guard.asked.some(({ kind }) => kind === 'after') && !text.includes('good_1')) {
        const pings = text.split(/ping\n|"ping"/).length
        if (pings > 4) verdict.resolve()
      }
    }
    expect(text).toContain('good_1')
  })

  it('makes one numbered stream of the attempts', async () => {
    proxy = await proxied(guarded(), speaking(bad(1, 'One.'), bad(2, 'Two.'), good), '', veto)
    const text = await (await post(path, streamed(request))).text()
    expect(text).not.toMatch(/bad_\d/)
    const events = text.match(/^data: \{.*$/gm)?.map((line) => JSON.parse(line.slice(6))) ?? []
    const numbers = (name: string) => events.map((event) => event[name]).filter(Number.isInteger)
    expect(numbers('sequence_number')).toEqual(numbers('sequence_number').map((_, n) => n))
    const started = events.filter(({ type }) => /block_start|item\.added/.test(type))
    expect(started.map(({ index, output_index: at }) => index ?? at)).toEqual(
      started.map((_, n) => n),
    )
    const begun = events.filter(({ type }) => /^(message_start|response\.created)$/.test(type))
    expect(begun.length).toBeLessThanOrEqual(1)
    expect(new Set(events.flatMap(({ id }) => id ?? [])).size).toBeLessThanOrEqual(1)
  })

  it('sends the refused answer back with the refusal, after the unchanged history', async () => {
    proxy = await proxied(guarded(), speaking(bad(1, 'One.'), good), '', veto)
    await (await post(path, request)).text()
    const repeat = proxy.received[1]?.body.toString() ?? ''
    for (const part of ['bad_1', 'Never rm.', 'One.', '1.50', '9007199254740993'])
      expect(repeat).toContain(part)
    const rest = [...request].filter((_, at) => repeat[at] !== request[at]).join('')
    expect(repeat.endsWith(rest)).toBe(true)
  })

  it('refuses a request whose history is elsewhere or that it cannot read', async () => {
    proxy = await proxied(guarded(), speaking(good), '', veto)
    expect((await post(path, 'not JSON')).status).toBe(400)
    if (path === '/v1/responses') {
      const elsewhere = await post(path, request.replace(/^\{/, '{"previous_response_id":"r1",'))
      expect(elsewhere.status).toBe(400)
      expect(await elsewhere.text()).toContain('previous_response_id')
    }
    if (path === '/v1/chat/completions')
      expect((await post(path, request.replace(/^\{/, '{"n":2,'))).status).toBe(400)
    expect(proxy.received).toEqual([])
  })
})

describe.each(sdkForms)('an SDK before the veto ($name)', ({ open, isStreamed }) => {
  const chatOn = (headers: Record<string, string> = {}) => {
    const chat = open(proxy?.url ?? '', { isStreamed, headers: { ...named, ...headers } })
    chat.say('List the files.')
    return chat
  }
  const named = { 'x-weir-conversation': 'c1' }

  it('gets the own answer of Weir after three repeats', async () => {
    proxy = await proxied(guarded(), speaking(bad(1), bad(2), bad(3), bad(4)), '', veto)
    const { text, calls, usage } = await chatOn().ask()
    expect([text.includes('I could not do this.'), calls]).toEqual([true, []])
    expect(usage).toEqual({ input: 56, output: 20 })
    expect(proxy.received).toHaveLength(4)
  })

  it.each([
    ['without a text', undefined],
    ['beside a text', 'I try it.'],
  ])(
    'reads the tool, the reason and the rule after the last refusal of a call %s',
    async (_, text) => {
      const calls = [1, 2, 3, 4].map((n) => bad(n, text))
      proxy = await proxied(guarded(), speaking(...calls), '', veto)
      const answered = await chatOn().ask()
      expect(answered.calls).toEqual([])
      expect(answered.text).toContain(
        'Weir has refused the calls of 4 answers in a row. The last refusal: exec (guard.denied), Never rm.',
      )
    },
  )

  it('gets the last text before that of Weir after three repeats', async () => {
    const texts = ['A.', 'B.', 'C.', 'D.'].map((text, n) => bad(n, text))
    proxy = await proxied(guarded(), speaking(...texts), '', veto)
    const { text, calls } = await chatOn().ask()
    expect(calls).toEqual([])
    expect(text.replaceAll('\n\n', '')).toMatch(isStreamed ? /^A\.B\.C\.D\.Weir / : /^D\.Weir /)
  })

  it('gets the end of its turn if Weir ends it after a refusal', async () => {
    let asked = 0
    const guard = scriptedGuard({
      after: verdictsOn,
      before: () => {
        asked += 1
        return asked === 1 ? {} : { action: 'end', reason: 'No progress.', rule: 'cycle' }
      },
    })
    proxy = await proxied(guard, speaking(bad(1, 'One.')), '', veto)
    const { text, calls } = await chatOn().ask()
    expect(calls).toEqual([])
    expect(text).toContain('No progress.')
    expect(proxy.received).toHaveLength(1)
    expect(guard.asked.at(-1)).toMatchObject({ kind: 'end' })
  })

  it.each([
    [
      'hangs',
      (_: Received, response: ServerResponse, clock: FakeClock) => {
        response.writeHead(200).flushHeaders()
        // Usually later than the headers. The error is the same if it is earlier.
        setTimeout(() => clock.advance(proxySilenceMs), 100)
      },
    ],
    [
      'breaks off',
      (received: Received, response: ServerResponse) => {
        begin(received, response)
        response.write(piecesOf(received, good)[0]?.slice(0, 40), () => response.destroy())
      },
    ],
    [
      'answers with an error',
      (_: Received, response: ServerResponse) => void response.writeHead(529).end('{"error":{}}'),
    ],
  ])('gets an error if the upstream %s in a repeat', async (_, second) => {
    const clock = fakeClock(0)
    proxy = await proxied(
      guarded(),
      (received, response, n) =>
        n === 1
          ? speaking(bad(1, 'One.'))(received, response, 1)
          : second(received, response, clock),
      '',
      { ...veto, clock },
    )
    await expect(chatOn().ask()).rejects.toThrow()
    expect(proxy.received).toHaveLength(2)
  })

  it.each([
    ['does not answer', () => [{ ...verdict, code: 'guest.unavailable' as const }]],
    ['fails', () => Promise.reject(new Error('secret'))],
  ])('gets an error and no call if Weir %s', async (_, after) => {
    proxy = await proxied(scriptedGuard({ after }), speaking(good), '', veto)
    await expect(chatOn().ask()).rejects.toThrow(/Weir could not/)
    expect(proxy.received).toHaveLength(1)
  })

  it('gets an error, and the model no request, if Weir cannot judge the history', async () => {
    const guard = scriptedGuard({ before: () => ({ judged: false }), after: verdictsOn })
    proxy = await proxied(guard, speaking(good), '', veto)
    await expect(chatOn().ask()).rejects.toThrow('Weir could not judge')
    expect(proxy.received).toEqual([])
  })

  it.each([
    ['an access token of Anthropic', { authorization: 'Bearer sk-ant-oat01-x' }],
    ['a beta header', { 'anthropic-beta': 'claude-code-1,oauth-2025-04-20' }],
    ['an account header', { 'chatgpt-account-id': 'a1' }],
  ])('is not held if a subscription pays (%s)', async (_, headers) => {
    proxy = await proxied(guarded(), speaking(bad(1)), '', veto)
    expect((await chatOn(headers).ask()).calls).toHaveLength(1)
    const init = { method: 'POST', body: messagesCase.request, headers }
    const told = await fetch(`${proxy.url}${messagesCase.path}`, init)
    expect(told.headers.get('x-weir')).toBe('not-held')
    await proxy.close()
    proxy = await proxied(guarded(), speaking(bad(1), good), '', { coversSubscriptions: true })
    expect((await chatOn(headers).ask()).calls.map(({ id }) => id)).toEqual(['good_1'])
  })

  it('names an answer that is not held also next to advice, and on a path without judgement', async () => {
    const guard = scriptedGuard({ before: () => ({ action: 'nudge', text: 'Go on.', rule: 'r' }) })
    const whole = JSON.stringify(messagesCase.answer)
    proxy = await proxied(guard, (_, response) => void response.end(whole), '', veto)
    const { url } = proxy
    const noteOn = async (path: string) => {
      const headers = { 'chatgpt-account-id': 'x' }
      const init = { method: 'POST', body: messagesCase.request, headers }
      return (await fetch(`${url}${path}`, init)).headers.get('x-weir')
    }
    expect(await noteOn(messagesCase.path)).toMatch(/^not-held, nudge/)
    expect(await noteOn('/v1/completions')).toBe('not-held, unjudged')
  })
})

const verdict: CallVerdict = {
  callId: 'good_1',
  name: 'exec',
  verdict: 'deny',
  text: 'No.',
  code: 'guard.denied',
}

describe('the veto', () => {
  const { path, request } = messagesCase

  it.each([request, streamed(request)])(
    'names the rule of the last refusal in the header, and shows foreign texts as one short line',
    async (body) => {
      const name = `exec${'\u001b[2J'}`
      const text = `No\n${'\u202e'}${'x'.repeat(9_000)}`
      const refused = { callId: 'bad_1', name, verdict: 'deny', text, code: 'guard.denied' }
      const guard = scriptedGuard({ after: () => [refused as CallVerdict] })
      proxy = await proxied(guard, speaking(bad(1)), '', veto)
      const answered = await post(path, body)
      if (body === request) expect(answered.headers.get('x-weir')).toBe('ended; rule=guard.denied')
      const shown = await answered.text()
      expect(shown).toMatch(/The last refusal: exec \(guard\.denied\), No x+…/)
      expect(shown).not.toMatch(/\\u001b|\u202e|x{600}/)
    },
  )

  it('keeps the signatures of thinking in a repeat', async () => {
    const thinking: Spoken = { thinking: 'Hm "x"', ...bad(1) }
    for (const body of [request, streamed(request)]) {
      proxy = await proxied(guarded(), speaking(thinking, good), '', veto)
      await (await post(path, body)).text()
      const repeat = JSON.parse(proxy.received[1]?.body.toString() ?? '{}')
      expect(repeat.messages.at(-2)).toEqual({
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'Hm "x"', signature: 'sig/Hm "x"+==' },
          { type: 'tool_use', id: 'bad_1', name: 'exec', input: { cmd: 'rm' } },
        ],
      })
      expect(proxy.received[1]?.body.toString()).toContain('"signature":"s/+=="')
      await proxy.close()
    }
  })

  it('counts the attempts in a header, and after a stream in a trailer', async () => {
    proxy = await proxied(guarded(), speaking(bad(1), good), '', veto)
    expect((await post(path, request)).headers.get('x-weir-attempts')).toBe('2')
    const sent = nodeRequest(`${proxy.url}${path}`, { method: 'POST' }).end(streamed(request))
    const [received] = await once(sent, 'response')
    await received.resume()
    await once(received, 'end')
    expect(received.trailers).toEqual({ 'x-weir-attempts': '1' })
  })

  it('reports the other calls of a refused answer before it asks again', async () => {
    const both: Spoken = { calls: [...(good.calls ?? []), ...(bad(1).calls ?? [])] }
    const guard = guarded()
    proxy = await proxied(guard, speaking(both, good), '', veto)
    await (await post(path, request)).text()
    expect(guard.asked.map(({ kind }) => kind)).toEqual([
      ...['before', 'after', 'results', 'before', 'after'],
    ])
    expect(guard.asked[2]).toMatchObject({ results: [{ callId: 'good_1', nth: 0 }] })
  })

  it('lets no call pass that it cannot read', async () => {
    const answer = {
      ...(messagesCase.answer as object),
      content: [{ type: 'computer_use', id: 'bad_1', name: 'screen', input: {} }],
    }
    proxy = await proxied(
      guarded(),
      (_, response) => void response.end(JSON.stringify(answer)),
      '',
      veto,
    )
    const refused = await post(path, request)
    expect(refused.status).toBe(502)
    expect(await refused.text()).not.toContain('bad_1')
  })

  it('gives the verdicts to the hooks of the same session', async () => {
    proxy = await proxied(guarded(), speaking(bad(1), good), '', veto)
    const headers = { 'x-claude-code-session-id': 's1' }
    await (await post(path, request, headers)).text()
    const call = { id: 'good_1', name: 'exec', input: { cmd: 'ls' } }
    expect(await proxy.sessions.verdictOn('s1', call)).toMatchObject({
      verdict: { verdict: 'allow' },
    })
  })

  it('cancels the wait for a verdict when the client leaves', async () => {
    const left = Promise.withResolvers<void>()
    const asked = Promise.withResolvers<void>()
    const scripted = guarded()
    const guard: Pick<typeof scripted, 'conversation'> = {
      conversation: (id, options) => ({
        ...scripted.conversation(id, options),
        async afterModel(_, { signal } = {}) {
          signal?.addEventListener('abort', () => left.resolve())
          asked.resolve()
          await left.promise
          throw signal?.reason
        },
      }),
    }
    proxy = await proxied(guard, speaking(good), '', veto)
    const sent = nodeRequest(`${proxy.url}${path}`, { method: 'POST' }).end(streamed(request))
    sent.on('error', () => {})
    sent.on('response', (received) => received.on('error', () => {}).resume())
    await asked.promise
    sent.destroy()
    await left.promise
    expect(proxy.received).toHaveLength(1)
  })

  it('judges nothing of a text for a request without tools', async () => {
    const guard = guarded()
    proxy = await proxied(guard, speaking({ text: 'A title' }), '', veto)
    const plain = '{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"title?"}]}'
    const answered = await post(path, plain)
    expect(answered.headers.get('x-weir-attempts')).toBe('1')
    await proxy.settled()
    expect(guard.asked).toEqual([])
  })
})
