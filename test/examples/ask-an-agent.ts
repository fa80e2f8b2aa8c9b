// A program that asks the agent of `agent.yaml`, shows the events on standard error, and prints the
// reply.

import { Weir } from '../../client/weir.ts' // in a program of yours: from 'weir-agents'

const weir = await Weir.open({ agents: 'agent.yaml' })
const turn = weir.ask({ agent: 'my-agent', text: 'Which files are here?' })

for await (const event of turn) {
  if (event.type === 'text-delta') process.stderr.write(event.text)
  if (event.type === 'tool-started') console.error(`\n${event.name} runs`)
  if (event.type === 'call-finished')
    console.error(`${event.name}: ${event.status} ${event.reason}`)
}

const { outcome, reply } = await turn.finished // outcome: answered, or the fallback's reason
console.log(`${outcome}: ${reply}`)
await weir.close()
