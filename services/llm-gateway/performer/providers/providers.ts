// The providers that an agent file can name: the formats of shared/wire with an API for agents, each
// with one HTTP request and its answer. To add one, write its format and run `make schemas`.
// Does not own: retries and deadlines (reducer.ts, attempt.ts), the vendor's JSON (the format).
//
// An SDK takes a third of a second to load, more than the rest of a start, so it is loaded with the
// first request. The address and the headers are the same for each request of an agent. They are made
// once, because an SDK needs more CPU time for them than the request itself.
//
// A header of the agent's model replaces the format's own. A foreign `fetch` gets
// its own copy of the headers, so it can change them.

import type { Agent } from '../../../../shared/agents/agents.ts'
import { secretsOfModel } from '../../../../shared/agents/secrets.ts'
import { WeirError } from '../../../../shared/lib/errors.ts'
import { alternatives } from '../../../../shared/settings/mistake.ts'
import { parseJson } from '../../../../shared/wire/exact-json.ts'
import type { Failed, ProviderRequest, Streamed } from '../../../../shared/wire/exchange.ts'
import { connectionFailure, httpFailure } from '../../../../shared/wire/faults/provider-errors.ts'
import { errorOfBody } from '../../../../shared/wire/faults/sent-errors.ts'
import type {
  AgentFormat,
  HttpTarget,
  ModelAddress,
  ModelParts,
  SdkTarget,
} from '../../../../shared/wire/format.ts'
import {
  type AgentApiFormat,
  type AgentFormatName,
  agentFormats,
  wholeFormat,
} from '../../../../shared/wire/formats.ts'
import { streamedAnswer } from '../../../../shared/wire/streamed-answer.ts'
import { httpFetch } from '../wire/http-fetch.ts'
import { learnedEndMark } from './end-mark.ts'

/** Connects an agent to its provider. A promise if the SDK must be loaded first. */
export type Connect = (agent: Agent) => Provider | Promise<Provider>

export type Provider = {
  /**
   * Sends one round. Yields events in stream order, then exactly one `finished` or `failed`. Must
   * not throw: every outside error is a `failed`. After `signal` aborts it ends soon, with or
   * without an ending, and nobody reads the rest. Must call `onBytes` for every piece of the
   * response: silence reveals a stall (I5.3). Comments and pings count, because a provider with a
   * queue sends nothing else. The caller decides how long they suffice.
   */
  stream(
    request: ProviderRequest,
    signal: AbortSignal,
    onBytes: () => void,
  ): AsyncIterable<Streamed>
}

/** A provider as agent files, `doctor`, `normalize` and `init` know it. `connect` loads the SDK. */
export type ProviderRecord<Name extends string = string> = AgentFormat & {
  /** As `model.provider` of an agent file. */
  name: Name
  /** `fetch` sends the requests; default: over the network. */
  connect(agent: Agent, fetch?: typeof globalThis.fetch): Promise<Provider>
}

export type ProviderName = AgentFormatName

type Providers = readonly [ProviderRecord<ProviderName>, ...ProviderRecord<ProviderName>[]]

/** `weir init` writes an agent file for the first one. */
export const providers = agentFormats.map((format) => ({
  ...format.agent,
  name: format.name,
  connect: async (agent: Agent, fetch?: typeof globalThis.fetch) =>
    connectHttp(await wholeFormat(format), agent, fetch),
})) as readonly ProviderRecord<ProviderName>[] as Providers

export const providerNames: readonly ProviderName[] = providers.map(({ name }) => name)

/** Throws `agent.invalid` if no provider has this name. */
export function providerNamed(name: string): ProviderRecord {
  const found = providers.find((provider) => provider.name === name)
  if (found !== undefined) return found
  throw new WeirError(
    'agent.invalid',
    `unknown provider ${JSON.stringify(name)}: must be ${alternatives(providerNames)}`,
  )
}

/** Connects each agent once: an SDK's client costs more than reading a response. */
export function connectOnce(): (agent: Agent) => Promise<Provider> {
  const connected = new WeakMap<Agent, Promise<Provider>>()
  return (agent) => {
    const provider = connected.get(agent) ?? connect(agent)
    connected.set(agent, provider)
    return provider
  }
}

/** `fetch` sends the requests; default: that of the agent's model, or over the network. */
export async function connect(
  agent: Agent,
  fetch: typeof globalThis.fetch | undefined = agent.model.fetch,
): Promise<Provider> {
  return providerNamed(agent.model.provider).connect(agent, fetch)
}

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
      headers: fetch === httpFetch ? headers : new Headers(headers),
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

  const marks = learnedEndMark(model.endMark)
  return {
    stream: (request, signal, onBytes) =>
      streamedAnswer(
        {
          reader: marks.noted(
            answer.reader({
              secret,
              model: model.name,
              outputTokensMax: model.maxOutputTokens,
              endMark: marks.endMark(),
            }),
          ),
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
