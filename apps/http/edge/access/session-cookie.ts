// The session of a person who logged in to the console: a cookie with the ID token of the issuer.
// The cookie is HttpOnly, so no script reads the token. With SameSite=Strict and the path of
// the console, no other site causes a request with the cookie.
// Each request checks the token as a token in `Authorization`. So any server of the log
// answers, no server keeps a session, and the session ends with the token.

import type { IncomingHttpHeaders } from 'node:http'
import { parse } from 'hono/utils/cookie'
import { consolePath } from '../console-path.ts'
import type { OidcLogin } from './oidc.ts'

type Console = Pick<OidcLogin, 'consoleUrl'>

export function sessionCookie(console: Console): string {
  return `${namePrefix(console)}weir-console`
}

/** Of a login that has begun: until the issuer leads back. */
export function loginCookie(console: Console): string {
  return `${namePrefix(console)}weir-console-login`
}

/** A page without TLS cannot set such a cookie (RFC 6265bis). `__Host-` would need the path `/`. */
function namePrefix({ consoleUrl }: Console): string {
  return consoleUrl.protocol === 'https:' ? '__Secure-' : ''
}

/** Browsers drop a larger cookie. Of the token, without the name and the attributes. */
export const cookieBytesMax = 3_800

export function cookieIn({ cookie = '' }: IncomingHttpHeaders, name: string): string | undefined {
  return parse(cookie, name)[name]
}

/** `Lax` lets the issuer lead back with the cookie of the login. */
export function cookieOptions({ consoleUrl }: Console, sameSite: 'Strict' | 'Lax') {
  const secure = consoleUrl.protocol === 'https:'
  return { path: consoleUrl.pathname, httpOnly: true, sameSite, secure } as const
}

/** Whether a request reaches the data of the console. */
export function isOfConsole(request: Request): boolean {
  return new URL(request.url).pathname.includes(`${consolePath}/api/`)
}
