// An operator's stop of model requests: the failure of a stopped attempt, and the check right
// before the provider is called.

import type { StopInForce } from '../../shared/contract/messages.ts'
import type { PerformerContext } from '../../shared/contract/performer.ts'
import { stopKeyPrefix } from '../../shared/contract/topology.ts'
import {
  type StopTarget,
  stopOfTurn,
  stopReason,
  stopsInForce,
} from '../../shared/runtime/stops.ts'
import type { Failed } from './providers/provider.ts'

/** The abort of a running attempt by a stop. */
export class StoppedByOperator extends Error {
  override name = 'AbortError'
  readonly stop: StopInForce

  constructor(stop: StopInForce) {
    super('an operator stopped it')
    this.stop = stop
  }
}

/** A further attempt would be stopped too. */
export function stoppedAttempt(stop: StopInForce): Failed {
  return {
    kind: 'failed',
    code: 'stop.in-force',
    class: 'stopped',
    reason: stopReason(stop),
    retryable: false,
    retryAfterMs: null,
  }
}

/** The reason why no model request of the turn may start now. Undefined: it may. */
export async function stopBeforeRequest(
  { log, policies }: Pick<PerformerContext, 'log' | 'policies'>,
  target: StopTarget,
): Promise<Failed | undefined> {
  try {
    const stops = stopsInForce(await policies(stopKeyPrefix), target)
    if (typeof stops === 'string') return unreadable(stops)
    const stop = stopOfTurn(stops)
    return stop && stoppedAttempt(stop)
  } catch (error) {
    log.warn({ err: error }, 'the stops in policies cannot be read')
    return unreadable('the stops in policies cannot be read')
  }
}

function unreadable(reason: string): Failed {
  return {
    ...{ kind: 'failed', code: 'policies.unreadable', class: 'transient', reason },
    ...{ retryable: true, retryAfterMs: null },
  }
}
