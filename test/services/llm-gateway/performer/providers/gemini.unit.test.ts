// An agent on Gemini: its requests, and the signatures that return to it.

import { describe, expect, it } from '@jest/globals'
import { foldResponse } from '../../../../../services/accumulator/response.ts'
import { connect } from '../../../../../services/llm-gateway/performer/providers/providers.ts'
import { answers, call, chunk, model, sse, text } from '../../../../shared/wire/gemini/answers.ts'
import { agentOf, apiKey, modelSays, readToEnd, result, userSays } from '../../samples.ts'

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
  it('streams from the address of its model, with its key in a header', async () => {
    const { sent, fetch } = server(sse([chunk([text('hi')], 'STOP')]))
    const { ending } = await readToEnd(await connect(agent(), fetch))
    expect(ending).toMatchObject({ kind: 'finished', stop: 'end', finish: 'STOP' })
    expect(sent[0]?.url).toBe(
      `https://generativelanguage.googleapis.com/v1beta/models/${model}:streamGenerateContent?alt=sse`,
    )
    expect(sent[0]?.headers.get('x-goog-api-key')).toBe(apiKey)
  })

  it.each([
    ['http://proxy.test', 'http://proxy.test/v1beta/models/'],
    ['http://proxy.test/v1/', 'http://proxy.test/v1/models/'],
  ])('uses the server of its file: %s', async (baseUrl, start) => {
    const { sent, fetch } = server(sse([chunk([text('hi')], 'STOP')]))
    await readToEnd(await connect(agent({ baseUrl }), fetch))
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

  it.each([
    [429, 'RESOURCE_EXHAUSTED', { retryable: true, retryAfterMs: 34_400 }],
    [503, 'UNAVAILABLE', { retryable: true }],
    [400, 'INVALID_ARGUMENT', { retryable: false, class: 'refused' }],
  ])('reads an error of status %d', async (status, word, expected) => {
    const details = [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '34.4s' }]
    const error = { code: status, message: `no, ${apiKey}`, status: word, details }
    const { fetch } = server(Response.json({ error }, { status }))
    const { ending } = await readToEnd(await connect(agent(), fetch))
    expect(ending).toMatchObject({ kind: 'failed', ...expected })
    expect(JSON.stringify(ending)).not.toContain(apiKey)
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
