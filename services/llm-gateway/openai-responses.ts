// The Responses API of OpenAI, and of everything that speaks it, through OpenAI's SDK.
// Owns: one HTTP request and its raw event stream. Does not own: retries and deadlines (reducer.ts, attempt.ts), what an event means
// (openai-responses-events.ts), what the request says (openai-responses-request.ts), what an error means (openai-chat-errors.ts).
//
// The SDK's own stream is not used, for the reasons that stand in openai-chat.ts.

import OpenAI from 'openai'
import type { Agent } from '../../shared/agents.ts'
import type { SentEvent } from './event-stream.ts'
import { sentEvents, wholeBody } from './event-stream.ts'
import { isObject, parseJson } from './exact-json.ts'
import { httpFetch } from './http-fetch.ts'
import { refusalOf, withErrorsShown } from './openai-chat-errors.ts'
import { endResponse, readResponseEvent, stopOf } from './openai-responses-events.ts'
import { responsesRequest } from './openai-responses-request.ts'
import type { ResponseStream } from './openai-responses-stream.ts'
import { newResponseStream } from './openai-responses-stream.ts'
import { stopAtLimit } from './output-limit.ts'
import type { Failed, Finished, Provider } from './provider.ts'
import { interruptionOf } from './provider-errors.ts'
import { streamedAnswer } from './streamed-answer.ts'

/** The longest wait that a timer can hold: how long to wait is ours to say, byte by byte, and not the SDK's. */
const never = 2 ** 31 - 1

/** How this agent's model is asked; its key and its address stay in here. `fetch`: how HTTP is spoken; tests hand in recorded answers. */
export function openaiResponses(agent: Agent, fetch: typeof globalThis.fetch = httpFetch): Provider {
  const client = new OpenAI({
    // The SDK insists on a key; servers on one's own machine have none and look at none.
    apiKey: agent.model.apiKey || 'none',
    // null, not undefined: a variable of the environment must not send an agent's conversations elsewhere, or as somebody else.
    baseURL: agent.model.baseUrl ?? null,
    adminAPIKey: null,
    organization: null,
    project: null,
    fetch: withErrorsShown(fetch),
    maxRetries: 0,
    timeout: never,
    logLevel: 'off',
  })

  return {
    stream: (request, signal, heard) =>
      streamedAnswer(
        {
          stream: newResponseStream({ secret: agent.model.apiKey, model: agent.model.name }),
          ask: () => client.responses.create(responsesRequest(agent, request), { signal }).asResponse(),
          refused: (error) => refusalOf(error, agent.model.apiKey),
          sent: (response) => eventsOf(response, heard),
          read: readResponseEvent,
          end: endResponse,
          ending: (stream, interruption) => endingOf(stream, interruption, agent.model.maxOutputTokens),
        },
        heard,
      ),
  }
}

/** A server that does not stream answers with the whole response, or with an error, as a body of JSON. */
async function* eventsOf(response: Response, heard: () => void): AsyncGenerator<SentEvent[], void> {
  if (!response.headers.get('content-type')?.includes('application/json')) yield* sentEvents(response, heard)
  else {
    const body = await wholeBody(response, heard)
    const whole = parseJson(body)
    if (whole === undefined) yield* sentEvents(new Response(body), heard)
    else if (isObject(whole) && whole.object === 'response') yield [{ event: null, data: `{"type":"response.done","response":${body}}` }]
    else yield [{ event: null, data: body }]
  }
}

/** What the provider itself called finished is, also when the connection breaks after that. Without a word of it the answer is cut. */
function endingOf(stream: ResponseStream, interruption: unknown, outputTokensAsked: number): Finished | Failed {
  const { fault, finish, over, usage, outputTokensMax } = stream
  if (fault !== undefined) return fault
  if (interruption !== undefined && !over) return interruptionOf(interruption)
  return { kind: 'finished', stop: stopAtLimit(stopOf(stream), usage, outputTokensMax ?? outputTokensAsked), finish, usage }
}
