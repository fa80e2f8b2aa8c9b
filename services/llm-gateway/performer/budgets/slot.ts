// The slot of a model request in the line of its provider's account, and the end that the line learns.

import type { Agent } from '../../../../shared/agents/agents.ts'
import type { PerformerContext } from '../../../../shared/contract/performer.ts'
import { tenantOf, type WeightOf } from '../../../../shared/contract/tenant.ts'
import {
  type AccountLines,
  freeSlot,
  type ProviderAccount,
  type Slot,
  type SlotEnd,
} from '../../../../shared/runtime/budgets/account-lines.ts'
import type { Failed, Finished } from '../../../../shared/wire/exchange.ts'
import type { AttemptTask } from '../../reducer.ts'
import { providerNamed } from '../providers/providers.ts'
import { tokensOf } from './reservation.ts'

export type SlotOptions = {
  lines: AccountLines
  context: PerformerContext
  /** Undefined: the attempt fails without a request. */
  agent: Agent | undefined
  task: AttemptTask
  attempt: string
  weightOf: WeightOf
  stop: AbortSignal
}

/** As `AccountLines.slot`. */
export async function slotOf({
  lines,
  context,
  agent,
  task: { request },
  attempt,
  weightOf,
  stop,
}: SlotOptions): Promise<Slot | undefined> {
  if (agent === undefined) return freeSlot
  const tenant = tenantOf(request.conversation)
  const { expiresAt } = request
  const account = accountOf(agent)
  const own = { account, tenant, share: weightOf(tenant), attempt, expiresAt }
  return lines.slot(context, own, { stop, onWait: () => {} })
}

/** The server that the agent's requests go to, also if its file names none. */
function accountOf({ model }: Agent): ProviderAccount {
  const { provider, name, apiKey, baseUrl } = model
  const { url } = providerNamed(provider).check({ baseUrl, apiKey, path: encodeURIComponent(name) })
  return { server: new URL(url).origin, key: apiKey, model: name }
}

/** The end of an attempt, for its line. */
export function slotEndOf(ended: Failed | Finished): SlotEnd {
  if (ended.kind === 'failed') {
    const { refusedBy = null, retryAfterMs } = ended
    return { tokens: null, refusedBy, waitMs: refusedBy === null ? 0 : (retryAfterMs ?? 0) }
  }
  const { usage, exhaustedMs = 0 } = ended
  const tokens = tokensOf(usage)
  return { tokens: tokens === 0 ? null : tokens, refusedBy: null, waitMs: exhaustedMs }
}
