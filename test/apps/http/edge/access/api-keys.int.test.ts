// The life of an API key: made, used, rotated, expired, removed; and the evidence of each change.

import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { audit } from '../../../../../apps/history/audit/audit.ts'
import { apiKeysIn, createApiKey } from '../../../../../apps/http/edge/access/api-keys.ts'
import {
  createKey,
  listKeys,
  removeKey,
  rotateKey,
} from '../../../../../apps/http/edge/access/api-keys-command.ts'
import { lastUses } from '../../../../../apps/http/edge/access/key-use.ts'
import { fakeClock } from '../../../../../client/testing/testing.ts'
import { openEmbeddedBus } from '../../../../../shared/bus/embedded/bus.ts'
import { topicSpecs } from '../../../../../shared/contract/retention.ts'
import { systemClock } from '../../../../../shared/lib/clock.ts'
import { readSettings } from '../../../../../shared/settings/settings.ts'
import { output, printed } from '../../../../support/output.ts'
import { edgeServer } from '../edge-server.ts'

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'weir-api-keys-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const fileOf = () => join(folder, 'keys.json')
const settingsOf = () => readSettings({ dataFolder: folder }, { WEIR_LOG_LEVEL: 'silent' })
const dayMs = 86_400_000

async function run(
  change: (streams: { out: NodeJS.WriteStream; errors: NodeJS.WriteStream }) => Promise<void>,
): Promise<{ key: string; errors: string }> {
  const [out, errors] = [output(), output()]
  await change({ out: out.stream, errors: errors.stream })
  return { key: out.text().trim(), errors: errors.text() }
}

const create = (name: string, more: { expires?: string; tenant?: string } = {}) =>
  run((streams) => {
    const { tenant = 'acme', ...rest } = more
    const options = { file: fileOf(), by: 'ann', role: ['read'], tenant, ...rest }
    return createKey(name, options, settingsOf(), streams)
  })

const rotate = (name: string, overlap: string, expires?: string) =>
  run((streams) => {
    const options = { file: fileOf(), by: 'ben', overlap, ...(expires && { expires }) }
    return rotateKey(name, options, settingsOf(), streams)
  })

async function listed(): Promise<Record<string, unknown>[]> {
  const text = await printed(async (out) => listKeys({ file: fileOf(), json: true }, out))
  return text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
}

async function answer(url: string, key: string): Promise<[number, string | undefined]> {
  const response = await fetch(`${url}/v1/models`, { headers: { authorization: `Bearer ${key}` } })
  const { error } = (await response.json()) as { error?: { code: string; message: string } }
  return [response.status, error && `${error.code}: ${error.message}`]
}

describe('a key with an end', () => {
  it('is refused from its end on, with its own code and the time', async () => {
    const start = Date.parse('2026-11-01T00:00:00Z')
    const clock = fakeClock(start)
    const key = createApiKey(fileOf(), {
      ...{ name: 'ci', tenant: 'acme', roles: ['read'] },
      expires: start + dayMs,
    })
    await using edge = await edgeServer([], { access: { apiKeys: fileOf() }, clock })
    expect(await answer(edge.url, key)).toEqual([200, undefined])
    clock.advance(dayMs)
    expect(await answer(edge.url, key)).toEqual([
      401,
      'edge.key-expired: the key expired at 2026-11-02T00:00:00.000Z: ask the operator of this server for a new key',
    ])
  })

  it.each(['90', '0d', 'yesterday', '2020-01-01', '9e99d'])(
    'is not made with the end %s',
    async (expires) => {
      await expect(create('ci', { expires })).rejects.toThrow('such as 90d')
    },
  )
})

describe('a rotated key', () => {
  it('is replaced, and the old key counts until the overlap ends', async () => {
    const { key: old } = await create('ci')
    const { key } = await rotate('ci', '24h')
    const clock = fakeClock(Date.now())
    await using edge = await edgeServer([], { access: { apiKeys: fileOf() }, clock })
    expect(await answer(edge.url, old)).toEqual([200, undefined])
    clock.advance(2 * dayMs)
    expect(await answer(edge.url, key)).toEqual([200, undefined])
    expect(await answer(edge.url, old)).toEqual([
      401,
      expect.stringMatching(/^edge\.key-expired: the key was replaced, .* use the new key$/),
    ])
  })

  it('with an overlap of 0s ends both former keys at once', async () => {
    const { key: first } = await create('ci')
    const { key: second } = await rotate('ci', '24h')
    await expect(rotate('ci', '24h')).rejects.toThrow('--overlap 0s')
    const { key: third } = await rotate('ci', '0s')
    const keys = apiKeysIn(fileOf(), { clock: systemClock, onFault() {} })
    expect(keys.ofKey(first)).toBeUndefined()
    expect(() => keys.ofKey(second)).toThrow('the key was replaced')
    expect(keys.ofKey(third)).toMatchObject({ id: 'acme/key:ci' })
    keys.close()
  })

  it('never outlives the end that it had, and its successor needs an end', async () => {
    await create('ci', { expires: '1h' })
    await expect(rotate('ci', '24h')).rejects.toThrow('--expires 90d, or --expires never')
    await rotate('ci', '24h', 'never')
    const [shown] = await listed()
    expect(shown?.expires).toBeNull()
    const { expires } = (shown as { old: { expires: number } }).old
    expect(expires).toBeLessThanOrEqual(Date.now() + 3_600_000)
  })
})

describe('the list of keys', () => {
  it('has name, tenant, roles, times and the last use, and no key', async () => {
    const { key } = await create('ci', { expires: '90d' })
    await create('other', { tenant: 'beta' })
    const edge = await edgeServer([], { access: { apiKeys: fileOf() } })
    expect(await answer(edge.url, key)).toEqual([200, undefined])
    await edge[Symbol.asyncDispose]()
    const [first, second] = await listed()
    expect(first).toMatchObject({ name: 'ci', tenant: 'acme', roles: ['read'], subject: null })
    const { created, lastUsed, expires } = first as Record<string, number>
    expect(lastUsed).toBeGreaterThanOrEqual(created ?? Number.NaN)
    expect(expires).toBe((created ?? 0) + 90 * dayMs)
    expect(second).toMatchObject({ tenant: 'beta', lastUsed: null, expires: null, old: null })
    const text = await printed(async (out) => listKeys({ file: fileOf() }, out))
    expect(text).toMatch(/^ci {2}acme {2}read {2}created .* {2}last used .* {2}expires /)
    for (const file of ['keys.json', 'keys.json.used']) {
      expect(statSync(join(folder, file)).mode & 0o777).toBe(0o600)
      expect(text + readFileSync(join(folder, file), 'utf8')).not.toContain(key)
    }
  })
})

describe('the last use of a key', () => {
  it('is written once a minute, however many requests use the key', () => {
    const clock = fakeClock(Date.parse('2026-11-01T00:00:00Z'))
    const key = createApiKey(fileOf(), { name: 'ci', tenant: null, roles: [] })
    const keys = apiKeysIn(fileOf(), { clock, onFault: (error) => expect(error).toBeUndefined() })
    const used = () => [...lastUses(fileOf()).values()]
    const start = clock.now()
    keys.ofKey(key)
    clock.advance(0)
    expect(used()).toEqual([start])
    for (let at = 1; at < 60; at += 1) {
      clock.advance(1_000)
      keys.ofKey(key)
      expect(used()).toEqual([start])
    }
    clock.advance(1_000)
    expect(used()).toEqual([start + 59_000])
    keys.ofKey(key)
    keys.close()
    expect(used()).toEqual([start + 60_000])
  })

  it('that cannot be written refuses no request, and is reported once', () => {
    const clock = fakeClock(0)
    const key = createApiKey(fileOf(), { name: 'ci', tenant: null, roles: [] })
    const faults: unknown[] = []
    const keys = apiKeysIn(fileOf(), { clock, onFault: (error) => faults.push(error) })
    rmSync(`${fileOf()}.used`, { force: true, recursive: true })
    mkdirSync(`${fileOf()}.used`)
    for (let minute = 0; minute < 3; minute += 1) {
      expect(keys.ofKey(key)).toBeDefined()
      clock.advance(60_000)
    }
    expect(faults).toHaveLength(1)
  })
})

describe('the evidence of API keys', () => {
  beforeEach(async () => {
    const bus = await openEmbeddedBus({ file: join(folder, 'weir.db'), clock: systemClock })
    await bus.ensureTopics(topicSpecs('weir.', 1, undefined, dayMs))
    await bus.close()
  })

  it('names who made, rotated and removed which key, and has neither a key nor a hash', async () => {
    const { key, errors } = await create('ci')
    const { key: next } = await rotate('ci', '1h')
    const options = { file: fileOf(), by: 'eve' }
    const digests = readFileSync(fileOf(), 'utf8').match(/[0-9a-f]{64}/g) ?? []
    await run((streams) => removeKey('ci', options, async () => settingsOf(), streams))
    const text = await printed((out) =>
      audit({ json: true, kind: 'key', tenant: 'acme' }, settingsOf(), { out, errors: out }),
    )
    const entries = text
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line))
    expect(errors).toBe('')
    expect(entries.map(({ by, action, setting }) => [by, action, setting])).toEqual([
      ['ann', 'set', 'api-key:acme/ci'],
      ['ben', 'set', 'api-key:acme/ci'],
      ['eve', 'removed', 'api-key:acme/ci'],
    ])
    expect(JSON.parse(entries[1].after)).toMatchObject({ name: 'ci', roles: ['read'] })
    expect(digests).toHaveLength(2)
    for (const secret of [key, next, ...digests]) expect(text).not.toContain(secret)
  })
})

it('a key cannot be of the tenant default, which has the conversations of everybody without a tenant', async () => {
  await expect(create('ci', { tenant: 'default' })).rejects.toMatchObject({
    code: 'usage',
    message: expect.stringContaining('nor default'),
  })
})

it('a key is removed also under settings that cannot be read, with a warning', async () => {
  await create('ci')
  const unread = async () => readSettings({ dataFolder: folder, partitions: '-1' }, {})
  const { errors } = await run((streams) =>
    removeKey('ci', { file: fileOf(), by: 'eve' }, unread, streams),
  )
  expect(readFileSync(fileOf(), 'utf8')).not.toContain('"ci"')
  expect(errors).toContain('has no evidence in audit')
})

it('a rotated key has an overlap of at most a year', async () => {
  await create('ci')
  await expect(rotate('ci', '366d')).rejects.toMatchObject({
    code: 'usage',
    message: expect.stringContaining('365d at most'),
  })
})

it('a key that is made without a log counts, with a warning that it has no evidence', async () => {
  const { key, errors } = await create('ci')
  expect(key).toMatch(/^weir_/)
  expect(errors).toMatch(/api-key:acme\/ci is in force, but has no evidence in audit/)
})
