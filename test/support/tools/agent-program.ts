// A program whose agent asks another agent, whose tool never ends: a test kills or stops the program.

import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { anthropic, defineAgent, defineTool, Weir } from '../../../client/weir.ts'

const [, , folder = '', baseUrl = ''] = process.argv
const dig = defineTool({
  name: 'dig',
  description: 'digs',
  parameters: { type: 'object' },
  run() {
    appendFileSync(join(folder, 'dug'), 'dug\n')
    return new Promise(() => {})
  },
})
const model = anthropic('scripted', { baseUrl })
const digger = defineAgent({ name: 'digger', system: 'digger', model, tools: [dig], graceMs: 50 })
const asks = defineTool({ agent: digger, name: 'ask_digger', description: 'asks a digger' })
const boss = defineAgent({ name: 'boss', system: 'boss', model, tools: [asks], graceMs: 50 })

const weir = await Weir.open({ agents: [boss], dataFolder: join(folder, 'data') })
weir.ask({ agent: boss, text: 'Go', conversation: 'c', messageId: 'm' }).finished.catch(() => {})
process.on('SIGTERM', () => void weir.close())
