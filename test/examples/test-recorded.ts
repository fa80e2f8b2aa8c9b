import assert from 'node:assert/strict'
import { z } from 'zod'
import { recordedModel } from '../../client/testing/testing.ts'
import { anthropic, defineAgent, defineTool, Weir } from '../../client/weir.ts'

const weather = defineTool({
  name: 'get_weather',
  description: 'Current weather of a city',
  parameters: z.object({ city: z.string() }),
  run: async ({ city }) => `18 °C and rain in ${city}`,
})
const model = recordedModel('paris.json', anthropic('claude-sonnet-5-5'))
const agent = defineAgent({ name: 'helper', model, system: 'Help.', tools: [weather] })

const weir = await Weir.open({ agents: [agent], dataFolder: 'test-recorded' })
const { reply } = await weir.ask({ agent, text: 'Do I need a coat in Paris?' }).finished
assert.match(reply, /rain/)
await weir.close()
