// Attacks on an approval: the program that a person approved is replaced before it starts.

import { appendFileSync, readFileSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it, jest } from '@jest/globals'
import { pino } from 'pino'
import { type AnthropicServer, startAnthropicServer } from '../../../apps/demo/anthropic-server.ts'
import { type Turn, Weir } from '../../../client/weir.ts'
import type { ApprovalRule } from '../../../services/approval/rules.ts'
import type { Tool, ToolRun } from '../../../shared/agents/agents.ts'
import { until } from '../../support/inbox.ts'
import { recordedTool, testAgent } from '../../support/pipeline.ts'
import { call, resultsOf, says, script, text } from '../../support/script.ts'

jest.setTimeout(60_000)

const agent = 'test-agent'
const replaced = 'console.log("REPLACED PROGRAM RAN"); module?.exports'
const good = 'console.log("the approved program ran")'
const goodModule = 'export default async () => "the approved program ran"'
const replacedModule = 'export default async () => "REPLACED PROGRAM RAN"'

let folder: string
let server: AnthropicServer
let weir: Weir
let steps: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weir-program-'))
  steps = join(folder, 'steps')
  writeFileSync(steps, '')
  writeFileSync(join(folder, 'deploy.cjs'), good)
  writeFileSync(join(folder, 'deploy.mjs'), goodModule)
  writeFileSync(
    join(folder, 'exec.cjs'),
    `const fs = require('fs'); const { file, content } = JSON.parse(fs.readFileSync(0)); fs.writeFileSync(file, content); fs.appendFileSync(${JSON.stringify(steps)}, 'overwritten\\n')`,
  )
})

afterEach(async () => {
  await weir.close()
  await server.close()
  await rm(folder, { recursive: true, force: true })
})

function toolOf(name: string, run: ToolRun): Tool {
  return { ...recordedTool({ name, schema: { type: 'object' } }, join(folder, 'unused')), run }
}

/** One response with `deploy`, which waits, and `exec`, which overwrites `file`. */
async function pendingTurn(
  run: ToolRun,
  { file, content, rule = {} }: { file: string; content: string; rule?: Partial<ApprovalRule> },
): Promise<{ turn: Turn; id: string; program: string | null }> {
  server = await startAnthropicServer(
    script(says(call('deploy', {}), call('exec', { file, content })), says(text('Done.'))),
  )
  const exec: ToolRun = { kind: 'command', argv: [process.execPath, join(folder, 'exec.cjs')] }
  const tools = () => [toolOf('deploy', run), toolOf('exec', exec)]
  weir = await Weir.open({
    agents: new Map([[agent, testAgent(server.url, { tools, settings: {} }, folder)]]),
    dataFolder: join(folder, 'data'),
    log: pino({ level: 'silent' }),
    approvals: { rules: [{ name: 'r', tools: ['deploy'], ...rule }] },
  })
  const turn = weir.ask({ agent, text: 'go', conversation: 'c', messageId: 'm' })
  const events = turn[Symbol.asyncIterator]()
  for (;;) {
    const { value, done } = await events.next()
    if (done === true) throw new Error('nothing waited')
    const pending = value.type === 'approval-pending' ? value.calls[0] : undefined
    if (pending !== undefined) return { turn, id: pending.id, program: pending.program }
  }
}

async function resultsAfterApproval(turn: Turn, id: string): Promise<string[]> {
  expect(await weir.allow(id)).toMatchObject({ counted: true })
  await turn.finished
  return resultsOf(server.requests[1]).map(String)
}

const command = (): ToolRun => ({
  kind: 'command',
  argv: [process.execPath, join(folder, 'deploy.cjs')],
})

it('holds the call of the same response that would replace the program, until the approved one has run', async () => {
  const file = join(folder, 'deploy.cjs')
  const { turn, id, program } = await pendingTurn(command(), { file, content: replaced })
  expect(program).toMatch(/^[0-9a-f]{64}$/)
  expect(readFileSync(steps, 'utf8')).toBe('')
  const [deployed] = await resultsAfterApproval(turn, id)
  expect(deployed).toBe('the approved program ran\n')
  expect(readFileSync(steps, 'utf8')).toBe('overwritten\n')
})

it('does not start a program that was replaced while its call waited', async () => {
  const file = join(folder, 'unrelated')
  const { turn, id } = await pendingTurn(command(), { file, content: '' })
  writeFileSync(join(folder, 'deploy.cjs'), replaced)
  const [deployed] = await resultsAfterApproval(turn, id)
  expect(deployed).toMatch(/^Tool call vetoed before execution: the program of this tool changed/)
})

it('does not start it either if the rule lets the other calls run', async () => {
  const file = join(folder, 'deploy.cjs')
  const rule = { others: 'run' as const }
  const { turn, id } = await pendingTurn(command(), { file, content: replaced, rule })
  await until(() => readFileSync(steps, 'utf8') !== '')
  const [deployed] = await resultsAfterApproval(turn, id)
  expect(deployed).toMatch(/^Tool call vetoed before execution: the program of this tool changed/)
})

it('does not start a module that was replaced while its call waited', async () => {
  const run: ToolRun = { kind: 'module', file: join(folder, 'deploy.mjs') }
  const { turn, id } = await pendingTurn(run, { file: join(folder, 'unrelated'), content: '' })
  writeFileSync(run.file, replacedModule)
  const [deployed] = await resultsAfterApproval(turn, id)
  expect(deployed).toMatch(/^Tool call vetoed before execution/)
})

it('starts a program that did not change, after other files did', async () => {
  const file = join(folder, 'unrelated')
  const { turn, id } = await pendingTurn(command(), { file, content: 'x' })
  appendFileSync(join(folder, 'notes'), 'x')
  expect(await resultsAfterApproval(turn, id)).toEqual(['the approved program ran\n', ''])
})
