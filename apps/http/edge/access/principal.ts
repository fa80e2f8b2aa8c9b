// The author of a request to the edge: a key, a certificate, a token's subject, a user of a program
// that serves its agents, or a program of this machine.
// A conversation belongs to a tenant by its id in the log: `TENANT:ID`. A principal with
// a tenant names ids after that prefix only, so no request can reach another tenant's.
// Tenant, kind and name are one id. It is the key of each digest, map, bucket and record:
// a name alone can belong to two principals.

import { type HttpRole, httpRoles } from '../../../../client/http/http-options.ts'
import type { ConversationId } from '../../../../shared/contract/ids.ts'
import type { PersonIdentity } from '../../../../shared/contract/messages.ts'
import { conversationOfTenant } from '../../../../shared/contract/tenant.ts'
import type { Milliseconds } from '../../../../shared/lib/clock.ts'
import { WeirError } from '../../../../shared/lib/errors.ts'
import { HttpError } from '../../http-error.ts'

export const roles = httpRoles
export type Role = HttpRole

/**
 * `subject`: of a token. `user`: of this process. `signed-in`: a program that serves its agents proved it.
 * `tenant` null: all tenants.
 */
export type PrincipalParts = {
  tenant: string | null
  kind: 'key' | 'certificate' | 'subject' | 'user' | 'signed-in'
  name: string
}

declare const brand: unique symbol
export type PrincipalId = string & { readonly [brand]: 'principal' }

/**
 * `acme/key:ci`, `key:ops` for all tenants, `ann` for a user. Neither a tenant nor a kind has `/` or
 * `:`, so two principals never have the same text.
 */
export function principalId({ tenant, kind, name }: PrincipalParts): PrincipalId {
  const own = kind === 'user' ? name : `${kind}:${name}`
  return (tenant === null ? own : `${tenant}/${own}`) as PrincipalId
}

export type Principal = {
  /** Also the name that its decisions carry. */
  id: PrincipalId
  /** `claimed`: nothing proves the id, as with a program of this machine. */
  identity: PersonIdentity
  /** Null: all tenants. */
  tenant: string | null
  roles: ReadonlySet<Role>
  /** Whether a turn is cancelled when its client disconnects. */
  cancelsOnDisconnect: boolean
  /** The user of its messages. Undefined: it does not stand for a user. */
  user?: string
  /** It logged in to the console. */
  isSession?: boolean
  /** When its key or token expires. Undefined: never. */
  until?: Milliseconds
  /** The context of its messages, for `ask`. */
  context?: { value: unknown; record: boolean }
}

export function withoutContext({ context: _, ...principal }: Principal): Principal {
  return principal
}

/** 1 to 255 visible ASCII characters, with single blanks between them. */
export function isSubject(name: unknown): name is string {
  return typeof name === 'string' && name.length <= 255 && /^[!-~]+( [!-~]+)*$/.test(name)
}

/** Throws 403. */
export function requireRole({ roles: own, id }: Principal, role: Role): void {
  if (own.has(role)) return
  throw new HttpError(403, 'edge.role', `${id} needs the role ${role} for this request`)
}

/** The id in the log of a conversation that the principal names. */
export function conversationIn({ tenant }: Principal, given: string): ConversationId {
  return tenant === null ? given : conversationOfTenant(tenant, given)
}

/** As conversationFor. Throws for an id of another tenant, which no request of the principal names. */
export function shownConversation(principal: Principal, id: ConversationId): string {
  const shown = conversationFor(principal, id)
  if (shown !== undefined) return shown
  throw new WeirError('runtime.assertion', 'a request reached a conversation of another tenant')
}

/** The id as the principal knows it. Undefined: it is another tenant's. */
export function conversationFor({ tenant }: Principal, id: ConversationId): string | undefined {
  if (tenant === null) return id
  return id.startsWith(`${tenant}:`) ? id.slice(tenant.length + 1) : undefined
}
