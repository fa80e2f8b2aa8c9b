// The Messages API of Anthropic, and of everything that speaks it, through Anthropic's SDK.
// Owns: one HTTP request and its raw event stream, and what an HTTP error means. Does not own: retries and deadlines (reducer.ts, attempt.ts),
// what an event means (anthropic-events.ts), what the request says (anthropic-request.ts).
//
// The SDK's accumulating helper and its parsed event stream are not used: they parse a call's arguments before we have seen the text, drop
// events that a server sent without a name, and write what they cannot parse to the console.

import Anthropic from '@anthropic-ai/sdk'
import type { Agent } from '../../shared/agents.ts'
import { refusalOf } from './anthropic-errors.ts'
import type { MessageStream } from './anthropic-events.ts'
import { endMessage, newMessageStream, readEvent, stopOf } from './anthropic-events.ts'
import { messageRequest } from './anthropic-request.ts'
import type { SentEvent } from './event-stream.ts'
import { sentEvents, wholeBody } from './event-stream.ts'
import { isObject, parseJson } from './exact-json.ts'
import { httpFetch } from './http-fetch.ts'
import { stopAtLimit } from './output-limit.ts'
import type { Failed, Finished, Provider } from './provider.ts'
import { interruptionOf } from './provider-errors.ts'
import { streamedAnswer } from './streamed-answer.ts'

/** The longest wait that a timer can hold: how long to wait is ours to say, byte by byte, and not the SDK's. */
const never = 2 ** 31 - 1

/** How this agent's model is asked; its key and its address stay in here. `fetch`: how HTTP is spoken; tests hand in recorded answers. */
export function anthropic(agent: Agent, fetch: typeof globalThis.fetch = httpFetch): Provider {
  const client = new Anthropic({
    apiKey: agent.model.apiKey,
    // null, not undefined: a variable of the environment must not send an agent's conversations elsewhere.
    baseURL: agent.model.baseUrl ?? null,
    fetch,
    maxRetries: 0,
    timeout: never,
    logLevel: 'off',
  })

  return {
    stream: (request, signal, heard) =>
      streamedAnswer(
        {
          stream: newMessageStream(agent.model.apiKey),
          ask: () => client.messages.create({ ...messageRequest(agent, request), stream: true }, { signal }).asResponse(),
          refused: (error) => refusalOf(error, agent.model.apiKey),
          sent: (response) => eventsOf(response, heard),
          read: readEvent,
          end: (message, interruption) => (interruption === undefined ? endMessage(message) : []),
          ending: (stream, interruption) => endingOf(stream, interruption, agent.model.maxOutputTokens),
        },
        heard,
      ),
  }
}

/** A server that does not stream answers with the whole message, or with an error, as a body of JSON. */
async function* eventsOf(response: Response, heard: () => void): AsyncGenerator<SentEvent[], void> {
  if (!response.headers.get('content-type')?.includes('application/json')) yield* sentEvents(response, heard)
  else {
    const body = await wholeBody(response, heard)
    const whole = parseJson(body)
    if (whole === undefined) yield* sentEvents(new Response(body), heard)
    else if (isObject(whole) && whole.type === 'message') yield messageEvents(whole, body)
    else yield [{ event: null, data: body }]
  }
}

/** The message stands in its start as it came: parsing it would change what the model sent. Without a reason for its end nobody knows whether it is whole. */
function messageEvents({ stop_reason }: Record<string, unknown>, body: string): SentEvent[] {
  const end = [JSON.stringify({ type: 'message_delta', delta: { stop_reason } }), '{"type":"message_stop"}']
  const isOver = typeof stop_reason === 'string' && stop_reason !== ''
  return [`{"type":"message_start","message":${body}}`, ...(isOver ? end : [])].map((data) => ({ event: null, data }))
}

/** What the provider itself called finished is, also when the connection breaks after that. Without a word of it the answer is cut. */
function endingOf(message: MessageStream, interruption: unknown, outputTokensMax: number): Finished | Failed {
  const { fault, finish, over, usage } = message
  if (fault !== undefined) return fault
  if (interruption !== undefined && finish === '' && !over) return interruptionOf(interruption)
  return { kind: 'finished', stop: stopAtLimit(stopOf(finish, over), usage, outputTokensMax), finish, usage }
}
