// The API keys of the edge: a JSON file that holds the hash of each key, and whom it belongs to.
// API-KEYS-1. The file holds no key. A key has 256 random bits, so its plain SHA-256 cannot be guessed.
// API-KEYS-2. A changed file counts from the next request on: a removed key is refused at once.

import { hash, randomBytes } from 'node:crypto'
import { readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { limits } from '../../../shared/contract/limits.ts'
import { isTenant } from '../../../shared/contract/tenant.ts'
import { WeirError } from '../../../shared/lib/errors.ts'
import { isObject } from '../../../shared/lib/json/json-object.ts'
import { type Principal, type Role, roles } from './principal.ts'

/** `sha256`: of the key, in hex. `tenant` null: all tenants. */
export type ApiKeyEntry = {
  name: string
  sha256: string
  tenant: string | null
  roles: Role[]
  cancelsOnDisconnect?: boolean
}

export const apiKeyPrefix = 'weir_'

/** The principal of a key. Undefined: no such key. Throws `settings.invalid` for an unusable file. */
export function apiKeysIn(file: string): (key: string) => Principal | undefined {
  let read = ''
  let principals = new Map<string, Principal>()
  const refresh = (): void => {
    const stat = statSync(file, { throwIfNoEntry: false })
    if (stat === undefined) throw unreadable(file, undefined)
    const { mtimeMs, size, ino } = stat
    const version = `${mtimeMs} ${size} ${ino}`
    if (version === read) return
    principals = new Map(readApiKeys(file).map((entry) => [entry.sha256, principalOf(entry)]))
    read = version
  }
  refresh()
  return (key) => {
    refresh()
    return principals.get(hash('sha256', key))
  }
}

/** Adds a key and returns it. It is nowhere else. Throws `usage` for a name that is in use. */
export function createApiKey(
  file: string,
  entry: Omit<ApiKeyEntry, 'sha256'>,
  { random = randomBytes }: { random?: (bytes: number) => Buffer } = {},
): string {
  const entries = statSync(file, { throwIfNoEntry: false }) === undefined ? [] : readApiKeys(file)
  if (entries.some(({ name }) => name === entry.name))
    throw new WeirError('usage', `${file} has a key ${entry.name}: remove it first`)
  const key = `${apiKeyPrefix}${random(32).toString('base64url')}`
  write(file, [...entries, { ...entry, sha256: hash('sha256', key) }])
  return key
}

/** Throws `usage` for an unknown name. */
export function removeApiKey(file: string, name: string): void {
  const entries = readApiKeys(file)
  const left = entries.filter((entry) => entry.name !== name)
  if (left.length === entries.length) {
    const names = entries.map((entry) => entry.name).join(', ')
    throw new WeirError('usage', `${file} has no key ${name}; its keys are: ${names}`)
  }
  write(file, left)
}

/** Throws `settings.invalid` with the first mistake. */
export function readApiKeys(file: string): ApiKeyEntry[] {
  let value: unknown
  try {
    if (statSync(file).size > limits.edgeKeyFileBytesMax) throw new Error('the file is too large')
    value = JSON.parse(readFileSync(file, 'utf8'))
  } catch (cause) {
    throw unreadable(file, cause)
  }
  const list = isObject(value) ? value.keys : undefined
  if (!Array.isArray(list) || list.length > limits.edgeKeysMax)
    throw invalid(file, `it must be {"keys": [...]} with at most ${limits.edgeKeysMax} keys`)
  return list.map((entry: unknown, at) => entryOf(entry, file, `keys[${at}]`))
}

function entryOf(value: unknown, file: string, where: string): ApiKeyEntry {
  if (!isObject(value)) throw invalid(file, `${where} must be an object`)
  const { name, sha256, tenant, roles: given, cancelsOnDisconnect = false } = value
  if (typeof name !== 'string' || !isKeyName(name))
    throw invalid(file, `${where}.name must be 1 to 64 of A-Z, a-z, 0-9, '.', '_', '-' and '@'`)
  if (typeof sha256 !== 'string' || !/^[0-9a-f]{64}$/.test(sha256))
    throw invalid(file, `${where}.sha256 must be 64 hex digits`)
  if (tenant !== null && !(typeof tenant === 'string' && isTenant(tenant)))
    throw invalid(file, `${where}.tenant must be the name of a tenant, or null for all`)
  const known = Array.isArray(given) ? roles.filter((role) => given.includes(role)) : []
  if (!Array.isArray(given) || known.length !== given.length)
    throw invalid(file, `${where}.roles must be a list of: ${roles.join(', ')}`)
  if (typeof cancelsOnDisconnect !== 'boolean')
    throw invalid(file, `${where}.cancelsOnDisconnect must be true or false`)
  return { name, sha256, tenant: tenant as string | null, roles: known, cancelsOnDisconnect }
}

export function isKeyName(name: string): boolean {
  return /^[A-Za-z0-9._@-]{1,64}$/.test(name)
}

function principalOf({ name, tenant, roles: own, cancelsOnDisconnect }: ApiKeyEntry): Principal {
  return {
    ...{ name: `key:${name}`, tenant, roles: new Set(own) },
    cancelsOnDisconnect: cancelsOnDisconnect ?? false,
  }
}

/** Complete or not at all: a server may read it at any moment. */
function write(file: string, keys: readonly ApiKeyEntry[]): void {
  const beside = `${file}.${process.pid}.new`
  writeFileSync(beside, `${JSON.stringify({ keys }, null, 2)}\n`, { mode: 0o600 })
  renameSync(beside, file)
}

function invalid(file: string, fault: string): WeirError {
  return new WeirError('settings.invalid', `the file of API keys ${file}: ${fault}`)
}

function unreadable(file: string, cause: unknown): WeirError {
  const text = `the file of API keys ${file} cannot be read: make it with weir api-keys create`
  return new WeirError('settings.invalid', text, { cause })
}
