// Tokens of an OpenID Connect issuer: JWTs that are signed with a key of its JWKS.
// Only asymmetric algorithms count. Issuer, audience and expiry are required.
// A subject is visible ASCII, as OpenID Connect requires. So no two subjects look the same on a
// screen, and no subject writes a line or a mark.
// A token reaches all tenants only if the operator accepts such tokens.

import { createRemoteJWKSet, errors, jwtVerify } from 'jose'
import { isNamedTenant } from '../../../../shared/contract/tenant.ts'
import { WeirError } from '../../../../shared/lib/errors.ts'
import { printable } from '../../../terminal/text/printable.ts'
import { HttpError } from '../../http-error.ts'
import { isLoopback } from '../../server.ts'
import { consolePath } from '../console-path.ts'
import { isSubject, type Principal, principalId, roles } from './principal.ts'

/**
 * `jwks`: the URL of the issuer's keys. `tenantClaim`, `rolesClaim`: names of claims. `allTenants`: whether
 * a token with the tenant `*` reaches all tenants. `login`: people log in to the console.
 */
export type OidcOptions = {
  issuer: string
  audience: string
  jwks: URL
  tenantClaim: string
  rolesClaim: string
  allTenants: boolean
  login?: OidcLogin | undefined
}

/**
 * `clientSecret`: undefined: a public client. `consoleUrl`: the address of the console for browsers, such as
 * `https://weir.example/console`. `scope`: with `openid`.
 */
export type OidcLogin = {
  clientId: string
  clientSecret: string | undefined
  consoleUrl: URL
  scope: string
}

/**
 * The options with the defaults of the claims. Default of `allTenants`: false. Throws `settings.invalid`
 * for keys that others on the way could exchange.
 */
export function oidcOptionsOf({
  tenantClaim = 'tenant',
  rolesClaim = 'roles',
  allTenants = false,
  ...given
}: Omit<OidcOptions, 'tenantClaim' | 'rolesClaim' | 'allTenants'> & {
  tenantClaim?: string | undefined
  rolesClaim?: string | undefined
  allTenants?: boolean | undefined
}): OidcOptions {
  if (!isSafe(given.jwks))
    throw new WeirError(
      'settings.invalid',
      "the URL of the issuer's keys must be https, or http on this machine: keys that were changed on the way would let others sign tokens",
    )
  return { ...given, tenantClaim, rolesClaim, allTenants }
}

type LoginField = 'issuer' | 'allTenants' | 'clientId' | 'consoleUrl' | 'scope'

/** `names`: of the flags of a command, or of the options of a program. `fault`: the error with a text. */
export type LoginWords = { names: Record<LoginField, string>; fault(text: string): WeirError }

/** Throws the `fault` for a login that cannot work. `scope`: default: `openid`. */
export function oidcLoginOf(
  {
    clientId,
    clientSecret,
    consoleUrl: given = '',
    scope = 'openid',
  }: {
    clientId: string | undefined
    clientSecret: string | undefined
    consoleUrl: string | URL | undefined
    scope: string | undefined
  },
  { issuer, allTenants }: { issuer: string | undefined; allTenants: boolean },
  { names, fault }: LoginWords,
): OidcLogin {
  const consoleUrl = URL.parse(String(given))
  const isConsole = consoleUrl?.pathname.endsWith(consolePath) && !/[?#]/.test(consoleUrl.href)
  if (clientId === undefined || consoleUrl === null || !isConsole || !isSafe(consoleUrl))
    throw fault(
      `${names.clientId} and ${names.consoleUrl} go together: give the id of this server at the issuer, and the address of the console for browsers, such as https://weir.example${consolePath} (http only on this machine)`,
    )
  if (!scope.split(' ').includes('openid'))
    throw fault(`${names.scope} is '${printable(scope)}': give scopes with openid`)
  if (issuer !== undefined && !isSafe(URL.parse(issuer)))
    throw fault(`${names.issuer} must be https for a login, or http on this machine`)
  if (issuer !== undefined && !allTenants)
    throw fault(
      `${names.clientId} needs ${names.allTenants}: the console shows all tenants, so only a token with the tenant * can open the console`,
    )
  return { clientId, clientSecret, consoleUrl, scope }
}

/** Whether tokens, and the keys that prove tokens, travel unread and unchanged. */
function isSafe(url: URL | null): boolean {
  return url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopback(url.hostname))
}

/** The value of the claim with the tenant for a person of all tenants. No tenant has this name. */
const everyTenant = '*'

const algorithms = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'EdDSA']
const skewSeconds = 30

/** Reads a token. Throws 401 for one that does not count, 403 without a usable tenant or subject,
 * 503 without keys. */
export function oidcTokens({
  issuer,
  audience,
  jwks,
  tenantClaim,
  rolesClaim,
  allTenants,
}: OidcOptions): (token: string) => Promise<Principal> {
  const keys = createRemoteJWKSet(jwks)
  return async (token) => {
    const { payload } = await jwtVerify(token, keys, {
      issuer,
      audience,
      algorithms,
      clockTolerance: skewSeconds,
      requiredClaims: ['exp', 'sub'],
    }).catch((cause: unknown) => {
      throw refusal(cause)
    })
    const claimedTenant = payload[tenantClaim]
    const isOfAll = claimedTenant === everyTenant
    if (isOfAll && !allTenants)
      throw new HttpError(
        403,
        'edge.tenant',
        `the claim ${tenantClaim} of the token is ${everyTenant}, and this server accepts no token for all tenants: give a token of one tenant, or start the server with --oidc-all-tenants`,
      )
    if (!isOfAll && (typeof claimedTenant !== 'string' || !isNamedTenant(claimedTenant)))
      throw new HttpError(403, 'edge.tenant', `the token has no usable claim ${tenantClaim}`)
    const tenant = isOfAll ? null : claimedTenant
    const { sub: name } = payload
    if (!isSubject(name))
      throw new HttpError(
        403,
        'edge.subject',
        'the subject of the token must be 1 to 255 visible ASCII characters, with single blanks between them',
      )
    const claimed = payload[rolesClaim]
    const names: unknown[] = typeof claimed === 'string' ? claimed.split(' ') : asList(claimed)
    return {
      id: principalId({ tenant, kind: 'subject', name }),
      identity: 'authenticated',
      tenant,
      cancelsOnDisconnect: false,
      user: name,
      until: (Number(payload.exp) + skewSeconds) * 1000,
      roles: new Set(roles.filter((role) => names.includes(role))),
    }
  }
}

function asList(value: unknown): unknown[] {
  return Array.isArray(value) ? value : []
}

/** The text names the claim, never a value: the token is hostile. */
function refusal(cause: unknown): HttpError {
  const isOfToken =
    cause instanceof errors.JOSEError &&
    !(cause instanceof errors.JWKSTimeout || cause instanceof errors.JWKSInvalid) &&
    cause.code !== 'ERR_JOSE_GENERIC'
  if (!isOfToken)
    return new HttpError(503, 'edge.issuer', "the issuer's keys cannot be read: try again", {
      cause,
    })
  const isExpired = cause instanceof errors.JWTExpired
  return new HttpError(
    401,
    'edge.token',
    isExpired
      ? 'the token is expired: get a new one'
      : `the token does not count: ${faultIn(cause)}`,
    { cause, headers: { 'www-authenticate': 'Bearer error="invalid_token"' } },
  )
}

function faultIn(cause: unknown): string {
  if (!(cause instanceof errors.JWTClaimValidationFailed))
    return 'its form or its signature is not that of the issuer'
  const { claim, reason } = cause
  return reason === 'missing'
    ? `it has no claim ${claim}`
    : `its claim ${claim} is not the one that this server accepts`
}
