// A context with live values goes to the tools of its own process only.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from '@jest/globals'
import { pino } from 'pino'
import { anthropic, defineAgent, Weir } from '../../client/weir.ts'

it.each([
  ['a function', { now: () => 1 }],
  ['a date', { at: new Date(0) }],
])(
  'a question whose context holds %s is refused with the reason if another process runs the tools',
  async (_, context) => {
    const dataFolder = await mkdtemp(join(tmpdir(), 'weir-live-'))
    const model = anthropic('m', { baseUrl: 'http://127.0.0.1:1' })
    const agent = defineAgent({ name: 'a', system: 's', model, tools: [] })
    const options = { agents: [agent], dataFolder, log: pino({ level: 'silent' }) }
    try {
      await using _owner = await Weir.open(options)
      await using beside = await Weir.open({ ...options, stages: 'elsewhere' })
      const { finished } = beside.ask({ agent, text: 'Go', context })
      await expect(finished).rejects.toMatchObject({
        code: 'message.invalid',
        message: expect.stringContaining(
          'a value that JSON does not have, such as a function, a date or a connection',
        ),
      })
    } finally {
      await rm(dataFolder, { recursive: true, force: true })
    }
  },
)
