// An agent that asks another agent, which has further caps.

import { anthropic, defineAgent, defineTool, Weir } from '../../client/weir.ts'

const researcher = defineAgent({
  name: 'researcher',
  model: anthropic('claude-sonnet-5-5'),
  system: 'You find facts.',
})
const research = defineTool({
  agent: researcher,
  name: 'research',
  description: 'Finds facts about a subject',
  caps: { rounds: 5, wallMs: 60_000 },
})
const writer = defineAgent({
  name: 'writer',
  model: anthropic('claude-sonnet-5-5'),
  system: 'You write one sentence.',
  tools: [research],
})

const weir = await Weir.open({ agents: [writer] })
const turn = weir.ask({ agent: writer, text: 'Write about weirs.' })
console.log((await turn.finished).reply)
await weir.close()
