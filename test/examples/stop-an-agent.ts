// A program that ends a turn as soon as a tool runs, and then goes on with the conversation.

import { Weir } from '../../client/weir.ts' // in a program of yours: from 'weir-agents'

const weir = await Weir.open({ agents: 'agent.yaml' })
const turn = weir.ask({ agent: 'my-agent', text: 'Read every file here.' })

for await (const event of turn) {
  if (event.type === 'tool-started') await turn.cancel() // or from elsewhere: ask({ ..., signal })
  if (event.type === 'call-finished') console.error(`${event.name}: ${event.status}`)
}
console.log((await turn.finished).outcome) // cancelled

const next = weir.ask({ agent: 'my-agent', text: 'Never mind.', conversation: turn.conversation })
console.log((await next.finished).reply)
await weir.close()
