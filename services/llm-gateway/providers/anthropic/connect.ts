// The Messages API of Anthropic, and of everything that speaks it, through Anthropic's SDK. Owns:
// one HTTP request and its raw event stream, and what an HTTP error means. Does not own: retries
// and deadlines (reducer.ts, attempt.ts), what an event means (anthropic-events.ts), what the
// request says (anthropic-request.ts).
//
// The SDK's accumulating helper and its parsed event stream are not used: they parse a call's
// arguments before we have seen the text, drop events that a server sent without a name, and write
// what they cannot parse to the console.

import Anthropic from '@anthropic-ai/sdk'
import type { Agent } from '../../../../shared/agents/agents.ts'
import { isObject } from '../../../../shared/lib/json/json-object.ts'
import { answeredEvents, type SentEvent } from '../../wire/event-stream.ts'
import { httpFetch } from '../../wire/http-fetch.ts'
import { streamedAnswer } from '../../wire/streamed-answer.ts'
import { finishWord } from '../finish-words.ts'
import { stopAtLimit } from '../output-limit.ts'
import type { Failed, Finished, Provider } from '../provider.ts'
import { interruptionOf } from '../provider-errors.ts'
import { sdkOptions } from '../sdk-options.ts'
import { refusalOf } from './errors.ts'
import { endMessage, type MessageStream, newMessageStream, readEvent, stopOf } from './events.ts'
import { messageRequest } from './request.ts'

/**
 * How this agent's model is asked; its key and its address stay in here. `fetch`: how HTTP is
 * spoken; tests hand in recorded answers.
 */
export function connectAnthropic(
  agent: Agent,
  fetch: typeof globalThis.fetch = httpFetch,
): Provider {
  const client = new Anthropic({
    ...sdkOptions,
    apiKey: agent.model.apiKey,
    // null, not undefined: a variable of the environment must not send an agent's conversations
    // elsewhere.
    baseURL: agent.model.baseUrl ?? null,
    fetch,
  })

  return {
    stream: (request, signal, heard) =>
      streamedAnswer(
        {
          stream: newMessageStream(agent.model.apiKey),
          ask: () =>
            client.messages
              .create({ ...messageRequest(agent, request), stream: true }, { signal })
              .asResponse(),
          refused: (error) => refusalOf(error, agent.model.apiKey),
          sent: (response) => answeredEvents(response, heard, messageEvents),
          read: readEvent,
          end: (message, interruption) => (interruption === undefined ? endMessage(message) : []),
          ending: (stream, interruption) =>
            endingOf(stream, interruption, agent.model.maxOutputTokens),
        },
        heard,
      ),
  }
}

/**
 * The body of a server that does not stream: the whole message, or an error. The message stands in
 * its start as it came: parsing it would change what the model sent. Without a reason for its end
 * nobody knows whether it is whole.
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
 * What the provider itself called finished is, also when the connection breaks after that. Without
 * a word of it the answer is cut.
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
