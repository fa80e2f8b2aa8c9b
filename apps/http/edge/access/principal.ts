// The author of a request to the edge: a key, a certificate, a token's subject, or a program of this
// machine.
// PRINCIPAL-1. A conversation belongs to a tenant by its id in the log: `TENANT:ID`. A principal with
//     a tenant names ids behind that prefix only, so no request can reach another tenant's.

import type { ConversationId } from '../../../../shared/contract/ids.ts'
import type { PersonIdentity } from '../../../../shared/contract/messages.ts'
import { conversationOfTenant } from '../../../../shared/contract/tenant.ts'
import type { Milliseconds } from '../../../../shared/lib/clock.ts'
import { HttpError } from '../../http-error.ts'

/**
 * `ask`: send messages and cancel turns. `decide`: decide about waiting calls. `read`: read
 * conversations and lists. `operate`: in the console, stop agents and tools, retry dead letters,
 * switch guards, change policies, approval rules and budgets. `unredacted`: in the console, see the
 * values that the rules of agents hide.
 */
export const roles = ['ask', 'decide', 'operate', 'read', 'unredacted'] as const
export type Role = (typeof roles)[number]

export type Principal = {
  /** The identity that decisions carry: `key:NAME`, `certificate:NAME`, a token's subject, or the user of this process. */
  name: string
  /** `claimed`: nothing proves the name, as with a program of this machine. */
  identity: PersonIdentity
  /** Null: all tenants. */
  tenant: string | null
  roles: ReadonlySet<Role>
  /** Whether a turn is cancelled when its client disconnects. */
  cancelsOnDisconnect: boolean
  /** When its token expires. Undefined: never. */
  until?: Milliseconds
}

/** Throws 403. */
export function requireRole({ roles: own, name }: Principal, role: Role): void {
  if (own.has(role)) return
  throw new HttpError(403, 'edge.role', `${name} needs the role ${role} for this request`)
}

/** The id in the log of a conversation that the principal names. */
export function conversationIn({ tenant }: Principal, given: string): ConversationId {
  return tenant === null ? given : conversationOfTenant(tenant, given)
}

/** The id as the principal knows it. Undefined: it is another tenant's. */
export function conversationFor({ tenant }: Principal, id: ConversationId): string | undefined {
  if (tenant === null) return id
  return id.startsWith(`${tenant}:`) ? id.slice(tenant.length + 1) : undefined
}
