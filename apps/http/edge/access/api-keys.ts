// The API keys of the edge: a JSON file that holds the hash of each key, and whom it belongs to. An
// entry can have the subject of a client certificate in place of a key.
// The file holds no key. A key has 256 random bits, so its plain SHA-256 cannot be guessed.
// A changed file counts from the next request on: a removed key is refused at once.
// A key counts before its end only. A rotated key has the end of its overlap.

import { hash, randomBytes } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import { limits } from '../../../../shared/contract/limits.ts'
import { isNamedTenant, namedTenantRule } from '../../../../shared/contract/tenant.ts'
import type { Clock, Milliseconds } from '../../../../shared/lib/clock.ts'
import { usageError, WeirError } from '../../../../shared/lib/errors.ts'
import { writeSecretFile } from '../../../../shared/lib/files/secret-files.ts'
import { isObject } from '../../../../shared/lib/json/json-object.ts'
import { HttpError } from '../../http-error.ts'
import { keyUse } from './key-use.ts'
import { type Principal, principalId, type Role, roles } from './principal.ts'

/** `tenant` null: all tenants. */
type KeyOwner = {
  name: string
  tenant: string | null
  roles: Role[]
  cancelsOnDisconnect?: boolean
}

/** `sha256`: of the key, in hex. `expires`: absent: never. */
type OldKey = { sha256: string; expires: Milliseconds }

/**
 * `created`: absent in files of earlier versions. `subject`: of a certificate, as access.ts reads it.
 * `old`: the key before the last rotation.
 */
export type ApiKeyEntry = KeyOwner & {
  created?: Milliseconds
  expires?: Milliseconds
} & ({ sha256: string; old?: OldKey } | { subject: string })

/**
 * Undefined: no such key, no such subject. They throw `settings.invalid` for an unusable file, and 401
 * `edge.key-expired`.
 */
export type ApiKeys = {
  ofKey(key: string): Principal | undefined
  ofSubject(subject: string): Principal | undefined
  /** Writes the last uses. */
  close(): void
}

/** A key or a subject of the file. `isOld`: it was replaced. */
type Known = { principal: Principal; isOld: boolean }

export const apiKeyPrefix = 'weir_'

/** The principals of the keys. Throws `settings.invalid` for an unusable file. */
export function apiKeysIn(
  file: string,
  { clock, onFault }: { clock: Clock; onFault(error: unknown): void },
): ApiKeys {
  let read = ''
  let known = new Map<string, Known>()
  const isKnown = (id: string): boolean => known.has(id)
  const use = keyUse(file, { clock, isKnown, onFault })
  const refresh = (): void => {
    const stat = statSync(file, { throwIfNoEntry: false })
    if (stat === undefined) throw missing(file)
    const { mtimeMs, size, ino } = stat
    const version = `${mtimeMs} ${size} ${ino}`
    if (version === read) return
    known = new Map(readApiKeys(file).flatMap(knownOf))
    read = version
  }
  refresh()
  const find = (id: string): Principal | undefined => {
    refresh()
    const found = known.get(id)
    if (found === undefined) return undefined
    const { principal, isOld } = found
    if (principal.until !== undefined && clock.now() >= principal.until)
      throw expired(principal.until, isOld)
    use.note(id)
    return principal
  }
  return {
    ofKey: (key) => find(hash('sha256', key)),
    ofSubject: (subject) => find(`${subjectPrefix}${subject}`),
    close: use.close,
  }
}

function expired(until: Milliseconds, isOld: boolean): HttpError {
  const at = new Date(until).toISOString()
  return new HttpError(
    401,
    'edge.key-expired',
    isOld
      ? `the key was replaced, and its overlap ended at ${at}: use the new key`
      : `the key expired at ${at}: ask the operator of this server for a new key`,
    { headers: { 'www-authenticate': 'Bearer error="invalid_token"' } },
  )
}

function knownOf(entry: ApiKeyEntry): [string, Known][] {
  const principal = principalOf(entry)
  const current: [string, Known] = [idOf(entry), { principal, isOld: false }]
  const old = 'old' in entry ? entry.old : undefined
  if (old === undefined) return [current]
  const until = Math.min(old.expires, entry.expires ?? old.expires)
  return [current, [old.sha256, { principal: { ...principal, until }, isOld: true }]]
}

/** Adds a key and returns it. It is nowhere else. Throws `usage` for a name that is in use. */
export function createApiKey(
  file: string,
  owner: KeyOwner & Lifetime,
  { random = randomBytes }: { random?: (bytes: number) => Buffer } = {},
): string {
  const key = newKey(random)
  add(file, { ...owner, sha256: hash('sha256', key) })
  return key
}

type Lifetime = Pick<ApiKeyEntry, 'created' | 'expires'>

function newKey(random: (bytes: number) => Buffer): string {
  return `${apiKeyPrefix}${random(32).toString('base64url')}`
}

/** Adds the subject of a certificate. Throws `usage` for one, or a name, that is in use. */
export function addSubject(file: string, entry: KeyOwner & Lifetime & { subject: string }): void {
  add(file, entry)
}

/** `overlapMs`: how long the former key counts. `expires`: of the new key; undefined: never. */
export type Rotation = {
  now: Milliseconds
  overlapMs: Milliseconds
  expires: Milliseconds | undefined
}

/**
 * Replaces the key of a client, and returns the new key with the entries before and after. Throws
 * `usage` for an unknown name, for a subject, and while an older key still counts, unless `overlapMs`
 * is 0: then both former keys end at once.
 */
export function rotateApiKey(
  file: string,
  name: string,
  { now, overlapMs, expires }: Rotation,
): { key: string; before: ApiKeyEntry; after: ApiKeyEntry } {
  const entries = readApiKeys(file)
  const before = entryNamed(name, entries, file)
  if ('subject' in before)
    throw usageError(`${name} is the subject of a certificate: only keys are rotated`)
  const { sha256, old, expires: until, ...owner } = before
  if (old !== undefined && old.expires > now && overlapMs > 0)
    throw usageError(
      `${name} was rotated, and the key before counts until ${new Date(old.expires).toISOString()}: wait, or give --overlap 0s, which ends both former keys at once`,
    )
  const key = newKey(randomBytes)
  const after: ApiKeyEntry = {
    ...owner,
    created: now,
    ...(expires !== undefined && { expires }),
    sha256: hash('sha256', key),
    old: { sha256, expires: Math.min(now + overlapMs, until ?? Number.POSITIVE_INFINITY) },
  }
  write(
    file,
    entries.map((entry) => (entry === before ? after : entry)),
  )
  return { key, before, after }
}

/** Throws `usage` for an unknown name. */
export function entryNamed(
  name: string,
  entries: readonly ApiKeyEntry[],
  file: string,
): ApiKeyEntry {
  const entry = entries.find((one) => one.name === name)
  if (entry !== undefined) return entry
  const names = entries.map((one) => one.name).join(', ')
  throw usageError(`${file} has no key ${name}; its keys are: ${names}`)
}

function add(file: string, entry: ApiKeyEntry): void {
  const entries = statSync(file, { throwIfNoEntry: false }) === undefined ? [] : readApiKeys(file)
  const same = entries.find((one) => one.name === entry.name || idOf(one) === idOf(entry))
  if (same !== undefined) throw usageError(`${file} has a key ${same.name}: remove it first`)
  write(file, [...entries, entry])
}

/** Returns the removed entry. Throws `usage` for an unknown name. */
export function removeApiKey(file: string, name: string): ApiKeyEntry {
  const entries = readApiKeys(file)
  const removed = entryNamed(name, entries, file)
  write(
    file,
    entries.filter((entry) => entry !== removed),
  )
  return removed
}

/** Throws `settings.invalid` with the first mistake. */
export function readApiKeys(file: string): ApiKeyEntry[] {
  let text: string
  try {
    if (statSync(file).size > limits.edgeKeyFileBytesMax)
      throw invalid(file, `it has more than ${limits.edgeKeyFileBytesMax} bytes`)
    text = readFileSync(file, 'utf8')
  } catch (cause) {
    throw cause instanceof WeirError ? cause : unreadable(file, cause)
  }
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw invalid(file, 'it is no valid JSON: correct it, or restore an earlier one', { cause })
  }
  const list = isObject(value) ? value.keys : undefined
  if (!Array.isArray(list) || list.length > limits.edgeKeysMax)
    throw invalid(file, `it must be {"keys": [...]} with at most ${limits.edgeKeysMax} keys`)
  return list.map((entry: unknown, at) => entryOf(entry, file, `keys[${at}]`))
}

function entryOf(value: unknown, file: string, where: string): ApiKeyEntry {
  if (!isObject(value)) throw invalid(file, `${where} must be an object`)
  const { name, sha256, subject, tenant, roles: given, cancelsOnDisconnect = false } = value
  const { created, expires, old } = value
  if (typeof name !== 'string' || !isKeyName(name))
    throw invalid(file, `${where}.name must be 1 to 64 of A-Z, a-z, 0-9, '.', '_', '-' and '@'`)
  const isKey = isDigest(sha256)
  const isSubject = typeof subject === 'string' && isCertificateSubject(subject)
  if (isKey === isSubject)
    throw invalid(
      file,
      `${where} must have either sha256, 64 hex digits, or a subject: O=Acme,CN=ci`,
    )
  if (tenant !== null && !(typeof tenant === 'string' && isNamedTenant(tenant)))
    throw invalid(
      file,
      `${where}.tenant must be null for all, or the name of a tenant: ${namedTenantRule}`,
    )
  const known = Array.isArray(given) ? roles.filter((role) => given.includes(role)) : []
  if (!Array.isArray(given) || known.length !== given.length)
    throw invalid(file, `${where}.roles must be a list of: ${roles.join(', ')}`)
  if (typeof cancelsOnDisconnect !== 'boolean')
    throw invalid(file, `${where}.cancelsOnDisconnect must be true or false`)
  const owner = {
    name,
    tenant: tenant as string | null,
    roles: known,
    cancelsOnDisconnect,
    ...(created !== undefined && { created: timeIn(created, file, `${where}.created`) }),
    ...(expires !== undefined && { expires: timeIn(expires, file, `${where}.expires`) }),
  }
  if (!isKey) return { ...owner, subject: subject as string }
  return old === undefined
    ? { ...owner, sha256 }
    : { ...owner, sha256, old: oldIn(old, file, `${where}.old`) }
}

function oldIn(value: unknown, file: string, where: string): OldKey {
  const { sha256, expires } = isObject(value) ? value : {}
  if (!isDigest(sha256)) throw invalid(file, `${where}.sha256 must be 64 hex digits`)
  return { sha256, expires: timeIn(expires, file, `${where}.expires`) }
}

function isDigest(value: unknown): value is string {
  return typeof value === 'string' && /^[0-9a-f]{64}$/.test(value)
}

function timeIn(value: unknown, file: string, where: string): Milliseconds {
  const time = typeof value === 'string' ? Date.parse(value) : Number.NaN
  if (!Number.isNaN(time)) return time
  throw invalid(file, `${where} must be a time such as 2026-07-29T10:12:03Z`)
}

/** No hash begins with it. */
const subjectPrefix = 'subject:'

/** The id of an entry in the file of last uses (key-use.ts). */
export function idOf(entry: { sha256: string } | { subject: string }): string {
  return 'sha256' in entry ? entry.sha256 : `${subjectPrefix}${entry.subject}`
}

/** Whether a text has the form of a subject: `O=Acme,CN=ci`, on one line. */
export function isCertificateSubject(text: string): boolean {
  return /^[A-Za-z0-9.]+=[^\n]{1,1000}$/.test(text)
}

export function isKeyName(name: string): boolean {
  return /^[A-Za-z0-9._@-]{1,64}$/.test(name)
}

function principalOf(entry: ApiKeyEntry): Principal {
  const { name, tenant, roles: own, cancelsOnDisconnect, expires } = entry
  return {
    id: principalId({ tenant, kind: 'sha256' in entry ? 'key' : 'certificate', name }),
    identity: 'authenticated',
    tenant,
    roles: new Set(own),
    cancelsOnDisconnect: cancelsOnDisconnect ?? false,
    ...(expires !== undefined && { until: expires }),
  }
}

/** Complete or not at all: a server may read it at any moment. */
function write(file: string, keys: readonly ApiKeyEntry[]): void {
  writeSecretFile(file, { keys: keys.map(written) })
}

/** Times are texts, which people read. */
function written(entry: ApiKeyEntry): object {
  const text = JSON.stringify(entry, (name, value) =>
    (name === 'created' || name === 'expires') && typeof value === 'number'
      ? new Date(value).toISOString()
      : value,
  )
  return JSON.parse(text) as object
}

function invalid(file: string, fault: string, options: ErrorOptions = {}): WeirError {
  return new WeirError('settings.invalid', `the file of API keys ${file}: ${fault}`, options)
}

function unreadable(file: string, cause: unknown): WeirError {
  const { code = 'unknown' } = cause as NodeJS.ErrnoException
  return code === 'ENOENT' ? missing(file) : invalid(file, `it cannot be read (${code})`, { cause })
}

function missing(file: string): WeirError {
  return invalid(file, 'it does not exist: make it with weir api-keys create')
}
