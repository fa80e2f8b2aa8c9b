// Anthropic's Messages API and compatible servers, through Anthropic's SDK. Owns: one HTTP request
// and its raw event stream. Does not own: retries and deadlines (reducer.ts, attempt.ts), events
// (events.ts), the request body (request.ts), HTTP errors (errors.ts).
//
// The SDK's parsed streams are not used. They parse a call's arguments before the gateway sees the
// text, drop events without a name, and print unparsable input to the console.

import Anthropic, { APIError } from '@anthropic-ai/sdk'
import type { Agent } from '../../../../../shared/agents/agents.ts'
import { secretsOfModel } from '../../../../../shared/agents/secrets.ts'
import { answerReader } from '../../../../../shared/wire/answer-reader.ts'
import { messageAnswers } from '../../../../../shared/wire/anthropic/events.ts'
import { messageRequest } from '../../../../../shared/wire/anthropic/request.ts'
import { streamedAnswer } from '../../../../../shared/wire/streamed-answer.ts'
import { httpFetch } from '../../wire/http-fetch.ts'
import type { Provider } from '../provider.ts'
import { sdkOptions } from '../sdk-options.ts'
import { sdkPost } from '../sdk-post.ts'
import { refusalOf } from './errors.ts'

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
  })
  const post = sdkPost({ client, path: '/v1/messages', fetch, statusError: APIError.generate })

  return {
    stream: (request, signal, onBytes) =>
      streamedAnswer(
        {
          reader: answerReader(messageAnswers)({
            secret: secretsOfModel(agent.model),
            outputTokensMax: agent.model.maxOutputTokens,
          }),
          send: async () => post({ ...messageRequest(agent, request), stream: true }, signal),
          refused: (error) => refusalOf(error, secretsOfModel(agent.model)),
        },
        onBytes,
      ),
  }
}
