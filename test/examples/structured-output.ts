// A question whose answer is a value and not a text.

import { z } from 'zod'
import { anthropic, defineAgent, Weir } from '../../client/weir.ts'

const agent = defineAgent({
  name: 'clerk',
  model: anthropic('claude-sonnet-5-5'),
  system: 'You read letters.',
})

const weir = await Weir.open({ agents: [agent] })
const turn = weir.ask({
  agent,
  text: 'Dear shop, please send two chairs to Ulm. Ada',
  system: 'Names are as the letter writes them.',
  output: z.object({ city: z.string(), chairs: z.number().int() }),
})
const { city, chairs } = await turn.output
console.log(`${chairs} chairs to ${city}`)
await weir.close()
