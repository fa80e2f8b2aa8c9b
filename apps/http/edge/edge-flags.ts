// The edge of a command, from its flags.

import { limits } from '../../../shared/contract/limits.ts'
import { usageError } from '../../../shared/lib/errors.ts'
import { readSecretFile } from '../../../shared/lib/files/secret-files.ts'
import type { Settings } from '../../../shared/settings/settings.ts'
import { readText } from '../../../shared/settings/text-file.ts'
import { portOf } from '../../terminal/port-flag.ts'
import { printable } from '../../terminal/text/printable.ts'
import { isLoopback, type TlsFiles } from '../server.ts'
import { type WebhookOptions, webhookOptionsOf } from '../webhook/webhook.ts'
import {
  type LoginWords,
  type OidcLogin,
  type OidcOptions,
  oidcLoginOf,
  oidcOptionsOf,
} from './access/oidc.ts'
import { type OwnKey, ownKeyOf } from './access/own-key.ts'
import type { EdgeOptions } from './edge.ts'

export type EdgeFlags = {
  httpPort?: string
  httpHost?: string
  apiKeys?: string
  keyless?: boolean
  oidcIssuer?: string
  oidcAudience?: string
  oidcJwks?: string
  oidcTenantClaim?: string
  oidcRolesClaim?: string
  oidcAllTenants?: boolean
  oidcClientId?: string
  oidcClientSecretFile?: string
  oidcConsoleUrl?: string
  oidcScope?: string
  tlsCert?: string
  tlsKey?: string
  tlsClientCa?: string
  corsOrigin?: string[]
  requestsPerMinute?: string
  webhookUrl?: string
  webhookSecretFile?: string
}

type OptionsOfFlags = Pick<
  EdgeOptions,
  'host' | 'port' | 'access' | 'tls' | 'origins' | 'requestsPerMinute' | 'advice'
> & { webhook: WebhookOptions | undefined }

/** Throws `usage` for flags that do not go together, and for an open address without authentication. */
export function edgeOptionsOf(flags: EdgeFlags): OptionsOfFlags {
  const { httpPort = '4140', httpHost: host = '127.0.0.1', apiKeys, corsOrigin = [] } = flags
  const oidc = oidcOf(flags)
  if (flags.keyless === true && (apiKeys !== undefined || oidc !== undefined))
    throw usageError(
      '--keyless goes with no --api-keys and no --oidc-issuer: leave one of them out',
    )
  if (!isLoopback(host) && apiKeys === undefined && oidc === undefined)
    throw usageError(
      `--http-host ${printable(host)} is open to other machines: give --api-keys FILE or --oidc-issuer URL first, or 127.0.0.1`,
    )
  for (const origin of corsOrigin)
    if (URL.parse(origin)?.origin !== origin)
      throw usageError(
        `--cors-origin ${printable(origin)} is no origin: give one such as https://chat.example, without a path`,
      )
  return {
    host,
    port: portOf(httpPort, '--http-port'),
    access: { apiKeys, oidc },
    tls: tlsOf(flags),
    origins: corsOrigin,
    ...(flags.requestsPerMinute !== undefined && {
      requestsPerMinute: perMinuteOf(flags.requestsPerMinute),
    }),
    webhook: webhookOf(flags),
    advice: 'give another address with --http-host and --http-port (0: any free port)',
  }
}

/**
 * The options with the key of the data folder, which counts if the server has no other keys and is not
 * `--keyless`. `own`: that key. Throws as ownKeyOf.
 */
export function withOwnKey(
  options: OptionsOfFlags,
  { keyless = false }: EdgeFlags,
  { dataFolder }: Pick<Settings, 'dataFolder'>,
): { options: OptionsOfFlags; own: OwnKey | undefined; secrets: string[] } {
  const { apiKeys, oidc } = options.access
  const hasOwn = !keyless && apiKeys === undefined && oidc === undefined
  const own = hasOwn ? ownKeyOf(dataFolder) : undefined
  const access = { ...options.access, ownKey: own?.key }
  return { options: { ...options, access }, own, secrets: own === undefined ? [] : [own.key] }
}

function oidcOf(flags: EdgeFlags): OidcOptions | undefined {
  const { oidcIssuer: issuer, oidcAudience: audience, oidcJwks } = flags
  const {
    oidcTenantClaim: tenantClaim,
    oidcRolesClaim: rolesClaim,
    oidcAllTenants: allTenants = false,
  } = flags
  const login = loginOf(flags)
  if (
    login === undefined &&
    !allTenants &&
    issuer === undefined &&
    audience === undefined &&
    oidcJwks === undefined
  )
    return undefined
  const jwks = URL.parse(oidcJwks ?? '')
  if (issuer === undefined || audience === undefined || jwks === null)
    throw usageError(
      '--oidc-issuer, --oidc-audience and --oidc-jwks go together: give the issuer, the audience of this server, and the URL of its keys',
    )
  return oidcOptionsOf({ issuer, audience, jwks, tenantClaim, rolesClaim, allTenants, login })
}

/** The login of the console. Throws `usage`. */
function loginOf({
  oidcIssuer: issuer,
  oidcAllTenants: allTenants = false,
  oidcClientId: clientId,
  oidcClientSecretFile: secretFile,
  oidcConsoleUrl: consoleUrl,
  oidcScope: scope,
}: EdgeFlags): OidcLogin | undefined {
  if (clientId === undefined && consoleUrl === undefined) {
    if (secretFile === undefined) return undefined
    throw usageError('--oidc-client-secret-file needs --oidc-client-id: give the id of the client')
  }
  const clientSecret =
    secretFile === undefined ? undefined : secretIn(secretFile, '--oidc-client-secret-file')
  const given = { clientId, clientSecret, consoleUrl, scope }
  return oidcLoginOf(given, { issuer, allTenants }, loginFlags)
}

const loginFlags: LoginWords = {
  names: {
    issuer: '--oidc-issuer',
    allTenants: '--oidc-all-tenants',
    clientId: '--oidc-client-id',
    consoleUrl: '--oidc-console-url',
    scope: '--oidc-scope',
  },
  fault: usageError,
}

/** Throws `usage`. No list of processes shows a secret in a file. */
function secretIn(file: string, flag: string): string {
  return readSecretFile(file, (why, cause) =>
    usageError(`${flag} ${printable(file)}: ${why}`, { cause }),
  ).trim()
}

/** Throws `usage` for files that cannot be read. */
function tlsOf({ tlsCert, tlsKey, tlsClientCa, apiKeys }: EdgeFlags): TlsFiles | undefined {
  if (tlsCert === undefined && tlsKey === undefined && tlsClientCa === undefined) return undefined
  if (tlsCert === undefined || tlsKey === undefined)
    throw usageError(
      '--tls-cert and --tls-key go together: give the certificate of this server and its key',
    )
  if (tlsClientCa !== undefined && apiKeys === undefined)
    throw usageError(
      '--tls-client-ca needs --api-keys: the file has the subjects of clients, from weir api-keys create --subject',
    )
  return {
    cert: pemIn(tlsCert, '--tls-cert'),
    key: pemIn(tlsKey, '--tls-key'),
    clientCa: tlsClientCa === undefined ? undefined : pemIn(tlsClientCa, '--tls-client-ca'),
  }
}

/** Throws `usage`. */
function webhookOf({ webhookUrl, webhookSecretFile }: EdgeFlags): WebhookOptions | undefined {
  if (webhookUrl === undefined && webhookSecretFile === undefined) return undefined
  if (webhookUrl === undefined || webhookSecretFile === undefined)
    throw usageError(
      '--webhook-url and --webhook-secret-file go together: give the address and the file with the secret that signs its requests',
    )
  const secret = secretIn(webhookSecretFile, '--webhook-secret-file')
  return webhookOptionsOf(webhookUrl, secret, '--webhook-url')
}

function pemIn(file: string, flag: string): string {
  const read = readText(file, limits.edgeKeyFileBytesMax)
  if ('text' in read) return read.text
  throw usageError(`${flag} ${printable(file)} ${read.fault}: give a PEM file`)
}

function perMinuteOf(text: string): number {
  const number = Number(text)
  if (Number.isSafeInteger(number) && number >= 1) return number
  throw usageError(`--requests-per-minute is ${printable(text)}: give a whole number from 1`)
}
