// OpenAI's Chat Completions API and compatible servers, through OpenAI's SDK. Owns: one HTTP
// request and its raw event stream. Does not own: retries and deadlines (reducer.ts, attempt.ts),
// events (events.ts), the request body (request.ts), errors (errors.ts).
//
// The SDK's own stream is not used. Its chunks are parsed, so arguments that are not text lose
// digits. It does not report the end mark, and one unreadable event discards the response.

import type { Agent } from '../../../../../shared/agents/agents.ts'
import { secretsOfModel } from '../../../../../shared/agents/secrets.ts'
import { answerReader } from '../../../../../shared/wire/answer-reader.ts'
import { chatAnswers } from '../../../../../shared/wire/openai-chat/events.ts'
import { chatRequest } from '../../../../../shared/wire/openai-chat/request/request.ts'
import { streamedAnswer } from '../../../../../shared/wire/streamed-answer.ts'
import { httpFetch } from '../../wire/http-fetch.ts'
import { openaiPost } from '../openai-client.ts'
import type { Provider } from '../provider.ts'
import { refusalOf } from './errors.ts'

/**
 * Keeps the agent's key and address private. `fetch` sends the requests; tests pass recorded
 * answers.
 */
export function connectOpenaiChat(
  agent: Agent,
  fetch: typeof globalThis.fetch = httpFetch,
): Provider {
  const post = openaiPost(agent, fetch, '/chat/completions')

  return {
    stream: (request, signal, onBytes) =>
      streamedAnswer(
        {
          reader: answerReader(chatAnswers)({
            secret: secretsOfModel(agent.model),
            model: agent.model.name,
            outputTokensMax: agent.model.maxOutputTokens,
          }),
          send: async () => post(chatRequest(agent, request), signal),
          refused: (error) => refusalOf(error, secretsOfModel(agent.model)),
        },
        onBytes,
      ),
  }
}
