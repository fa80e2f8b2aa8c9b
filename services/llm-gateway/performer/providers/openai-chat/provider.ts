// OpenAI's Chat Completions API. connect.ts brings its SDK, once an agent sends a request.

import { isObject } from '../../../../../shared/lib/json/json-object.ts'
import { openaiEfforts, openaiTiers } from '../../../../../shared/wire/openai/options.ts'
import { openaiModelCheck } from '../openai-model-check.ts'
import type { ProviderRecord } from '../provider.ts'

export const openaiChat: ProviderRecord<'openai-chat'> = {
  name: 'openai-chat',
  keyVariable: 'OPENAI_API_KEY',
  accepts: { reasoningEffort: openaiEfforts, serviceTier: openaiTiers, seed: true },
  connect: async (agent, fetch) => (await import('./connect.ts')).connectOpenaiChat(agent, fetch),
  modelCheck: openaiModelCheck,
  recording: {
    hasNamedEvents: false,
    isWhole: ({ object, choices }) =>
      object === 'chat.completion' ||
      (Array.isArray(choices) &&
        choices.some((choice) => isObject(choice) && isObject(choice.message))),
    lastTypes: new Set(),
    first: /"choices":/,
    last: /^data: ?\[DONE\]/m,
    any: /"choices":/,
  },
}
