// Gemini behind the proxy, where it differs from the other APIs: calls without ids, signatures in
// parts, a model in the path, and streams that are no events.

import { afterEach, describe, expect, it } from '@jest/globals'
import { pino } from 'pino'
import { type Fronts, openFronts } from '../../../../../../client/guard/log/fronts.ts'
import { scriptedGuard } from '../../../scripted-guard.ts'
import { type Proxied, proxied } from '../proxied.ts'
import { callsIn, type GeminiContent, geminiClient, textIn } from './client.ts'
import { geminiPieces, isGeminiStream } from './model.ts'

type Json = Record<string, unknown>

let proxy: Proxied | undefined
let fronts: Fronts | undefined

afterEach(async () => {
  await proxy?.close()
  await fronts?.close()
  fronts = undefined
})

const tools = [
  {
    functionDeclarations: [
      {
        name: 'exec',
        parameters: {
          type: 'OBJECT',
          properties: { cmd: { type: 'STRING' } },
          required: ['cmd'],
        },
      },
    ],
  },
]
const question = { role: 'user', parts: [{ text: 'List the files.' }] }
const exec = (args: Json, sign?: string) => ({
  functionCall: { name: 'exec', args },
  ...(sign !== undefined && { thoughtSignature: sign }),
})

/** A model that answers with these parts in turn, under the veto and the real stages. */
async function opened(...answers: Json[][]): Promise<Proxied> {
  const log = pino({ level: 'silent' })
  fronts = await openFronts({ kind: 'memory' }, { log })
  const guard = fronts.front({ agent: 'main', mode: 'blocking' })
  proxy = await proxied(
    guard,
    ({ url }, response, n) => {
      const isStreamed = isGeminiStream(url)
      const type = isStreamed ? 'text/event-stream' : 'application/json'
      response.writeHead(200, { 'content-type': type })
      const parts = answers[Math.min(n, answers.length) - 1] ?? []
      response.end(geminiPieces(parts, isStreamed).join(''))
    },
    '',
    { coversSubscriptions: false },
  )
  return proxy
}

const forms = [
  ['whole', false],
  ['streamed', true],
] as const

describe('Gemini under the veto', () => {
  it.each(forms)(
    'has its calls judged without ids, each by its place (%s)',
    async (_, isStreamed) => {
      const { url, received } = await opened(
        [{ text: 'Hm. ' }, exec({}, 'sig/1+=='), exec({ cmd: 'ls' })],
        [exec({ cmd: 'pwd' }, 'sig/2+=='), exec({ cmd: 'ls' })],
      )
      const { parts } = await geminiClient(url)({ contents: [question], tools }, { isStreamed })
      expect(callsIn(parts).map(({ args }) => args)).toEqual([{ cmd: 'pwd' }, { cmd: 'ls' }])
      expect(parts.find(({ functionCall }) => functionCall)?.thoughtSignature).toBe('sig/2+==')

      const repeat = JSON.parse(received[1]?.body.toString() ?? '{}') as { contents: Json[] }
      expect(repeat.contents).toHaveLength(3)
      expect(repeat.contents[1]).toMatchObject({
        role: 'model',
        parts: [{ text: 'Hm. ' }, exec({}, 'sig/1+=='), exec({ cmd: 'ls' })],
      })
      const results = repeat.contents[2]?.parts as { functionResponse: Json }[]
      expect(results.map(({ functionResponse }) => functionResponse)).toMatchObject([
        { name: 'exec', response: { error: expect.stringContaining('cmd') } },
        { name: 'exec', response: { error: expect.stringContaining('another call') } },
      ])
    },
  )

  it('ends an agent whose calls have no ids and make no progress', async () => {
    const { url, received } = await opened([exec({ cmd: 'cat a' })])
    const client = geminiClient(url)
    const contents: GeminiContent[] = [question]
    let reply = ''
    for (let n = 0; n < 25 && reply === ''; n += 1) {
      const { parts } = await client({ contents, tools }, { isStreamed: true })
      const calls = callsIn(parts)
      if (calls.length === 0) reply = textIn(parts)
      const response = { error: 'no such file' }
      contents.push({ role: 'model', parts })
      contents.push({
        role: 'user',
        parts: calls.map(({ name }) => ({ functionResponse: { name, response } })),
      })
    }
    expect(reply).toContain('I could not complete this request.')
    expect(received.length).toBeLessThan(10)
  })

  it.each([
    ['a second candidate', { generationConfig: { candidateCount: 2 } }, 'proxy.choices'],
    ['no contents', { contents: undefined }, 'guest.format'],
  ])('refuses a request with %s', async (_, more, code) => {
    const { url, received } = await opened([{ text: 'x' }])
    const response = await fetch(`${url}/v1beta/models/m:generateContent`, {
      method: 'POST',
      headers: { 'x-weir-conversation': 'c' },
      body: JSON.stringify({ contents: [question], tools, ...more }),
    })
    expect([response.status, await response.text()]).toEqual([400, expect.stringContaining(code)])
    expect(received).toHaveLength(0)
  })

  it('refuses a stream that is no list of events', async () => {
    const { url } = await opened([{ text: 'x' }])
    const response = await fetch(`${url}/v1beta/models/m:streamGenerateContent`, {
      method: 'POST',
      body: JSON.stringify({ contents: [question], tools }),
    })
    expect(response.status).toBe(400)
    expect(await response.text()).toContain('add ?alt=sse to its address')
  })
})

describe('Gemini without a veto', () => {
  it.each(forms)('names the model of its path to the guard (%s)', async (_, isStreamed) => {
    const guard = scriptedGuard()
    proxy = await proxied(guard, ({ url }, response) => {
      response.writeHead(200, {
        'content-type': isGeminiStream(url) ? 'text/event-stream' : 'application/json',
      })
      response.end(geminiPieces([{ text: 'Done.' }], isGeminiStream(url)).join(''))
    })
    const answer = exec({ cmd: 'ls' })
    const result = { functionResponse: { name: 'exec', response: { output: 'a' } } }
    const contents = [
      question,
      { role: 'model', parts: [answer] },
      { role: 'user', parts: [result] },
    ]
    await geminiClient(proxy.url)({ contents, tools }, { isStreamed })
    await proxy.settled()
    const [{ request }] = guard.asked as unknown as [{ request: Json }]
    expect(request).toMatchObject({ format: 'gemini', model: { provider: 'gemini', name: 'm' } })
  })
})
