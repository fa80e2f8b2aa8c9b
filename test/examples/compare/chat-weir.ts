import { z } from 'zod'
import { defineAgent, defineTool, openaiChat, Weir } from '../../../client/weir.ts'

const weather = defineTool({
  name: 'get_weather',
  description: 'Current weather of a city',
  parameters: z.object({ city: z.string() }),
  run: async ({ city }) => `rain in ${city}`,
})
const agent = defineAgent({
  name: 'helper',
  model: openaiChat('mock', { baseUrl: process.env.MODEL_URL }),
  system: 'You help travellers.',
  tools: [weather],
})

await using weir = await Weir.open({ agents: [agent] })
for await (const event of weir.ask({ agent, text: 'How is Paris?' })) {
  if (event.type === 'call-finished') console.log(`${event.name} ran`)
  if (event.type === 'text-delta') process.stdout.write(event.text)
}
