// Requests through a proxy whose provider limits the account, on a clock that the test moves.

import { afterEach, describe, expect, it } from '@jest/globals'
import type { RequestSigner } from '../../../../../apps/http/fronts/proxy/aws/aws-signer.ts'
import { slottedUpstream } from '../../../../../apps/http/fronts/proxy/slotted-upstream.ts'
import { upstreamAt } from '../../../../../apps/http/fronts/proxy/upstream.ts'
import { fakeClock } from '../../../../../client/testing/fake-clock.ts'
import { openEmbeddedBus } from '../../../../../shared/bus/embedded/bus.ts'
import { createLog } from '../../../../../shared/lib/log/log.ts'
import { budgetLog } from '../../../../../shared/runtime/budgets/budget-log.ts'
import { createBudgetReaders } from '../../../../../shared/runtime/budgets/budget-readers.ts'
import { noModelLimits } from '../../../../../shared/runtime/budgets/request-line.ts'
import { scriptedUpstream } from './scripted-upstream.ts'

const log = createLog({ level: 'silent' })
const never = new AbortController().signal

let closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.reverse()) await close()
  closing = []
})

/** The provider refuses its first request for `retryAfter` seconds. */
async function world(retryAfter: number, sign?: RequestSigner) {
  const clock = fakeClock('2026-11-30T12:00:00Z')
  const bus = await openEmbeddedBus({ file: ':memory:', clock })
  closing.push(() => bus.close())
  await bus.ensureTopics([{ name: 'budgets', kind: 'log', partitions: 1 }])
  const provider = await scriptedUpstream((_, response, n) => {
    if (n === 1) response.writeHead(429, { 'retry-after': `${retryAfter}` })
    response.end('{}')
  })
  closing.push(() => provider.close())
  const context = { budgets: budgetLog({ bus, topicPrefix: '', log }), clock, log }
  const { lines, join } = createBudgetReaders()
  const member = join()
  closing.push(() => member.leave())
  const upstream = slottedUpstream(upstreamAt(provider.url, sign), {
    slotOf: (request, options) => lines.slot(context, request, options),
    clock,
  })
  const ask = (model: string | undefined, key = 'secret-1', signal = never, header = 'x-api-key') =>
    upstream
      .send({
        method: 'POST',
        path: '/v1/messages',
        headers: [header, key],
        body: Buffer.from('{}'),
        signal,
        ...(model !== undefined && { model }),
      })
      .then((received) => received.resume().statusCode)
  /** Moves the clock until the promise settles. */
  async function moving<T>(promise: Promise<T>): Promise<T> {
    let isOver = false
    void promise.then(
      () => (isOver = true),
      () => (isOver = true),
    )
    while (!isOver) {
      clock.advance(500)
      await new Promise((resolve) => setTimeout(resolve, 1))
    }
    return promise
  }
  return { clock, ask, moving, provider, lines, context }
}

describe('a proxy whose provider refuses a request', () => {
  it('holds the next request to this model with this key for the wait, and no other request', async () => {
    const { clock, ask, moving } = await world(20)
    expect(await ask('m')).toBe(429)
    const refusedAt = clock.now()
    expect(await ask('other-model')).toBe(200)
    expect(await ask('m', 'secret-2')).toBe(200)
    expect(await ask(undefined)).toBe(200)
    expect(clock.now()).toBe(refusedAt)
    expect(await moving(ask('m'))).toBe(200)
    expect(clock.now() - refusedAt).toBeGreaterThanOrEqual(20_000)
  })

  it.each([
    [
      'that Weir signs in place of all clients',
      'OTHER',
      async (_: URL, { headers }: { headers: readonly string[] }) => headers,
    ],
    ['with signatures of one key', 'KEY', undefined],
  ] as const)('holds the next request %s, whose signature differs', async (_, other, sign) => {
    const { clock, ask, moving } = await world(20, sign)
    const signed = (id: string, signature: string) =>
      ask(
        'm',
        `AWS4-HMAC-SHA256 Credential=${id}/20261130/us-east-1/bedrock/aws4_request, SignedHeaders=host, Signature=${signature}`,
        never,
        'authorization',
      )
    expect(await signed('KEY', 'a1')).toBe(429)
    const refusedAt = clock.now()
    expect(await moving(signed(other, 'b2'))).toBe(200)
    expect(clock.now() - refusedAt).toBeGreaterThanOrEqual(20_000)
  })

  it('answers 429 with the rest of the wait after a minute, and the provider gets nothing', async () => {
    const { ask, moving, provider } = await world(100)
    expect(await ask('m')).toBe(429)
    await expect(moving(ask('m'))).rejects.toMatchObject({
      status: 429,
      code: 'proxy.limited',
      headers: { 'retry-after': expect.stringMatching(/^(39|40)$/) },
    })
    expect(provider.received).toHaveLength(1)
  })

  it('forgets the request of a client that left', async () => {
    const { ask, provider } = await world(100)
    expect(await ask('m')).toBe(429)
    const leaving = new AbortController()
    const asked = ask('m', 'secret-1', leaving.signal)
    leaving.abort(new Error('the client left'))
    await expect(asked).rejects.toThrow('the client left')
    expect(provider.received).toHaveLength(1)
  })

  it('shares the line with a gateway that has the same key', async () => {
    const { clock, ask, moving, provider, lines, context } = await world(20)
    expect(await ask('m')).toBe(429)
    const from = clock.now()
    const account = { server: new URL(provider.url).origin, key: 'secret-1', model: 'm' }
    const own = { account, tenant: 'acme', share: 1, attempt: 'a', expiresAt: from + 1e9 }
    const options = { stop: never, onWait: () => {} }
    await moving(lines.slot(context, { ...own, limits: noModelLimits }, options))
    expect(clock.now() - from).toBeGreaterThanOrEqual(20_000)
  })

  it('gives the slot back if its client leaves at the moment of the start', async () => {
    const client = new AbortController()
    const ends: unknown[] = []
    const upstream = slottedUpstream(upstreamAt('http://127.0.0.1:9'), {
      slotOf: async () => {
        client.abort()
        return { settle: async (end) => void ends.push(end) }
      },
      clock: fakeClock(0),
    })
    const of = { method: 'POST', path: '/v1/messages', headers: [], body: Buffer.from('{}') }
    await expect(upstream.send({ ...of, signal: client.signal, model: 'm' })).rejects.toThrow()
    expect(ends).toHaveLength(1)
  })
})
