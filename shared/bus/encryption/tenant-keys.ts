// The keys that encrypt the records of tenants, in a file.
// The first key of a tenant encrypts, and all of them decrypt, so keys can rotate.
// A tenant whose keys were deleted stays in the file, so a process can tell deleted keys
// from missing ones.

import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { isTenant, tenantRule } from '../../contract/tenant.ts'
import { WeirError } from '../../lib/errors.ts'
import { readSecretFile, writeSecretFile } from '../../lib/files/secret-files.ts'

/** `name`: as encrypted records name it. */
export type TenantKey = { name: string; key: Buffer }

/** The keys by tenant, the newest first. An empty list: they were deleted. */
export type TenantKeys = ReadonlyMap<string, readonly TenantKey[]>

/** Has the keys of all tenants without their own. */
export const everyTenant = '*'

type StoredKey = { name: string; key: string }
/** Keys are base64 of 32 bytes. */
type KeyFile = { version: 1; tenants: Record<string, StoredKey[]> }

export const keyNameMax = 32

export function isKeyName(name: string): boolean {
  return /^[a-z0-9-]+$/.test(name) && name.length <= keyNameMax
}

export const keyBytes = 32

/** Throws `settings.invalid` for a file that cannot be used. */
export function readTenantKeys(file: string): TenantKeys {
  const refusal = (why: string, cause?: unknown) => invalid(file, why, cause)
  return keysIn(file, readSecretFile(file, refusal))
}

/** `text`: the content of a file of keys. `source`: its origin, for errors. */
export function keysIn(source: string, text: string): TenantKeys {
  const { version, tenants } = parsed(source, text)
  if (version !== 1) throw invalid(source, 'its version is not 1')
  if (typeof tenants !== 'object' || tenants === null || Array.isArray(tenants))
    throw invalid(source, 'it has no tenants')
  const keys = new Map(
    Object.entries(tenants).map(([tenant, stored]): [string, TenantKey[]] => {
      if (tenant !== everyTenant && !isTenant(tenant))
        throw invalid(
          source,
          `no tenant can have the name ${JSON.stringify(tenant)}: ${tenantRule}`,
        )
      if (!Array.isArray(stored)) throw invalid(source, `the keys of ${tenant} are no list`)
      return [tenant, stored.map((one) => keyOf(source, tenant, one))]
    }),
  )
  refuseSameNames(source, keys)
  return keys
}

/** A record names its key, so a name must mean one key. */
function refuseSameNames(source: string, keys: TenantKeys): void {
  const known = new Map<string, Buffer>()
  for (const { name, key } of [...keys.values()].flat()) {
    if (!(known.get(name) ?? key).equals(key))
      throw invalid(source, `two keys have the name ${name}: keep the right one, or name it again`)
    known.set(name, key)
  }
}

function parsed(source: string, text: string): Partial<KeyFile> {
  try {
    const content: unknown = JSON.parse(text)
    if (typeof content === 'object' && content !== null) return content
  } catch {
    // Its message would have a part of the text.
  }
  throw invalid(source, 'it is no JSON object')
}

function keyOf(source: string, tenant: string, stored: Partial<StoredKey> | null): TenantKey {
  const { name, key } = stored ?? {}
  if (typeof name !== 'string' || !isKeyName(name))
    throw invalid(source, `a key of ${tenant} has no name of 1 to 32 of a-z, 0-9 and '-'`)
  const bytes = Buffer.from(typeof key === 'string' ? key : '', 'base64')
  if (bytes.length !== keyBytes)
    throw invalid(source, `the key ${name} of ${tenant} is not ${keyBytes} bytes in base64`)
  return { name, key: bytes }
}

/**
 * Adds a key, which encrypts from now on, or makes the file. Returns its name. Throws `usage` for a
 * tenant with deleted keys: with a new key, each stage would stop at the tenant's old records.
 */
export function addTenantKey(file: string, tenant: string, now: Date): string {
  const tenants = storedIn(file)
  if (tenants[tenant]?.length === 0)
    throw new WeirError(
      'usage',
      `the keys of ${tenant} were deleted, and the log may still have its records: give its new conversations another tenant, such as ${tenant}-2`,
    )
  const [day = ''] = now.toISOString().split('T')
  const name = `${day}-${randomBytes(4).toString('hex')}`
  const key = { name, key: randomBytes(keyBytes).toString('base64') }
  write(file, { ...tenants, [tenant]: [key, ...(tenants[tenant] ?? [])] })
  return name
}

/** Deletes all keys of a tenant and keeps its name. Returns how many they were. */
export function deleteTenantKeys(file: string, tenant: string): number {
  const tenants = storedIn(file)
  const count = tenants[tenant]?.length ?? 0
  write(file, { ...tenants, [tenant]: [] })
  return count
}

function storedIn(file: string): KeyFile['tenants'] {
  if (!existsSync(file)) return {}
  const keys = readTenantKeys(file)
  return Object.fromEntries(
    [...keys].map(([tenant, all]) => [
      tenant,
      all.map(({ name, key }) => ({ name, key: key.toString('base64') })),
    ]),
  )
}

function write(file: string, tenants: KeyFile['tenants']): void {
  writeSecretFile(file, { version: 1, tenants } satisfies KeyFile)
}

export function invalid(source: string, why: string, cause?: unknown): WeirError {
  return new WeirError(
    'settings.invalid',
    `the keys of tenants in ${source} cannot be used: ${why}`,
    { cause },
  )
}
