// The requests of a provider with an SDK against those that the SDK itself would send.

import Anthropic from '@anthropic-ai/sdk'
import { describe, expect, it } from '@jest/globals'
import OpenAI from 'openai'
import { connect } from '../../../../../../services/llm-gateway/performer/providers/providers.ts'
import { sdkOptions } from '../../../../../../services/llm-gateway/performer/providers/sdk/options.ts'
import { agentOf, apiKey, readToEnd } from '../../../samples.ts'

const baseUrl = 'http://127.0.0.1:9/root'
const extra = { 'x-team': 'blue', 'user-agent': 'ours' }

type Sent = { url: string; headers: [string, string][]; method: string | undefined }

/** A fetch that keeps the requests and refuses them. */
function keeping(sent: Sent[]): typeof globalThis.fetch {
  return async (url, init) => {
    sent.push({
      url: String(url),
      headers: [...new Headers(init?.headers)],
      method: init?.method?.toUpperCase(),
    })
    if (init?.headers instanceof Headers) init.headers.set('x-added', 'by a foreign fetch')
    return new Response('{}', { status: 400 })
  }
}

const sdk = { ...sdkOptions, apiKey, baseURL: baseUrl, defaultHeaders: extra }
const messages = [{ role: 'user' as const, content: 'hi' }]
const providers = [
  {
    name: 'anthropic' as const,
    byItself: (fetch: typeof globalThis.fetch) =>
      new Anthropic({ ...sdk, fetch }).messages.create({
        model: 'some-model',
        max_tokens: 9,
        messages,
        stream: true,
      }),
  },
  {
    name: 'openai-chat' as const,
    byItself: (fetch: typeof globalThis.fetch) =>
      new OpenAI({ ...sdk, fetch }).chat.completions.create({
        model: 'some-model',
        messages,
        stream: true,
      }),
  },
  {
    name: 'openai-responses' as const,
    byItself: (fetch: typeof globalThis.fetch) =>
      new OpenAI({ ...sdk, fetch }).responses.create({
        model: 'some-model',
        input: 'hi',
        stream: true,
      }),
  },
]

describe.each(providers)('a request of $name', ({ name, byItself }) => {
  it('has the URL and the headers of the SDK each time, even if a fetch changes them', async () => {
    const theirs: Sent[] = []
    await byItself(keeping(theirs)).then(undefined, () => undefined)
    const ours: Sent[] = []
    const agent = agentOf({}, { provider: name, apiKey, baseUrl, headers: extra })
    const provider = connect(agent, keeping(ours))
    await readToEnd(provider)
    await readToEnd(provider)
    expect(theirs).toHaveLength(1)
    expect(ours).toEqual([...theirs, ...theirs])
  })
})
