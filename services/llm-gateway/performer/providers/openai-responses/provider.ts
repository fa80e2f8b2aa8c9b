// OpenAI's Responses API. connect.ts brings its SDK, once an agent sends a request.

import { openaiEfforts, openaiTiers } from '../../../../../shared/wire/openai/options.ts'
import { openaiModelCheck } from '../openai-model-check.ts'
import type { ProviderRecord } from '../provider.ts'

export const openaiResponses: ProviderRecord<'openai-responses'> = {
  name: 'openai-responses',
  keyVariable: 'OPENAI_API_KEY',
  accepts: { reasoningEffort: openaiEfforts, serviceTier: openaiTiers, seed: false },
  connect: async (agent, fetch) =>
    (await import('./connect.ts')).connectOpenaiResponses(agent, fetch),
  modelCheck: openaiModelCheck,
  recording: {
    hasNamedEvents: true,
    isWhole: ({ object }) => object === 'response',
    lastTypes: new Set([
      'response.completed',
      'response.incomplete',
      'response.failed',
      'response.cancelled',
      'response.done',
    ]),
    first: /"type":\s*"response\.created"/,
    last: /"type":\s*"response\.(?:completed|incomplete|failed|cancelled|done)"/,
    any: /"type":\s*"response\.|^event: ?response\.|"object":\s*"response"/m,
  },
}
