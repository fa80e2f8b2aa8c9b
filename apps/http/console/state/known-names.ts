// The names of agents, tenants and tools that the activity shows, as suggestions for a person who types
// one. Pure.
// CONSOLE-NAMES-1. At most `limits.consolePairsMax` names of a kind are kept, the latest ones.

import { limits } from '../../../../shared/contract/limits.ts'
import type { Message } from '../../../../shared/contract/messages.ts'
import { tenantOf } from '../../../../shared/contract/tenant.ts'
import { remember } from '../../../../shared/lib/recency.ts'

export type NamesFold = { agents: Set<string>; tenants: Set<string>; tools: Set<string> }

export function beginNames(): NamesFold {
  return { agents: new Set(), tenants: new Set(), tools: new Set() }
}

export function addToNames({ agents, tenants, tools }: NamesFold, message: Message): void {
  if (message.type === 'turn-started') {
    remember(agents, message.agent, limits.consolePairsMax)
    remember(tenants, tenantOf(message.conversation), limits.consolePairsMax)
  } else if (message.type === 'call-finished') remember(tools, message.name, limits.consolePairsMax)
}
