// Access to the edge: keys, tokens with a local JWKS, tenants, other sites, and hostile bodies.

import { EventEmitter } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import { request } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import {
  addSubject,
  createApiKey,
  isCertificateSubject,
  removeApiKey,
} from '../../../../../apps/http/edge/access/api-keys.ts'
import { openAnswers } from '../../../../../apps/http/edge/access/open-answers.ts'
import { principalId, type Role } from '../../../../../apps/http/edge/access/principal.ts'
import { responseIdOf } from '../../../../../apps/http/edge/responses/response-id.ts'
import { httpConnectionsMax } from '../../../../../apps/http/server.ts'
import { call, says } from '../../../../../client/testing/testing.ts'
import { defineTool } from '../../../../../client/weir.ts'
import { limits } from '../../../../../shared/contract/limits.ts'
import { type Clock, systemClock } from '../../../../../shared/lib/clock.ts'
import { makeCertificates } from '../../../../support/certificates.ts'
import { until } from '../../../../support/inbox.ts'
import { type EdgeServer, edgeServer, post } from '../edge-server.ts'

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'weir-keys-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const fileOf = () => join(folder, 'keys.json')
const bearer = (key: string) => ({ authorization: `Bearer ${key}` })

function keyFor(name: string, tenant: string | null, ...roles: Role[]): Record<string, string> {
  return bearer(createApiKey(fileOf(), { name, tenant, roles }))
}

async function answerOf(response: Response): Promise<[number, string]> {
  const { error } = (await response.json()) as { error?: { code: string } }
  return [response.status, error?.code ?? '']
}

const ask = ({ url }: EdgeServer, id: string, headers: Record<string, string>) =>
  post(`${url}/v1/conversations/${id}/messages`, { text: 'hi' }, headers)

describe('an API key', () => {
  it('is required once there is a file of keys', async () => {
    const key = keyFor('ci', 'acme', 'ask')
    await using edge = await edgeServer([says('Yes.')], { access: { apiKeys: fileOf() } })
    expect(await answerOf(await ask(edge, 'c', {}))).toEqual([401, 'edge.unauthorized'])
    expect(await answerOf(await ask(edge, 'c', bearer('weir_wrong')))).toEqual([
      ...[401, 'edge.unauthorized'],
    ])
    expect((await ask(edge, 'c', key)).status).toBe(202)
  })

  it('is refused from the moment on at which it is removed', async () => {
    const key = keyFor('ci', 'acme', 'read')
    await using edge = await edgeServer([], { access: { apiKeys: fileOf() } })
    const models = () => fetch(`${edge.url}/v1/models`, { headers: key })
    expect((await models()).status).toBe(200)
    removeApiKey(fileOf(), 'ci')
    expect((await models()).status).toBe(401)
  })

  it('has only its roles', async () => {
    const key = keyFor('reader', 'acme', 'read')
    await using edge = await edgeServer([], { access: { apiKeys: fileOf() } })
    expect(await answerOf(await ask(edge, 'c', key))).toEqual([403, 'edge.role'])
    const approve = await post(`${edge.url}/v1/approvals/abcd/allow`, {}, key)
    expect(await answerOf(approve)).toEqual([403, 'edge.role'])
  })

  it('is refused with headers when it sends too many requests', async () => {
    const key = keyFor('busy', 'acme', 'read')
    await using edge = await edgeServer([], {
      access: { apiKeys: fileOf() },
      requestsPerMinute: 2,
    })
    const statuses: number[] = []
    for (let n = 0; n < 3; n += 1) {
      const response = await fetch(`${edge.url}/v1/models`, { headers: key })
      statuses.push(response.status)
      expect(response.headers.get('x-ratelimit-limit-requests')).toBe('2')
      if (response.status === 429)
        expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0)
    }
    expect(statuses).toEqual([200, 200, 429])
  })
})

describe('open answers', () => {
  const eventsOf = async (edge: EdgeServer, headers: Record<string, string>, count: number) => {
    const { signal, abort } = leaving()
    const url = `${edge.url}/v1/conversations/c/events`
    const answers: Promise<Response>[] = []
    for (let at = 0; at < count; at += 1) answers.push(fetch(url, { headers, signal }))
    return { statuses: (await Promise.all(answers)).map(({ status }) => status), abort }
  }

  const leaving = () => {
    const controller = new AbortController()
    return { signal: controller.signal, abort: () => controller.abort() }
  }

  it('of one key end at a bound, which leaves the connections of other keys alone', async () => {
    const [acme, beta] = [keyFor('a', 'acme', 'ask', 'read'), keyFor('b', 'beta', 'ask', 'read')]
    await using edge = await edgeServer([says('Yes.')], { access: { apiKeys: fileOf() } })
    await ask(edge, 'c', acme)
    const streams = await eventsOf(edge, acme, limits.edgeOpenAnswersMax)
    expect(new Set(streams.statuses)).toEqual(new Set([200]))
    const models = (headers: Record<string, string>) => fetch(`${edge.url}/v1/models`, { headers })
    expect(await answerOf(await models(acme))).toEqual([429, 'edge.open'])
    expect((await models(beta)).status).toBe(200)
    streams.abort()
    await until(async () => (await models(acme)).status === 200)
  })

  it('of keys without the role operate leave connections for an operator', () => {
    const open = openAnswers()
    const outgoings: EventEmitter[] = []
    const openFor = (name: string, ...roles: Role[]) => {
      const outgoing = Object.assign(new EventEmitter(), { destroyed: false })
      const id = principalId({ tenant: 'acme', kind: 'key', name })
      open({ id, roles: new Set(roles) }, outgoing as unknown as ServerResponse)
      outgoings.push(outgoing)
    }
    for (let at = 0; at < limits.edgeOpenAnswersSharedMax; at += 1) openFor(`k${at % 8}`, 'ask')
    expect(() => openFor('other', 'ask')).toThrow('this server has too many open requests')
    openFor('ops', 'operate')
    outgoings[0]?.emit('close')
    openFor('other', 'ask')
    expect(limits.edgeOpenAnswersSharedMax).toBeLessThan(httpConnectionsMax)
  })
})

describe('a tenant', () => {
  it('does not see the conversation of another', async () => {
    const [acme, other] = [keyFor('a', 'acme', 'ask', 'read'), keyFor('b', 'beta', 'ask', 'read')]
    await using edge = await edgeServer([says('Secret.')], { access: { apiKeys: fileOf() } })
    await ask(edge, 'c', acme)
    for await (const { type } of edge.weir.conversation('acme:c').events())
      if (type === 'turn-finished') break
    const [turn] = await edge.weir.conversation('acme:c').turns()
    for (const conversation of ['c', 'acme:c']) {
      const id = responseIdOf({ answered: [], conversation, messageId: turn?.messageId ?? '' })
      const own = await fetch(`${edge.url}/v1/responses/${id}`, { headers: acme })
      expect(own.status).toBe(conversation === 'c' ? 200 : 404)
      const found = await fetch(`${edge.url}/v1/responses/${id}`, { headers: other })
      expect(await answerOf(found)).toEqual([404, 'response.unknown'])
      const next = { model: 'weir/helper', input: 'b', previous_response_id: id }
      const behind = await post(`${edge.url}/v1/responses`, next, other)
      expect(await answerOf(behind)).toEqual([404, 'response.unknown'])
    }
    for (const id of ['c', 'acme:c']) {
      const events = await fetch(`${edge.url}/v1/conversations/${id}/events`, { headers: other })
      expect(await answerOf(events)).toEqual([404, 'conversation.unknown'])
      const cancel = await post(`${edge.url}/v1/conversations/${id}/cancel`, {}, other)
      expect(await answerOf(cancel)).toEqual([404, 'conversation.unknown'])
      const fork = await post(`${edge.url}/v1/conversations/${id}/fork`, {}, other)
      expect(await answerOf(fork)).toEqual([404, 'conversation.unknown'])
    }
    const fork = await post(`${edge.url}/v1/conversations/c/fork`, {}, acme)
    expect(await fork.json()).toMatchObject({ conversation: expect.stringMatching(/^c~/) })
  })

  it('gets its own answer to a request that another tenant has sent under the same name', async () => {
    const of = (tenant: string) => keyFor('ann', tenant, 'ask')
    const replies = ['one', 'two', 'three', 'four'].map((text) => says(text))
    const acme = of('acme')
    await using edge = await edgeServer(replies, { access: { apiKeys: fileOf() } })
    const requests = [
      ['responses', { input: 'hi' }],
      ['chat/completions', { messages: [{ role: 'user', content: 'hi' }] }],
    ] as const
    const texts = async (headers: Record<string, string>) => {
      const found: string[] = []
      for (const [path, body] of requests) {
        const sent = await post(
          `${edge.url}/v1/${path}`,
          { model: 'weir/helper', ...body },
          headers,
        )
        expect(sent.status).toBe(200)
        found.push(...((await sent.text()).match(/\b(one|two|three|four)\b/g)?.slice(0, 1) ?? []))
      }
      return found
    }
    expect(await texts(acme)).toEqual(['one', 'two'])
    removeApiKey(fileOf(), 'ann')
    expect(await texts(of('beta'))).toEqual(['three', 'four'])
  })

  it('decides about its own calls only, under the authenticated name of its key', async () => {
    const [acme, other] = [
      keyFor('alice', 'acme', 'ask', 'read', 'decide'),
      keyFor('bob', 'beta', 'read', 'decide'),
    ]
    const tool = defineTool({
      name: 'pay',
      description: 'Pays.',
      parameters: { type: 'object' },
      run: () => 'paid',
    })
    await using edge = await edgeServer([says(call('pay')), says('Done.')], {
      access: { apiKeys: fileOf() },
      tools: [tool],
      approvals: { rules: [{ name: 'money', tools: ['pay'] }], waitMs: 60_000 },
    })
    await ask(edge, 'c', acme)
    let waiting: { id: string; conversation: string }[] = []
    while (waiting.length === 0) {
      const response = await fetch(`${edge.url}/v1/approvals`, { headers: acme })
      waiting = ((await response.json()) as { approvals: typeof waiting }).approvals
    }
    expect(waiting[0]?.conversation).toBe('c')
    const approve = (headers: Record<string, string>, body = {}) =>
      post(`${edge.url}/v1/approvals/${waiting[0]?.id}/allow`, body, headers)
    expect(await answerOf(await approve(acme, { by: 'mallory' }))).toEqual([400, 'usage'])
    for (const hash of [null, 1])
      expect(await answerOf(await approve(acme, { hash }))).toEqual([400, 'http.body'])
    const list = await fetch(`${edge.url}/v1/approvals`, { headers: other })
    expect(await list.json()).toEqual({ approvals: [] })
    expect(await answerOf(await approve(other))).toEqual([404, 'approval.unknown'])
    expect(await (await approve(acme)).json()).toMatchObject({ counted: true })
    const again = await approve(acme)
    expect(again.status).toBe(409)
    const text = expect.stringContaining('was allowed by acme/key:alice at')
    const error = expect.objectContaining({ code: 'approval.decided', message: text })
    expect(await again.json()).toMatchObject({ counted: false, text, error })
    expect(await answerOf(await approve(other))).toEqual([404, 'approval.unknown'])
    for await (const event of edge.weir.conversation('acme:c').events())
      if (event.type === 'approval-decided') {
        expect([event.by, event.identity]).toEqual(['acme/key:alice', 'authenticated'])
        break
      }
  })
})

describe('a key that cannot approve', () => {
  it('keeps its response open until somebody decides, and cannot answer for them', async () => {
    const asks = keyFor('asks', 'acme', 'ask', 'read')
    const tool = defineTool({
      name: 'pay',
      description: 'Pays.',
      parameters: { type: 'object' },
      run: () => 'paid',
    })
    await using edge = await edgeServer([says(call('pay')), says('Done.')], {
      access: { apiKeys: fileOf() },
      tools: [tool],
      approvals: { rules: [{ name: 'money', tools: ['pay'] }], waitMs: 60_000 },
    })
    const url = `${edge.url}/v1/responses`
    const body = { model: 'weir/helper', input: 'Pay.', conversation: 'c' }
    const whole = post(url, body, asks)
    let id = ''
    await until(async () => {
      id = (await edge.weir.approvals())[0]?.id ?? ''
      return id !== ''
    })
    const input = [{ type: 'mcp_approval_response', approval_request_id: id, approve: true }]
    const forged = await post(url, { conversation: 'c', input }, asks)
    expect(await answerOf(forged)).toEqual([403, 'edge.role'])
    await edge.weir.allow(id, { by: 'ann' })
    const { output } = (await (await whole).json()) as { output: { type: string }[] }
    expect(output.map(({ type }) => type)).toEqual(['mcp_approval_request', 'mcp_call', 'message'])
  })
})

/** A server with this key as its JWKS, and the options of an edge that accepts its tokens. */
async function issuerOf(publicKey: Parameters<typeof exportJWK>[0]) {
  const jwk = { ...(await exportJWK(publicKey)), kid: 'one', alg: 'ES256' }
  const issuer = createServer((_, answer) => answer.end(JSON.stringify({ keys: [jwk] })))
  await new Promise<void>((resolve) => issuer.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(issuer.address() as AddressInfo).port}/`
  const oidc = {
    issuer: url,
    audience: 'weir',
    jwks: new URL(url),
    tenantClaim: 'tenant',
    rolesClaim: 'roles',
    allTenants: false,
  }
  return { issuer, url, oidc }
}

describe('a token', () => {
  it('ends the streams of its reader when it expires', async () => {
    const { privateKey, publicKey } = await generateKeyPair('ES256')
    const { issuer, url, oidc } = await issuerOf(publicKey)
    try {
      const waits: { delayMs: number; fire: () => void }[] = []
      const clock: Clock = {
        ...systemClock,
        after(delayMs, fire) {
          waits.push({ delayMs, fire })
          return systemClock.after(delayMs, fire)
        },
      }
      await using edge = await edgeServer([says('Hello.')], { access: { oidc }, clock })
      const exp = Math.floor(Date.now() / 1_000) + 600
      const token = await new SignJWT({ sub: 'alice', tenant: 'acme', roles: 'ask read', exp })
        .setProtectedHeader({ alg: 'ES256', kid: 'one' })
        .setIssuer(url)
        .setAudience('weir')
        .sign(privateKey)
      await ask(edge, 'c', bearer(token))
      const feed = await fetch(`${edge.url}/v1/conversations/c/events`, { headers: bearer(token) })
      const ends = feed.text()
      const last = waits.findLast(({ delayMs }) => delayMs > 500_000)
      expect(last?.delayMs).toBeLessThanOrEqual(630_000)
      last?.fire()
      await expect(ends).rejects.toThrow()
    } finally {
      issuer.close()
    }
  })

  it('counts with its issuer, audience, time and tenant, and not otherwise', async () => {
    const { privateKey, publicKey } = await generateKeyPair('ES256')
    const stranger = await generateKeyPair('ES256')
    const { issuer, url, oidc } = await issuerOf(publicKey)
    try {
      await using edge = await edgeServer([], { access: { oidc } })
      const now = Math.floor(Date.now() / 1_000)
      const good = { iss: url, aud: 'weir', sub: 'alice', exp: now + 600, tenant: 'acme' }
      const send = async (claims: object, key = privateKey) => {
        const token = await new SignJWT({ ...good, ...claims })
          .setProtectedHeader({ alg: 'ES256', kid: 'one' })
          .sign(key)
        return fetch(`${edge.url}/v1/models`, { headers: bearer(token) })
      }
      const status = async (...token: Parameters<typeof send>) => answerOf(await send(...token))
      expect(await status({})).toEqual([200, ''])
      expect(await status({ exp: now - 600 })).toEqual([401, 'edge.token'])
      expect(await status({ aud: 'other' })).toEqual([401, 'edge.token'])
      expect(await status({ iss: 'https://other.example' })).toEqual([401, 'edge.token'])
      expect(await status({ exp: undefined })).toEqual([401, 'edge.token'])
      expect(await status({}, stranger.privateKey)).toEqual([401, 'edge.token'])
      for (const [claims, text] of [
        [{ exp: now - 600 }, 'the token is expired'],
        [{ aud: 'other' }, 'claim aud is not the one that this server accepts'],
        [{ aud: undefined }, 'it has no claim aud'],
      ] as const)
        expect(await (await send(claims)).text()).toContain(text)
      expect(await status({ tenant: undefined })).toEqual([403, 'edge.tenant'])
      for (const tenant of ['guest', 'default'])
        expect(await status({ tenant })).toEqual([403, 'edge.tenant'])
      expect(await status({ tenant: '*' })).toEqual([403, 'edge.tenant'])
      expect(await (await send({ tenant: '*' })).text()).toContain('--oidc-all-tenants')
      expect(await status({ tenant: null })).toEqual([403, 'edge.tenant'])
      for (const sub of [
        ' ann',
        'ann ',
        'a  b',
        'ann\n(authenticated)',
        '\u200bann',
        '\u202eann',
        'änn',
      ])
        expect(await status({ sub })).toEqual([403, 'edge.subject'])
      expect(await status({ sub: '' })).toEqual([403, 'edge.subject'])
      expect(await status({ sub: 'x'.repeat(256) })).toEqual([403, 'edge.subject'])
      for (const sub of ['auth0|5f7c8ec7c33c6c004bbafe82', 'CN=Ann Example,O=Acme', 'key:ci'])
        expect(await status({ sub })).toEqual([200, ''])
      const unsigned = `${Buffer.from('{"alg":"none"}').toString('base64url')}.e30.`
      const response = await fetch(`${edge.url}/v1/models`, { headers: bearer(unsigned) })
      expect(await answerOf(response)).toEqual([401, 'edge.token'])
      const noRole = await new SignJWT(good)
        .setProtectedHeader({ alg: 'ES256', kid: 'one' })
        .sign(privateKey)
      expect(await answerOf(await ask(edge, 'c', bearer(noRole)))).toEqual([403, 'edge.role'])
    } finally {
      issuer.close()
    }
  })
})

describe('a token with the tenant *', () => {
  it('reaches all tenants on a server that accepts such tokens', async () => {
    const { privateKey, publicKey } = await generateKeyPair('ES256')
    const { issuer, url, oidc } = await issuerOf(publicKey)
    try {
      const access = { oidc: { ...oidc, allTenants: true } }
      await using edge = await edgeServer([says('Hello.')], { access })
      const claims = {
        sub: 'ann',
        tenant: '*',
        roles: 'ask',
        exp: Math.floor(Date.now() / 1_000) + 600,
      }
      const token = await new SignJWT(claims)
        .setProtectedHeader({ alg: 'ES256', kid: 'one' })
        .setIssuer(url)
        .setAudience('weir')
        .sign(privateKey)
      expect(await answerOf(await ask(edge, 'acme:c', bearer(token)))).toEqual([202, ''])
    } finally {
      issuer.close()
    }
  })
})

describe('a client certificate', () => {
  const certificates = makeCertificates(['127.0.0.1'])
  const stranger = makeCertificates(['127.0.0.1'])
  const { certificate: cert, key } = certificates.broker
  const tls = { cert, key, clientCa: certificates.authority }

  /** The status and the code of the error. */
  function get(
    url: string,
    client?: { certificate: string; key: string },
    headers: Record<string, string> = {},
  ): Promise<[number, string]> {
    const shown = client === undefined ? {} : { cert: client.certificate, key: client.key }
    return new Promise((resolve, reject) => {
      request(url, { ca: certificates.authority, agent: false, headers, ...shown }, (answer) => {
        json(answer).then((body) => {
          const { error } = body as { error?: { code: string } }
          resolve([answer.statusCode ?? 0, error?.code ?? ''])
        }, reject)
      })
        .on('error', reject)
        .end()
    })
  }

  it('counts with the subject that the file of keys has, and has its roles', async () => {
    const owner = { name: 'ci', tenant: 'acme', roles: ['read' as const] }
    addSubject(fileOf(), { ...owner, subject: 'CN=client' })
    const key = keyFor('other', 'acme', 'read')
    await using edge = await edgeServer([], { tls, access: { apiKeys: fileOf() } })
    expect(edge.url).toMatch(/^https:/)
    const models = `${edge.url}/v1/models`
    expect(await get(models, certificates.client)).toEqual([200, ''])
    expect(await get(models)).toEqual([401, 'edge.unauthorized'])
    expect(await get(models, undefined, key)).toEqual([200, ''])
    expect(await get(models, certificates.elsewhere)).toEqual([401, 'edge.unauthorized'])
    expect(await get(models, stranger.client)).toEqual([401, 'edge.unauthorized'])
    // A wrong key is not replaced by the certificate.
    expect(await get(models, certificates.client, bearer('weir_x'))).toEqual([
      ...[401, 'edge.unauthorized'],
    ])
    expect(await get(`${edge.url}/v1/approvals`, certificates.client)).toEqual([200, ''])
    removeApiKey(fileOf(), 'ci')
    expect(await get(models, certificates.client)).toEqual([401, 'edge.unauthorized'])
  })

  it('is not accepted by a server that names no authority of clients', async () => {
    const owner = { name: 'ci', tenant: 'acme', roles: ['read' as const] }
    addSubject(fileOf(), { ...owner, subject: 'CN=client' })
    await using edge = await edgeServer([], {
      tls: { cert, key },
      access: { apiKeys: fileOf() },
    })
    const answer = await get(`${edge.url}/v1/models`, certificates.client)
    expect(answer).toEqual([401, 'edge.unauthorized'])
  })

  it('and a key of another server are refused at the start', async () => {
    const wrong = { cert, key: certificates.client.key }
    await expect(edgeServer([], { tls: wrong })).rejects.toMatchObject({ code: 'settings.invalid' })
  })

  it('has a subject once, and none that is no subject', () => {
    const owner = { name: 'ci', tenant: 'acme', roles: ['read' as const] }
    addSubject(fileOf(), { ...owner, subject: 'O=Acme,CN=ci' })
    expect(() => addSubject(fileOf(), { ...owner, name: 'b', subject: 'O=Acme,CN=ci' })).toThrow(
      /has a key ci/,
    )
    expect(isCertificateSubject('ci')).toBe(false)
  })
})

describe('a page of another site', () => {
  it('is refused, unless its origin is listed', async () => {
    await using edge = await edgeServer([], { origins: ['https://chat.example'] })
    const from = (origin: string, method = 'GET') =>
      fetch(`${edge.url}/v1/models`, { method, headers: { origin } })
    expect((await from('https://evil.example')).status).toBe(403)
    expect((await from('null')).status).toBe(403)
    const origin = 'https://evil.example'
    const forms = { origin, 'content-type': 'text/plain' } // no preflight
    for (const path of ['conversations/c/messages', 'approvals/k7f3/allow', 'responses'])
      expect((await post(`${edge.url}/v1/${path}`, {}, forms)).status).toBe(403)
    const listed = await from('https://chat.example')
    expect(listed.headers.get('access-control-allow-origin')).toBe('https://chat.example')
    expect((await from('https://chat.example', 'OPTIONS')).status).toBe(204)
    expect((await from('https://evil.example', 'OPTIONS')).status).toBe(403)
  })
})

describe('the headers of an answer', () => {
  it.each([false, true])('name the origin and the rate, streamed: %s', async (stream) => {
    const listed = 'https://chat.example'
    await using edge = await edgeServer([says('Hi.'), says('Hi.')], { origins: [listed] })
    const body = { model: 'weir/helper', input: 'hi', stream }
    const asked = await post(`${edge.url}/v1/responses`, body, { origin: listed })
    await asked.text()
    expect(asked.headers.get('access-control-allow-origin')).toBe(listed)
    expect(asked.headers.get('access-control-expose-headers')).toContain('x-weir-conversation')
    expect(asked.headers.get('vary')).toBe('Origin')
    expect(asked.headers.get('x-ratelimit-remaining-requests')).toMatch(/^\d+$/)
    const own = await post(`${edge.url}/v1/responses`, { ...body, input: 'ho' })
    await own.text()
    expect(own.headers.get('vary')).toBe('Origin')
    expect(own.headers.get('access-control-allow-origin')).toBeNull()
  })
})

describe('a file of keys', () => {
  it('that is missing or damaged is refused with its own reason', async () => {
    const refusal = (file: string) =>
      edgeServer([], { access: { apiKeys: file } }).then(
        () => '',
        (error: Error) => error.message,
      )
    const damaged = join(folder, 'damaged.json')
    writeFileSync(damaged, '{"keys": [')
    expect(await refusal(join(folder, 'none.json'))).toContain('it does not exist: make it with')
    expect(await refusal(damaged)).toMatch(/it is no valid JSON: correct it(?!.*create)/)
  })
})

describe('a hostile body', () => {
  it.each([
    ['cut', '{"text": "a', 400],
    ['no object', '[1]', 400],
    ['nested too deep', `{"text":${'['.repeat(100_000)}${']'.repeat(100_000)}}`, 400],
    ['too large', `{"text":"${'a'.repeat(19 * 1024 * 1024)}"}`, 413],
    ['no UTF-8', Buffer.from('{"text":"\xff\xfe"}', 'latin1'), 400],
    ['half a pair', '{"text":"\\ud800"}', 400],
    ['a number as a text', '{"text":1}', 400],
  ])('that is %s is refused', async (_, body, status) => {
    await using edge = await edgeServer([])
    const response = await post(`${edge.url}/v1/conversations/c/messages`, body)
    expect(response.status).toBe(status)
  })

  it('with a name of its own prototype is refused as any unknown field', async () => {
    await using edge = await edgeServer([says('Yes.')])
    const body = '{"text":"a","__proto__":{"agent":"none"}}'
    const sent = await post(`${edge.url}/v1/conversations/c/messages`, body)
    expect(await answerOf(sent)).toEqual([400, 'usage'])
  })
})

describe('an error of the server', () => {
  it.each([
    ['/responses', {}, 404, 'http.path', /no GET \/responses; the base URL .* ends with \/v1/],
    ['/v1/embeddings', {}, 404, 'http.path', /embeddings; docs\/reference\/http\.md lists/],
    ['/v1/models/x', {}, 404, 'agent.unknown', /the models are weir\/helper/],
    ['/v1/models', { origin: 'https://evil.example' }, 403, 'http.origin', /other sites/],
  ])('at %s with %j has its code, as SDKs read it', async (path, headers, status, code, text) => {
    await using edge = await edgeServer([])
    const response = await fetch(`${edge.url}${path}`, { headers })
    const { error } = (await response.json()) as { error: object }
    const message = expect.stringMatching(text)
    expect([response.status, error]).toEqual([status, { type: code, code, message, param: null }])
  })
})
