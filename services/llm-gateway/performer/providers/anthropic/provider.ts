// Anthropic's Messages API. connect.ts brings its SDK, once an agent sends a request.

import type { ProviderRecord } from '../provider.ts'

export const anthropic: ProviderRecord<'anthropic'> = {
  name: 'anthropic',
  keyVariable: 'ANTHROPIC_API_KEY',
  accepts: {
    reasoningEffort: ['low', 'medium', 'high', 'xhigh', 'max'],
    serviceTier: ['auto', 'standard_only'],
    seed: false,
  },
  connect: async (agent, fetch) => (await import('./connect.ts')).connectAnthropic(agent, fetch),
  modelCheck: ({ baseUrl = 'https://api.anthropic.com', apiKey, path }) => ({
    url: `${baseUrl}/v1/models/${path}`,
    headers: {
      'anthropic-version': '2023-06-01',
      ...(apiKey === '' ? {} : { 'x-api-key': apiKey }),
    },
  }),
  recording: {
    hasNamedEvents: true,
    isWhole: ({ type, content }) => type === 'message' && Array.isArray(content),
    lastTypes: new Set(['message_stop']),
    first: /"type":\s*"message_start"/,
    last: /"type":\s*"message_stop"/,
    any: /"type":\s*"(?:ping|content_block_\w+|message_\w+)"|^event: ?(?:ping|content_block_|message_)|^\s*\{[^{}]*"type":\s*"message"/m,
  },
}
