// The slot of a model request in the line of its provider's account, and the end that the line learns.
// Writes: model-waiting to activity.

import type { Agent } from '../../../../shared/agents/agents.ts'
import { hasInForce } from '../../../../shared/codec/codec.ts'
import { type AttemptId, roundIdOf, roundKey } from '../../../../shared/contract/ids.ts'
import type { ModelLimits } from '../../../../shared/contract/messages.ts'
import type { PerformerContext } from '../../../../shared/contract/performer.ts'
import { tenantOf, type WeightOf } from '../../../../shared/contract/tenant.ts'
import {
  type AccountLines,
  freeSlot,
  type ProviderAccount,
  type Slot,
  type SlotEnd,
  type SlotWait,
} from '../../../../shared/runtime/budgets/account-lines.ts'
import type { LineWait } from '../../../../shared/runtime/budgets/request-line.ts'
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
  const { limits } = agent.model
  const name = { attempt, request: roundKey(request) }
  const own = { account, tenant, share: weightOf(tenant), ...name, expiresAt, limits }
  return lines.slot(context, own, {
    stop,
    onWait: (wait) => void reportWait(context, { ...roundIdOf(request), attempt }, wait, limits),
  })
}

async function reportWait(
  context: PerformerContext,
  id: AttemptId,
  { reason, ahead, waitMs }: SlotWait,
  limits: ModelLimits | undefined,
): Promise<void> {
  if (!hasInForce('model-waiting', 'reason')) return
  const waiting = { ahead, waitMs, reason: reasonOf(reason, limits) }
  try {
    await context.write('activity', [{ type: 'model-waiting', ...id, ...waiting }])
  } catch (error) {
    context.log.warn({ err: error }, 'the wait of a model request could not be written')
  }
}

function reasonOf(reason: LineWait, limits: ModelLimits | undefined): string {
  switch (reason) {
    case 'closed':
      return 'the provider accepts no request of this account for now'
    case 'pace':
      return 'the provider refused requests of this account, which now start one after the other'
    default:
      return `the limit ${reason} of the model is ${limits?.[reason] ?? 'set by another agent file'}`
  }
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
