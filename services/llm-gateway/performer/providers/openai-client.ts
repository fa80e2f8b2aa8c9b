// The requests of OpenAI's SDK, for both of its APIs.

import OpenAI, { APIError } from 'openai'
import type { Agent } from '../../../../shared/agents/agents.ts'
import { shownError } from './openai-chat/errors.ts'
import { sdkOptions } from './sdk-options.ts'
import { sdkPost } from './sdk-post.ts'

/** `fetch` sends the requests. */
export function openaiPost({ model }: Agent, fetch: typeof globalThis.fetch, path: string) {
  const client = new OpenAI({
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
  })
  return sdkPost({ client, path, fetch, statusError: APIError.generate, shown: shownError })
}
