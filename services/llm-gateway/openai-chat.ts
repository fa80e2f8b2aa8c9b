// The Chat Completions API of OpenAI, and of everything that speaks it, through OpenAI's SDK.
// Owns: one HTTP request and its raw event stream. Does not own: retries and deadlines (reducer.ts, attempt.ts), what an event means
// (openai-chat-events.ts), what the request says (openai-chat-request.ts), what an error means (openai-chat-errors.ts).
//
// The SDK's own stream is not used: it hands out parsed chunks, in which arguments that are no text have lost digits; it does not say whether the
// end mark came; and it throws away a response in which one event cannot be read.

import OpenAI from 'openai'
import type { Agent } from '../../shared/agents.ts'
import type { SentEvent } from './event-stream.ts'
import { sentEvents, wholeBody } from './event-stream.ts'
import { parseJson } from './exact-json.ts'
import { httpFetch } from './http-fetch.ts'
import { refusalOf, withErrorsShown } from './openai-chat-errors.ts'
import type { ChatStream } from './openai-chat-events.ts'
import { endChat, newChatStream, readChunk, stopOf } from './openai-chat-events.ts'
import { chatRequest } from './openai-chat-request.ts'
import { stopAtLimit } from './output-limit.ts'
import type { Failed, Finished, Provider } from './provider.ts'
import { interruptionOf } from './provider-errors.ts'
import { streamedAnswer } from './streamed-answer.ts'

/** The longest wait that a timer can hold: how long to wait is ours to say, byte by byte, and not the SDK's. */
const never = 2 ** 31 - 1

/** How this agent's model is asked; its key and its address stay in here. `fetch`: how HTTP is spoken; tests hand in recorded answers. */
export function openaiChat(agent: Agent, fetch: typeof globalThis.fetch = httpFetch): Provider {
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
          stream: newChatStream({ secret: agent.model.apiKey, model: agent.model.name }),
          ask: () => client.chat.completions.create(chatRequest(agent, request), { signal }).asResponse(),
          refused: (error) => refusalOf(error, agent.model.apiKey),
          sent: (response) => eventsOf(response, heard),
          read: readChunk,
          end: endChat,
          ending: (stream, interruption) => endingOf(stream, interruption, agent.model.maxOutputTokens),
        },
        heard,
      ),
  }
}

/** A server that does not stream answers with one completion, or with an error, as a body of JSON. */
async function* eventsOf(response: Response, heard: () => void): AsyncGenerator<SentEvent[], void> {
  if (!response.headers.get('content-type')?.includes('application/json')) yield* sentEvents(response, heard)
  else {
    const body = await wholeBody(response, heard)
    if (parseJson(body) === undefined) yield* sentEvents(new Response(body), heard)
    else yield [{ event: null, data: body }]
  }
}

/** What the provider itself called finished is, also when the connection breaks after that. Without a word of it the answer is cut. */
function endingOf(chat: ChatStream, interruption: unknown, outputTokensMax: number): Finished | Failed {
  const { fault, finish, over, usage } = chat
  if (fault !== undefined) return fault
  if (interruption !== undefined && finish === '' && !over) return interruptionOf(interruption)
  return { kind: 'finished', stop: stopAtLimit(stopOf(chat), usage, outputTokensMax), finish, usage }
}
