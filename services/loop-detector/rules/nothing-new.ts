// Rounds in a row in which every call and its result already occurred in the turn. Examples are
// guesses among known answers, known pages in another order, a restart with the same moves. The
// other rules count one call, one answer or one order. This one counts any mixture.
//
// NOTHING-NEW-1. A round with a call that waits ends the streak, because the agent waits. A
//     failure that may clear neither counts nor ends it. The same holds for rounds without calls.
// NOTHING-NEW-2. One call alone is no mixture: identical-success and identical-failure count it.
// NOTHING-NEW-3. The ladder has one step for each whole limit of rounds, because a long check of
//     known things can be honest.

import { noProgress, finding as texts } from '../../../shared/model-texts/interventions.ts'
import { addMatch, emptyStreak, found, type Streak } from '../ladder.ts'
import { nothingNewRoundsMax } from '../patience.ts'
import type { Finding, Rule } from '../rule.ts'
import { leashOf } from './cycle.ts'

/** `first`: a call of the streak. `isMixed`: it has another one. */
type Memory = { streak: Streak; rounds: number; first: string; isMixed: boolean }

const noStreak = (): Memory => ({ streak: emptyStreak(), rounds: 0, first: '', isMixed: false })

export const nothingNew: Rule<Memory> = {
  name: 'nothing-new',
  version: 1,
  kind: 'tool_loop',
  thresholds: ['loop.identicalSuccesses'],
  description: 'Rounds in a row bring only calls with results that the turn already had.',
  firesWhen:
    'different calls bring only results that they already had in the turn, for the 8th round in a row',
  endedBy: 'a new call or result, or a call that waits',
  sentence: 'repeated known calls with known results',
  initial: noStreak,

  judge(memory, { calls, news }, { loop }) {
    if (calls.length === 0) return undefined
    const leash = leashOf(calls)
    if (!news.known || leash === 'polling') {
      if (memory.rounds > 0) Object.assign(memory, noStreak())
      return undefined
    }
    if (leash === 'transient') return undefined
    memory.rounds += 1
    for (const call of calls) {
      if (memory.first === '') memory.first = call.key
      else if (memory.first !== call.key) memory.isMixed = true
      addMatch(memory.streak, call)
    }
    return memory.isMixed && memory.rounds % nothingNewRoundsMax(loop) === 0
      ? finding(memory)
      : undefined
  },
}

function finding({ streak, rounds }: Memory): Finding {
  return found(streak, {
    key: [...new Set(streak.shown.map(({ tool }) => tool))].join(', '),
    reason: `${rounds} rounds in a row brought only calls with results that the turn already had`,
    text: noProgress(streak.shown, texts.nothingNew(rounds)),
  })
}
