// Folds the activity of a turn into the values by which commands select turns: its agent, its end,
// its facts. The records may come in any order.

import type { Cap, FailureClass, Message, TurnOutcome } from '../../shared/contract/messages.ts'
import { tenantOf } from '../../shared/contract/tenant.ts'
import { addFact, beginFacts, type FactFold, factsOf, type TurnFacts } from './turn-facts.ts'

/** `agent`, `tenant` null: its record is not there. `outcome`: open, as long as there is no end. */
export type FoldedTurn = {
  tenant: string | null
  agent: string | null
  outcome: TurnOutcome | 'open'
  failureClass: FailureClass | null
  cap: Cap | null
  facts: TurnFacts
}

export type TurnFold = Omit<FoldedTurn, 'facts'> & { facts: FactFold }

export function beginTurn(): TurnFold {
  return {
    tenant: null,
    agent: null,
    outcome: 'open',
    failureClass: null,
    cap: null,
    facts: beginFacts(),
  }
}

/** Adds a record of the turn's activity. */
export function addToTurn(turn: TurnFold, message: Message): void {
  if ('turn' in message) turn.tenant ??= tenantOf(message.conversation)
  if (message.type === 'turn-started') turn.agent = message.agent
  else if (message.type === 'turn-finished') {
    const { outcome, class: failureClass, cap } = message
    Object.assign(turn, { outcome, failureClass, cap })
  } else addFact(turn.facts, message)
}

export function foldedTurn({ facts, ...turn }: TurnFold): FoldedTurn {
  return { ...turn, facts: factsOf(facts) }
}
