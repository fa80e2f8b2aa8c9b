// The agent of the programs that serve one over HTTP. Its tool is a function of the program.

import { z } from 'zod'
import { anthropic, defineAgent, defineTool } from '../../client/weir.ts'

const weather = defineTool({
  name: 'get_weather',
  description: 'Current weather of a city',
  parameters: z.object({ city: z.string() }),
  run: async ({ city }) => `18 °C and rain in ${city}`,
})
export const agent = defineAgent({
  name: 'helper',
  model: anthropic('claude-sonnet-5-5'),
  system: 'You help travellers.',
  tools: [weather],
})
