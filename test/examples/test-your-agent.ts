// The tests of an agent and of a guard, without a test runner.

import assert from 'node:assert/strict'
import { z } from 'zod'
import {
  call,
  fakeClock,
  given,
  recordedModel,
  says,
  scriptedModel,
} from '../../client/testing/testing.ts'
import { anthropic, defineAgent, defineTool, type Guard, Weir } from '../../client/weir.ts'

const weather = defineTool({
  name: 'get_weather',
  description: 'Current weather of a city',
  parameters: z.object({ city: z.string() }),
  run: async ({ city }) => `18 °C and rain in ${city}`,
})

async function scripted() {
  const dataFolder = 'scripted'
  const model = scriptedModel(says(call('get_weather', { city: 'Paris' })), ({ results }) =>
    says(`It has ${results.at(-1)}.`),
  )
  const agent = defineAgent({ name: 'helper', model, system: 'Help.', tools: [weather] })
  await using weir = await Weir.open({ agents: [agent], dataFolder })
  const { reply } = await weir.ask({ agent, text: 'Weather in Paris?' }).finished
  assert.equal(reply, 'It has 18 °C and rain in Paris.')
  assert.deepEqual(model.requests[1]?.results, ['18 °C and rain in Paris'])
}
await scripted()

async function recorded(dataFolder: string) {
  const model = recordedModel('paris.json', anthropic('claude-sonnet-5-5'))
  const agent = defineAgent({ name: 'helper', model, system: 'Help.', tools: [weather] })
  await using weir = await Weir.open({ agents: [agent], dataFolder })
  return (await weir.ask({ agent, text: 'Do I need a coat in Paris?' }).finished).reply
}
assert.equal(await recorded('first'), await recorded('second'))

const guard: Guard<number> = {
  name: 'once',
  version: '1',
  tools: ['pay_*'],
  deadlineMs: 500,
  onTimeout: 'reject',
  judge: (paid = 0, { calls }) => ({
    state: paid + calls.length,
    verdicts: calls.map(({ ordinal }) =>
      paid === 0
        ? { ordinal, verdict: 'pass' }
        : { ordinal, verdict: 'reject', code: 'again', text: 'It is paid.' },
    ),
  }),
}
const once = given(guard, [{ tool: 'pay_invoice', arguments: { amount: 5 } }])
assert.deepEqual(once.verdicts, [{ ordinal: 0, verdict: 'pass' }])
const again = once.when({ calls: [{ tool: 'pay_invoice' }], at: '2026-11-20T09:00:00Z' })
assert.equal(again.verdicts[0]?.verdict, 'reject')

async function timed() {
  const model = scriptedModel(says('Here.'))
  const agents = [defineAgent({ name: 'helper', model, system: 'Help.', tools: [weather] })]
  const clock = fakeClock('2026-03-01T12:00:00Z')
  await using weir = await Weir.open({ agents, bus: { kind: 'embedded', clock } })
  const turn = weir.ask({ agent: 'helper', text: 'Where are you?' })
  clock.advance(60_000)
  assert.equal((await turn.finished).reply, 'Here.')
}
await timed()
console.log('tested')
