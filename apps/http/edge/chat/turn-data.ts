// The facts of a turn that only Weir has, as chat protocols send them next to the model's messages.
// The end of a turn has the same fields and values in every protocol.

import type { TurnFinished } from '../../../../client/weir.ts'
import type { FailureClass } from '../../../../shared/contract/messages.ts'
import type { ErrorCode } from '../../../../shared/lib/errors.ts'
import type { Event, TurnCalls } from './turn-calls.ts'

/** An intervention of the loop-detector. `shadow`: it only would have one. */
export type InterventionData = {
  round: number
  action: string
  rule: string
  reason: string
  class: string | null
  shadow: boolean
}

/**
 * The end of a turn. `class`: null for an answered one. `code`: of the operator's setting that ended
 * the turn. `rule`: see TurnCalls.
 */
export type TurnData = Pick<TurnFinished, 'turn' | 'outcome' | 'class' | 'cap' | 'reason'> & {
  code: ErrorCode | null
  rule: string | null
}

export function interventionData(event: Event<'intervention-raised'>): InterventionData {
  const { action, rule, reason, class: failure } = event.intervention
  return { round: event.round, action, rule, reason, class: failure, shadow: event.shadow }
}

/** `calls`: have seen the events of the turn. */
export function turnData(end: TurnFinished, calls: Pick<TurnCalls, 'rule'>): TurnData {
  const { turn, outcome, class: failure, cap, reason } = end
  return { turn, outcome, class: failure, code: endCode(end), cap, rule: calls.rule(), reason }
}

const codes: Partial<Record<FailureClass, ErrorCode>> = {
  budget: 'budget.reached',
  stopped: 'stop.in-force',
}

/** Null: no budget and no stop ended the turn. A cap is the agent's own. */
export function endCode({
  outcome,
  class: failure,
}: Pick<TurnFinished, 'outcome' | 'class'>): ErrorCode | null {
  return outcome === 'failed' && failure !== null ? (codes[failure] ?? null) : null
}

type EndField = string | null | undefined
type EndFields = { outcome: string; class?: EndField; cap?: EndField; rule?: EndField }

/** For the answer to a request that is not streamed: `failed; class=stopped`. */
export function outcomeHeader({ outcome, class: failure, cap, rule }: EndFields): {
  'x-weir-outcome': string
} {
  const given = Object.entries({ class: failure, cap, rule })
  const parts = given.flatMap(([name, value]) =>
    value == null ? [] : `${name}=${encodeURIComponent(value)}`,
  )
  return { 'x-weir-outcome': [outcome, ...parts].join('; ') }
}
