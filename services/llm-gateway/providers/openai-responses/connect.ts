// The Responses API of OpenAI, and of everything that speaks it, through OpenAI's SDK. Owns: one
// HTTP request and its raw event stream. Does not own: retries and deadlines (reducer.ts,
// attempt.ts), what an event means (openai-responses-events.ts), what the request says
// (openai-responses-request.ts), what an error means (openai-chat-errors.ts).
//
// The SDK's own stream is not used, for the reasons that stand in openai-chat.ts.

import type { Agent } from '../../../../shared/agents/agents.ts'
import { isObject } from '../../../../shared/lib/json/json-object.ts'
import { answeredEvents, type SentEvent } from '../../wire/event-stream.ts'
import { httpFetch } from '../../wire/http-fetch.ts'
import { streamedAnswer } from '../../wire/streamed-answer.ts'
import { refusalOf } from '../openai-chat/errors.ts'
import { openaiClient } from '../openai-client.ts'
import { stopAtLimit } from '../output-limit.ts'
import type { Failed, Finished, Provider } from '../provider.ts'
import { interruptionOf } from '../provider-errors.ts'
import { endResponse, readResponseEvent, stopOf } from './events.ts'
import { responsesRequest } from './request.ts'
import { newResponseStream, type ResponseStream } from './stream.ts'

/**
 * How this agent's model is asked; its key and its address stay in here. `fetch`: how HTTP is
 * spoken; tests hand in recorded answers.
 */
export function connectOpenaiResponses(
  agent: Agent,
  fetch: typeof globalThis.fetch = httpFetch,
): Provider {
  const client = openaiClient(agent, fetch)

  return {
    stream: (request, signal, heard) =>
      streamedAnswer(
        {
          stream: newResponseStream({ secret: agent.model.apiKey, model: agent.model.name }),
          ask: () =>
            client.responses.create(responsesRequest(agent, request), { signal }).asResponse(),
          refused: (error) => refusalOf(error, agent.model.apiKey),
          sent: (response) => answeredEvents(response, heard, responseEvents),
          read: readResponseEvent,
          end: endResponse,
          ending: (stream, interruption) =>
            endingOf(stream, interruption, agent.model.maxOutputTokens),
        },
        heard,
      ),
  }
}

/** The body of a server that does not stream: the whole response, or an error. */
function responseEvents(whole: unknown, body: string): SentEvent[] {
  const isResponse = isObject(whole) && whole.object === 'response'
  return [{ event: null, data: isResponse ? `{"type":"response.done","response":${body}}` : body }]
}

/**
 * What the provider itself called finished is, also when the connection breaks after that. Without
 * a word of it the answer is cut.
 */
function endingOf(
  stream: ResponseStream,
  interruption: unknown,
  outputTokensAsked: number,
): Finished | Failed {
  const { fault, finish, over, usage, outputTokensMax } = stream
  if (fault !== undefined) return fault
  if (interruption !== undefined && !over) return interruptionOf(interruption)
  return {
    kind: 'finished',
    stop: stopAtLimit(stopOf(stream), usage, outputTokensMax ?? outputTokensAsked),
    finish,
    usage,
  }
}
