// Anthropic's SDK, for the addresses and headers of its requests.
//
// The SDK's parsed streams are not used. They parse a call's arguments before the gateway sees the
// text, drop events without a name, and print unparsable input to the console.

import Anthropic from '@anthropic-ai/sdk'
import type { Agent } from '../../../../../shared/agents/agents.ts'
import { sdkOptions } from './options.ts'

export function anthropicClient({ apiKey, baseUrl, headers }: Agent['model']): Anthropic {
  return new Anthropic({
    ...sdkOptions,
    apiKey,
    // null, not undefined: with undefined, a variable of the environment could redirect
    // conversations.
    baseURL: baseUrl ?? null,
    defaultHeaders: headers ?? {},
  })
}
