// The author of a request: a key or a token in `Authorization: Bearer …`, or a client certificate.
// EDGE-ACCESS-1. Without keys and without an issuer the server listens on this machine only. The key of
//     its data folder opens it to the folder's user. `--keyless` opens it to each program of the machine.
// EDGE-ACCESS-2. A certificate counts if the authority of clients signed it, it is in its time, and
//     the file of keys has its subject. A key or a token in the request counts instead of it.

import { hash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { TLSSocket } from 'node:tls'
import { personHere } from '../../../../services/approval/performer/person.ts'
import { HttpError } from '../../http-error.ts'
import { apiKeyPrefix, apiKeysIn } from './api-keys.ts'
import { type OidcOptions, oidcTokens } from './oidc.ts'
import { type Principal, principalId, roles } from './principal.ts'

/** `apiKeys`: a file. `ownKey`: of the data folder; without the others it is the only key. */
export type AccessOptions = {
  apiKeys?: string | undefined
  oidc?: OidcOptions | undefined
  ownKey?: string | undefined
}

export type Access = (request: Pick<IncomingMessage, 'headers' | 'socket'>) => Promise<Principal>

/** Throws `settings.invalid` for an unusable file. The result throws 401, 403 and 503. */
export function accessOf({ apiKeys, oidc, ownKey }: AccessOptions): Access {
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
  const keys = apiKeys === undefined ? undefined : apiKeysIn(apiKeys)
  const ofToken = oidc === undefined ? undefined : oidcTokens(oidc)
  return async ({ headers, socket }) => {
    const credential = credentialIn(headers)
    if (credential === undefined) {
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
}

/** `weir console` recognises a server of its data folder by this text. */
export const ownKeyAdvice =
  'send Authorization: Bearer KEY. The key is in the file weir.key of the data folder, and weir console prints the address of the console with it'

function withOwnKey(key: string, owner: Principal): Access {
  const digest = hash('sha256', key, 'buffer')
  return async ({ headers }) => {
    const credential = credentialIn(headers)
    if (credential !== undefined && timingSafeEqual(hash('sha256', credential, 'buffer'), digest))
      return owner
    throw unauthorized(ownKeyAdvice)
  }
}

function credentialIn({ authorization = '' }: IncomingMessage['headers']): string | undefined {
  return /^bearer +(\S+)$/i.exec(authorization)?.[1]
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
