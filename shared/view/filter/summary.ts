// The values of a turn by which lists and exports select turns. Pure.

import type { Cap, FailureClass, TurnOutcome } from '../../contract/messages.ts'
import { factsOf, type TurnFacts } from '../turn-facts.ts'
import type { TurnView } from '../turn-view.ts'

/** `agent`, `tenant` null: its record is not there. `outcome`: open, as long as there is no end. */
export type TurnSummary = {
  tenant: string | null
  agent: string | null
  /** The tools that the model called, by the names that it wrote. */
  tools: string[]
  outcome: TurnOutcome | 'open'
  failureClass: FailureClass | null
  cap: Cap | null
  facts: TurnFacts
}

export function turnSummary({ tenant, agent, tools, end, facts }: TurnView): TurnSummary {
  return {
    tenant: tenant ?? null,
    agent: agent ?? null,
    tools: [...tools],
    outcome: end?.outcome ?? 'open',
    failureClass: end?.class ?? null,
    cap: end?.cap ?? null,
    facts: factsOf(facts),
  }
}
