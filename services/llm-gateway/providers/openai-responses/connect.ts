// OpenAI's Responses API and compatible servers, through OpenAI's SDK. Owns: one HTTP request and
// its raw event stream. Does not own: retries and deadlines (reducer.ts, attempt.ts), events
// (events.ts), the request body (request.ts), errors (openai-chat/errors.ts).
//
// openai-chat/connect.ts explains why the SDK's own stream is not used.

import type { Agent } from '../../../../shared/agents/agents.ts'
import { secretsOfModel } from '../../../../shared/agents/secrets.ts'
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
 * Keeps the agent's key and address private. `fetch` sends the requests; tests pass recorded
 * answers.
 */
export function connectOpenaiResponses(
  agent: Agent,
  fetch: typeof globalThis.fetch = httpFetch,
): Provider {
  const client = openaiClient(agent, fetch)

  return {
    stream: (request, signal, onBytes) =>
      streamedAnswer(
        {
          stream: newResponseStream({
            secret: secretsOfModel(agent.model),
            model: agent.model.name,
          }),
          send: () =>
            client.responses.create(responsesRequest(agent, request), { signal }).asResponse(),
          refused: (error) => refusalOf(error, secretsOfModel(agent.model)),
          sent: (response) => answeredEvents(response, onBytes, responseEvents),
          read: readResponseEvent,
          end: endResponse,
          ending: (stream, interruption) =>
            endingOf(stream, interruption, agent.model.maxOutputTokens),
        },
        onBytes,
      ),
  }
}

/** The body of a server that does not stream: a whole response or an error. */
function responseEvents(whole: unknown, body: string): SentEvent[] {
  const isResponse = isObject(whole) && whole.object === 'response'
  return [{ event: null, data: isResponse ? `{"type":"response.done","response":${body}}` : body }]
}

/**
 * A finished answer stays finished if the connection then breaks. Without a finish reason it is
 * cut.
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
