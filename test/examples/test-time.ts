import assert from 'node:assert/strict'
import { fails, fakeClock, says, scriptedModel } from '../../client/testing/testing.ts'
import { defineAgent, Weir } from '../../client/weir.ts'

const model = scriptedModel(fails(529), says('Here.'))
const agent = defineAgent({ name: 'helper', model, system: 'Help.' })
const clock = fakeClock('2026-03-01T12:00:00Z')

const weir = await Weir.open({
  agents: [agent],
  dataFolder: 'test-time',
  bus: { kind: 'embedded', clock },
})
const turn = weir.ask({ agent, text: 'Where are you?' })
for await (const event of turn) if (event.type === 'model-retry') clock.advance(60_000)
assert.equal((await turn.finished).reply, 'Here.')
await weir.close()
