// A tool that answers for the user of the question. The model never sees the user's id, and no
// record holds it.

import { z } from 'zod'
import { anthropic, defineAgent, defineTool, Weir } from '../../client/weir.ts'

const database = { ordersOf: async (userId: string) => [`order 17 of ${userId}`] }

const orders = defineTool({
  name: 'list_orders',
  description: 'The orders of the user',
  parameters: z.object({}),
  needsContext: z.object({ userId: z.string() }),
  run: (_, { context }) => database.ordersOf(context.userId),
})
const agent = defineAgent({
  name: 'shop',
  model: anthropic('claude-sonnet-5-5'),
  system: 'You help customers.',
  tools: [orders],
})

const weir = await Weir.open({ agents: [agent] })
const turn = weir.ask({ agent, text: 'What did I order?', context: { userId: 'u1' } })
for await (const event of turn)
  if (event.type === 'call-finished') console.error(`${event.name}: ${event.status}`)
console.log((await turn.finished).reply)
await weir.close()
