// The proxy in advice mode over real connections, with a scripted guard and a scripted model server.

import { request as nodeRequest } from 'node:http'
import { gzipSync, zstdCompressSync } from 'node:zlib'
import { afterEach, describe, expect, it } from '@jest/globals'
import { pino } from 'pino'
import { hookFront } from '../../../../../apps/http/fronts/hooks/hook-front.ts'
import { hookPayloadOf } from '../../../../../apps/http/fronts/hooks/hook-payload.ts'
import { endsShownMax } from '../../../../../apps/http/fronts/proxy/identity/guest-sessions.ts'
import { systemClock } from '../../../../../shared/lib/clock.ts'
import { scriptedGuard } from '../../scripted-guard.ts'
import { type Proxied, proxied, type ScriptedFront } from './proxied.ts'
import { apiCases, chatCase, messagesCase, responsesCase } from './requests.ts'
import { sendJson } from './scripted-upstream.ts'

let proxy: Proxied | undefined

afterEach(() => proxy?.close())

const key = 'sk-the-key-of-the-client'

function post(
  path: string,
  body: string | Uint8Array<ArrayBuffer>,
  headers: Record<string, string> = {},
): Promise<Response> {
  return fetch(`${proxy?.url}${path}`, {
    method: 'POST',
    body,
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}`, ...headers },
  })
}

const nudged = { action: 'nudge', text: 'Change "it"\n.', reason: 'same', rule: 'cycle' } as const
const textOnly = { ...nudged, action: 'text_only' } as const
const ended = { action: 'end', reason: 'It made no progress.', rule: 'cycle' } as const

describe.each(apiCases)('the proxy with $name', ({ path, request, first, answer }) => {
  it('passes a request and its answer unchanged if nothing is wrong', async () => {
    const guard = scriptedGuard()
    proxy = await proxied(guard, (_, response) => sendJson(response, answer))
    const answered = await post(path, request)
    expect(await answered.text()).toBe(JSON.stringify(answer))
    expect(answered.headers.get('x-weir')).toBeNull()
    expect(proxy.received[0]?.body.toString()).toBe(request)
    expect(proxy.received[0]?.url).toBe(path)
    expect(proxy.received[0]?.headers).toMatchObject({
      authorization: `Bearer ${key}`,
      'accept-encoding': 'identity',
    })
    await proxy.settled()
    expect(guard.asked.map(({ kind }) => kind)).toEqual(['before', 'after'])
  })

  it('passes a request unjudged whose encoding is the name of a member of every object', async () => {
    proxy = await proxied(scriptedGuard(), (_, response) => sendJson(response, answer))
    const answered = await post(path, request, { 'content-encoding': 'constructor' })
    expect([answered.status, answered.headers.get('x-weir')]).toEqual([200, 'unjudged'])
  })

  it('reports the calls of the answer under the conversation of the next request', async () => {
    const guard = scriptedGuard()
    proxy = await proxied(guard, (_, response) => sendJson(response, answer))
    await (await post(path, request)).text()
    await proxy.settled()
    const [before, after] = guard.asked
    expect(after).toMatchObject({ kind: 'after', id: (before as { id: string }).id })
    const reported = after?.kind === 'after' ? JSON.stringify(after.answer) : ''
    for (const part of ['call_2', 'exec', 'again']) expect(reported).toContain(part)
  })

  it('puts advice at the end of the request and leaves all other bytes', async () => {
    const guard = scriptedGuard({ before: () => nudged })
    proxy = await proxied(guard, (_, response) => sendJson(response, answer))
    const answered = await post(path, request)
    expect(answered.headers.get('x-weir')).toBe('nudge; rule=cycle')
    const sent = proxy.received[0]?.body.toString() ?? ''
    const at = sent.indexOf('Change')
    const [head, tail] = [sent.slice(0, at), sent.slice(at)]
    const insertedFrom = [...head].findIndex((character, n) => character !== request[n])
    const kept = sent.length - request.length
    expect(sent.slice(0, insertedFrom) + sent.slice(insertedFrom + kept)).toBe(request)
    expect(tail).toContain('Change \\"it\\"\\n.')
    const body = JSON.parse(sent) as { messages?: unknown[]; input?: unknown[] }
    expect(JSON.stringify((body.messages ?? body.input)?.at(-1))).toContain('Change')
  })

  it('forbids calls at the second action and keeps the tools', async () => {
    const guard = scriptedGuard({ before: () => textOnly })
    proxy = await proxied(guard, (_, response) => sendJson(response, answer))
    await post(path, request)
    const body = JSON.parse(proxy.received[0]?.body.toString() ?? '') as Record<string, unknown>
    const none = path === '/v1/messages' ? { type: 'none' } : 'none'
    expect(body.tool_choice).toEqual(none)
    expect(body.tools).toHaveLength(1)
    expect(JSON.stringify(body)).toContain('Change')
  })

  it('repeats a request without the second action once if the server refuses it', async () => {
    const guard = scriptedGuard({ before: () => textOnly })
    proxy = await proxied(guard, (_, response, n) =>
      n === 1
        ? sendJson(response, { error: { message: 'tool_choice none is not supported' } }, 400)
        : sendJson(response, answer),
    )
    const answered = await post(path, request)
    expect(answered.status).toBe(200)
    const [, second] = proxy.received.map(({ body }) => JSON.parse(body.toString()))
    expect(second.tool_choice).toEqual(
      (JSON.parse(request) as { tool_choice?: string }).tool_choice,
    )
    expect(JSON.stringify(second)).toContain('Change')
  })

  it('passes an error of the server on that has another cause', async () => {
    const guard = scriptedGuard({ before: () => textOnly })
    const error = { error: { message: 'slow down' } }
    proxy = await proxied(guard, (_, response) => sendJson(response, error, 429))
    const answered = await post(path, request)
    expect([answered.status, await answered.json()]).toEqual([429, error])
    expect(proxy.received).toHaveLength(1)
    await proxy.settled()
    expect(guard.asked.map(({ kind }) => kind)).toEqual(['before'])
  })

  it('answers the third action itself, as a whole or as a stream', async () => {
    const guard = scriptedGuard({ before: () => ended })
    proxy = await proxied(guard, () => {})
    const whole = await post(path, request)
    expect([whole.status, whole.headers.get('x-weir')]).toEqual([200, 'ended; rule=cycle'])
    expect(JSON.stringify(await whole.json())).toContain('I could not do this.')
    const streamed = await post(path, request.replace('{', '{"stream":true,'))
    expect(streamed.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
    expect(await streamed.text()).toContain(
      'Weir ended the turn by the rule cycle: It made no progress.',
    )
    expect(proxy.received).toHaveLength(0)
    await proxy.settled()
    expect(guard.asked.map(({ kind }) => kind)).toEqual(['before', 'end', 'before', 'end'])
  })

  it.each([
    ['', undefined],
    [' under the veto', { coversSubscriptions: false }],
  ])(
    'answers a client that goes on after the end of its turn with an error in the end%s',
    async (_, veto) => {
      const guard = scriptedGuard({ before: () => ended })
      proxy = await proxied(guard, () => {}, '', veto)
      const statuses: number[] = []
      for (let n = 0; n < endsShownMax + 2; n += 1) {
        const answered = await post(path, request)
        statuses.push(answered.status)
        if (answered.status === 400) expect(await answered.text()).toContain('by the rule cycle')
      }
      expect(statuses).toEqual([...new Array(endsShownMax).fill(200), 400, 400])
    },
  )

  it('judges nothing before the first answer, and gives that answer a conversation', async () => {
    const guard = scriptedGuard()
    proxy = await proxied(guard, (_, response) => sendJson(response, answer))
    await (await post(path, first)).text()
    await proxy.settled()
    expect(guard.asked.map(({ kind }) => kind)).toEqual(['after'])
  })

  it('reads a compressed request and sends it on unchanged', async () => {
    for (const [encoding, bytes] of [
      ['gzip', gzipSync(request)],
      ['zstd', zstdCompressSync(request)],
    ] as const) {
      const guard = scriptedGuard()
      proxy = await proxied(guard, (_, response) => sendJson(response, answer))
      await post(path, new Uint8Array(bytes), { 'content-encoding': encoding })
      expect(guard.asked[0]?.kind).toBe('before')
      expect(proxy.received[0]?.body.equals(bytes)).toBe(true)
      expect(proxy.received[0]?.headers['content-encoding']).toBe(encoding)
      await proxy.close()
    }
  })

  it('sends a changed request without its encoding', async () => {
    const guard = scriptedGuard({ before: () => nudged })
    proxy = await proxied(guard, (_, response) => sendJson(response, answer))
    await post(path, new Uint8Array(gzipSync(request)), { 'content-encoding': 'gzip' })
    expect(proxy.received[0]?.headers['content-encoding']).toBeUndefined()
    expect(proxy.received[0]?.body.toString()).toContain('Change')
  })

  it('passes a body that is no JSON, and marks it', async () => {
    const guard = scriptedGuard()
    proxy = await proxied(guard, (_, response) => sendJson(response, answer))
    const answered = await post(path, '{"messages": [')
    expect(answered.headers.get('x-weir')).toBe('unjudged')
    expect(proxy.received[0]?.body.toString()).toBe('{"messages": [')
    expect(guard.asked).toEqual([])
  })

  it('passes a request that Weir fails to judge, and marks it', async () => {
    const guard = scriptedGuard({
      before: () => {
        throw new Error('broken')
      },
    })
    proxy = await proxied(guard, (_, response) => sendJson(response, answer))
    const answered = await post(path, request)
    expect([answered.status, answered.headers.get('x-weir')]).toEqual([200, 'unjudged'])
    expect(proxy.received[0]?.body.toString()).toBe(request)
  })

  it('passes a request whose guest cannot be opened, and marks it', async () => {
    const guard: ScriptedFront = {
      conversation() {
        throw new Error('its file cannot be used')
      },
    }
    proxy = await proxied(guard, (_, response) => sendJson(response, answer))
    const answered = await post(path, request)
    expect([answered.status, answered.headers.get('x-weir')]).toEqual([200, 'unjudged'])
    expect(proxy.received[0]?.body.toString()).toBe(request)
  })

  it('keeps the key of the client out of its log', async () => {
    const guard = scriptedGuard({ before: () => nudged })
    proxy = await proxied(guard, (_, response) => sendJson(response, { error: key }, 500))
    await post(path, request, { 'x-api-key': key })
    await proxy.settled()
    expect(proxy.logged()).toContain('advice')
    expect(proxy.logged()).not.toContain(key)
    expect(JSON.stringify(guard.asked)).not.toContain(key)
  })
})

describe('the proxy', () => {
  it.each(['previous_response_id', 'conversation', 'prompt'])(
    'passes a request unjudged whose history is at the provider (%s)',
    async (name) => {
      const guard = scriptedGuard()
      proxy = await proxied(guard, (_, response) => sendJson(response, responsesCase.answer))
      const answered = await post(
        '/v1/responses',
        responsesCase.request.replace('{', `{"${name}":"x",`),
      )
      expect(answered.headers.get('x-weir')).toBe('unjudged')
      await answered.text()
      await proxy.settled()
      expect(guard.asked).toEqual([])
    },
  )

  it.each([
    [{ type: 'bash_20250124', name: 'bash' }, messagesCase],
    [{ type: 'memory_20250818', name: 'memory' }, messagesCase],
    [{ type: 'computer_use_preview', display_width: 10, display_height: 10 }, responsesCase],
  ])(
    'judges the answers to a request whose only tool is one that the API defines for clients: %j',
    async (tool, api) => {
      const guard = scriptedGuard()
      proxy = await proxied(guard, (_, response) => sendJson(response, api.answer))
      const request = { ...(JSON.parse(api.first) as object), tools: [tool] }
      await post(api.path, JSON.stringify(request))
      await proxy.settled()
      expect(guard.asked.map(({ kind }) => kind)).toEqual(['after'])
    },
  )

  it.each([
    [{ type: 'web_search_20250305', name: 'web_search' }, messagesCase],
    [{ type: 'web_search' }, responsesCase],
  ])('passes a request unjudged whose only tool runs at the provider: %j', async (tool, api) => {
    const guard = scriptedGuard()
    proxy = await proxied(guard, (_, response) => sendJson(response, api.answer))
    const request = { ...(JSON.parse(api.first) as object), tools: [tool] }
    await post(api.path, JSON.stringify(request))
    await proxy.settled()
    expect(guard.asked).toEqual([])
  })

  it('passes a request without tools and calls, such as for a title', async () => {
    const guard = scriptedGuard()
    proxy = await proxied(guard, (_, response) => sendJson(response, chatCase.answer))
    await post('/v1/chat/completions', '{"messages":[{"role":"user","content":"a title"}]}')
    await proxy.settled()
    expect(guard.asked).toEqual([])
  })

  it('passes every other path with its method, query and body', async () => {
    const guard = scriptedGuard()
    proxy = await proxied(guard, ({ body }, response) => response.end(body))
    const models = await fetch(`${proxy.url}/v1/models?limit=2&after=%2F`)
    expect(models.status).toBe(200)
    const counted = await post('/v1/messages/count_tokens?beta=true', 'any bytes')
    expect(await counted.text()).toBe('any bytes')
    expect(proxy.received.map(({ method, url }) => `${method} ${url}`)).toEqual([
      'GET /v1/models?limit=2&after=%2F',
      'POST /v1/messages/count_tokens?beta=true',
    ])
    expect(guard.asked).toEqual([])
  })

  it.each([
    ['', '/v1/messages', '/v1/messages'],
    ['/v1', '/v1/chat/completions', '/v1/chat/completions'],
    ['/v1/', '/v1/chat/completions', '/v1/chat/completions'],
    ['/anthropic', '/v1/messages', '/anthropic/v1/messages'],
    ['/api/v1', '/v1/messages?beta=true', '/api/v1/messages?beta=true'],
    ['/v1beta/openai', '/v1/chat/completions', '/v1beta/openai/chat/completions'],
    ['/v1', '/chat/completions', '/v1/chat/completions'],
  ])('joins the upstream path %j and the path %s to %s', async (base, path, expected) => {
    const guard = scriptedGuard()
    proxy = await proxied(guard, (_, response) => sendJson(response, {}), base)
    await post(path, path.includes('chat') ? chatCase.request : messagesCase.request)
    expect(proxy.received[0]?.url).toBe(expected)
    expect(guard.asked[0]?.kind).toBe('before')
  })

  it('serves further guests under their names', async () => {
    proxy = await proxied(scriptedGuard(), (_, response) => sendJson(response, {}))
    await post('/v1/messages', messagesCase.request)
    await post('/proxy/reviewer/v1/messages', messagesCase.request)
    expect(proxy.agents).toEqual(['main', 'reviewer'])
    expect(proxy.received.map(({ url }) => url)).toEqual(['/v1/messages', '/v1/messages'])
  })

  it('refuses a body above 64 MiB', async () => {
    proxy = await proxied(scriptedGuard(), (_, response) => sendJson(response, {}))
    const status = await new Promise((resolve, reject) => {
      const headers = { 'content-length': String(64 * 1024 * 1024 + 1) }
      const url = `${proxy?.url}/v1/messages`
      const sent = nodeRequest(url, { method: 'POST', headers }, (answer) => {
        resolve(answer.statusCode)
        sent.destroy()
      })
      sent.on('error', reject).flushHeaders()
    })
    expect(status).toBe(413)
    expect(proxy.received).toEqual([])
  })

  it('names the conversation by the header of a client, of Claude Code, Codex and OpenCode', async () => {
    const guard = scriptedGuard()
    proxy = await proxied(guard, (_, response) => sendJson(response, {}))
    const named = async (headers: Record<string, string>) => {
      await post('/v1/messages', messagesCase.request, headers)
      const asked = guard.asked.at(-1)
      return asked?.kind === 'before' ? [asked.id, asked.turn] : []
    }
    expect(await named({ 'x-weir-conversation': 'mine', 'x-weir-turn': '7' })).toEqual([
      'mine',
      '7',
    ])
    expect(proxy.received[0]?.headers['x-weir-conversation']).toBeUndefined()
    const [claude] = await named({ 'x-claude-code-session-id': 'session' })
    expect(claude).toMatch(/^session:[0-9a-f]{12}$/)
    const metadata = JSON.stringify({ thread_id: 'thread', turn_id: 'turn' })
    expect(await named({ 'x-codex-turn-metadata': metadata })).toEqual(['thread', 'turn'])
    const openCode = { 'user-agent': 'opencode/1.18.33', 'x-session-id': 'child' }
    expect(await named(openCode)).toEqual(['child', undefined])
  })

  it("names a sub-agent's conversation as the hooks of its host do", async () => {
    const guard = scriptedGuard()
    proxy = await proxied(guard, (_, response) => sendJson(response, {}))
    const front = hookFront({
      sessions: proxy.sessions,
      clock: systemClock,
      log: pino({ enabled: false }),
    })
    const body = { session_id: 's1', agent_id: 'a1', hook_event_name: 'Stop' }
    await front.answer(
      { agent: 'guest', guard },
      hookPayloadOf('stop', body),
      new AbortController().signal,
    )
    const [ended] = guard.asked
    const headers = { 'x-claude-code-session-id': 's1', 'x-claude-code-agent-id': 'a1' }
    await post('/v1/messages', messagesCase.request, headers)
    const metadata = JSON.stringify({ session_id: 's1', thread_id: 'a1', turn_id: 'u1' })
    await post('/v1/messages', messagesCase.request, { 'x-codex-turn-metadata': metadata })
    const before = guard.asked.filter(({ kind }) => kind === 'before')
    expect(before.map(({ id }) => id)).toEqual([ended?.id, ended?.id])
  })

  it('separates two runs with one question, also if the model reuses call ids', async () => {
    const guard = scriptedGuard()
    proxy = await proxied(guard, (_, response) => sendJson(response, messagesCase.answer))
    const run = async () => {
      await (await post('/v1/messages', messagesCase.first)).text()
      await proxy?.settled()
      const { content } = messagesCase.answer as { content: unknown }
      const body = JSON.parse(messagesCase.first) as { messages: unknown[] }
      body.messages.push({ role: 'assistant', content })
      await post('/v1/messages', JSON.stringify(body))
      await proxy?.settled()
      return guard.asked.slice(-3).map((asked) => asked.id)
    }
    const [one, another] = [await run(), await run()]
    expect(new Set(one).size).toBe(1)
    expect(new Set(another).size).toBe(1)
    expect(one[0]).not.toBe(another[0])
  })
})
