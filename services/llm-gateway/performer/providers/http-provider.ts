// A provider: a format of shared/wire, and one HTTP request with its answer. Does not own: retries and
// deadlines (reducer.ts, attempt.ts), the vendor's JSON (the format).
//
// The address and the headers are the same for each request of an agent. They are made once, because
// an SDK needs more CPU time for them than the request itself.
//
// HTTP-PROVIDER-1. A header of the agent's model replaces the format's own. A foreign `fetch` gets
//     its own copy of the headers, so it can change them.

import type { Agent } from '../../../../shared/agents/agents.ts'
import { secretsOfModel } from '../../../../shared/agents/secrets.ts'
import { parseJson } from '../../../../shared/wire/exact-json.ts'
import type { Failed } from '../../../../shared/wire/exchange.ts'
import { connectionFailure, httpFailure } from '../../../../shared/wire/faults/provider-errors.ts'
import { errorOfBody } from '../../../../shared/wire/faults/sent-errors.ts'
import type {
  HttpTarget,
  ModelAddress,
  ModelParts,
  SdkTarget,
} from '../../../../shared/wire/format.ts'
import type { AgentApiFormat } from '../../../../shared/wire/formats.ts'
import { streamedAnswer } from '../../../../shared/wire/streamed-answer.ts'
import { httpFetch } from '../wire/http-fetch.ts'
import type { Provider } from './provider.ts'

type Model = Agent['model']
type Target = { url: string; headers: [string, string][] }

/** Keeps the agent's key and address private. `fetch` sends the requests. */
export async function connectHttp(
  { agent: { target: api }, write, answer }: AgentApiFormat & ModelParts,
  agent: Agent,
  fetch: typeof globalThis.fetch = httpFetch,
): Promise<Provider> {
  const { model } = agent
  const secret = secretsOfModel(model)
  const build =
    typeof api === 'function' ? async () => ownTarget(api, model) : await bySdk(api, model)
  let target: Promise<Target> | undefined

  async function post(body: object, signal: AbortSignal): Promise<Response> {
    target ??= build()
    const { url, headers } = await target
    const response = await fetch(url, {
      method: 'POST',
      headers: fetch === httpFetch ? headers : new Headers(headers), // keeps HTTP-PROVIDER-1
      body: JSON.stringify(body),
      signal,
    })
    if (response.ok) return response
    throw new HttpRefusal(response, await response.text())
  }

  function refusalOf(error: unknown): Failed {
    if (!(error instanceof HttpRefusal)) return connectionFailure(error)
    const { status, headers } = error.response
    const body = parseJson(error.text)
    const sent = body === undefined ? { words: [], statement: error.text } : errorOfBody(body)
    return httpFailure({ status, headers, ...sent }, secret)
  }

  return {
    stream: (request, signal, onBytes) =>
      streamedAnswer(
        {
          reader: answer.reader({
            secret,
            model: model.name,
            outputTokensMax: model.maxOutputTokens,
          }),
          send: async () => post(write(agent, request), signal),
          refused: refusalOf,
        },
        onBytes,
      ),
  }
}

function ownTarget(target: (model: ModelAddress) => HttpTarget, model: Model): Target {
  const { url, headers } = target({
    baseUrl: model.baseUrl?.replace(/\/+$/, ''),
    apiKey: model.apiKey,
    path: encodeURIComponent(model.name),
  })
  const sent = new Headers({ 'content-type': 'application/json', ...headers })
  for (const [name, value] of Object.entries(model.headers ?? {})) sent.set(name, value)
  return { url, headers: [...sent] }
}

/** Loads the SDK. */
async function bySdk({ sdk, path }: SdkTarget, model: Model): Promise<() => Promise<Target>> {
  const client =
    sdk === 'anthropic'
      ? (await import('./sdk/anthropic.ts')).anthropicClient(model)
      : (await import('./sdk/openai.ts')).openaiClient(model)
  return async () => {
    const { url, req } = await client.buildRequest({ method: 'post', path, body: {}, stream: true })
    return { url, headers: [...req.headers] }
  }
}

/** An answer with the status of an error. */
class HttpRefusal extends Error {
  readonly response: Response
  readonly text: string

  constructor(response: Response, text: string) {
    super(`HTTP ${response.status}`)
    this.response = response
    this.text = text
  }
}
