// `weir keys tenant`: adds a key to the file that encrypts the records of tenants, or deletes the keys
// of one. Exit code 0: the file is written.

import { existsSync } from 'node:fs'
import {
  addTenantKey,
  deleteTenantKeys,
  everyTenant,
  readTenantKeys,
} from '../../../shared/bus/encryption/tenant-keys.ts'
import { isTenant, tenantRule } from '../../../shared/contract/tenant.ts'
import { usageError } from '../../../shared/lib/errors.ts'
import { printable } from '../../terminal/text/printable.ts'
import { count } from '../../terminal/text/quantities.ts'

export type TenantKeyOptions = { file: string; delete?: boolean }

/** Throws `usage` for a name that no tenant can have, and `settings.invalid` for an unusable file. */
export function changeTenantKeys(
  tenant: string,
  { file, delete: isDeletion = false }: TenantKeyOptions,
  out: NodeJS.WriteStream,
): void {
  if (tenant !== everyTenant && !isTenant(tenant))
    throw usageError(`no tenant can have the name '${printable(tenant)}': ${tenantRule}`)
  if (isDeletion) {
    if (tenant === everyTenant)
      throw usageError(`name the tenant whose keys to delete, not '${everyTenant}'`)
    if (!existsSync(file) || !readTenantKeys(file).has(tenant))
      throw usageError(`${printable(file)} has no keys of the tenant ${tenant}`)
    const deleted = deleteTenantKeys(file, tenant)
    out.write(
      `deleted ${count(deleted, 'key')} of ${tenant} from ${printable(file)}\n` +
        'Without a copy of the keys its records are unreadable for good. Give the file to all processes and start them again.\n',
    )
    return
  }
  const name = addTenantKey(file, tenant, new Date())
  const whose = tenant === everyTenant ? 'all tenants without their own' : tenant
  out.write(
    `added the key ${name} of ${whose} to ${printable(file)}\n` +
      'Give the file to all processes (WEIR_ENCRYPTION_KEYS) and start them again.\n',
  )
}
