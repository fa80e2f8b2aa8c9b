// A program whose tool, in its own process, has an effect and never ends: a test kills the program.

import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { anthropic, defineAgent, defineTool, Weir } from '../../../client/weir.ts'

const [, , folder = '', baseUrl = ''] = process.argv
const pay = defineTool({
  name: 'pay',
  description: 'pays',
  parameters: { type: 'object' },
  run() {
    appendFileSync(join(folder, 'paid'), 'paid\n')
    return new Promise(() => {})
  },
})
const agent = defineAgent({
  name: 'helper',
  system: 'Help.',
  tools: [pay],
  graceMs: 50,
  model: anthropic('scripted', { baseUrl }),
})
const weir = await Weir.open({ agents: [agent], dataFolder: join(folder, 'data') })
const ids = { conversation: 'c', messageId: 'm' }
await weir.ask({ agent, text: 'Pay', ...ids }).finished
