// The scope of `weir stop`: exactly one of its flags, with a usable name.

import { conversationIdFault } from '../../../shared/contract/ids.ts'
import { limits } from '../../../shared/contract/limits.ts'
import type { OperatorStop } from '../../../shared/contract/messages.ts'
import { isTenant, tenantRule } from '../../../shared/contract/tenant.ts'
import { usageError } from '../../../shared/lib/errors.ts'
import { printable } from '../../terminal/text/printable.ts'

export type ScopeFlags = {
  all?: true
  tenant?: string
  agent?: string
  tool?: string
  conversation?: string
}

export type Scope = Pick<OperatorStop, 'scope' | 'name'>

/** Throws `usage`. */
export function scopeOf({ all, tenant, agent, tool, conversation }: ScopeFlags): Scope {
  const given: Scope[] = [
    ...(all === true ? [{ scope: 'all', name: '' } as const] : []),
    ...(tenant === undefined ? [] : [{ scope: 'tenant', name: tenant } as const]),
    ...(agent === undefined ? [] : [{ scope: 'agent', name: agent } as const]),
    ...(tool === undefined ? [] : [{ scope: 'tool', name: tool } as const]),
    ...(conversation === undefined ? [] : [{ scope: 'conversation', name: conversation } as const]),
  ]
  const [scope, ...more] = given
  if (scope === undefined || more.length > 0)
    throw usageError(
      `${given.length} scopes are given; give exactly one of --all, --tenant, --agent, --tool and --conversation`,
    )
  const fault = nameFault(scope)
  if (fault !== undefined) throw usageError(`--${scope.scope} '${printable(scope.name)}' ${fault}`)
  return scope
}

function nameFault({ scope, name }: Scope): string | undefined {
  switch (scope) {
    case 'all':
      return undefined
    case 'tenant':
      return isTenant(name) ? undefined : `is no tenant: ${tenantRule}`
    case 'agent':
      return sizeFault(name, limits.agentNameBytesMax)
    case 'tool':
      return /\s/.test(name)
        ? 'matches no tool, because names have no blanks'
        : sizeFault(name, limits.guardPatternBytesMax)
    case 'conversation':
      return conversationIdFault(name)
  }
}

function sizeFault(name: string, max: number): string | undefined {
  const bytes = Buffer.byteLength(name)
  return bytes > 0 && bytes <= max ? undefined : `has ${bytes} bytes; it must have 1 to ${max}`
}
