// The tenant of a conversation: the part of its id before the first colon. So every record has it,
// and no stage looks it up. A conversation of a call belongs to the tenant of its caller.

/** The tenant of all conversations whose ids name none. */
export const defaultTenant = 'default'

/** The log has other ids that begin with `guest` and `call`. */
const reserved = ['guest', 'call']

/** Whether a tenant can have this name: 1 to 64 of a-z, 0-9, `-`, `_` and `.`. */
export function isTenant(name: string): boolean {
  return /^[a-z0-9][a-z0-9._-]{0,63}$/.test(name) && !reserved.includes(name)
}

/** The rule of `isTenant`, for error texts. */
export const tenantRule = "give 1 to 64 of a-z, 0-9, '.', '_' and '-', and not guest or call"

/**
 * Whether a program or a client can name this tenant. `defaultTenant` is a tenant for operators only:
 * its conversations are of everybody without a tenant.
 */
export function isNamedTenant(name: string): boolean {
  return isTenant(name) && name !== defaultTenant
}

/** The rule of `isNamedTenant`, for error texts. */
export const namedTenantRule = `${tenantRule}, nor ${defaultTenant}`

export function tenantOf(conversation: string): string {
  const [, name = ''] = /^(?:call\/)*([^:]{1,64}):/.exec(conversation) ?? []
  return isTenant(name) ? name : defaultTenant
}

/** The share of a tenant's work where work waits, from 1, relative to other tenants. */
export type WeightOf = (tenant: string) => number

/** The id in the log of a conversation that a tenant names. */
export function conversationOfTenant(tenant: string, given: string): string {
  return `${tenant}:${given}`
}
