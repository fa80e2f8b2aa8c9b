// OpenAI's SDK for an agent's model, whichever of its APIs is spoken.

import OpenAI from 'openai'
import type { Agent } from '../../../shared/agents/agents.ts'
import { withErrorsShown } from './openai-chat/errors.ts'
import { sdkOptions } from './sdk-options.ts'

/** `fetch`: how HTTP is spoken. */
export function openaiClient({ model }: Agent, fetch: typeof globalThis.fetch): OpenAI {
  return new OpenAI({
    ...sdkOptions,
    // The SDK insists on a key; servers on one's own machine have none and look at none.
    apiKey: model.apiKey || 'none',
    // null, not undefined: a variable of the environment must not send an agent's conversations
    // elsewhere, or as somebody else.
    baseURL: model.baseUrl ?? null,
    adminAPIKey: null,
    organization: null,
    project: null,
    fetch: withErrorsShown(fetch),
  })
}
