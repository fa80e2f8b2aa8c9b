// A program that runs a call of a client tool: the model asks, the user of the program picks.

import { z } from 'zod'
import { anthropic, defineAgent, defineTool, Weir } from '../../client/weir.ts'

const pickSeat = defineTool({
  name: 'pick_seat',
  description: 'Lets the user pick a seat on the plan that the page shows',
  parameters: z.object({ flight: z.string() }),
  client: true,
  timeoutMs: 10 * 60_000,
})
const agent = defineAgent({
  name: 'helper',
  model: anthropic('claude-sonnet-5-5'),
  system: 'You help travellers.',
  tools: [pickSeat],
})
const weir = await Weir.open({ agents: [agent] })

const turn = weir.ask({ agent, text: 'A seat on LH 12, please.' })
const conversation = weir.conversation(turn.conversation)
for await (const event of turn) {
  if (event.type === 'call-offered')
    await conversation.sendResult(event, { text: `picked 14A on ${event.arguments?.flight}` })
  if (event.type === 'call-finished') console.error(`${event.name}: ${event.result}`)
}
console.log((await turn.finished).reply)
await weir.close()
