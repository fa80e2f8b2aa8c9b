// Conversations of one process whose provider limits the account, on a clock that the test moves.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, it } from '@jest/globals'
import {
  always,
  fails,
  fakeClock,
  says,
  scriptedModel,
  silent,
} from '../../client/testing/testing.ts'
import { defineAgent, Weir } from '../../client/weir.ts'

const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

async function opened(model: ReturnType<typeof scriptedModel>, limits?: object) {
  const folder = await mkdtemp(join(tmpdir(), 'weir-limits-'))
  closing.push(() => rm(folder, { recursive: true }))
  const clock = fakeClock('2026-11-30T12:00:00Z')
  const limited = limits === undefined ? model : { ...model, limits }
  const agent = defineAgent({ name: 'helper', model: limited, system: 'Help.' })
  const weir = await Weir.open({
    agents: [agent],
    dataFolder: folder,
    bus: { kind: 'embedded', clock },
  })
  closing.push(() => weir.close())
  return { weir, agent, clock }
}

it('one conversation waits by the refusal that another one got, and states the reason', async () => {
  const model = scriptedModel(
    fails(429, 'slow down', { 'retry-after': '30' }),
    always(says('Yes.')),
  )
  const { weir, agent, clock } = await opened(model)
  const first = weir.ask({ agent, text: 'One?', conversation: 'c1' })
  for await (const event of first) if (event.type === 'model-retry') break
  const second = weir.ask({ agent, text: 'Two?', conversation: 'c2' })
  let reason = ''
  for await (const event of second)
    if (event.type === 'model-waiting') {
      reason = event.reason
      expect(event.waitMs).toBeGreaterThanOrEqual(29_000)
      break
    }
  expect(reason).toBe('the provider accepts no request of this account for now')
  expect(model.requests).toHaveLength(1)
  const ticking = setInterval(() => clock.advance(1000), 5)
  closing.push(async () => clearInterval(ticking))
  expect((await Promise.all([first.finished, second.finished])).map(({ reply }) => reply)).toEqual([
    'Yes.',
    'Yes.',
  ])
})

it('a limit of the model holds the second request, and no request is refused', async () => {
  const model = scriptedModel(always(says('Yes.')))
  const { weir, agent, clock } = await opened(model, { requestsPerMinute: 1 })
  expect((await weir.ask({ agent, text: 'One?', conversation: 'c1' }).finished).reply).toBe('Yes.')
  const second = weir.ask({ agent, text: 'Two?', conversation: 'c2' })
  let reason = ''
  for await (const event of second)
    if (event.type === 'model-waiting') {
      reason = event.reason
      break
    }
  expect(reason).toBe('the limit requestsPerMinute of the model is 1')
  expect(model.requests).toHaveLength(1)
  const ticking = setInterval(() => clock.advance(1000), 5)
  closing.push(async () => clearInterval(ticking))
  expect((await second.finished).reply).toBe('Yes.')
})

it('a request that waits for a place does not count the lease of the running request', async () => {
  const model = scriptedModel(silent(), always(says('Yes.')))
  const { weir, agent } = await opened(model, { requestsAtOnce: 1 })
  const first = weir.ask({ agent, text: 'One?', conversation: 'c1' })
  for await (const event of first) if (event.type === 'round-started') break
  const second = weir.ask({ agent, text: 'Two?', conversation: 'c2' })
  for await (const event of second)
    if (event.type === 'model-waiting') {
      expect(event).toMatchObject({
        reason: 'the limit requestsAtOnce of the model is 1',
        waitMs: 0,
      })
      break
    }
  await Promise.all([first.cancel(), second.cancel()])
})
