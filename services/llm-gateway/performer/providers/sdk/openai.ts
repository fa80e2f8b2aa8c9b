// OpenAI's SDK, for the addresses and headers of the requests to both of its APIs.
//
// The SDK's own stream is not used. Its chunks are parsed, so arguments that are not text lose
// digits. It does not report the end mark, and one unreadable event discards the response.

import OpenAI, { type ClientOptions } from 'openai'
import type { Agent } from '../../../../../shared/agents/agents.ts'
import { sdkOptions, withoutEnvironmentHeaders } from './options.ts'

export function openaiClient({ apiKey, baseUrl, headers }: Agent['model']): OpenAI {
  const options: ClientOptions = {
    ...sdkOptions,
    // The SDK requires a key. Local servers have none and ignore it.
    apiKey: apiKey || 'none',
    // null, not undefined: with undefined, a variable of the environment could redirect
    // conversations to another server or account.
    baseURL: baseUrl ?? null,
    defaultHeaders: headers ?? {},
    adminAPIKey: null,
    organization: null,
    project: null,
  }
  return withoutEnvironmentHeaders(() => new OpenAI(options))
}
