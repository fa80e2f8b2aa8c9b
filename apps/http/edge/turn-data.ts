// The facts of a turn that only Weir has, as chat protocols send them beside the model's messages.

import type { TurnEvent } from '../../../client/weir.ts'

type Event<Type extends TurnEvent['type']> = Extract<TurnEvent, { type: Type }>

/** An intervention of the loop-detector. `shadow`: it only would have one. */
export type InterventionData = {
  round: number
  rung: string
  rule: string
  reason: string
  class: string | null
  shadow: boolean
}

export type TurnData = {
  turn: number
  outcome: string
  class: string | null
  cap: string | null
  reason: string
}

export function interventionData(event: Event<'intervention-raised'>): InterventionData {
  const { rung, rule, reason, class: failure } = event.intervention
  return { round: event.round, rung, rule, reason, class: failure, shadow: event.shadow }
}

export function turnData(event: Event<'turn-finished'>): TurnData {
  const { turn, outcome, class: failure, cap, reason } = event
  return { turn, outcome, class: failure, cap, reason }
}
