// The author of a request: a key or a token in `Authorization: Bearer …`.
// EDGE-ACCESS-1. Without keys and without an issuer the server listens on this machine only, and each
//     program of the machine is its user, as with the command line.

import type { IncomingHttpHeaders } from 'node:http'
import { personHere } from '../../../services/approval/person.ts'
import { HttpError } from '../http-error.ts'
import { apiKeyPrefix, apiKeysIn } from './api-keys.ts'
import { type OidcOptions, oidcTokens } from './oidc.ts'
import { type Principal, roles } from './principal.ts'

/** `apiKeys`: a file. */
export type AccessOptions = { apiKeys?: string | undefined; oidc?: OidcOptions | undefined }

export type Access = (headers: IncomingHttpHeaders) => Promise<Principal>

/** Throws `settings.invalid` for an unusable file. The result throws 401, 403 and 503. */
export function accessOf({ apiKeys, oidc }: AccessOptions): Access {
  if (apiKeys === undefined && oidc === undefined) {
    const here: Principal = {
      ...{ name: personHere(), tenant: null, roles: new Set(roles), cancelsOnDisconnect: false },
    }
    return async () => here
  }
  const ofKey = apiKeys === undefined ? undefined : apiKeysIn(apiKeys)
  const ofToken = oidc === undefined ? undefined : oidcTokens(oidc)
  return async ({ authorization = '' }) => {
    const [, credential] = /^bearer +(\S+)$/i.exec(authorization) ?? []
    if (credential === undefined) throw unauthorized('send Authorization: Bearer KEY')
    const principal = credential.startsWith(apiKeyPrefix)
      ? ofKey?.(credential)
      : await ofToken?.(credential)
    if (principal === undefined) throw unauthorized('the key is unknown')
    return principal
  }
}

function unauthorized(message: string): HttpError {
  const headers = { 'www-authenticate': 'Bearer' }
  return new HttpError(401, 'edge.unauthorized', message, { headers })
}
