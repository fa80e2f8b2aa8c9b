// `weir api-keys create` and `remove`.

import type { Writable } from 'node:stream'
import { isTenant, tenantRule } from '../../../../shared/contract/tenant.ts'
import { usageError } from '../../../../shared/lib/errors.ts'
import { printable } from '../../../terminal/text/printable.ts'
import {
  addSubject,
  createApiKey,
  isCertificateSubject,
  isKeyName,
  removeApiKey,
} from './api-keys.ts'
import { type Role, roles } from './principal.ts'

export type CreateKeyOptions = {
  file: string
  tenant?: string
  allTenants?: boolean
  role: string[]
  subject?: string
  cancelOnDisconnect?: boolean
}

/** Prints the key alone on a line; with `subject` there is none. Throws `usage`, `settings.invalid`. */
export function createKey(
  name: string,
  { file, tenant, allTenants = false, role, subject, cancelOnDisconnect = false }: CreateKeyOptions,
  out: Writable,
): void {
  if (!isKeyName(name))
    throw usageError(
      `the name is '${printable(name)}': give 1 to 64 of A-Z, a-z, 0-9, '.', '_', '-' and '@'`,
    )
  if (allTenants === (tenant !== undefined))
    throw usageError('give either --tenant NAME or --all-tenants')
  if (tenant !== undefined && !isTenant(tenant))
    throw usageError(`the tenant is '${printable(tenant)}': ${tenantRule}`)
  const owner = {
    name,
    tenant: tenant ?? null,
    roles: role.map(roleOf),
    ...(cancelOnDisconnect && { cancelsOnDisconnect: true }),
  }
  if (subject === undefined) {
    out.write(`${createApiKey(file, owner)}\n`)
    return
  }
  if (!isCertificateSubject(subject))
    throw usageError(
      `the subject is '${printable(subject)}': give it as in the certificate, for example O=Acme,CN=ci`,
    )
  addSubject(file, { ...owner, subject })
}

/** Throws `usage` for an unknown name. */
export function removeKey(name: string, { file }: { file: string }): void {
  removeApiKey(file, name)
}

function roleOf(given: string): Role {
  const role = roles.find((one) => one === given)
  if (role !== undefined) return role
  throw usageError(`unknown role '${printable(given)}': give ${roles.join(', ')}`)
}
