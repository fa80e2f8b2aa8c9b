// The login of the console: the authorization code flow with PKCE, state and nonce, by the library
// openid-client. The check of tokens (oidc.ts) then decides about the ID token.
// A code counts only with the state in the cookie of the browser that began the login.
// The issuer gets no request without this cookie.
// No answer and no log line has a token, a code or a text of the issuer.
// A few answers at once lead to requests to the issuer. The others wait in a line.

import { Hono } from 'hono'
import { deleteCookie, setCookie } from 'hono/cookie'
import {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  buildEndSessionUrl,
  ClientError,
  type Configuration,
  calculatePKCECodeChallenge,
  discovery,
  None,
  randomNonce,
  randomPKCECodeVerifier,
  randomState,
} from 'openid-client'
import { isObject } from '../../../shared/lib/json/json-object.ts'
import { createSlots } from '../../../shared/lib/slots.ts'
import { type OidcLogin, type OidcOptions, oidcTokens } from '../edge/access/oidc.ts'
import {
  cookieBytesMax,
  cookieIn,
  cookieOptions,
  loginCookie,
  sessionCookie,
} from '../edge/access/session-cookie.ts'
import { consolePath } from '../edge/console-path.ts'
import type { EdgeContext, Protocol } from '../edge/edge-context.ts'
import { HttpError } from '../http-error.ts'
import type { HttpApp } from '../server.ts'
import { refuseOtherSites } from './console-routes.ts'
import { within } from './route-parts.ts'

/** Answers of logins for which the console asks the issuer at once. */
const consoleLoginsMax = 8

/** A person who has begun a login has this time for the issuer's pages. */
const loginSeconds = 600

const timeoutCode = 'OAUTH_TIMEOUT'

/** The error codes of RFC 6749 and OpenID Connect Core that an issuer answers during a login. */
const oauthErrors: ReadonlySet<string> = new Set([
  'access_denied',
  'account_selection_required',
  'consent_required',
  'interaction_required',
  'invalid_client',
  'invalid_grant',
  'invalid_request',
  'invalid_scope',
  'login_required',
  'server_error',
  'temporarily_unavailable',
  'unauthorized_client',
  'unsupported_grant_type',
  'unsupported_response_type',
])

export function loginProtocol(oidc: OidcOptions, login: OidcLogin): Protocol {
  return {
    name: 'console-login',
    routes: () => new Hono(),
    publicRoutes: (context) => loginRoutes(context, oidc, login),
  }
}

type Begun = { state: string; nonce: string; verifier: string }

function loginRoutes({ log, clock }: EdgeContext, oidc: OidcOptions, login: OidcLogin): HttpApp {
  const app: HttpApp = new Hono()
  const { consoleUrl, clientId, scope } = login
  const redirectUrl = `${consoleUrl.href}/login/callback`
  const principalOf = oidcTokens({ ...oidc, audience: clientId })
  const issuer = issuerOf(oidc.issuer, login)
  const answers = createSlots(consoleLoginsMax)

  app.get(`${consolePath}/login`, async (context) => {
    const begun: Begun = {
      state: randomState(),
      nonce: randomNonce(),
      verifier: randomPKCECodeVerifier(),
    }
    const url = buildAuthorizationUrl(await issuer(), {
      redirect_uri: redirectUrl,
      scope,
      state: begun.state,
      nonce: begun.nonce,
      code_challenge: await calculatePKCECodeChallenge(begun.verifier),
      code_challenge_method: 'S256',
    })
    const value = Buffer.from(JSON.stringify(begun)).toString('base64url')
    setCookie(context, loginCookie(login), value, {
      ...cookieOptions(login, 'Lax'),
      maxAge: loginSeconds,
    })
    context.header('cache-control', 'no-store')
    return context.redirect(url.href)
  })

  app.get(`${consolePath}/login/callback`, async (context) => {
    context.header('cache-control', 'no-store')
    context.header('referrer-policy', 'no-referrer')
    const begun = begunIn(cookieIn(context.env.incoming.headers, loginCookie(login)))
    if (begun === undefined || begun.state !== context.req.query('state'))
      throw failed('no login of this browser waits for this answer')
    deleteCookie(context, loginCookie(login), cookieOptions(login, 'Lax'))
    const answer = new URL(redirectUrl)
    answer.search = new URL(context.req.url).search
    const { outgoing } = context.env
    const granted = within(
      answers,
      async () =>
        authorizationCodeGrant(await issuer(), answer, {
          pkceCodeVerifier: begun.verifier,
          expectedState: begun.state,
          expectedNonce: begun.nonce,
          idTokenExpected: true,
        }),
      { line: 'login', outgoing },
    )
    const token = await granted.then(
      ({ id_token }) => id_token ?? '',
      (cause: unknown) => {
        if (cause instanceof HttpError) throw cause
        if (isUnreachable(cause)) throw unreachable(cause)
        log.warn(loginFault(cause), 'a login to the console failed')
        throw failed('the issuer gave no valid ID token, or the person cancelled', cause)
      },
    )
    if (token.length > cookieBytesMax)
      throw failed(
        `the ID token has ${token.length} characters, more than the ${cookieBytesMax} of a cookie: let the issuer leave claims out`,
      )
    const principal = await principalOf(token)
    const seconds = Math.floor(((principal.until ?? 0) - clock.now()) / 1000)
    setCookie(context, sessionCookie(login), token, {
      ...cookieOptions(login, 'Strict'),
      maxAge: Math.max(0, seconds),
    })
    log.info({ by: principal.id }, 'a person logged in to the console')
    return context.redirect(consoleUrl.href)
  })

  app.post(`${consolePath}/logout`, async (context) => {
    refuseOtherSites(context)
    deleteCookie(context, sessionCookie(login), cookieOptions(login, 'Strict'))
    const configuration = await issuer().catch(() => undefined) // the session here ends anyway
    return context.json({ url: endUrl(configuration).href })
  })

  /** Without id_token_hint, since no answer has a token: the library names the client instead. */
  function endUrl(configuration: Configuration | undefined): URL {
    if (configuration?.serverMetadata().end_session_endpoint === undefined) return consoleUrl
    return buildEndSessionUrl(configuration, { post_logout_redirect_uri: consoleUrl.href })
  }

  return app
}

/** The issuer's configuration, read once. A failed read is repeated by the next request. */
function issuerOf(
  issuer: string,
  { clientId, clientSecret }: OidcLogin,
): () => Promise<Configuration> {
  const url = new URL(issuer)
  const options = url.protocol === 'http:' ? { execute: [allowInsecureRequests] } : {}
  let known: Promise<Configuration> | undefined
  return () => {
    known ??= discovery(
      url,
      clientId,
      clientSecret,
      clientSecret === undefined ? None() : undefined,
      options,
    ).catch((cause: unknown) => {
      known = undefined
      throw unreachable(cause)
    })
    return known
  }
}

/** Undefined: no login has begun. The cookie is of the browser, and can have any value. */
function begunIn(value: string | undefined): Begun | undefined {
  if (value === undefined) return undefined
  try {
    const begun: unknown = JSON.parse(Buffer.from(value, 'base64url').toString())
    if (!isObject(begun)) return undefined
    const { state, nonce, verifier } = begun
    const texts = [state, nonce, verifier]
    return texts.every((text) => typeof text === 'string' && text !== '')
      ? (begun as Begun)
      : undefined
  } catch {
    return undefined
  }
}

/** A failed `fetch` is a TypeError. */
function isUnreachable(cause: unknown): boolean {
  return cause instanceof TypeError || (cause instanceof ClientError && cause.code === timeoutCode)
}

function unreachable(cause: unknown): HttpError {
  return new HttpError(503, 'edge.issuer', 'the issuer cannot be reached: try again', { cause })
}

/**
 * `code`: of the library. `error`: a code of OAuth in the issuer's answer, such as `invalid_client`;
 * other texts of the issuer are left out. `status`: of that answer.
 */
function loginFault(cause: unknown): { code?: string; error?: string; status?: number } {
  if (!(cause instanceof Error)) return {}
  const { code, error, status } = cause as { code?: string; error?: string; status?: number }
  return {
    ...(code !== undefined && { code }),
    ...(error !== undefined && oauthErrors.has(error) && { error }),
    ...(status !== undefined && { status }),
  }
}

function failed(why: string, cause?: unknown): HttpError {
  return new HttpError(401, 'console.login', `the login failed: ${why}. Open the console again`, {
    cause,
  })
}
