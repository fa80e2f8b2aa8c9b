// Anthropic's Messages API and compatible servers, through Anthropic's SDK. Owns: one HTTP request
// and its raw event stream. Does not own: retries and deadlines (reducer.ts, attempt.ts), events
// (events.ts), the request body (request.ts), HTTP errors (errors.ts).
//
// The SDK's parsed streams are not used. They parse a call's arguments before the gateway sees the
// text, drop events without a name, and print unparsable input to the console.

import Anthropic from '@anthropic-ai/sdk'
import type { Agent } from '../../../../shared/agents/agents.ts'
import { secretsOfModel } from '../../../../shared/agents/secrets.ts'
import { isObject } from '../../../../shared/lib/json/json-object.ts'
import { answeredEvents, type SentEvent } from '../../wire/event-stream.ts'
import { httpFetch } from '../../wire/http-fetch.ts'
import { streamedAnswer } from '../../wire/streamed-answer.ts'
import { finishWord } from '../finish-reasons.ts'
import { stopAtLimit } from '../output-limit.ts'
import type { Failed, Finished, Provider } from '../provider.ts'
import { interruptionOf } from '../provider-errors.ts'
import { sdkOptions } from '../sdk-options.ts'
import { refusalOf } from './errors.ts'
import { endMessage, type MessageStream, newMessageStream, readEvent, stopOf } from './events.ts'
import { messageRequest } from './request.ts'

/**
 * Keeps the agent's key and address private. `fetch` sends the requests; tests pass recorded
 * answers.
 */
export function connectAnthropic(
  agent: Agent,
  fetch: typeof globalThis.fetch = httpFetch,
): Provider {
  const client = new Anthropic({
    ...sdkOptions,
    apiKey: agent.model.apiKey,
    // null, not undefined: with undefined, a variable of the environment could redirect
    // conversations.
    baseURL: agent.model.baseUrl ?? null,
    defaultHeaders: agent.model.headers ?? {},
    fetch,
  })

  return {
    stream: (request, signal, onBytes) =>
      streamedAnswer(
        {
          stream: newMessageStream(secretsOfModel(agent.model)),
          send: () =>
            client.messages
              .create({ ...messageRequest(agent, request), stream: true }, { signal })
              .asResponse(),
          refused: (error) => refusalOf(error, secretsOfModel(agent.model)),
          sent: (response) => answeredEvents(response, onBytes, messageEvents),
          read: readEvent,
          end: (message, interruption) => (interruption === undefined ? endMessage(message) : []),
          ending: (stream, interruption) =>
            endingOf(stream, interruption, agent.model.maxOutputTokens),
        },
        onBytes,
      ),
  }
}

/**
 * The body of a server that does not stream: a whole message or an error. The start event holds the
 * message verbatim, because parsing would change it. Without a stop reason it may be truncated.
 */
function messageEvents(whole: unknown, body: string): SentEvent[] {
  if (!isObject(whole) || whole.type !== 'message') return [{ event: null, data: body }]
  const { stop_reason } = whole
  const end = [
    JSON.stringify({ type: 'message_delta', delta: { stop_reason } }),
    '{"type":"message_stop"}',
  ]
  const isOver = finishWord(stop_reason) !== ''
  return [`{"type":"message_start","message":${body}}`, ...(isOver ? end : [])].map((data) => ({
    event: null,
    data,
  }))
}

/**
 * A finished answer stays finished if the connection then breaks. Without a finish reason it is
 * cut.
 */
function endingOf(
  message: MessageStream,
  interruption: unknown,
  outputTokensMax: number,
): Finished | Failed {
  const { fault, finish, over, usage } = message
  if (fault !== undefined) return fault
  if (interruption !== undefined && finish === '' && !over) return interruptionOf(interruption)
  return {
    kind: 'finished',
    stop: stopAtLimit(stopOf(message), usage, outputTokensMax),
    finish,
    usage,
  }
}
