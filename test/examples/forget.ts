// Deletes a conversation of a user, and prints the time at which its last record goes.

import { anthropic, defineAgent, Weir } from '../../client/weir.ts'

const agent = defineAgent({
  name: 'helper',
  model: anthropic('claude-sonnet-5-5'),
  system: 'You help.',
})

const weir = await Weir.open({ agents: [agent] })
await weir.ask({ agent, conversation: 'order-7', user: 'ann', text: 'Where is my order?' }).finished
const { records, until } = await weir.forget({ conversation: 'order-7', by: 'support' })
const rest = typeof until === 'number' ? new Date(until).toISOString() : until
console.log(`${records} records deleted`, rest ?? '')
await weir.close()
