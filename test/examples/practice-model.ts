import { z } from 'zod'
import { always, call, says, scriptedModel } from '../../client/testing/testing.ts'
import { anthropic, defineAgent, defineTool, Weir } from '../../client/weir.ts'

const weather = defineTool({
  name: 'get_weather',
  description: 'Current weather of a city',
  parameters: z.object({ city: z.string() }),
  run: async ({ city }) => `18 °C and rain in ${city}`,
})
const practice = scriptedModel(
  always(({ newResults, texts }) =>
    newResults.length > 0
      ? says(`It has ${newResults.join()}.`)
      : says('I look.', call('get_weather', { city: texts.at(-1) })),
  ),
)
const hasKey = process.env.ANTHROPIC_API_KEY !== undefined
const model = hasKey ? anthropic('claude-sonnet-5-5') : practice
const agent = defineAgent({ name: 'helper', model, system: 'Help.', tools: [weather] })

const weir = await Weir.open({ agents: [agent], dataFolder: 'practice' })
for (const text of ['Paris', 'Ulm']) console.log((await weir.ask({ agent, text }).finished).reply)
await weir.close()
