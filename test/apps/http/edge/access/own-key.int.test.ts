import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { isListenedByUser } from '../../../../../apps/http/console/listening-user.ts'
import { ownKeyIn, ownKeyOf } from '../../../../../apps/http/edge/access/own-key.ts'
import {
  type EdgeFlags,
  edgeOptionsOf,
  withOwnKey,
} from '../../../../../apps/http/edge/edge-flags.ts'
import { edgeServer, post } from '../edge-server.ts'

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'weir-own-key-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

describe('the key of a data folder', () => {
  it('is made once, complete, and for its user alone', () => {
    const dataFolder = join(folder, 'new')
    expect(ownKeyIn(dataFolder)).toBe(undefined)
    const { key, file } = ownKeyOf(dataFolder)
    expect(key).toMatch(/^weir_[A-Za-z0-9_-]{43}$/)
    expect(readFileSync(file, 'utf8')).toBe(`${key}\n`)
    expect([statSync(dataFolder).mode & 0o777, statSync(file).mode & 0o777]).toEqual([0o700, 0o600])
    expect(ownKeyOf(dataFolder)).toEqual({ key, file })
    expect(ownKeyIn(dataFolder)).toEqual({ key, file })
  })

  it('is refused if other users can read it, or if it is no key', () => {
    const { file } = ownKeyOf(folder)
    chmodSync(file, 0o644)
    expect(() => ownKeyOf(folder)).toThrow('other users can read or write it: run chmod 600 on it')
    writeFileSync(file, 'weir_short\n')
    chmodSync(file, 0o600)
    expect(() => ownKeyOf(folder)).toThrow('it holds no key. Remove the file')
  })

  it('counts only for a server without other keys, and never for a keyless one', () => {
    const settings = { dataFolder: folder }
    const oidc = { oidcIssuer: 'https://i', oidcAudience: 'a', oidcJwks: 'https://i/k' }
    const given = (flags: EdgeFlags) => withOwnKey(edgeOptionsOf(flags), flags, settings)
    for (const flags of [{ apiKeys: 'keys.json' }, oidc, { keyless: true }]) {
      const { options, own, secrets } = given(flags)
      expect([options.access.ownKey, own, secrets]).toEqual([undefined, undefined, []])
    }
    expect(ownKeyIn(folder)).toBe(undefined)
    const { options, own, secrets } = given({})
    expect(own).toEqual(ownKeyIn(folder))
    expect([options.access.ownKey, secrets]).toEqual([own?.key, [own?.key]])
    expect(() => edgeOptionsOf({ keyless: true, apiKeys: 'keys.json' })).toThrow('--keyless goes')
    expect(() => edgeOptionsOf({ keyless: true, httpHost: '0.0.0.0' })).toThrow('open to other')
  })

  it('opens the server to those who send it, and to nobody else', async () => {
    const { key: ownKey } = ownKeyOf(folder)
    await using edge = await edgeServer([], { access: { ownKey } })
    const status = async (headers: Record<string, string>) =>
      (await fetch(`${edge.url}/v1/models`, { headers })).status
    expect(await status({})).toBe(401)
    expect(await status({ authorization: 'Bearer none' })).toBe(401)
    expect(await status({ authorization: `Bearer ${ownKey.slice(0, -1)}` })).toBe(401)
    expect(await status({ authorization: `Bearer ${ownKey}` })).toBe(200)
    const denied = await post(`${edge.url}/v1/approvals/x/allow`, {})
    expect([denied.status, await denied.text()]).toEqual([401, expect.not.stringContaining(ownKey)])
  })
})

describe('the listener on a port', () => {
  const line = (user: number, state = '0A') =>
    `  0: 0100007F:102C 00000000:0000 ${state} 00000000:00000000 00:00000000 00000000 ${user} 0 1`

  it.each<[string, string[], boolean]>([
    ['is this user', [line(7)], true],
    ['is another user', [line(8)], false],
    ['is this user and another one', [line(7), line(8)], false],
    ['is nobody: a connection is no listener', [line(7, '01')], false],
    ['is unknown', [], false],
  ])('%s', (_, lines, expected) => {
    const read = (file: string) => (file.endsWith('6') ? '' : ['head', ...lines, ''].join('\n'))
    expect(isListenedByUser(0x102c, 7, read)).toBe(expected)
    expect(isListenedByUser(0x102d, 7, read)).toBe(false)
  })
})
