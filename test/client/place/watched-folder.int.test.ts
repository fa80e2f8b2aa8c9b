// A process without agents next to the others of a data folder: it reads while nobody runs the stages, keeps
// nobody off the folder, and its writes reach the stages.

import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from '@jest/globals'
import { pino } from 'pino'
import { call, says, scriptedModel } from '../../../client/testing/testing.ts'
import { defineAgent, defineTool, Weir } from '../../../client/weir.ts'

const log = pino({ level: 'silent' })
const act = defineTool({
  name: 'act',
  description: 'acts',
  parameters: { type: 'object' },
  run: async () => 'done',
})
const approvals = { rules: [{ name: 'ask-first', tools: ['act'] }] }

let dataFolder = ''
beforeEach(() => {
  dataFolder = mkdtempSync(join(tmpdir(), 'weir-watched-'))
})
afterEach(() => rmSync(dataFolder, { recursive: true, force: true }))

const watching = () => Weir.open({ agents: [], stages: 'elsewhere', dataFolder, log })
function running(...replies: Parameters<typeof scriptedModel>) {
  const model = scriptedModel(...replies)
  const agent = defineAgent({ name: 'helper', model, system: 'Help.', tools: [act] })
  return Weir.open({ agents: [agent], dataFolder, partitions: 2, approvals, log })
}

it('reads a conversation, and decides on its calls before and after the stages run again', async () => {
  const first = await running(says(call('act')), says(call('act')))
  const turn = first.ask({ agent: 'helper', conversation: 'c', messageId: 'm', text: 'go' })
  for await (const event of turn) if (event.type === 'approval-pending') break
  await first.close()

  await using beside = await watching()
  expect((await beside.conversations()).conversations).toMatchObject([{ conversation: 'c' }])
  const [waiting] = await beside.approvals()
  expect((await beside.allow(waiting?.id ?? '', { by: 'ann' })).counted).toBe(true)

  await using second = await running(says('Done.'))
  const again = second.ask({ agent: 'helper', conversation: 'c', messageId: 'm', text: 'go' })
  expect(await again.finished).toMatchObject({ outcome: 'answered', reply: 'Done.' })
  expect((await beside.conversation('c').messages()).at(-1)).toMatchObject({ text: 'Done.' })
})

it('cancels a turn that another process runs', async () => {
  await using owner = await running(says(call('act')))
  const turn = owner.ask({ agent: 'helper', conversation: 'c', messageId: 'm', text: 'go' })
  for await (const event of turn) if (event.type === 'approval-pending') break
  await using beside = await watching()
  await beside.cancel({ conversation: 'c', messageId: 'm' })
  expect(await turn.finished).toMatchObject({ outcome: 'cancelled' })
})

it('throws without a log, and makes none', async () => {
  await expect(watching()).rejects.toThrow('there is no such file')
  expect(existsSync(join(dataFolder, 'weir.db'))).toBe(false)
})
