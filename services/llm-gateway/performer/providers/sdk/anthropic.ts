// Anthropic's SDK, for the addresses and headers of its requests.
//
// The SDK's parsed streams are not used. They parse a call's arguments before the gateway sees the
// text, drop events without a name, and print unparsable input to the console.

import Anthropic, { type ClientOptions } from '@anthropic-ai/sdk'
import type { Agent } from '../../../../../shared/agents/agents.ts'
import { sdkOptions, withoutEnvironmentHeaders } from './options.ts'

export function anthropicClient({ apiKey, baseUrl, headers }: Agent['model']): Anthropic {
  const options: ClientOptions = {
    ...sdkOptions,
    apiKey,
    // null, not undefined: with undefined, a variable of the environment could redirect
    // conversations.
    baseURL: baseUrl ?? null,
    // null: without a key, the SDK would send an empty one.
    defaultHeaders: { ...(apiKey === '' ? { authorization: null } : {}), ...headers },
  }
  return withoutEnvironmentHeaders(() => new Anthropic(options))
}
