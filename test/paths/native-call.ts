// A program: one turn of an agent with one call of its tool. Prints the used files as JSON.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { call, says, scriptedModel } from '../../client/testing/testing.ts'
import { defineAgent, defineTool, Weir } from '../../client/weir.ts'
import { countCalls } from './used-files.ts'

const schema = {
  type: 'object',
  properties: { cmd: { type: 'string' } },
  required: ['cmd'],
} as const
const { promise: hasRun, resolve: onRun } = Promise.withResolvers<string[]>()
const tool = defineTool({
  name: 'exec',
  description: 'Runs a command.',
  parameters: schema,
  async run() {
    onRun(await calls.end())
    return 'ran'
  },
})
const agent = defineAgent({
  name: 'main',
  system: 'You run commands.',
  model: scriptedModel(says(call('exec', { cmd: 'ls' })), says('Done.')),
  tools: [tool],
})
const dataFolder = mkdtempSync(join(tmpdir(), 'weir-path-'))
const weir = await Weir.open({ agents: [agent], dataFolder })

const calls = await countCalls()
const turn = weir.ask({ agent: 'main', conversation: 'c1', text: 'List the files.' })
const files = await hasRun
const { outcome } = await turn.finished
console.log(JSON.stringify({ files, isAsExpected: outcome === 'answered' }))
await weir.close()
rmSync(dataFolder, { recursive: true })
