// Parts of the edge without a server.

import { describe, expect, it } from '@jest/globals'
import { pino } from 'pino'
import { httpErrorOf } from '../../../../apps/http/edge/edge-errors.ts'
import { edgeOptionsOf } from '../../../../apps/http/edge/edge-flags.ts'
import { conversationFor, conversationIn } from '../../../../apps/http/edge/principal.ts'
import { requestRate } from '../../../../apps/http/edge/request-rate.ts'
import { sseResponse } from '../../../../apps/http/edge/sse.ts'
import { fakeClock } from '../../../../client/testing/testing.ts'
import { limits } from '../../../../shared/contract/limits.ts'
import { isTenant } from '../../../../shared/contract/tenant.ts'
import { WeirError } from '../../../../shared/lib/errors.ts'

const context = () => ({
  ...{ clock: fakeClock(0), closing: new AbortController().signal, log: pino({ level: 'silent' }) },
})

describe('a stream of events', () => {
  it('reads at most a piece and an event ahead of its reader', async () => {
    let read = 0
    async function* events() {
      for (;;) {
        read += 1
        yield { data: 'x'.repeat(limits.edgePieceCharsMax / 4) }
      }
    }
    const reader = sseResponse(context(), events()).body?.getReader()
    for (let n = 0; n < 5; n += 1) {
      await reader?.read()
      expect(read).toBeLessThanOrEqual((n + 1) * 4 + 1)
    }
    await reader?.cancel()
  })

  it('sends the events that are ready together as one piece, and waits for no further one', async () => {
    const later = Promise.withResolvers<void>()
    async function* events() {
      for (const data of ['1', '2', '3']) yield { data }
      await later.promise
      yield { data: '4' }
    }
    const reader = sseResponse(context(), events()).body?.getReader()
    const read = async () => Buffer.from((await reader?.read())?.value ?? []).toString()
    await read() // the preamble
    expect(await read()).toBe('data: 1\n\ndata: 2\n\ndata: 3\n\n')
    later.resolve()
    expect(await read()).toBe('data: 4\n\n')
    expect((await reader?.read())?.done).toBe(true)
  })

  it('reports once that its client left', async () => {
    let left = 0
    async function* events() {
      yield { data: '1' }
      await new Promise(() => {})
    }
    const response = sseResponse(context(), events(), { onLeave: () => (left += 1) })
    const reader = response.body?.getReader()
    await reader?.read()
    await reader?.read()
    await reader?.cancel()
    expect(left).toBe(1)
  })
})

describe('a tenant of the edge', () => {
  const of = (tenant: string | null) => ({
    ...{ name: 'n', tenant, roles: new Set<never>(), cancelsOnDisconnect: false },
  })

  it('cannot name the conversation of another tenant', () => {
    for (const given of ['acme:c', ':c', 'cme:c', '../acme:c'])
      expect(conversationFor(of('acme'), conversationIn(of('a'), given))).toBeUndefined()
    expect(conversationFor(of('a'), conversationIn(of('a'), 'acme:c'))).toBe('acme:c')
    expect(conversationFor(of(null), 'acme:c')).toBe('acme:c')
  })

  it('has no name that the log uses for other ids', () => {
    expect(['acme', 'a.b-c_1'].every(isTenant)).toBe(true)
    expect(['guest', 'call', '', 'A', 'a:b', 'a/b', 'a'.repeat(65)].some(isTenant)).toBe(false)
  })
})

describe('the flags of TLS', () => {
  it.each([
    [{ tlsCert: 'cert.pem' }, /--tls-cert and --tls-key go together/],
    [{ tlsClientCa: 'ca.pem' }, /--tls-cert and --tls-key go together/],
    [{ tlsCert: 'a', tlsKey: 'b', tlsClientCa: 'c' }, /--tls-client-ca needs --api-keys/],
    [{ tlsCert: '/no/such.pem', tlsKey: 'b' }, /--tls-cert \/no\/such.pem does not exist/],
  ])('%j are refused with the remedy', (flags, text) => {
    expect(() => edgeOptionsOf(flags)).toThrow(text)
  })
})

describe('the rate of requests', () => {
  it('refills with time', () => {
    const clock = fakeClock(0)
    const take = requestRate(2, clock)
    take('a')
    take('a')
    expect(() => take('a')).toThrow('2 requests a minute are allowed: try again in 30 s')
    take('b')
    clock.advance(30_000)
    take('a')
    expect(() => take('a')).toThrow('try again')
  })
})

describe('an error of the server', () => {
  it('shows no path and no secret to a client', () => {
    const text = 'no process runs the stages of the data folder /home/ann/.weir'
    expect(httpErrorOf(new WeirError('bus.unreachable', text)).message).not.toContain('/home')
    expect(httpErrorOf(new Error('the key is k1')).message).toBe('Weir could not answer')
    expect(httpErrorOf(new WeirError('message.invalid', 'text is blank')).message).toContain(
      'blank',
    )
  })
})
