import { z } from 'zod'
import { defineAgent, openaiChat, Weir } from '../../../client/weir.ts'

const model = openaiChat('mock', { baseUrl: process.env.MODEL_URL })
const agent = defineAgent({ name: 'clerk', model, system: 'You read letters.' })

await using weir = await Weir.open({ agents: [agent] })
const { city, chairs } = await weir.ask({
  agent,
  text: 'Please send two chairs to Ulm.',
  output: z.object({ city: z.string(), chairs: z.number() }),
}).output
console.log(`${chairs} chairs to ${city}`)
