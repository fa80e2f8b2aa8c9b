import { z } from 'zod'
import { defineAgent, openaiChat, Weir } from '../../../client/weir.ts'

const agent = defineAgent({
  name: 'clerk',
  model: openaiChat('mock', { baseUrl: process.env.MODEL_URL }),
  system: 'You read letters.',
})

await using weir = await Weir.open({ agents: [agent] })
const { output } = weir.ask({
  agent,
  text: 'Please send two chairs to Ulm.',
  output: z.object({ city: z.string(), chairs: z.number() }),
})
const { city, chairs } = await output
console.log(`${chairs} chairs to ${city}`)
