// The API keys of the edge: a JSON file that holds the hash of each key, and whom it belongs to. An
// entry can have the subject of a client certificate in place of a key.
// API-KEYS-1. The file holds no key. A key has 256 random bits, so its plain SHA-256 cannot be guessed.
// API-KEYS-2. A changed file counts from the next request on: a removed key is refused at once.

import { hash, randomBytes } from 'node:crypto'
import { readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { limits } from '../../../../shared/contract/limits.ts'
import { isTenant } from '../../../../shared/contract/tenant.ts'
import { usageError, WeirError } from '../../../../shared/lib/errors.ts'
import { isObject } from '../../../../shared/lib/json/json-object.ts'
import { type Principal, principalId, type Role, roles } from './principal.ts'

/** `tenant` null: all tenants. */
type KeyOwner = {
  name: string
  tenant: string | null
  roles: Role[]
  cancelsOnDisconnect?: boolean
}

/** `sha256`: of the key, in hex. `subject`: of a certificate, as access.ts reads it. */
export type ApiKeyEntry = KeyOwner & ({ sha256: string } | { subject: string })

/** Undefined: no such key, no such subject. They throw `settings.invalid` for an unusable file. */
export type ApiKeys = {
  ofKey(key: string): Principal | undefined
  ofSubject(subject: string): Principal | undefined
}

export const apiKeyPrefix = 'weir_'

/** The principals of the keys. Throws `settings.invalid` for an unusable file. */
export function apiKeysIn(file: string): ApiKeys {
  let read = ''
  let principals = new Map<string, Principal>()
  const refresh = (): void => {
    const stat = statSync(file, { throwIfNoEntry: false })
    if (stat === undefined) throw missing(file)
    const { mtimeMs, size, ino } = stat
    const version = `${mtimeMs} ${size} ${ino}`
    if (version === read) return
    principals = new Map(readApiKeys(file).map((entry) => [idOf(entry), principalOf(entry)]))
    read = version
  }
  refresh()
  const find = (id: string): Principal | undefined => {
    refresh()
    return principals.get(id)
  }
  return {
    ofKey: (key) => find(hash('sha256', key)),
    ofSubject: (subject) => find(`${subjectPrefix}${subject}`),
  }
}

/** Adds a key and returns it. It is nowhere else. Throws `usage` for a name that is in use. */
export function createApiKey(
  file: string,
  owner: KeyOwner,
  { random = randomBytes }: { random?: (bytes: number) => Buffer } = {},
): string {
  const key = `${apiKeyPrefix}${random(32).toString('base64url')}`
  add(file, { ...owner, sha256: hash('sha256', key) })
  return key
}

/** Adds the subject of a certificate. Throws `usage` for one, or a name, that is in use. */
export function addSubject(file: string, entry: KeyOwner & { subject: string }): void {
  add(file, entry)
}

function add(file: string, entry: ApiKeyEntry): void {
  const entries = statSync(file, { throwIfNoEntry: false }) === undefined ? [] : readApiKeys(file)
  const same = entries.find((one) => one.name === entry.name || idOf(one) === idOf(entry))
  if (same !== undefined) throw usageError(`${file} has a key ${same.name}: remove it first`)
  write(file, [...entries, entry])
}

/** Throws `usage` for an unknown name. */
export function removeApiKey(file: string, name: string): void {
  const entries = readApiKeys(file)
  const left = entries.filter((entry) => entry.name !== name)
  if (left.length === entries.length) {
    const names = entries.map((entry) => entry.name).join(', ')
    throw usageError(`${file} has no key ${name}; its keys are: ${names}`)
  }
  write(file, left)
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
  if (typeof name !== 'string' || !isKeyName(name))
    throw invalid(file, `${where}.name must be 1 to 64 of A-Z, a-z, 0-9, '.', '_', '-' and '@'`)
  const isKey = typeof sha256 === 'string' && /^[0-9a-f]{64}$/.test(sha256)
  const isSubject = typeof subject === 'string' && isCertificateSubject(subject)
  if (isKey === isSubject)
    throw invalid(
      file,
      `${where} must have either sha256, 64 hex digits, or a subject: O=Acme,CN=ci`,
    )
  if (tenant !== null && !(typeof tenant === 'string' && isTenant(tenant)))
    throw invalid(file, `${where}.tenant must be the name of a tenant, or null for all`)
  const known = Array.isArray(given) ? roles.filter((role) => given.includes(role)) : []
  if (!Array.isArray(given) || known.length !== given.length)
    throw invalid(file, `${where}.roles must be a list of: ${roles.join(', ')}`)
  if (typeof cancelsOnDisconnect !== 'boolean')
    throw invalid(file, `${where}.cancelsOnDisconnect must be true or false`)
  const owner = { name, tenant: tenant as string | null, roles: known, cancelsOnDisconnect }
  return isKey ? { ...owner, sha256 } : { ...owner, subject: subject as string }
}

/** No hash begins with it. */
const subjectPrefix = 'subject:'

function idOf(entry: { sha256: string } | { subject: string }): string {
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
  const { name, tenant, roles: own, cancelsOnDisconnect } = entry
  return {
    id: principalId({ tenant, kind: 'sha256' in entry ? 'key' : 'certificate', name }),
    identity: 'authenticated',
    tenant,
    roles: new Set(own),
    cancelsOnDisconnect: cancelsOnDisconnect ?? false,
  }
}

/** Complete or not at all: a server may read it at any moment. */
function write(file: string, keys: readonly ApiKeyEntry[]): void {
  const beside = `${file}.${process.pid}.new`
  writeFileSync(beside, `${JSON.stringify({ keys }, null, 2)}\n`, { mode: 0o600 })
  renameSync(beside, file)
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
