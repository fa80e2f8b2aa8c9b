// The reasoning of a response whose parts are written together with its end, at live readers.

import { expect, it } from '@jest/globals'
import { pino } from 'pino'
import { call, says, scriptedModel, thinks } from '../../client/testing/testing.ts'
import { defineAgent, defineTool, type TurnEvent, Weir } from '../../client/weir.ts'

it('a response that comes at once has its reasoning before its calls, at each live reader', async () => {
  const clock = defineTool({
    ...{ name: 'clock', description: 'Tells the time.', parameters: { type: 'object' } },
    run: () => 'noon',
  })
  const model = scriptedModel(says(thinks('Hm.'), call('clock')), says('Noon.'))
  const agent = defineAgent({ name: 'helper', model, system: 'Help.', tools: [clock] })
  await using weir = await Weir.open({
    ...{ agents: [agent], bus: { kind: 'embedded' }, log: pino({ level: 'silent' }) },
  })
  const turn = weir.ask({ agent, text: 'time?', conversation: 'c' })
  const readers = [turn.events, weir.conversation('c').events()].map(typesOf)
  const types = ['reasoning-delta', 'model-answered', 'model-answered']
  expect(await Promise.all(readers)).toEqual([types, types])
})

async function typesOf(events: AsyncIterable<TurnEvent>): Promise<string[]> {
  const types: string[] = []
  for await (const { type } of events) {
    if (type === 'reasoning-delta' || type === 'model-answered') types.push(type)
    if (type === 'turn-finished') break
  }
  return types
}
