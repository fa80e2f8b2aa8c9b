// OpenAI's Responses API and compatible servers, through OpenAI's SDK. Owns: one HTTP request and
// its raw event stream. Does not own: retries and deadlines (reducer.ts, attempt.ts), events
// (events.ts), the request body (request.ts), errors (openai-chat/errors.ts).
//
// openai-chat/connect.ts explains why the SDK's own stream is not used.

import type { Agent } from '../../../../../shared/agents/agents.ts'
import { secretsOfModel } from '../../../../../shared/agents/secrets.ts'
import { answerReader } from '../../../../../shared/wire/answer-reader.ts'
import { responseAnswers } from '../../../../../shared/wire/openai-responses/events.ts'
import { responsesRequest } from '../../../../../shared/wire/openai-responses/request.ts'
import { streamedAnswer } from '../../../../../shared/wire/streamed-answer.ts'
import { httpFetch } from '../../wire/http-fetch.ts'
import { refusalOf } from '../openai-chat/errors.ts'
import { openaiPost } from '../openai-client.ts'
import type { Provider } from '../provider.ts'

/**
 * Keeps the agent's key and address private. `fetch` sends the requests; tests pass recorded
 * answers.
 */
export function connectOpenaiResponses(
  agent: Agent,
  fetch: typeof globalThis.fetch = httpFetch,
): Provider {
  const post = openaiPost(agent, fetch, '/responses')

  return {
    stream: (request, signal, onBytes) =>
      streamedAnswer(
        {
          reader: answerReader(responseAnswers)({
            secret: secretsOfModel(agent.model),
            model: agent.model.name,
            outputTokensMax: agent.model.maxOutputTokens,
          }),
          send: async () => post(responsesRequest(agent, request), signal),
          refused: (error) => refusalOf(error, secretsOfModel(agent.model)),
        },
        onBytes,
      ),
  }
}
