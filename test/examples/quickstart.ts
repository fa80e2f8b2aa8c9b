import { Weir } from '../../client/weir.ts'

const weir = await Weir.open({ agents: 'agent.yaml' })
const turn = weir.ask({ agent: 'starter', text: 'Which files are here?' })

for await (const event of turn) {
  if (event.type === 'text-delta') process.stderr.write(event.text)
  if (event.type === 'call-finished') console.error(`\n${event.name}: ${event.status}`)
}

const { outcome, reply } = await turn.finished // answered, or the reason for the fallback
console.log(`${outcome}: ${reply}`)
await weir.close()
