// The routes of the console on a real server: access, the policy, and the requests of a person.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { pino } from 'pino'
import type { ListedLetter } from '../../../../apps/history/dead-letters/list.ts'
import { openLog } from '../../../../apps/history/open-log.ts'
import { printConsole } from '../../../../apps/http/console/console-command.ts'
import type { ConsoleState } from '../../../../apps/http/console/page/console-state.ts'
import { openConsoleReader } from '../../../../apps/http/console/state/console-reader.ts'
import { createApiKey } from '../../../../apps/http/edge/access/api-keys.ts'
import { call, says } from '../../../../client/testing/testing.ts'
import { defineTool } from '../../../../client/weir.ts'
import { readSettings } from '../../../../shared/settings/settings.ts'
import { makeCertificates } from '../../../support/certificates.ts'
import { until } from '../../../support/inbox.ts'
import { waitMaxMs } from '../../../support/wait-limit.ts'
import { consoleServer } from './console-server.ts'
import { writeLetterOfBytes, writeMisplacedMessage } from './write-letters.ts'

let folder = ''
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'weir-console-keys-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const act = defineTool({
  name: 'act',
  description: 'Acts.',
  parameters: { type: 'object' },
  run: () => 'done',
})
const approvals = { rules: [{ name: 'all', tools: ['act'] }], waitMs: 3_600_000 }

function sent(url: string, path: string, body: object, headers: Record<string, string> = {}) {
  const own = { 'content-type': 'application/json', origin: url }
  const options = { method: 'POST', headers: { ...own, ...headers }, body: JSON.stringify(body) }
  return fetch(`${url}/console/api/${path}`, options)
}

const { broker } = makeCertificates(['127.0.0.1'])

describe('the console', () => {
  it('serves a page that loads nothing from elsewhere and runs no script of the document', async () => {
    await using server = await consoleServer([])
    const response = await fetch(`${server.url}/console`)
    expect(response.headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'/,
    )
    const text = await response.text()
    const loaded = [...text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, path = '']) => path)
    expect(loaded).toHaveLength(3)
    for (const path of loaded) expect((await fetch(new URL(path, response.url))).status).toBe(200)
    expect(text).not.toMatch(/<style|<script>|style=|onload|https?:/)
  })

  it('takes a decision only for the arguments that were shown, and only once', async () => {
    await using server = await consoleServer([says(call('act', { a: 1 })), says('Done.')], {
      tools: [act],
      approvals,
    })
    const turn = server.weir.ask({ agent: 'helper', text: 'go', conversation: 'c' })
    for await (const event of turn) if (event.type === 'approval-pending') break
    const [waiting] = await server.weir.approvals()
    const id = waiting?.id ?? ''
    const other = await sent(server.url, 'decide', { id, hash: 'x', answer: 'allow' })
    expect(await other.json()).toMatchObject({ counted: false, outcome: 'pending' })
    const decision = { id, hash: waiting?.hash ?? '', answer: 'allow' }
    expect(await (await sent(server.url, 'decide', decision)).json()).toMatchObject({
      counted: true,
      outcome: 'allow',
    })
    expect(await (await sent(server.url, 'decide', decision)).json()).toMatchObject({
      counted: false,
    })
    expect(await turn.finished).toMatchObject({ outcome: 'answered' })
  })

  it('ends the open turns of a conversation or of an agent', async () => {
    await using server = await consoleServer([says(call('act', {}))], { tools: [act], approvals })
    const turn = server.weir.ask({ agent: 'helper', text: 'go', conversation: 'c' })
    for await (const event of turn) if (event.type === 'approval-pending') break
    expect(await (await sent(server.url, 'cancel', { agent: 'nobody' })).json()).toEqual({
      cancelled: 0,
    })
    expect(await (await sent(server.url, 'cancel', { conversation: 'c' })).json()).toEqual({
      cancelled: 1,
    })
    expect(await turn.finished).toMatchObject({ outcome: 'cancelled' })
  })

  it.each([
    ['another site', { origin: 'http://evil.example' }, 403],
    ['a form of another site', { 'content-type': 'text/plain' }, 415],
  ])('refuses a change by %s', async (_, headers, status) => {
    await using server = await consoleServer([])
    expect((await sent(server.url, 'cancel', { conversation: 'c' }, headers)).status).toBe(status)
  })

  it('refuses a change without an Origin', async () => {
    await using server = await consoleServer([])
    const headers = { 'content-type': 'application/json' }
    const options = { method: 'POST', headers, body: '{"conversation":"c"}' }
    expect((await fetch(`${server.url}/console/api/cancel`, options)).status).toBe(403)
  })

  it('writes the record of a dead letter once, also for two pages, and for no other site', async () => {
    await using server = await consoleServer([says('Hello.')], { fill: writeLetterOfBytes })
    await writeMisplacedMessage(server.folder, { conversation: 'c', text: 'hello' })
    type Listed = { letters: ListedLetter[]; total: number }
    const api = `${server.url}/console/api`
    const list = async () => (await (await fetch(`${api}/dead-letters`)).json()) as Listed
    await until(async () => (await list()).total >= 2)
    const { letters } = await list()
    const placeOf = (code: string) => letters.find((one) => one.code === code)?.place ?? ''
    const place = placeOf('codec.bad-message')
    const shown = await (await fetch(`${api}/dead-letter?place=${place}`)).json()
    expect(shown).toMatchObject({ message: { text: 'hello' }, retry: null, conversation: 'c' })

    const retry = async (given: string, headers = {}) => {
      const response = await sent(server.url, 'retry-dead-letter', { place: given }, headers)
      const body = (await response.json()) as { text?: string }
      return { status: response.status, body }
    }
    expect(await retry(place, { origin: 'http://elsewhere.example' })).toMatchObject({
      status: 403,
    })
    const both = await Promise.all([retry(place), retry(place)])
    expect(both.map(({ body }) => body.text).sort()).toEqual([
      expect.stringMatching(/^already written again, as client-messages/),
      expect.stringMatching(/^written again, as client-messages/),
    ])
    expect(await retry(placeOf('codec.bad-frame'))).toMatchObject({
      body: { isWritten: false, text: expect.stringMatching(/^not written: it still cannot be/) },
    })
    expect(await retry('9/9')).toMatchObject({ status: 400 })
    expect((await fetch(`${api}/dead-letter?place=nowhere`)).status).toBe(400)
  })

  it('shows its files to all, and data only to a key for all tenants with the role', async () => {
    const file = join(folder, 'keys.json')
    const keyOf = (name: string, tenant: string | null, roles: ('read' | 'ask' | 'decide')[]) =>
      createApiKey(file, { name, tenant, roles })
    const reader = keyOf('reader', null, ['read'])
    const tenant = keyOf('tenant', 'acme', ['read'])
    const asker = keyOf('asker', null, ['ask'])
    await using server = await consoleServer([], { access: { apiKeys: file } })
    const status = async (key?: string, path = 'state') => {
      const headers = key === undefined ? {} : { authorization: `Bearer ${key}` }
      return (await fetch(`${server.url}/console/api/${path}`, { headers })).status
    }
    expect((await fetch(`${server.url}/console`)).status).toBe(200)
    expect([await status(), await status(tenant), await status(asker)]).toEqual([401, 403, 403])
    expect([await status(reader), await status(reader, 'conversations')]).toEqual([200, 200])
    const headers = { authorization: `Bearer ${reader}` }
    const body = { id: 'x', hash: 'y', answer: 'allow' }
    expect((await sent(server.url, 'decide', body, headers)).status).toBe(403)
    expect((await sent(server.url, 'cancel', { agent: 'helper' }, headers)).status).toBe(403)
    const retry = await sent(server.url, 'retry-dead-letter', { place: '0/0' }, headers)
    expect(retry.status).toBe(403)
    expect(await status(reader, 'dead-letters')).toBe(200)
    expect(await status(tenant, 'dead-letters')).toBe(403)
    expect(await status(reader, 'audit?since=30d%20ago')).toBe(200)
    expect(await status(reader, 'audit?kind=stopp')).toBe(400)
    expect(await status(tenant, 'audit')).toBe(403)
  })

  it('hides the values of an agent from its pages, but not from the person who decides a call', async () => {
    const file = join(folder, 'redaction-keys.json')
    const reader = createApiKey(file, { name: 'reader', tenant: null, roles: ['read'] })
    const all = createApiKey(file, { name: 'all', tenant: null, roles: ['read', 'unredacted'] })
    const input = { to: 'ann@mail.example' }
    await using server = await consoleServer([says(call('act', input)), says('Done.')], {
      tools: [act],
      approvals,
      redact: ['email'],
      access: { apiKeys: file },
    })
    const turn = server.weir.ask({
      agent: 'helper',
      text: 'to bob@mail.example',
      conversation: 'c',
    })
    for await (const event of turn) if (event.type === 'approval-pending') break
    const [waiting] = await server.weir.approvals()
    expect(waiting?.rawArguments).toContain('ann@mail.example')

    const shown = async (path: string, key: string) => {
      const headers = { authorization: `Bearer ${key}` }
      const response = await fetch(`${server.url}/console/api/${path}`, { headers })
      return `${response.status} ${await response.text()}`
    }
    await until(async () => (await shown('state', reader)).includes('ann@mail.example'))
    const page = await shown('conversation?id=c', reader)
    expect(page).toContain('to [email]')
    expect(page).not.toContain('mail.example')
    expect(await shown('conversations', reader)).not.toContain('mail.example')
    const whole = 'conversation?id=c&unredacted=true'
    expect(await shown(whole, reader)).toMatch(/^403 .*unredacted/)
    expect(await shown(whole, all)).toMatch(/^200 .*bob@mail\.example.*ann@mail\.example/)
  })

  it('reports an unknown conversation, a bad filter and a bad page with a clear text', async () => {
    await using server = await consoleServer([])
    const answer = async (path: string) => {
      const response = await fetch(`${server.url}/console/api/${path}`)
      const { error } = (await response.json()) as { error: { message: string } }
      return [response.status, error.message]
    }
    expect(await answer('conversation?id=none')).toEqual([
      ...[404, expect.stringContaining('there is no conversation none')],
    ])
    expect(await answer('conversations?outcome=answerd')).toEqual([
      ...[400, expect.stringContaining('Did you mean answered?')],
    ])
    expect((await answer('conversations?agent=helpr'))[1]).toContain('The log has none')
    expect(await answer('conversations?limit=x')).toEqual([
      ...[400, expect.stringContaining('limit is NaN')],
    ])
  })

  it('has the same state after a restart of its reader', async () => {
    await using server = await consoleServer([says(call('act', { a: 1 }))], {
      tools: [act],
      approvals,
    })
    const turn = server.weir.ask({ agent: 'helper', text: 'go', conversation: 'c' })
    for await (const event of turn) if (event.type === 'approval-pending') break
    const states: Pick<ConsoleState, 'turns' | 'inbox'>[] = []
    for (const _ of [1, 2]) {
      const log = await openLog(readSettings({ dataFolder: server.folder }, {}))
      const reader = await openConsoleReader({ ...log, log: pino({ level: 'silent' }) })
      while ((await reader.state()).health.behind > 0)
        await reader.changed(reader.version, AbortSignal.timeout(waitMaxMs))
      const { turns, inbox } = await reader.state()
      states.push({ turns, inbox })
      await reader.close()
      await log.bus.close()
    }
    expect(states[0]?.inbox.waiting).toMatchObject([{ rawArguments: '{"a":1}' }])
    expect(states[1]).toEqual(states[0])
  })

  it.each([
    ['HTTP', {}],
    ['HTTPS', { tls: { cert: broker.certificate, key: broker.key } }],
  ])('has its address printed by weir console, if it runs over %s', async (_, options) => {
    await using server = await consoleServer([], options)
    let printed = ''
    const out = new Writable({
      write(piece, _, done) {
        printed += piece
        done()
      },
    })
    const { port } = new URL(server.url)
    await printConsole({ httpHost: '127.0.0.1', httpPort: port }, out)
    expect(printed).toBe(`${server.url}/console\n`)
    await expect(printConsole({ httpHost: '127.0.0.1', httpPort: '1' }, out)).rejects.toThrow(
      'no console answers at http://127.0.0.1:1/console: start weir serve',
    )
  })
})
