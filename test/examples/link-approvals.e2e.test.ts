// The program that sends links, as a user runs it, between a real server of Weir and a stand-in of sendmail.

import { once } from 'node:events'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from '@jest/globals'
import { SignJWT } from 'jose'
import { Webhook } from 'standardwebhooks'
import { createApiKey } from '../../apps/http/edge/access/api-keys.ts'
import { call, says } from '../../client/testing/testing.ts'
import { defineTool } from '../../client/weir.ts'
import { consoleServer } from '../apps/http/console/console-server.ts'
import { exampleProgram } from '../support/example-program.ts'

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'weir-link-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

/** A program that posts each mail to this server, in place of sendmail. */
async function mailbox() {
  const waiting: ((mail: string) => void)[] = []
  const mails: string[] = []
  const server = createServer(async (request, response) => {
    let mail = ''
    for await (const piece of request) mail += piece
    response.end()
    const resolve = waiting.shift()
    if (resolve === undefined) mails.push(mail)
    else resolve(mail)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const program = join(folder, 'sendmail')
  writeFileSync(program, `#!/bin/sh\nexec curl -s --data-binary @- http://127.0.0.1:${port}\n`)
  chmodSync(program, 0o755)
  return {
    program,
    /** The receiver of the next mail, and the link in that mail. */
    async next() {
      const mail = mails.shift() ?? (await new Promise<string>((resolve) => waiting.push(resolve)))
      const [head = '', body = ''] = mail.split('\n\n')
      const link = /\S+\/decide\?link=(\S+)/.exec(Buffer.from(body, 'base64').toString())?.[1] ?? ''
      return { to: /^To: (.*)$/m.exec(head)?.[1], link }
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

/** The server of Weir starts with the address of its webhook, and the program with that of Weir. */
async function passing() {
  let address = ''
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const piece of request) body += piece
    const headers = Object.entries(request.headers).filter(([name]) => /^webhook-/.test(name))
    const passed = { method: 'POST', headers: Object.fromEntries(headers) as never, body }
    response.writeHead((await fetch(`${address}/weir`, passed)).status).end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`),
    to(url: string) {
      address = url
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

/** Passes requests on to `weir`, except for the first decision. */
async function losing(weir: string) {
  let isLost = false
  const server = createServer(async (request, response) => {
    const { method = '', url = '', headers } = request
    let body = ''
    for await (const piece of request) body += piece
    if (method === 'POST' && !isLost) {
      isLost = true
      response.destroy()
      return
    }
    const passed = { authorization: `${headers.authorization}`, 'content-type': 'application/json' }
    const sent = method === 'POST' ? { body } : {}
    const answer = await fetch(`${weir}${url}`, { method, headers: passed, ...sent })
    response.writeHead(answer.status).end(await answer.text())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

const program = (environment: Record<string, string>) =>
  exampleProgram('link-approvals', { folder, packages: ['jose', 'standardwebhooks'], environment })

const secret = Buffer.alloc(32, 7).toString('base64')
const linkSecret = 'of the test, with more than 32 bytes'

it('link-approvals.ts lets a link decide once, by its form only, in the name of its approver', async () => {
  const apiKeys = join(folder, 'keys.json')
  const read = createApiKey(apiKeys, { name: 'mail', tenant: 'acme', roles: ['read'] })
  const ada = createApiKey(apiKeys, { name: 'ada', tenant: 'acme', roles: ['decide', 'read'] })
  const refund = defineTool({
    name: 'refund',
    description: 'Pays an order back',
    parameters: { type: 'object', properties: { note: { type: 'string' } } },
    run: () => 'paid back',
  })
  await using mails = await mailbox()
  await using webhook = await passing()
  const answers = [says(call('refund', { note: '<b>17</b>' })), says('Done.')]
  await using weir = await consoleServer(answers, {
    access: { apiKeys },
    tools: [refund],
    approvals: { rules: [{ name: 'money', tools: ['refund'] }], waitMs: 600_000 },
    webhook: { url: webhook.url, secret },
  })
  await using between = await losing(weir.url)
  await using own = await program({
    WEIR_URL: between.url,
    WEIR_READ_KEY: read,
    WEIR_WEBHOOK_SECRET: secret,
    WEIR_KEYS: JSON.stringify({ 'ada@example.com': ada, 'bob@example.com': read }),
    LINK_SECRET: linkSecret,
    SENDMAIL: mails.program,
  })
  webhook.to(own.url)
  const turn = weir.weir.ask({ agent: 'helper', text: 'Refund it.', conversation: 'acme:c' })
  const [toAda, toBob] = [await mails.next(), await mails.next()]
  expect([toAda.to, toBob.to]).toEqual(['ada@example.com', 'bob@example.com'])

  const open = (link: string) => fetch(`${own.url}/decide?link=${link}`)
  const decide = async (link: string, answer: string) => {
    const body = new URLSearchParams({ link, answer })
    const response = await fetch(`${own.url}/decide`, { method: 'POST', body })
    return `${response.status} ${await response.text()}`
  }
  for (const _ of ['a scanner', 'the approver']) {
    const page = await (await open(toAda.link)).text()
    expect(page).toContain('{&#34;note&#34;:&#34;&#60;b&#62;17&#60;/b&#62;&#34;}')
    expect(page).toContain('You decide as ada@example.com')
  }
  expect((await fetch(`${own.url}/weir`, { method: 'POST', body: '{}' })).status).toBe(401)
  const signed = (key: string, expiry: string) =>
    new SignJWT({ id: 'x', hash: 'x', approver: 'ada@example.com', jti: 'x' })
      .setProtectedHeader({ alg: 'HS256' })
      .setExpirationTime(expiry)
      .sign(new TextEncoder().encode(key))
  for (const link of [
    '',
    `${toAda.link}x`,
    await signed('another secret, with 32 bytes or more', '1 hour'),
    await signed(linkSecret, '1 minute ago'),
  ]) {
    expect((await open(link)).status).toBe(403)
    expect(await decide(link, 'allow')).toMatch(/^403 .*This link is wrong or too old/)
  }
  expect(await decide(toAda.link, 'maybe')).toMatch(/^400 /)
  expect(await decide(toAda.link, 'allow')).toMatch(/^500 /) // lost, so the link still decides
  expect(await decide(toBob.link, 'allow')).toMatch(/^502 .*Weir: /)
  expect(await weir.weir.approvals()).toHaveLength(1)

  expect(await decide(toAda.link, 'allow')).toMatch(/^200 /)
  expect((await turn.finished).reply).toBe('Done.')
  expect(await decide(toAda.link, 'deny')).toMatch(/^403 .*was used already/)
  expect((await open(toBob.link)).status).toBe(410)
  for await (const event of weir.weir.conversation('acme:c').events()) {
    if (event.type === 'approval-decided')
      expect([event.by, event.identity]).toEqual(['acme/key:ada', 'authenticated'])
    if (event.type === 'turn-finished') break
  }
})

it('link-approvals.ts forgets an event once its link has ended', async () => {
  const waiting = { id: 'a', hash: 'h', name: 'refund', rawArguments: '{}', rule: 'money' }
  const weir = createServer((_, response) => response.end(JSON.stringify({ approvals: [waiting] })))
  weir.listen(0, '127.0.0.1')
  await once(weir, 'listening')
  try {
    await using mails = await mailbox()
    await using own = await program({
      WEIR_URL: `http://127.0.0.1:${(weir.address() as AddressInfo).port}`,
      WEIR_WEBHOOK_SECRET: secret,
      WEIR_KEYS: JSON.stringify({ 'ada@example.com': 'wk' }),
      LINK_SECRET: linkSecret,
      LINK_MINUTES: '0.01',
      SENDMAIL: mails.program,
    })
    const body = JSON.stringify({ type: 'approval.pending', data: { id: 'a' } })
    const send = async () => {
      const at = new Date()
      const headers = {
        'webhook-id': 'event',
        'webhook-timestamp': `${Math.floor(at.getTime() / 1000)}`,
        'webhook-signature': new Webhook(secret).sign('event', at, body),
      }
      return (await fetch(`${own.url}/weir`, { method: 'POST', headers, body })).status
    }
    let received = 0
    const both = (async () => {
      for (; received < 2; received += 1) await mails.next()
    })()
    while (received < 2) expect(await send()).toBe(204)
    await both
  } finally {
    weir.closeAllConnections()
    weir.close()
  }
})
