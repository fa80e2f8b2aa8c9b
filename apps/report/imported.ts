// The report of a conversation imported from a transcript. Weir was not in force, so its records
// have no interventions. Shows what Weir would have done, judged as in `weir judge`.

import type { Timeline } from '../../shared/view/timeline.ts'
import { givenBy } from '../replay/judge/overrides.ts'
import { scenarioOf } from '../replay/judge/timeline-scenario.ts'
import { judge } from '../replay/judge/verdict.ts'
import { isPlayed } from '../transcripts/made-up-settings.ts'
import type { Imported } from './page/data.ts'

/** Null: a run of Weir wrote the conversation. */
export function importedOf(timeline: Timeline): Imported | null {
  if (!isPlayed(timeline.turns)) return null
  const { step, action, rule, reason } = judge(scenarioOf(timeline), givenBy([]))
  if (step === null) return { wouldHave: null }
  return {
    wouldHave: {
      ...placeOf(timeline, step),
      action: action ?? '',
      rule: rule ?? '',
      reason: reason ?? '',
    },
  }
}

/** A text to add to the sentence: the index shows nothing more of a conversation. */
export function wouldHaveText({ wouldHave }: Imported, { turns }: Timeline): string[] {
  if (wouldHave === null) return []
  const number = turns[wouldHave.turn]?.number
  return [
    ` Weir would have stepped in after round ${wouldHave.round}${turns.length > 1 ? ` of turn ${number}` : ''}.`,
  ]
}

/** The round of a step in the scenario. Each turn begins with a step of its user. */
function placeOf({ conversation, turns }: Timeline, step: number): { turn: number; round: number } {
  let last = 0
  for (const [place, turn] of turns.entries()) {
    last += 1
    for (const round of turn.rounds) {
      last += scenarioOf({ conversation, turns: [{ ...turn, rounds: [round] }] }).steps.length - 1
      if (last >= step) return { turn: place, round: round.round }
    }
  }
  throw new Error(
    `step ${step} is behind the end of conversation ${conversation}, which has ${last}`,
  )
}
