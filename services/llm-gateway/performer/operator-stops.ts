// An operator's stop of model requests: the failure of a stopped attempt, and the check right
// before the provider is called. The same read gives the budgets of the request.

import type { ModelRequest, StopInForce } from '../../../shared/contract/messages.ts'
import type { PerformerContext } from '../../../shared/contract/performer.ts'
import { budgetKeyPrefix, pricesKey, stopKeyPrefix } from '../../../shared/contract/topology.ts'
import { stopOfTurn, stopReason } from '../../../shared/runtime/settings/stops.ts'
import { type StopTarget, stopsInForce } from '../../../shared/runtime/settings/stops-in-force.ts'
import { type Failed, failedBy } from '../../../shared/wire/exchange.ts'
import { type BudgetsInForce, budgetsInForce } from './budgets/in-force.ts'

/** The abort of a running attempt by a stop. */
export class StoppedByOperator extends Error {
  override name = 'AbortError'
  readonly stop: StopInForce

  constructor(stop: StopInForce) {
    super('an operator stopped it')
    this.stop = stop
  }
}

export function stopTarget({ agent, conversation, settings }: ModelRequest): StopTarget {
  const { calledBy, parent } = settings.policy
  return { agent, conversation, calledBy, parent }
}

/** A further attempt would be stopped too. */
export function stoppedAttempt(stop: StopInForce): Failed {
  return failedBy('stop.in-force', 'stopped', stopReason(stop))
}

/** The budgets of the model request, or the failure because it may not start now. */
export async function checkBeforeRequest(
  { log, policies }: Pick<PerformerContext, 'log' | 'policies'>,
  target: StopTarget,
): Promise<Failed | ({ kind: 'free' } & BudgetsInForce)> {
  try {
    const records = await policies(stopKeyPrefix, budgetKeyPrefix, pricesKey)
    const stops = stopsInForce(records, target)
    if (typeof stops === 'string') return unreadable(stops)
    const stop = stopOfTurn(stops)
    if (stop !== undefined) return stoppedAttempt(stop)
    const budgets = budgetsInForce(records, target)
    return typeof budgets === 'string' ? unreadable(budgets) : { kind: 'free', ...budgets }
  } catch (error) {
    log.warn({ err: error }, 'the stops and budgets in policies cannot be read')
    return unreadable('the stops and budgets in policies cannot be read')
  }
}

function unreadable(reason: string): Failed {
  return failedBy('policies.unreadable', 'transient', reason)
}
