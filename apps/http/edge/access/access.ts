// The author of a request: a user that a program has proved, a key or a token in
// `Authorization: Bearer …`, or a client certificate.
// Without keys and without an issuer the server listens on this machine only. The key of
// its data folder opens it to the folder's user. `--keyless` opens it to each program of the machine.
// A certificate counts if the clients' authority signed it, the time is right, and the key file has
// the subject. A key or a token in the request counts instead of it.
// The program names a user, or none: then the rest of the request decides as without a
// program. A user in another form is an error of the program, and the request gets nothing.

import type { IncomingMessage } from 'node:http'
import { TLSSocket } from 'node:tls'
import type { HttpOptions, HttpPrincipal } from '../../../../client/http/http-options.ts'
import { personHere } from '../../../../services/approval/performer/person.ts'
import { isNamedTenant, namedTenantRule } from '../../../../shared/contract/tenant.ts'
import { WeirError } from '../../../../shared/lib/errors.ts'
import { HttpError, withFields } from '../../http-error.ts'
import type { EdgeContext } from '../edge-context.ts'
import { apiKeyPrefix, apiKeysIn } from './api-keys.ts'
import { type OidcOptions, oidcTokens } from './oidc.ts'
import { bearerIn, hasKey } from './own-key.ts'
import { isSubject, type Principal, principalId, type Role, roles } from './principal.ts'
import { cookieIn, isOfConsole, sessionCookie } from './session-cookie.ts'

/**
 * `apiKeys`: a file. `ownKey`: of the data folder; without the others it is the only key. `principal`:
 * of the program that serves its agents.
 */
export type AccessOptions = {
  apiKeys?: string | undefined
  oidc?: OidcOptions | undefined
  ownKey?: string | undefined
  principal?: HttpOptions['principal'] | undefined
}

/** `incoming` and `request` are the same request. */
export type Access = (
  incoming: Pick<IncomingMessage, 'headers' | 'socket'>,
  request: Request,
) => Promise<Principal>

type AccessParts = Pick<EdgeContext, 'clock' | 'log' | 'closing'>

/** Throws `settings.invalid` for an unusable file. The result throws 401, 403 and 503. */
export function accessOf({ principal, ...options }: AccessOptions, parts: AccessParts): Access {
  const byKey = accessByKey(options, parts)
  if (principal === undefined) return byKey
  return async (incoming, request) => {
    const { headers, method, url } = request
    const user = await principal({ headers, method, url })
    return user === undefined ? byKey(incoming, request) : signedIn(user)
  }
}

/** Throws `settings.invalid`, which no client sees. */
function signedIn(user: HttpPrincipal): Principal {
  const { name, tenant, roles: own = ['ask', 'read'], context, record, cancelOnDisconnect } = user
  if (!isSubject(name))
    throw wrongUser('name must be 1 to 255 visible ASCII characters, such as the id of a user')
  if (tenant !== null && !isNamedTenant(tenant))
    throw wrongUser(`tenant must be null for all tenants, or the name of one: ${namedTenantRule}`)
  const unknown = own.find((role) => !roles.includes(role))
  if (unknown !== undefined) throw wrongUser(`roles must be of ${roles.join(', ')}`)
  return {
    id: principalId({ tenant, kind: 'signed-in', name }),
    identity: 'authenticated',
    tenant,
    roles: new Set<Role>(own),
    cancelsOnDisconnect: cancelOnDisconnect === true,
    user: name,
    ...(context !== undefined && { context: { value: context, record: record === true } }),
  }
}

function wrongUser(text: string): WeirError {
  return new WeirError('settings.invalid', `principal of weir.http returned a wrong user: ${text}`)
}

function accessByKey(
  { apiKeys, oidc, ownKey }: Omit<AccessOptions, 'principal'>,
  { clock, log, closing }: AccessParts,
): Access {
  if (apiKeys === undefined && oidc === undefined) {
    const here: Principal = {
      id: principalId({ tenant: null, kind: 'user', name: personHere() }),
      identity: 'claimed',
      tenant: null,
      roles: new Set(roles),
      cancelsOnDisconnect: false,
    }
    return ownKey === undefined ? async () => here : withOwnKey(ownKey, here)
  }
  const onFault = (err: unknown) =>
    log.warn({ err }, 'the last uses of API keys cannot be written next to their file')
  const keys = apiKeys === undefined ? undefined : apiKeysIn(apiKeys, { clock, onFault })
  closing.addEventListener('abort', () => keys?.close(), { once: true })
  const ofToken = oidc === undefined ? undefined : oidcTokens(oidc)
  const login = oidc?.login
  const ofSession = login && oidcTokens({ ...oidc, audience: login.clientId })
  const access: Access = async ({ headers, socket }, request) => {
    const credential = bearerIn(headers.authorization)
    if (credential === undefined) {
      const cookie = login !== undefined && isOfConsole(request) ? sessionCookie(login) : undefined
      const session = cookie === undefined ? undefined : cookieIn(headers, cookie)
      if (session !== undefined && ofSession !== undefined)
        return { ...(await ofSession(session).catch(refuseSession)), isSession: true }
      const subject = subjectOf(socket)
      if (subject === undefined) throw unauthorized('send Authorization: Bearer KEY')
      const principal = keys?.ofSubject(subject)
      if (principal !== undefined) return principal
      throw unauthorized('no key has the subject of the client certificate')
    }
    const principal = credential.startsWith(apiKeyPrefix)
      ? keys?.ofKey(credential)
      : await ofToken?.(credential)
    if (principal === undefined) throw unauthorized('the key is unknown')
    return principal
  }
  if (login === undefined) return access
  return (incoming, request) =>
    access(incoming, request).catch((error: unknown) => {
      // the console offers a login if the answer has this field
      throw error instanceof HttpError && error.status === 401
        ? withFields(error, { login: true })
        : error
    })
}

/**
 * Throws the error again. The console offers to log out if the answer has the field `logout`. Otherwise
 * a person whose account has no access would meet the same session again at each login.
 */
export function refuseSession(error: unknown): never {
  throw error instanceof HttpError && error.status === 403
    ? withFields(error, { logout: true })
    : error
}

/** `weir console` recognises a server of its data folder by this text. */
export const ownKeyAdvice =
  'send Authorization: Bearer KEY. The key is in the file weir.key of the data folder, and weir console prints the address of the console with it'

function withOwnKey(key: string, owner: Principal): Access {
  return async ({ headers }) => {
    if (hasKey(headers.authorization, key)) return owner
    throw unauthorized(ownKeyAdvice)
  }
}

/**
 * The subject of the client certificate, most significant part first: `O=Acme,CN=ci`. Undefined: the
 * client shows none. Throws 401 for one that does not count. Node escapes commas and line breaks.
 */
function subjectOf(socket: IncomingMessage['socket']): string | undefined {
  const certificate = socket instanceof TLSSocket ? socket.getPeerX509Certificate() : undefined
  if (certificate === undefined) return undefined
  if ((socket as TLSSocket).authorized) return certificate.subject.split('\n').join(',')
  throw unauthorized('the client certificate does not count: it is expired or of another authority')
}

function unauthorized(message: string): HttpError {
  const headers = { 'www-authenticate': 'Bearer' }
  return new HttpError(401, 'edge.unauthorized', message, { headers })
}
