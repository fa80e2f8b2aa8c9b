import { once } from 'node:events'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text as textOf } from 'node:stream/consumers'
import { describe, expect, it } from '@jest/globals'
import { pino } from 'pino'
import { Webhook as Verifier } from 'standardwebhooks'
import { edgeOptionsOf } from '../../../../apps/http/edge/edge-flags.ts'
import { openWebhook } from '../../../../apps/http/webhook/webhook.ts'
import { webhookEvents } from '../../../../apps/http/webhook/webhook-events.ts'
import { call, says } from '../../../../client/testing/testing.ts'
import { defineTool } from '../../../../client/weir.ts'
import type { Message } from '../../../../shared/contract/messages.ts'
import { systemClock } from '../../../../shared/lib/clock.ts'
import { consoleServer } from '../console/console-server.ts'

const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`

/** Without pauses between tries. */
const hasty = {
  now: systemClock.now,
  after(_: number, then: () => void) {
    setImmediate(then)
    return () => {}
  },
}

type Received = { headers: Record<string, string>; body: string }

/** Answers each request with the next status, and then with 204. */
async function receiver(statuses: number[] = []) {
  const received: Received[] = []
  const waiting: (() => void)[] = []
  const server = createServer(async (request: IncomingMessage, response) => {
    const body = await textOf(request)
    received.push({ headers: request.headers as Record<string, string>, body })
    response.writeHead(statuses.shift() ?? 204, { location: '/elsewhere' }).end()
    for (const resolve of waiting.splice(0)) resolve()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: new URL(`http://127.0.0.1:${port}/weir`),
    received,
    async count(wanted: number) {
      while (received.length < wanted) {
        const { promise, resolve } = Promise.withResolvers<void>()
        waiting.push(resolve)
        await promise
      }
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

const deploy = defineTool({
  name: 'deploy',
  description: 'Deploys.',
  parameters: { type: 'object' },
  run: () => 'done',
})
const approvals = { rules: [{ name: 'production', tools: ['deploy'] }], waitMs: 3_600_000 }
const typesIn = (received: Received[]) => received.map(({ body }) => JSON.parse(body).type)

describe('the webhook', () => {
  it('gets a signed event without arguments for a waiting call, and one for the decision', async () => {
    await using to = await receiver()
    await using server = await consoleServer(
      [says(call('deploy', { password: 'hunter2' })), says('Done.')],
      { tools: [deploy], approvals, webhook: { url: to.url, secret } },
    )
    const turn = server.weir.ask({ agent: 'helper', text: 'my secret question', conversation: 'c' })
    await to.count(1)
    const [waiting] = await server.weir.approvals()
    await server.weir.deny(waiting?.id ?? '', { by: 'ann', reason: 'not now' })
    await turn.finished
    await to.count(2)
    const verifier = new Verifier(secret)
    const [pending, decided] = to.received.map(({ headers, body }) => ({
      id: headers['webhook-id'],
      ...(verifier.verify(body, headers) as { type: string; data: object }),
    }))
    expect(pending).toMatchObject({
      id: expect.stringMatching(/^evt_[0-9a-f]{32}$/),
      type: 'approval.pending',
      data: { id: waiting?.id, conversation: 'c', agent: 'helper', name: 'deploy' },
    })
    expect(decided).toMatchObject({ type: 'approval.deny', data: { by: 'ann' } })
    expect(decided?.id).not.toBe(pending?.id)
    const sent = to.received.map(({ body }) => body).join()
    for (const text of ['hunter2', 'my secret question', 'not now', 'whsec'])
      expect(sent).not.toContain(text)
  })

  it('names a call that nobody answered otherwise than a denied one', async () => {
    await using to = await receiver()
    await using server = await consoleServer([says(call('deploy')), says('Done.')], {
      tools: [deploy],
      approvals: { ...approvals, waitMs: 1_000 },
      webhook: { url: to.url, secret },
    })
    await server.weir.ask({ agent: 'helper', text: 'go', conversation: 'c' }).finished
    await to.count(2)
    expect(typesIn(to.received)).toEqual(['approval.pending', 'approval.expired'])
    expect(JSON.parse(to.received[1]?.body ?? '').data).toMatchObject({ by: null, identity: null })
  })

  it('sends a call that still waits again under the same id after a restart', async () => {
    await using to = await receiver()
    const webhook = { url: to.url, secret }
    await using server = await consoleServer([says(call('deploy')), says('Done.')], {
      tools: [deploy],
      approvals,
      webhook,
    })
    server.weir.ask({ agent: 'helper', text: 'go', conversation: 'c' }).finished.catch(() => {})
    await to.count(1)
    await server.restart()
    await to.count(2)
    const [first, second] = to.received.map(({ headers }) => headers['webhook-id'])
    expect(second).toBe(first)
  })

  const event = {
    id: 'evt_1',
    type: 'approval.pending' as const,
    timestamp: '2026-01-01T00:00:00.000Z',
    data: { id: 'a' },
  }

  it('repeats an event that was refused, with the same id, and follows no redirect', async () => {
    await using to = await receiver([500, 302])
    const lines: string[] = []
    const log = pino({ level: 'debug' }, { write: (line: string) => void lines.push(line) })
    const webhook = openWebhook({ url: to.url, secret }, { log, clock: hasty })
    webhook.send(event)
    webhook.send(event)
    await to.count(3)
    webhook.close()
    expect(to.received.map(({ headers }) => headers['webhook-id'])).toEqual(
      Array.from({ length: 3 }, () => 'evt_1'),
    )
    expect(lines.join()).toContain('status 500')
    expect(lines.join()).not.toContain('/weir')
  })

  it('drops an event after its last try, and sends nothing after 410', async () => {
    await using to = await receiver([...Array.from({ length: 6 }, () => 503), 410])
    const [dropped, off] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const write = (line: string) => {
      if (line.includes('is dropped')) dropped.resolve()
      if (line.includes('answered 410')) off.resolve()
    }
    const log = pino({ level: 'warn' }, { write })
    const webhook = openWebhook({ url: to.url, secret }, { log, clock: hasty })
    webhook.send(event)
    await dropped.promise
    expect(to.received).toHaveLength(6)
    webhook.send({ ...event, id: 'evt_2' })
    await off.promise
    webhook.send({ ...event, id: 'evt_3' })
    await fetch(to.url, { method: 'POST', body: 'of the test' })
    expect(to.received.map(({ body }) => body).slice(7)).toEqual(['of the test'])
    webhook.close()
  })

  it('has an event for a soft budget, with the amounts and no text', () => {
    const budget = { id: 'acme/tenant/day/usd', subject: '', window: 'day', unit: 'usd' } as const
    const message: Message = {
      type: 'budget-reached',
      conversation: 'acme:c',
      turn: 7,
      round: 1,
      tenant: 'acme',
      budget: { ...budget, soft: 5e9, hard: null },
      used: 6e9,
    }
    const [event] = webhookEvents(message, { agent: 'helper', time: 1_800_000_000_000 })
    expect(event).toMatchObject({
      type: 'budget.reached',
      timestamp: '2027-01-15T08:00:00.000Z',
      data: { budget: 'acme/tenant/day/usd', tenant: 'acme', soft: 5e9, used: 6e9 },
    })
  })

  it('reads its secret from a file that no other user can read', () => {
    const folder = mkdtempSync(join(tmpdir(), 'weir-webhook-'))
    const file = join(folder, 'secret.txt')
    const flags = { webhookUrl: 'https://example.com/hook', webhookSecretFile: file }
    writeFileSync(file, `${secret}\n`, { mode: 0o644 })
    expect(() => edgeOptionsOf(flags)).toThrow('other users can read')
    chmodSync(file, 0o600)
    expect(edgeOptionsOf(flags).webhook?.url.host).toBe('example.com')
    for (const [webhookUrl, fault] of [
      ['http://example.com', 'must be an https URL'],
      ['https://a:b@example.com', 'a password'],
    ] as const)
      expect(() => edgeOptionsOf({ ...flags, webhookUrl })).toThrow(fault)
    writeFileSync(file, 'too short')
    expect(() => edgeOptionsOf(flags)).toThrow('base64 of 24 bytes')
    rmSync(folder, { recursive: true })
  })

  it.each([
    [{ webhookUrl: 'https://example.com' }, 'go together'],
    [{ webhookUrl: 'https://example.com', webhookSecretFile: '/nowhere' }, '--webhook-secret-file'],
  ])('refuses the flags %j', (flags, text) => {
    expect(() => edgeOptionsOf(flags)).toThrow(text)
  })
})
