import { z } from 'zod'
import { anthropic, defineAgent, defineTool, Weir } from '../../client/weir.ts'

const weather = defineTool({
  name: 'get_weather',
  description: 'Current weather of a city',
  parameters: z.object({ city: z.string() }),
  run: async ({ city }) => `18 °C and rain in ${city}`,
})
const agent = defineAgent({
  name: 'helper',
  model: anthropic('claude-sonnet-5-5'),
  system: 'You help travellers.',
  tools: [weather],
})

const weir = await Weir.open({ agents: [agent] })
const turn = weir.ask({ agent, text: 'Do I need a coat in Paris?' })
for await (const event of turn) {
  if (event.type === 'text-delta') process.stderr.write(event.text)
  if (event.type === 'call-finished') console.error(`\n${event.name}: ${event.status}`)
}
const { outcome, reply, reason } = await turn.finished
console.log(outcome === 'answered' ? `\n${reply}` : `\n${outcome}: ${reason}`)
await weir.close()
