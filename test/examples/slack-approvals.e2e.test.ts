// The program that asks Slack, as a user runs it, between a real server of Weir and a stand-in of Slack.

import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text as textOf } from 'node:stream/consumers'
import { afterEach, beforeEach, expect, it } from '@jest/globals'
import { Webhook } from 'standardwebhooks'
import { createApiKey } from '../../apps/http/edge/access/api-keys.ts'
import { call, says } from '../../client/testing/testing.ts'
import { defineTool } from '../../client/weir.ts'
import { consoleServer } from '../apps/http/console/console-server.ts'
import { exampleProgram } from '../support/example-program.ts'

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'weir-slack-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

type Message = { channel?: string; text: string; blocks?: { elements?: Button[] }[] }
type Button = { action_id: string; value: string }

/** Slack: messages to its API and to the addresses of answers. Weir: its webhook, passed on. */
async function standIn() {
  const messages: Message[] = []
  const waiting: (() => void)[] = []
  let program = ''
  const server = createServer(async (request, response) => {
    const body = await textOf(request)
    if (request.url === '/weir') {
      const headers = Object.entries(request.headers).filter(([name]) => /^webhook-/.test(name))
      const passed = { method: 'POST', headers: Object.fromEntries(headers) as never, body }
      response.writeHead((await fetch(`${program}/weir`, passed)).status).end()
      return
    }
    expect(request.headers.authorization).toBe('Bearer xoxb-test')
    messages.push(JSON.parse(body))
    response.end('{"ok":true}')
    for (const resolve of waiting.splice(0)) resolve()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url,
    messages,
    passTo(address: string) {
      program = address
    },
    async message(number: number): Promise<Message> {
      while (messages.length < number) {
        const { promise, resolve } = Promise.withResolvers<void>()
        waiting.push(resolve)
        await promise
      }
      return messages[number - 1] as Message
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

const program = (environment: Record<string, string>) =>
  exampleProgram('slack-approvals', { folder, packages: ['standardwebhooks'], environment })

const signingSecret = 'of the test'
const secret = Buffer.alloc(32, 7).toString('base64')

function press(url: string, value: string, answer: string, user: string, key = signingSecret) {
  const payload = {
    user: { id: user, name: user },
    actions: [{ action_id: answer, value }],
    response_url: '',
  }
  return async (answers: string) => {
    const body = `payload=${encodeURIComponent(JSON.stringify({ ...payload, response_url: answers }))}`
    const at = `${Math.floor(Date.now() / 1000)}`
    const signature = `v0=${createHmac('sha256', key).update(`v0:${at}:${body}`).digest('hex')}`
    const headers = { 'x-slack-request-timestamp': at, 'x-slack-signature': signature }
    return (await fetch(`${url}/slack`, { method: 'POST', headers, body })).status
  }
}

it('slack-approvals.ts lets only a known person decide, whose key the log names', async () => {
  const apiKeys = join(folder, 'keys.json')
  const read = createApiKey(apiKeys, { name: 'slack', tenant: 'acme', roles: ['read'] })
  const ada = createApiKey(apiKeys, { name: 'ada', tenant: 'acme', roles: ['decide', 'read'] })
  const refund = defineTool({
    name: 'refund',
    description: 'Pays an order back',
    parameters: { type: 'object', properties: { order: { type: 'number' } } },
    run: () => 'paid back',
  })
  await using slack = await standIn()
  await using weir = await consoleServer([says(call('refund', { order: 17 })), says('Done.')], {
    access: { apiKeys },
    tools: [refund],
    approvals: { rules: [{ name: 'money', tools: ['refund'] }], waitMs: 600_000 },
    webhook: { url: new URL(`${slack.url}/weir`), secret },
  })
  const environment = {
    WEIR_URL: weir.url,
    WEIR_READ_KEY: read,
    WEIR_WEBHOOK_SECRET: secret,
    WEIR_KEYS: JSON.stringify({ U1: ada, U2: read }),
    SLACK_API_URL: slack.url,
    SLACK_BOT_TOKEN: 'xoxb-test',
    SLACK_SIGNING_SECRET: signingSecret,
    SLACK_CHANNEL: 'C1',
  }
  await using broken = await program({ ...environment, WEIR_READ_KEY: 'wrong' })
  const body = JSON.stringify({ type: 'approval.pending', data: { id: 'x' } })
  const at = new Date()
  const headers = {
    'webhook-id': 'e1',
    'webhook-timestamp': `${Math.floor(at.getTime() / 1000)}`,
    'webhook-signature': new Webhook(secret).sign('e1', at, body),
  }
  expect((await fetch(`${broken.url}/weir`, { method: 'POST', headers, body })).status).toBe(500)
  await using own = await program(environment)
  slack.passTo(own.url)
  const turn = weir.weir.ask({ agent: 'helper', text: 'Refund it.', conversation: 'acme:c' })
  const asked = await slack.message(1)
  expect(asked).toMatchObject({ channel: 'C1', text: 'refund waits for a person' })
  expect(JSON.stringify(asked.blocks)).toContain('money: refund {\\"order\\":17}')
  const value = asked.blocks?.[1]?.elements?.[0]?.value ?? ''

  expect(await press(own.url, value, 'allow', 'U1', 'another')(slack.url)).toBe(401)
  expect((await fetch(`${own.url}/weir`, { method: 'POST', body: '{}' })).status).toBe(401)
  await press(own.url, value, 'allow', 'U9')(slack.url)
  expect((await slack.message(2)).text).toBe('U9 has no key of Weir.')
  await press(own.url, value, 'allow', 'U2')(slack.url)
  expect(await slack.message(3)).toMatchObject({ replace_original: false })
  expect(await weir.weir.approvals()).toHaveLength(1)

  expect(await press(own.url, value, 'allow', 'U1')(slack.url)).toBe(200)
  expect(await slack.message(4)).toMatchObject({ replace_original: true })
  expect((await turn.finished).reply).toBe('Done.')
  await press(own.url, value, 'deny', 'U1')(slack.url)
  expect((await slack.message(5)).text).toContain('was allowed by acme/key:ada')
  for await (const event of weir.weir.conversation('acme:c').events()) {
    if (event.type === 'approval-decided')
      expect([event.by, event.identity]).toEqual(['acme/key:ada', 'authenticated'])
    if (event.type === 'turn-finished') break
  }
})
