// The login of the console in a real browser, with a real OpenID provider on another site.

import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import Provider from 'oidc-provider'
import { pino } from 'pino'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import { oidcOptionsOf } from '../../apps/http/edge/access/oidc.ts'
import { says } from '../../client/testing/testing.ts'
import { type ConsoleServer, consoleServer } from '../apps/http/console/console-server.ts'
import { findChromium } from '../support/chromium.ts'

const program = findChromium()
const withBrowser = program === undefined ? describe.skip : describe

let browser: Browser
beforeAll(async () => {
  if (program === undefined) return
  const args = ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage']
  browser = await chromium.launch({ executablePath: program, headless: true, args })
})
afterAll(async () => browser?.close())

type Claims = { tenant: string; roles: string[] }

type Served = AsyncDisposable & {
  server: ConsoleServer
  consoleUrl: string
  issuer: string
  stopIssuer(): Promise<void>
}

/** A port that was free a moment ago: the provider knows the address of the console before it starts. */
async function freePort(): Promise<number> {
  const server = createServer()
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  await closed(server)
  return port
}

async function closed(server: Server): Promise<void> {
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
}

type Issuer = AsyncDisposable & { issuer: string; stop(): Promise<void> }

/** `localhost` and `127.0.0.1` are two sites. Each person has these claims. */
async function startIssuer(consoleUrl: URL, claims: Claims): Promise<Issuer> {
  let answer: RequestListener
  const http = createServer((request, response) => answer(request, response))
  await once(http.listen(0, 'localhost'), 'listening')
  const issuer = `http://localhost:${(http.address() as AddressInfo).port}`
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: 'weir-console',
        client_secret: 'secret-of-the-client',
        redirect_uris: [`${consoleUrl.href}/login/callback`],
        post_logout_redirect_uris: [consoleUrl.href],
      },
    ],
    pkce: { required: () => true },
    claims: { openid: ['sub', 'tenant', 'roles'] },
    conformIdTokenClaims: false,
    cookies: { keys: ['a key of this test'] },
    findAccount: (_: unknown, id: string) => ({
      accountId: id,
      claims: () => ({ sub: id, ...claims }),
    }),
  })
  answer = provider.callback()
  return {
    issuer,
    stop: () => closed(http),
    async [Symbol.asyncDispose]() {
      if (http.listening) await closed(http)
    },
  }
}

async function servedWithLogin(
  claims: Claims,
  {
    clientSecret = 'secret-of-the-client',
    logged = [],
  }: { clientSecret?: string; logged?: string[] } = {},
): Promise<Served> {
  const port = await freePort()
  const consoleUrl = new URL(`http://127.0.0.1:${port}/console`)
  const started = await startIssuer(consoleUrl, claims)
  const { issuer } = started
  const server = await consoleServer([says('Hello.')], {
    port,
    log: pino({ level: 'warn' }, { write: (line: string) => void logged.push(line) }),
    access: {
      oidc: oidcOptionsOf({
        issuer,
        audience: 'weir-api',
        jwks: new URL(`${issuer}/jwks`),
        allTenants: true,
        login: {
          clientId: 'weir-console',
          clientSecret,
          consoleUrl,
          scope: 'openid',
        },
      }),
    },
  })
  return {
    server,
    issuer,
    consoleUrl: consoleUrl.href,
    stopIssuer: started.stop,
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]()
      await started[Symbol.asyncDispose]()
    },
  }
}

/** At the forms of the provider: a name, and the consent. */
async function logIn(page: Page, name: string): Promise<void> {
  await page.click('text=Log in')
  await page.fill('input[name=login]', name)
  await page.fill('input[name=password]', 'any')
  await page.click('button[type=submit]')
  await page.click('button:has-text("Continue")')
}

const sessionOf = async (context: BrowserContext) =>
  (await context.cookies()).find(({ name }) => name === 'weir-console')

withBrowser('the login of the console', () => {
  it('leads to the issuer and back to the same page, with a session that no script reads', async () => {
    await using served = await servedWithLogin({ tenant: '*', roles: ['read', 'decide'] })
    const { server, consoleUrl, issuer } = served
    await server.weir.ask({ agent: 'helper', text: 'hi', conversation: 'c' }).finished
    await using context = await browser.newContext()
    const page = await context.newPage()
    await page.goto(`${consoleUrl}#/conversations?agent=helper`)
    await page.waitForSelector('text=This server asks who you are')
    await logIn(page, 'ann')
    await page.waitForSelector('.conversation-row')
    await page.waitForSelector('header:has-text("ann (login)")')
    expect(page.url()).toBe(`${consoleUrl}#/conversations?agent=helper`)

    const session = await sessionOf(context)
    expect(session).toMatchObject({ httpOnly: true, sameSite: 'Strict', path: '/console' })
    expect(session?.expires).toBeGreaterThan(Date.now() / 1000)
    expect(await page.evaluate('document.cookie')).toBe('')
    expect(await page.evaluate('JSON.stringify({ ...sessionStorage })')).not.toContain('eyJ')
    const cookie = `weir-console=${session?.value}`
    const status = async (path: string, headers: Record<string, string>, method = 'GET') =>
      (await fetch(new URL(path, consoleUrl), { method, headers })).status
    expect(await status('/console/api/state', { cookie })).toBe(200)
    expect(await status('/console/api/state', { cookie: `${cookie.slice(0, -4)}AAAA` })).toBe(401)
    expect(await status('/v1/models', { cookie })).toBe(401)
    const foreign = { cookie, origin: issuer, 'content-type': 'application/json' }
    expect(await status('/console/logout', foreign, 'POST')).toBe(403)

    const { origin } = new URL(consoleUrl)
    const own = { ...foreign, origin }
    const logout = { method: 'POST', headers: own, body: '{}' }
    const ended = await (await fetch(`${consoleUrl}/logout`, logout)).text()
    expect(ended).toContain(`${issuer}/session/end?`)
    expect(ended).not.toContain(session?.value)

    await page.click('text=Log out')
    await page.waitForURL((url) => url.href.startsWith(issuer))
    expect(page.url()).not.toContain('eyJ')
    expect(await sessionOf(context)).toBeUndefined()
    await page.click('button:has-text("Yes")')
    await page.waitForSelector('text=This server asks who you are')
  })

  it('of a handler of a program leads back below the path of the program', async () => {
    const port = await freePort()
    const consoleUrl = new URL(`http://127.0.0.1:${port}/api/weir/console`)
    await using started = await startIssuer(consoleUrl, { tenant: '*', roles: ['read'] })
    const { issuer } = started
    await using served = await consoleServer([says('Hello.')])
    const handler = served.weir.http({
      basePath: '/api/weir',
      oidc: {
        issuer,
        audience: 'weir-api',
        jwks: `${issuer}/jwks`,
        allTenants: true,
        login: { clientId: 'weir-console', clientSecret: 'secret-of-the-client', consoleUrl },
      },
    })
    const server = createServer(handler.node)
    await once(server.listen(port, '127.0.0.1'), 'listening')
    try {
      await using context = await browser.newContext()
      const page = await context.newPage()
      await page.goto(consoleUrl.href)
      await logIn(page, 'ann')
      await page.waitForSelector('header:has-text("ann (login)")')
      const session = await sessionOf(context)
      expect(session).toMatchObject({ httpOnly: true, path: '/api/weir/console' })
    } finally {
      await closed(server)
    }
  })

  it('of a person of one tenant ends at the page with the reason', async () => {
    await using served = await servedWithLogin({ tenant: 'acme', roles: ['read'] })
    await using context = await browser.newContext()
    const page = await context.newPage()
    await page.goto(served.consoleUrl)
    await logIn(page, 'ben')
    await page.waitForSelector('text=the console shows all conversations')
    // The session would otherwise refuse each other account too.
    expect(await sessionOf(context)).toBeDefined()
    await page.click('text=Log out')
    await page.waitForURL((url) => url.href.startsWith(served.issuer))
    expect(await sessionOf(context)).toBeUndefined()
  })

  it('does not count without the cookie of the browser that began it', async () => {
    await using served = await servedWithLogin({ tenant: '*', roles: ['read'] })
    const begin = await fetch(`${served.consoleUrl}/login`, { redirect: 'manual' })
    const to = new URL(begin.headers.get('location') ?? '')
    expect(Object.fromEntries(to.searchParams)).toMatchObject({
      response_type: 'code',
      code_challenge_method: 'S256',
      nonce: expect.any(String),
      state: expect.any(String),
    })
    const [cookie = ''] = (begin.headers.get('set-cookie') ?? '').split(';')
    const state = to.searchParams.get('state') ?? ''
    const callback = async (query: string, headers: Record<string, string>) => {
      const url = `${served.consoleUrl}/login/callback?${query}`
      const response = await fetch(url, { headers, redirect: 'manual' })
      const { error } = (await response.json()) as { error: { code: string } }
      return [response.status, error.code, response.headers.getSetCookie().join()]
    }
    const refused = [401, 'console.login', '']
    expect(await callback(`code=x&state=${state}`, {})).toEqual(refused)
    expect(await callback('code=x&state=other', { cookie })).toEqual(refused)
    expect(await callback('code=x', { cookie })).toEqual(refused)
    const garbled = 'weir-console-login=bm90LWpzb24'
    expect(await callback('code=x&state=', { cookie: garbled })).toEqual(refused)
    // The issuer does not know this code.
    const unknown = await callback(`code=x&state=${state}`, { cookie })
    expect(unknown.slice(0, 2)).toEqual([401, 'console.login'])
    expect(unknown[2]).toContain('weir-console-login=; Max-Age=0')
  })

  it('that the issuer refuses is a line in the log with codes and without a text of the issuer', async () => {
    const logged: string[] = []
    const wrong = { clientSecret: 'wrong-secret', logged }
    await using served = await servedWithLogin({ tenant: '*', roles: ['read'] }, wrong)
    const callback = await begunLogin(served.consoleUrl)
    expect(await callback('code=a-code')).toEqual([401, 'console.login'])
    expect(logged.map((line) => JSON.parse(line))).toEqual([
      expect.objectContaining({ level: 40, msg: 'a login to the console failed', status: 401 }),
    ])
    const cancelled = await begunLogin(served.consoleUrl)
    expect(await cancelled('error=access_denied&error_description=a-text')).toEqual([
      401,
      'console.login',
    ])
    const odd = await begunLogin(served.consoleUrl)
    expect(await odd('error=a-text')).toEqual([401, 'console.login'])
    const code = 'OAUTH_AUTHORIZATION_RESPONSE_ERROR'
    expect(JSON.parse(logged[1] ?? '')).toMatchObject({ code, error: 'access_denied' })
    expect(JSON.parse(logged[2] ?? '')).toMatchObject({ code })
    expect(logged.join()).not.toMatch(/wrong-secret|a-code|a-text/)
  })

  it('answers 503 and leaves a line in the log while the issuer is unreachable', async () => {
    const logged: string[] = []
    await using served = await servedWithLogin({ tenant: '*', roles: ['read'] }, { logged })
    const callback = await begunLogin(served.consoleUrl)
    await served.stopIssuer()
    expect(await callback('code=a-code')).toEqual([503, 'edge.issuer'])
    expect(logged).toHaveLength(1)
    expect(logged.join()).not.toContain('a-code')
  })
})

/** Begins a login, and returns a function that sends the issuer's answer and reads the error. */
async function begunLogin(
  consoleUrl: string,
): Promise<(query: string) => Promise<[number, string]>> {
  const begin = await fetch(`${consoleUrl}/login`, { redirect: 'manual' })
  const to = new URL(begin.headers.get('location') ?? '')
  const state = to.searchParams.get('state') ?? ''
  const [cookie = ''] = (begin.headers.get('set-cookie') ?? '').split(';')
  return async (query) => {
    // An answer without `iss` is refused if the issuer announces it (RFC 9207).
    const search = `${query}&state=${state}&iss=${encodeURIComponent(to.origin)}`
    const url = `${consoleUrl}/login/callback?${search}`
    const response = await fetch(url, { headers: { cookie }, redirect: 'manual' })
    const { error } = (await response.json()) as { error: { code: string } }
    return [response.status, error.code]
  }
}
