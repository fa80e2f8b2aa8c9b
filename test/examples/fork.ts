// Two answers to one beginning: a fork shares the turns of a conversation and goes on separately.

import { anthropic, defineAgent, Weir } from '../../client/weir.ts'

const agent = defineAgent({
  name: 'travel',
  model: anthropic('claude-sonnet-5-5'),
  system: 'You help travellers.',
})

const weir = await Weir.open({ agents: [agent] })
const { turn } = await weir.ask({ agent, conversation: 'trip', text: 'A hotel in Ulm?' }).finished
const fork = await weir.conversation('trip').fork({ turn })
const other = await weir.ask({ agent, conversation: fork.id, text: 'A cheaper one.' }).finished
console.log(other.reply)
const shared = await fork.turns()
console.error(shared.map(({ text }) => text).join(' < '))
await weir.close()
