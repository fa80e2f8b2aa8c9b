// `weir mcp login` at a real authorization server, and calls with its login.

import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals'
import { pino } from 'pino'
import { type LoginOptions, mcpLogin } from '../../../../apps/service/mcp/login.ts'
import { call, says, scriptedModel } from '../../../../client/testing/testing.ts'
import { defineAgent, Weir } from '../../../../client/weir.ts'
import type { Login } from '../../../../shared/tools/mcp/token-file.ts'
import { until } from '../../../support/inbox.ts'
import { type ProtectedServer, protectedServer } from '../../../support/mcp/protected-server.ts'

let folder: string
let server: ProtectedServer
let tokenFile: string
let printed: string
let logged: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weir-login-'))
  tokenFile = join(folder, 'docs.token.json')
  server = await protectedServer()
  logged = ''
  await writeServers({
    auth: { tokenFile: 'docs.token.json' },
    headers: { 'X-Key': 'key-of-docs' },
  })
})

afterEach(async () => {
  await server.close()
  await rm(folder, { recursive: true, force: true })
})

const writeServers = (fields: object) =>
  writeFile(
    join(folder, 'servers.json'),
    JSON.stringify({ mcp: { docs: { url: server.url, ...fields } } }),
  )

function login(name = 'docs', options: LoginOptions = {}): Promise<0 | 1> {
  printed = ''
  const out = new Writable({
    write(chunk, _encoding, done) {
      printed += String(chunk)
      done()
    },
  })
  return mcpLogin(name, { servers: join(folder, 'servers.json'), ...options }, out)
}

async function page(): Promise<string> {
  await until(async () => /http\S+authorize\S+/.test(printed))
  return /http\S+authorize\S+/.exec(printed)?.[0] ?? ''
}

const stored = async () => JSON.parse(await readFile(tokenFile, 'utf8')) as Login

async function loggedIn(): Promise<Login> {
  const ended = login()
  expect(await (await server.browse(await page())).text()).toContain('Weir has the answer')
  expect(await ended).toBe(0)
  return stored()
}

/** The result of a call whose argument is a text that the server repeats. */
async function resultOf(city: string, server: { url: string }) {
  const model = scriptedModel(says(call('docs__weather', { city })), says('Done.'))
  const agent = defineAgent({
    name: 'helper',
    model,
    system: 'Help.',
    sandbox: 'off',
    mcp: { docs: { url: server.url, auth: { tokenFile } } },
  })
  const write = (line: string) => {
    logged += line
  }
  const log = pino({ level: 'debug' }, { write })
  await using weir = await Weir.open({ agents: [agent], log })
  await weir.ask({ agent, text: 'Go.' }).finished
  return model.requests[1]?.results[0]
}

describe('weir mcp login', () => {
  it('writes a login for this user only, and prints none of its values', async () => {
    const { tokens, client, server: url } = await loggedIn()
    expect({ url, client: client.client_id }).toEqual({ url: server.url, client: 'registered' })
    expect(tokens.access_token).toMatch(/^access-/)
    expect((await stat(tokenFile)).mode & 0o777).toBe(0o600)
    for (const value of [tokens.access_token, tokens.refresh_token ?? ''])
      expect(printed).not.toContain(value)
    expect(new URL((await page()) ?? '').searchParams.get('scope')).toBe('tools')
  })

  it('sends the headers of the server to no other address', async () => {
    await loggedIn()
    const withKey = server.seen.filter(({ key }) => key !== null).map(({ path }) => path)
    expect(new Set(withKey)).toEqual(new Set(['/mcp']))
    expect(server.seen.map(({ path }) => path)).toContain('/token')
  })

  it('keeps the earlier login if the person refuses', async () => {
    const before = await loggedIn()
    const ended = login()
    await server.browse(await page(), { deny: true })
    expect(await ended).toBe(1)
    expect(printed).toContain('no login')
    expect(await stored()).toEqual(before)
  })

  it('takes no answer with another state', async () => {
    const ended = login()
    const url = new URL(await page())
    const redirect = new URL(url.searchParams.get('redirect_uri') ?? '')
    for (const state of ['', 'guessed'])
      expect((await fetch(`${redirect}?code=stolen&state=${state}`)).status).toBe(404)
    await server.browse(url.href)
    expect(await ended).toBe(0)
    expect(server.grants.map(({ status }) => status)).toEqual([200])
  })

  it('refuses a server without a place for a login, an unknown one, and a secret in an argument', async () => {
    await expect(login('doc')).rejects.toThrow("no MCP server 'doc'; did you mean docs?")
    await expect(login('nope')).rejects.toThrow("no MCP server 'nope'; the servers are docs")
    await expect(login('docs', { clientSecret: 'SECRET' })).rejects.toThrow('needs --client-id')
    const refused = login('docs', { clientId: 'a', clientSecret: 's3cret' })
    await expect(refused).rejects.toThrow('--client-secret names is not set')
    await expect(refused).rejects.not.toThrow('s3cret')
    await writeServers({})
    await expect(login()).rejects.toThrow('it needs url, and auth: { tokenFile: FILE }')
  })
})

describe('an agent with a login', () => {
  it('calls tools, and no result, record or log line has a value of the login', async () => {
    const { tokens } = await loggedIn()
    expect(await resultOf('Rome', server)).toBe('18 °C in Rome')
    expect(logged).not.toContain(tokens.access_token)
    expect(logged).not.toContain(tokens.refresh_token)
    expect(await resultOf(tokens.access_token, server)).toBe('18 °C in [secret]')
  })

  it('renews it when the server refuses its token, and writes the new one', async () => {
    const before = await loggedIn()
    server.expire()
    expect(await resultOf('Rome', server)).toBe('18 °C in Rome')
    const { tokens } = await stored()
    expect(tokens.refresh_token).not.toBe(before.tokens.refresh_token)
    expect(server.grants.map(({ type }) => type)).toEqual(['authorization_code', 'refresh_token'])
    expect((await stat(tokenFile)).mode & 0o777).toBe(0o600)
  })

  it('names the remedy when the login is over, without a value of it', async () => {
    const { tokens } = await loggedIn()
    const warn = jest.spyOn(console, 'warn').mockImplementation(() => {})
    server.revoke()
    await resultOf('Rome', server)
    expect(logged).toContain('its login is over; run weir mcp login docs')
    expect(logged).not.toContain(tokens.refresh_token)
    expect(JSON.stringify(warn.mock.calls)).not.toContain(tokens.refresh_token)
    warn.mockRestore()
  })

  it('sends it to no other server', async () => {
    await loggedIn()
    const other = await protectedServer()
    await resultOf('Rome', other)
    expect(logged).toContain('a login of another server')
    expect(other.seen).toEqual([])
    await other.close()
  })

  it('names the remedy when there is no file', async () => {
    await resultOf('Rome', server)
    expect(logged).toMatch(/its tokenFile .* does not exist; write it with weir mcp login/)
  })
})
