// An agent on Gemini: its requests, and the signatures that return to it.

import { describe, expect, it } from '@jest/globals'
import { foldResponse } from '../../../../../services/accumulator/response.ts'
import { connect } from '../../../../../services/llm-gateway/performer/providers/providers.ts'
import { answers, call, chunk, model, sse, text } from '../../../../shared/wire/gemini/answers.ts'
import { agentOf, modelSays, readToEnd, result, userSays } from '../../samples.ts'

type Json = Record<string, unknown>

const agent = (more: Parameters<typeof agentOf>[1] = {}) =>
  agentOf({}, { provider: 'gemini', name: model, ...more })

/** Answers with these bodies in turn, and keeps the requests. */
function server(...bodies: (string | Response)[]) {
  const sent: { url: string; headers: Headers; body: { contents: Json[] } }[] = []
  const fetch: typeof globalThis.fetch = async (url, { headers, body } = {}) => {
    const answer = bodies[sent.length] ?? ''
    sent.push({ url: `${url}`, headers: new Headers(headers), body: JSON.parse(`${body}`) })
    return typeof answer === 'string'
      ? new Response(answer, { headers: { 'content-type': 'text/event-stream' } })
      : answer
  }
  return { sent, fetch }
}

describe('an agent on Gemini', () => {
  it.each([
    ['http://proxy.test', 'http://proxy.test/v1beta/models/a%2Fb:'],
    ['http://proxy.test/v1/', 'http://proxy.test/v1/models/a%2Fb:'],
  ])('uses the server of its file and the name of its model: %s', async (baseUrl, start) => {
    const { sent, fetch } = server(sse([chunk([text('hi')], 'STOP')]))
    await readToEnd(await connect(agent({ baseUrl, name: 'a/b' }), fetch))
    expect(sent[0]?.url.startsWith(start)).toBe(true)
  })

  it('sends the signatures of its answer back with the results', async () => {
    const chunks = answers['two calls without ids, of which the first is signed'] ?? []
    const { sent, fetch } = server(sse(chunks), sse([chunk([text('Done.')], 'STOP')]))
    const provider = await connect(agent(), fetch)
    const { events, ending } = await readToEnd(provider)
    if (ending?.kind !== 'finished') throw new Error('it failed')
    const { response } = foldResponse([events], { attempt: 'a', ...ending }, [])
    const results = response.calls.map(({ ordinal }) => result({ ordinal, text: 'rain' }))
    await readToEnd(provider, { history: [userSays('go'), modelSays(response, { results })] })
    expect(sent[1]?.body.contents.slice(1)).toEqual([
      {
        role: 'model',
        parts: [
          call('get_weather', { city: 'Paris' }, { sign: 'U2lnIEI=' }),
          call('get_weather', { city: 'London' }),
        ],
      },
      {
        role: 'user',
        parts: [1, 2].map(() => ({
          functionResponse: { name: 'get_weather', response: { output: 'rain' } },
        })),
      },
    ])
  })

  it('reads the retry hint in the details of an error', async () => {
    const details = [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '34.4s' }]
    const error = { code: 429, message: 'no', status: 'RESOURCE_EXHAUSTED', details }
    const { fetch } = server(Response.json({ error }, { status: 429 }))
    const { ending } = await readToEnd(await connect(agent(), fetch))
    expect(ending).toMatchObject({ kind: 'failed', retryable: true, retryAfterMs: 34_400 })
  })

  it('learns that a signature is missing, which another form of the request answers', async () => {
    const message =
      'Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly.'
    const error = { code: 400, message, status: 'INVALID_ARGUMENT' }
    const { fetch } = server(Response.json({ error }, { status: 400 }))
    const { ending } = await readToEnd(await connect(agent(), fetch))
    expect(ending).toMatchObject({ reasoningRefused: 'unsigned' })
  })
})
