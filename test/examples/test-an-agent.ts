import assert from 'node:assert/strict'
import { z } from 'zod'
import { call, says, scriptedModel } from '../../client/testing/testing.ts'
import { defineAgent, defineTool, Weir } from '../../client/weir.ts'

const weather = defineTool({
  name: 'get_weather',
  description: 'Current weather of a city',
  parameters: z.object({ city: z.string() }),
  run: async ({ city }) => `18 °C and rain in ${city}`,
})
const model = scriptedModel(says(call('get_weather', { city: 'Paris' })), ({ newResults }) =>
  says(`It has ${newResults.join()}.`),
)
const agent = defineAgent({ name: 'helper', model, system: 'Help.', tools: [weather] })

const weir = await Weir.open({ agents: [agent], dataFolder: 'test-an-agent' })
const { reply } = await weir.ask({ agent, text: 'Weather in Paris?' }).finished
assert.equal(reply, 'It has 18 °C and rain in Paris.')
assert.deepEqual(model.requests[1]?.newResults, ['18 °C and rain in Paris'])
await weir.close()
