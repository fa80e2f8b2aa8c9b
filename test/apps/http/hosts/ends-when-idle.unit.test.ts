// A server that nobody asks ends.

import { describe, expect, it } from '@jest/globals'
import { Hono } from 'hono'
import { endsWhenIdle } from '../../../../apps/http/hosts/ends-when-idle.ts'
import type { HttpApp } from '../../../../apps/http/server.ts'
import { fakeClock } from '../../../../client/testing/fake-clock.ts'

const idleMs = 1_000

function served(bound: number | undefined) {
  const clock = fakeClock(0)
  let ends = 0
  let answer = () => {}
  const idle = endsWhenIdle(bound, clock, () => {
    ends += 1
  })
  const app = new Hono() as unknown as HttpApp
  idle.watch(app)
  app.get('/quick', (context) => context.text('ok'))
  app.get('/slow', async (context) => {
    await new Promise<void>((resolve) => {
      answer = resolve
    })
    return context.text('ok')
  })
  return { clock, idle, app, ends: () => ends, answer: () => answer() }
}

describe('a server with a bound for idle time', () => {
  it('ends once that time has passed without a request', async () => {
    const { clock, app, ends } = served(idleMs)
    clock.advance(900)
    await app.request('/quick')
    clock.advance(900)
    expect(ends()).toBe(0)
    clock.advance(100)
    expect(ends()).toBe(1)
  })

  it('waits for the answer of a request that takes longer', async () => {
    const { clock, app, ends, answer } = served(idleMs)
    const asked = app.request('/slow')
    clock.advance(5_000)
    expect(ends()).toBe(0)
    answer()
    await asked
    clock.advance(idleMs)
    expect(ends()).toBe(1)
  })

  it('ends once, although a request comes while it closes', async () => {
    const { clock, app, ends } = served(idleMs)
    clock.advance(idleMs)
    await app.request('/quick')
    clock.advance(5_000)
    expect(ends()).toBe(1)
  })

  it('does not end a server that closes', () => {
    const { clock, idle, ends } = served(idleMs)
    idle.close()
    clock.advance(5_000)
    expect(ends()).toBe(0)
  })
})

describe('a server without a bound for idle time', () => {
  it('never ends by itself', () => {
    const { clock, ends } = served(undefined)
    clock.advance(100 * 3_600_000)
    expect(ends()).toBe(0)
  })
})
