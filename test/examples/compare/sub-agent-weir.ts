import { defineAgent, defineTool, openaiChat, Weir } from '../../../client/weir.ts'

const model = openaiChat('mock', { baseUrl: process.env.MODEL_URL })
const researcher = defineAgent({ name: 'researcher', model, system: 'You find facts.' })
const writer = defineAgent({
  name: 'writer',
  model,
  system: 'You write one sentence.',
  tools: [
    defineTool({ agent: researcher, name: 'research', description: 'Finds facts about a subject' }),
  ],
})

await using weir = await Weir.open({ agents: [writer] })
const { reply } = await weir.ask({ agent: writer, text: 'Write about weirs.' }).finished
console.log(reply)
