// A provider without an SDK: a format of shared/wire, and Weir's own HTTP client. Owns: one HTTP
// request and its answer. Does not own: retries and deadlines (reducer.ts, attempt.ts), the vendor's
// JSON (the format).
//
// HTTP-PROVIDER-1. A header of the agent's model replaces the format's own. A foreign `fetch` gets
//     its own copy of the headers, so it can change them.

import type { Agent } from '../../../../shared/agents/agents.ts'
import { secretsOfModel } from '../../../../shared/agents/secrets.ts'
import { parseJson } from '../../../../shared/wire/exact-json.ts'
import type { Failed } from '../../../../shared/wire/exchange.ts'
import { connectionFailure, httpFailure } from '../../../../shared/wire/faults/provider-errors.ts'
import type { AgentModelFormat } from '../../../../shared/wire/formats.ts'
import { streamedAnswer } from '../../../../shared/wire/streamed-answer.ts'
import { httpFetch } from '../wire/http-fetch.ts'
import type { Provider, ProviderRecord } from './provider.ts'

export function httpProvider<Name extends string>(
  name: Name,
  format: AgentModelFormat,
): ProviderRecord<Name> {
  const { keyVariable, accepts, check, recording } = format.agent
  return {
    name,
    keyVariable,
    accepts,
    connect: async (agent, fetch) => connectHttp(format, agent, fetch),
    modelCheck: check,
    recording,
  }
}

/** Keeps the agent's key and address private. */
function connectHttp(
  { agent: api, answer }: AgentModelFormat,
  agent: Agent,
  fetch: typeof globalThis.fetch = httpFetch,
): Provider {
  const { model } = agent
  const secret = secretsOfModel(model)
  const { url, headers } = api.target({
    baseUrl: model.baseUrl?.replace(/\/+$/, ''),
    apiKey: model.apiKey,
    path: encodeURIComponent(model.name),
  })
  const sent = new Headers({ 'content-type': 'application/json', ...headers })
  for (const [name, value] of Object.entries(model.headers ?? {})) sent.set(name, value)

  async function post(body: object, signal: AbortSignal): Promise<Response> {
    const response = await fetch(url, {
      method: 'POST',
      headers: new Headers(sent), // keeps HTTP-PROVIDER-1
      body: JSON.stringify(body),
      signal,
    })
    if (response.ok) return response
    throw new HttpRefusal(response, await response.text())
  }

  function refusalOf(error: unknown): Failed {
    if (!(error instanceof HttpRefusal)) return connectionFailure(error, false)
    const { status, headers: received } = error.response
    const body = parseJson(error.text)
    const said = body === undefined ? { words: [], statement: error.text } : api.error(body)
    return httpFailure({ status, headers: received, ...said }, secret)
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
          send: async () => post(api.write(agent, request), signal),
          refused: refusalOf,
        },
        onBytes,
      ),
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
