// The audit over HTTP: entries for the key of one tenant and of all, filters, and files.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { newestWithin } from '../../../../apps/http/console/audit-routes.ts'
import { createApiKey } from '../../../../apps/http/edge/access/api-keys.ts'
import type { Role } from '../../../../apps/http/edge/access/principal.ts'
import { call, says } from '../../../../client/testing/testing.ts'
import { defineTool } from '../../../../client/weir.ts'
import type { AuditEntry } from '../../../../shared/view/audit/entries.ts'
import { until } from '../../../support/inbox.ts'
import { consoleServer } from './console-server.ts'

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'weir-audit-routes-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const keyOf = (name: string, tenant: string | null, ...roles: Role[]) =>
  createApiKey(join(folder, 'keys.json'), { name, tenant, roles })

const deploy = defineTool({
  name: 'deploy',
  description: 'Deploys a service.',
  parameters: { type: 'object', properties: { env: { type: 'string' } } },
  run: () => 'deployed',
})

/** With one allowed call of each tenant, `acme` and `beta`. */
async function servedWithDecisions() {
  const replies = ['acme', 'beta'].flatMap((env) => [says(call('deploy', { env })), says('Done.')])
  const server = await consoleServer(replies, {
    tools: [deploy],
    approvals: { rules: [{ name: 'production', tools: ['deploy'] }], waitMs: 3_600_000 },
    access: { apiKeys: join(folder, 'keys.json') },
  })
  for (const tenant of ['acme', 'beta']) {
    const turn = server.weir.ask({ agent: 'helper', text: 'go', conversation: `${tenant}:c` })
    await until(async () => (await server.weir.approvals()).length === 1)
    const [waiting] = await server.weir.approvals()
    await server.weir.allow(waiting?.id ?? '', { by: `key:${tenant}` })
    await turn.finished
  }
  return server
}

describe('the audit over HTTP', () => {
  it('has the entries of its own tenant for a key, and all of them for a key of all tenants', async () => {
    const [acme, all, asker] = [
      keyOf('acme', 'acme', 'read'),
      keyOf('all', null, 'read'),
      keyOf('asker', 'acme', 'ask'),
    ]
    await using server = await servedWithDecisions()
    const answerTo = async (key: string, query = '', path = '/v1/audit') => {
      const headers = { authorization: `Bearer ${key}` }
      const response = await fetch(`${server.url}${path}${query}`, { headers })
      const { status } = response
      const body = (await response.json()) as {
        entries?: AuditEntry[]
        error?: { code: string; message: string }
      }
      const shown = body.entries?.flatMap((entry) =>
        'name' in entry ? [[entry.tenant, entry.conversation, entry.by, entry.rawArguments]] : [],
      )
      return { status, shown, code: body.error?.code, message: body.error?.message }
    }
    const own = ['acme', 'c', 'key:acme', '{"env":"acme"}']
    expect(await answerTo(acme)).toMatchObject({ status: 200, shown: [own] })
    expect(await answerTo(acme, '?tenant=acme&kind=approval')).toMatchObject({ shown: [own] })
    expect(await answerTo(acme, '?by=key:beta')).toMatchObject({ shown: [] })
    expect(await answerTo(acme, '?tenant=beta')).toMatchObject({ status: 403, code: 'edge.tenant' })
    expect(await answerTo(acme, '?unredacted=true')).toMatchObject({ status: 403 })
    expect(await answerTo(asker)).toMatchObject({ status: 403, code: 'edge.role' })
    expect(await answerTo(all, '?since=1d%20ago')).toMatchObject({
      shown: [['beta', 'beta:c', 'key:beta', '{"env":"beta"}'], [...own].with(1, 'acme:c')],
    })
    expect(await answerTo(all, '?tenant=beta')).toMatchObject({
      shown: [['beta', 'beta:c', 'key:beta', '{"env":"beta"}']],
    })
    expect(await answerTo(all, '?tol=deploy')).toMatchObject({ status: 400 })
    for (const query of ['kind=aproval', 'since=yesterday', 'tenant=a:b']) {
      const { status, message } = await answerTo(all, `?${query}`)
      expect([status, message]).toEqual([400, expect.stringContaining(query.split('=')[0] ?? '')])
      expect(message).not.toContain('--')
    }
    expect(await answerTo(all, '?format=xml')).toMatchObject({ status: 400 })
    expect(await answerTo(acme, '', '/console/api/audit')).toMatchObject({ status: 403 })
  })

  it('has the newest entries in a file, up to a number of bytes', () => {
    const lineOf = (entry: string) => entry
    expect(newestWithin(['aaaa', 'bb', 'cc'], lineOf, 6)).toEqual(['bb\n', 'cc\n'])
    expect(newestWithin(['aaaa', 'bb', 'cc'], lineOf, 99)).toHaveLength(3)
  })

  it('sends a file in each format, which has the entries of the tenant alone', async () => {
    const acme = keyOf('acme', 'acme', 'read')
    await using server = await servedWithDecisions()
    const file = async (format: string) => {
      const headers = { authorization: `Bearer ${acme}` }
      const response = await fetch(`${server.url}/v1/audit?format=${format}`, { headers })
      expect(response.headers.get('content-disposition')).toBe('attachment')
      expect(response.headers.get('x-weir-entries-left')).toBe('0')
      return response.text()
    }
    expect(JSON.parse(await file('json'))).toMatchObject({ name: 'deploy', conversation: 'c' })
    expect(JSON.parse(await file('ocsf'))).toMatchObject({ metadata: { tenant_uid: 'acme' } })
    expect(await file('cef')).toMatch(/^CEF:0\|Weir\|.*cs2=acme.*\n$/)
  })
})
