// The client of OpenAI's SDK, for both of its APIs.

import OpenAI from 'openai'
import type { Agent } from '../../../shared/agents/agents.ts'
import { withErrorsShown } from './openai-chat/errors.ts'
import { sdkOptions } from './sdk-options.ts'

/** `fetch` sends the requests. */
export function openaiClient({ model }: Agent, fetch: typeof globalThis.fetch): OpenAI {
  return new OpenAI({
    ...sdkOptions,
    // The SDK requires a key. Local servers have none and ignore it.
    apiKey: model.apiKey || 'none',
    // null, not undefined: with undefined, a variable of the environment could redirect
    // conversations to another server or account.
    baseURL: model.baseUrl ?? null,
    defaultHeaders: model.headers ?? {},
    adminAPIKey: null,
    organization: null,
    project: null,
    fetch: withErrorsShown(fetch),
  })
}
