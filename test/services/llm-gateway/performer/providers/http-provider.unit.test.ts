// A provider that is a format and Weir's own HTTP client. The format here is Chat Completions with
// the few members that an agent needs.

import { describe, expect, it } from '@jest/globals'
import { connectHttp } from '../../../../../services/llm-gateway/performer/providers/providers.ts'
import type { AgentFormat, ModelParts } from '../../../../../shared/wire/format.ts'
import { type AgentApiFormat, wholeFormat } from '../../../../../shared/wire/formats.ts'
import { openaiChat } from '../../../../../shared/wire/openai-chat/format.ts'
import { agentOf, apiKey, readToEnd } from '../../samples.ts'

const agent: AgentFormat = {
  keyVariable: 'KEY',
  accepts: { reasoningEffort: [], serviceTier: [], seed: false },
  target: ({ baseUrl = 'https://own.test', apiKey: key, path }) => ({
    url: `${baseUrl}/${path}/stream`,
    headers: { 'x-key': key, 'x-other': 'format' },
  }),
  check: ({ path }) => ({ url: `https://own.test/${path}`, headers: {} }),
  recording: {
    hasNamedEvents: false,
    isWhole: () => false,
    lastTypes: new Set(),
    first: /x/,
    last: /x/,
    any: /x/,
  },
}
const format = {
  ...(await wholeFormat(openaiChat)),
  agent,
  write: ({ model }, { history }) => ({ model: model.name, entries: history.length }),
} as AgentApiFormat & ModelParts

type Sent = { url: string; headers: Headers; body: unknown }

/** The end of an answer, and the requests. */
async function asked(answer: () => Response, model: Parameters<typeof agentOf>[1] = {}) {
  const sent: Sent[] = []
  const fetch: typeof globalThis.fetch = async (url, { headers, body } = {}) => {
    sent.push({ url: `${url}`, headers: new Headers(headers), body: JSON.parse(`${body}`) })
    return answer()
  }
  const provider = await connectHttp(format, agentOf({}, model), fetch)
  return { sent, ...(await readToEnd(provider)) }
}

const whole = () =>
  Response.json({ choices: [{ index: 0, message: { content: 'hi' }, finish_reason: 'stop' }] })

describe('a provider without an SDK', () => {
  it('sends the body of the format to its address, with the key and the headers of the agent', async () => {
    const { sent, ending } = await asked(whole, {
      name: 'a/b',
      baseUrl: 'http://proxy.test/',
      headers: { 'x-other': 'agent', 'x-team': 't' },
    })
    expect(ending).toMatchObject({ kind: 'finished', stop: 'end' })
    expect(sent.map(({ url, body }) => ({ url, body }))).toEqual([
      { url: 'http://proxy.test/a%2Fb/stream', body: { model: 'a/b', entries: 1 } },
    ])
    expect(Object.fromEntries(sent[0]?.headers ?? [])).toMatchObject({
      'content-type': 'application/json',
      'x-key': apiKey,
      'x-other': 'agent',
      'x-team': 't',
    })
  })

  it.each([
    [429, true],
    [503, true],
    [400, false],
  ])('reads the error of status %d, without its key', async (status, retryable) => {
    const { ending } = await asked(() => Response.json({ text: `no ${apiKey}` }, { status }))
    expect(ending).toMatchObject({ kind: 'failed', retryable })
    expect(JSON.stringify(ending)).toContain(`answered ${status}`)
    expect(JSON.stringify(ending)).not.toContain(apiKey)
  })

  it('shows the text of an error that is no JSON', async () => {
    const { ending } = await asked(() => new Response('bad gateway', { status: 502 }))
    expect(ending).toMatchObject({ reason: 'the provider answered 502: bad gateway' })
  })

  it('fails if it gets no connection', async () => {
    const { ending } = await asked(() => {
      throw new TypeError('fetch failed', { cause: { code: 'ECONNREFUSED' } })
    })
    expect(ending).toMatchObject({
      kind: 'failed',
      reason: expect.stringContaining('ECONNREFUSED'),
    })
  })
})
