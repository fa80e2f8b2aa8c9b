// An MCP server under OAuth, with its authorization server: both in this process, over real HTTP.

import { createHash, randomUUID } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import { serve } from '@hono/node-server'
import { createMcpHandler } from '@modelcontextprotocol/server'
import { testServer } from './server.ts'

export type ProtectedServer = {
  url: string
  /** The requests to the token endpoint, and the answer to each. */
  grants: { type: string; scope: string | null; status: number }[]
  /** All requests: the path, and the value of `X-Key`. */
  seen: { path: string; key: string | null }[]
  /** From now on the access tokens so far are refused. */
  expire(): void
  /** From now on the refresh tokens so far are refused too. */
  revoke(): void
  /** The page at the end of the person's redirects. `deny`: the person refuses. */
  browse(authorizeUrl: string, options?: { deny?: boolean }): Promise<Response>
  close(): Promise<void>
}

export async function protectedServer(): Promise<ProtectedServer> {
  const mcp = createMcpHandler(testServer)
  const grants: ProtectedServer['grants'] = []
  const seen: ProtectedServer['seen'] = []
  const codes = new Map<string, { challenge: string; redirect: string }>()
  let access = new Set<string>()
  let refresh = new Set<string>()
  let origin = ''
  const json = (value: unknown, status = 200, headers = {}) =>
    Response.json(value, { status, headers })

  function issued(): Response {
    const [accessToken, refreshToken] = [`access-${randomUUID()}`, `refresh-${randomUUID()}`]
    access.add(accessToken)
    refresh.add(refreshToken)
    return json({
      access_token: accessToken,
      refresh_token: refreshToken,
      token_type: 'Bearer',
      expires_in: 3600,
    })
  }

  function token(form: URLSearchParams): Response {
    if (form.get('grant_type') === 'refresh_token')
      return refresh.delete(form.get('refresh_token') ?? '')
        ? issued()
        : json({ error: 'invalid_grant', error_description: form.get('refresh_token') }, 400)
    const code = codes.get(form.get('code') ?? '')
    codes.delete(form.get('code') ?? '')
    const challenge = createHash('sha256').update(form.get('code_verifier') ?? '')
    const isRight =
      code?.challenge === challenge.digest('base64url') &&
      code.redirect === form.get('redirect_uri')
    return isRight ? issued() : json({ error: 'invalid_grant' }, 400)
  }

  function authorize(params: URLSearchParams): Response {
    const redirect = params.get('redirect_uri') ?? ''
    const target = new URL(redirect)
    target.searchParams.set('state', params.get('state') ?? '')
    if (params.get('deny') === 'yes') target.searchParams.set('error', 'access_denied')
    else {
      const code = randomUUID()
      codes.set(code, { challenge: params.get('code_challenge') ?? '', redirect })
      target.searchParams.set('code', code)
    }
    return new Response(null, { status: 302, headers: { location: target.href } })
  }

  async function answer(request: Request): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url)
    seen.push({ path: pathname, key: request.headers.get('x-key') })
    if (pathname.startsWith('/.well-known/oauth-protected-resource'))
      return json({ resource: `${origin}/mcp`, authorization_servers: [origin] })
    if (pathname === '/.well-known/oauth-authorization-server')
      return json({
        issuer: origin,
        authorization_endpoint: `${origin}/authorize`,
        token_endpoint: `${origin}/token`,
        registration_endpoint: `${origin}/register`,
        response_types_supported: ['code'],
        code_challenge_methods_supported: ['S256'],
        token_endpoint_auth_methods_supported: ['none'],
      })
    if (pathname === '/register')
      return json({ ...((await request.json()) as object), client_id: 'registered' }, 201)
    if (pathname === '/authorize') return authorize(searchParams)
    if (pathname === '/token') {
      const form = new URLSearchParams(await request.text())
      const response = token(form)
      const { status } = response
      grants.push({ type: form.get('grant_type') ?? '', scope: form.get('scope'), status })
      return response
    }
    const bearer = /^Bearer (.*)$/.exec(request.headers.get('authorization') ?? '')?.[1] ?? ''
    if (access.has(bearer)) return mcp.fetch(request)
    const metadata = `${origin}/.well-known/oauth-protected-resource/mcp`
    const challenge = `Bearer resource_metadata="${metadata}", scope="tools"`
    return json({}, 401, { 'www-authenticate': challenge })
  }

  const server = await new Promise<ReturnType<typeof serve>>((resolve) => {
    const listening = serve({ port: 0, hostname: '127.0.0.1', fetch: answer }, () =>
      resolve(listening),
    )
  })
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url: `${origin}/mcp`,
    grants,
    seen,
    expire() {
      access = new Set()
    },
    revoke() {
      access = new Set()
      refresh = new Set()
    },
    browse: (url, { deny = false } = {}) => fetch(deny ? `${url}&deny=yes` : url),
    close: () => new Promise<void>((resolve) => server.close(() => resolve())),
  }
}
