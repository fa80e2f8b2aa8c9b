// Parts of the edge without a server.

import { EventEmitter } from 'node:events'
import { setImmediate } from 'node:timers/promises'
import { describe, expect, it } from '@jest/globals'
import { pino } from 'pino'
import type { Outgoing } from '../../../../apps/http/direct-answer.ts'
import {
  conversationFor,
  conversationIn,
  principalId,
} from '../../../../apps/http/edge/access/principal.ts'
import { requestRate } from '../../../../apps/http/edge/access/request-rate.ts'
import { loginCookie, sessionCookie } from '../../../../apps/http/edge/access/session-cookie.ts'
import { httpErrorOf } from '../../../../apps/http/edge/edge-errors.ts'
import { edgeOptionsOf } from '../../../../apps/http/edge/edge-flags.ts'
import {
  edgePieceCharsMax,
  type ServerSentEvent,
  sseResponse,
} from '../../../../apps/http/edge/sse.ts'
import { fakeClock } from '../../../../client/testing/testing.ts'
import { isNamedTenant, isTenant } from '../../../../shared/contract/tenant.ts'
import { WeirError } from '../../../../shared/lib/errors.ts'

const context = () => ({
  clock: fakeClock(0),
  closing: new AbortController().signal,
  log: pino({ level: 'silent' }),
})

/** A client that takes one write at a time. */
class FakeClient extends EventEmitter {
  destroyed = false
  req = { method: 'GET' }
  writableNeedDrain = false
  written: string[] = []
  writeHead() {}
  write(text: string) {
    this.written.push(text)
    return false
  }
  end(text: string) {
    this.written.push(text, 'end')
  }
  async takes() {
    this.emit('drain')
    await setImmediate()
  }
}

const eventsOf = (event: ServerSentEvent) => [event]

describe('a stream of events', () => {
  it('reads at most a piece and an event ahead of its reader', async () => {
    let read = 0
    async function* items() {
      for (;;) {
        read += 1
        yield { data: 'x'.repeat(edgePieceCharsMax / 4) }
      }
    }
    const client = new FakeClient()
    sseResponse(context(), client as unknown as Outgoing, { items: items(), eventsOf })
    for (let n = 0; n < 5; n += 1) {
      await client.takes()
      expect(read).toBeLessThanOrEqual((n + 1) * 4 + 1)
    }
    expect(read).toBeGreaterThan(4 * 4)
    client.emit('close')
  })

  it('sends the events that are ready together as one piece, and waits for no further one', async () => {
    const later = Promise.withResolvers<void>()
    async function* items() {
      for (const data of ['1', '2', '3']) yield { data }
      await later.promise
      yield { data: '4' }
    }
    const client = new FakeClient()
    sseResponse(context(), client as unknown as Outgoing, { items: items(), eventsOf })
    await client.takes()
    expect(client.written).toEqual([': open\n\n', 'data: 1\n\ndata: 2\n\ndata: 3\n\n'])
    later.resolve()
    await client.takes()
    expect(client.written.slice(2)).toEqual(['data: 4\n\n', 'end'])
  })

  it('ends with the events for an error of its source', async () => {
    async function* items() {
      yield { data: '1' }
      throw new Error('the source broke')
    }
    const client = new FakeClient()
    sseResponse(context(), client as unknown as Outgoing, {
      items: items(),
      eventsOf,
      begin: [{ id: '0', event: 'begin', data: '0' }],
      failed: () => [{ data: 'failed' }],
      end: [{ data: '[DONE]' }],
    })
    await client.takes()
    expect(client.written.join('')).toBe(
      ': open\n\nid: 0\nevent: begin\ndata: 0\n\ndata: 1\n\ndata: failed\n\ndata: [DONE]\n\nend',
    )
  })

  it('reports once that its client left, and keeps no listener', async () => {
    let left = 0
    async function* items() {
      yield { data: '1' }
      await new Promise(() => {})
    }
    const client = new FakeClient()
    sseResponse(context(), client as unknown as Outgoing, {
      items: items(),
      eventsOf,
      onLeave: () => (left += 1),
    })
    await client.takes()
    client.emit('close')
    client.emit('close')
    expect(left).toBe(1)
    expect(client.eventNames()).toEqual([])
  })

  it('reads nothing for a client that has left before', async () => {
    let left = 0
    async function* items() {
      yield { data: '1' }
    }
    const client = new FakeClient()
    client.destroyed = true
    sseResponse(context(), client as unknown as Outgoing, {
      items: items(),
      eventsOf,
      onLeave: () => (left += 1),
    })
    await client.takes()
    expect([left, client.written]).toEqual([1, [': open\n\n']])
  })
})

describe('a stream of events of a server that closes already', () => {
  it('ends at once, reads nothing and reports that it ended', async () => {
    let left = 0
    let read = 0
    async function* items() {
      read += 1
      yield { data: '1' }
    }
    const client = new FakeClient()
    const closing = AbortSignal.abort()
    sseResponse({ ...context(), closing }, client as unknown as Outgoing, {
      items: items(),
      eventsOf,
      onLeave: () => (left += 1),
    })
    await client.takes()
    expect([left, read, client.written.at(-1)]).toEqual([1, 0, 'end'])
    expect(client.eventNames()).toEqual([])
  })
})

describe('a tenant of the edge', () => {
  const of = (tenant: string | null) => ({
    id: principalId({ tenant, kind: 'key', name: 'n' }),
    identity: 'claimed' as const,
    tenant,
    roles: new Set<never>(),
    cancelsOnDisconnect: false,
  })

  it('cannot name the conversation of another tenant', () => {
    for (const given of ['acme:c', ':c', 'cme:c', '../acme:c'])
      expect(conversationFor(of('acme'), conversationIn(of('a'), given))).toBeUndefined()
    expect(conversationFor(of('a'), conversationIn(of('a'), 'acme:c'))).toBe('acme:c')
    expect(conversationFor(of(null), 'acme:c')).toBe('acme:c')
  })

  it('has no name that means everybody without a tenant', () => {
    expect(['acme', 'default', 'guest'].map(isNamedTenant)).toEqual([true, false, false])
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

describe('the flags of a login', () => {
  const oidc = {
    oidcIssuer: 'https://id.example',
    oidcAudience: 'weir',
    oidcJwks: 'https://id.example/jwks',
  }
  const login = {
    oidcClientId: 'c',
    oidcConsoleUrl: 'https://weir.example/console',
    oidcAllTenants: true,
  }

  it('make a public client with the scope openid, and the claims have one default', () => {
    expect(edgeOptionsOf({ ...oidc, ...login }).access.oidc).toMatchObject({
      tenantClaim: 'tenant',
      rolesClaim: 'roles',
      login: { clientId: 'c', clientSecret: undefined, scope: 'openid' },
    })
  })

  it.each([
    [{ ...oidc, oidcClientId: 'c' }, /--oidc-client-id and --oidc-console-url go together/],
    [{ ...oidc, ...login, oidcConsoleUrl: 'https://weir.example' }, /go together/],
    [{ ...oidc, ...login, oidcConsoleUrl: 'http://weir.example/console' }, /http only on this/],
    [{ ...oidc, ...login, oidcConsoleUrl: 'https://weir.example/console?a' }, /go together/],
    [{ ...oidc, ...login, oidcIssuer: 'http://id.example' }, /--oidc-issuer must be https/],
    [{ ...oidc, ...login, oidcScope: 'email' }, /--oidc-scope is 'email': give scopes with openid/],
    [{ ...oidc, ...login, oidcAllTenants: false }, /--oidc-client-id needs --oidc-all-tenants/],
    [{ oidcAllTenants: true }, /--oidc-issuer, --oidc-audience and --oidc-jwks go together/],
    [{ ...oidc, oidcClientSecretFile: '/no/such' }, /needs --oidc-client-id/],
    [{ ...oidc, ...login, oidcClientSecretFile: '/no/such' }, /there is no such file/],
    [{ ...oidc, oidcJwks: 'http://id.example/jwks' }, /issuer's keys must be https, or http on/],
    [login, /--oidc-issuer, --oidc-audience and --oidc-jwks go together/],
  ])('%j are refused with the remedy', (flags, text) => {
    expect(() => edgeOptionsOf(flags)).toThrow(text)
  })
})

describe('the cookies of a login', () => {
  const names = (consoleUrl: string) => {
    const console = { consoleUrl: new URL(consoleUrl) }
    return [sessionCookie(console), loginCookie(console)]
  }

  it('have a name over https that no page without TLS can set', () => {
    expect(names('https://weir.example/console')).toEqual([
      '__Secure-weir-console',
      '__Secure-weir-console-login',
    ])
    expect(names('http://127.0.0.1/console')).toEqual(['weir-console', 'weir-console-login'])
  })
})

describe('the rate of requests', () => {
  it('refills with time', () => {
    const clock = fakeClock(0)
    const rate = requestRate(2, clock)
    const take = (name: string) => rate(principalId({ tenant: null, kind: 'user', name }))
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
