// The Chat Completions API of OpenAI, and of everything that speaks it, through OpenAI's SDK. Owns:
// one HTTP request and its raw event stream. Does not own: retries and deadlines (reducer.ts,
// attempt.ts), what an event means (openai-chat-events.ts), what the request says
// (openai-chat-request.ts), what an error means (openai-chat-errors.ts).
//
// The SDK's own stream is not used: it hands out parsed chunks, in which arguments that are no text
// have lost digits; it does not say whether the end mark came; and it throws away a response in
// which one event cannot be read.

import type { Agent } from '../../../../shared/agents/agents.ts'
import { answeredEvents } from '../../wire/event-stream.ts'
import { httpFetch } from '../../wire/http-fetch.ts'
import { streamedAnswer } from '../../wire/streamed-answer.ts'
import { openaiClient } from '../openai-client.ts'
import { stopAtLimit } from '../output-limit.ts'
import type { Failed, Finished, Provider } from '../provider.ts'
import { interruptionOf } from '../provider-errors.ts'
import { refusalOf } from './errors.ts'
import { type ChatStream, endChat, newChatStream, readChunk, stopOf } from './events.ts'
import { chatRequest } from './request.ts'

/**
 * How this agent's model is asked; its key and its address stay in here. `fetch`: how HTTP is
 * spoken; tests hand in recorded answers.
 */
export function connectOpenaiChat(
  agent: Agent,
  fetch: typeof globalThis.fetch = httpFetch,
): Provider {
  const client = openaiClient(agent, fetch)

  return {
    stream: (request, signal, heard) =>
      streamedAnswer(
        {
          stream: newChatStream({ secret: agent.model.apiKey, model: agent.model.name }),
          ask: () =>
            client.chat.completions.create(chatRequest(agent, request), { signal }).asResponse(),
          refused: (error) => refusalOf(error, agent.model.apiKey),
          sent: (response) => answeredEvents(response, heard, (_, data) => [{ event: null, data }]),
          read: readChunk,
          end: endChat,
          ending: (stream, interruption) =>
            endingOf(stream, interruption, agent.model.maxOutputTokens),
        },
        heard,
      ),
  }
}

/**
 * What the provider itself called finished is, also when the connection breaks after that. Without
 * a word of it the answer is cut.
 */
function endingOf(
  chat: ChatStream,
  interruption: unknown,
  outputTokensMax: number,
): Finished | Failed {
  const { fault, finish, over, usage } = chat
  if (fault !== undefined) return fault
  if (interruption !== undefined && finish === '' && !over) return interruptionOf(interruption)
  return {
    kind: 'finished',
    stop: stopAtLimit(stopOf(chat), usage, outputTokensMax),
    finish,
    usage,
  }
}
