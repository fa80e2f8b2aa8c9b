// A data folder that a later version of Weir wrote, and that this version goes on with.

import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { pino } from 'pino'
import { openBusReadOnly } from '../../client/place/open-bus.ts'
import { readSettings } from '../../shared/settings/settings.ts'
import { type FormerWeir, nextWeir } from '../support/former-weir.ts'
import { says, text } from '../support/script.ts'
import { type CommandFolder, openCommandFolder } from '../support/weir-command.ts'

let next: FormerWeir
let commands: CommandFolder

beforeAll(async () => {
  next = nextWeir(['attempt-started', 'history-entry', 'turn-ended'])
  commands = await openCommandFolder((request) =>
    says(text(`The question has ${request.messages.length} messages.`)),
  )
})

afterAll(async () => {
  await commands?.close()
  await next?.remove()
})

it('a conversation goes on in this version, which finds the schemas of the newer records in the folder', async () => {
  const ask = (question: string, program?: string) =>
    commands.run(['ask', '--agent', 'agent.yaml', '--conversation', 'c1', question], { program })
  expect(await ask('One?', next.program)).toMatchObject({ code: 0 })
  const second = await ask('Two?')
  expect([second.code, second.out]).toEqual([0, expect.stringContaining('has 3 messages')])

  const settings = readSettings({ dataFolder: `${commands.folder}/.weir` }, {})
  const bus = await openBusReadOnly(settings, pino({ level: 'silent' }))
  const ends = await bus.ends(`${settings.topicPrefix}dead-letters`)
  await bus.close()
  expect(ends.map(({ end }) => end)).toEqual([0])
})
