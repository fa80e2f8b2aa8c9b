// A fan-out of several calls is repeated with the same results. The identity is the set of calls in
// the round. The streak of each single call would take longer, and together the calls are a lap
// already.

import { noProgress, finding as texts } from '../../../shared/model-texts/interventions.ts'
import { addMatch, emptyStreak, found, type Streak } from '../ladder.ts'
import { sameRoundsMax, transientRoundsMax } from '../patience.ts'
import type { Rule } from '../rule.ts'
import { leashOf } from './cycle.ts'

type Memory = { print: string; rounds: number; streak: Streak }

export const repeatedRound: Rule<Memory> = {
  name: 'repeated-round',
  version: 4,
  kind: 'tool_loop',
  thresholds: ['loop.cycleLaps'],
  description: 'Several calls are made together again and again, with the same results.',
  firesWhen: 'a round brings the same set of calls for the 4th time with the same results',
  endedBy: 'a round with other calls or other results',
  sentence: 'kept repeating the same calls',
  initial: () => ({ print: '', rounds: 0, streak: emptyStreak() }),

  judge(memory, { round, calls, print }, { loop }) {
    if (calls.length === 0) return undefined // text only, which breaks nothing
    const leash = leashOf(calls)
    // A round that waits has the bound of still-waiting.
    if (calls.length < 2 || leash === 'polling') {
      Object.assign(memory, { print: '', rounds: 0 })
      return undefined
    }
    if (memory.print !== print) Object.assign(memory, { print, rounds: 0, streak: emptyStreak() })
    memory.rounds += 1
    memory.streak.shown = []
    for (const call of calls) addMatch(memory.streak, call)
    const roundsMax = leash === 'transient' ? transientRoundsMax(loop) : sameRoundsMax(loop)
    if (memory.rounds < roundsMax) return undefined

    const tools = calls.map(({ tool }) => tool).join(', ')
    return found(memory.streak, {
      key: tools,
      reason: `the same ${calls.length} calls (${tools}) were made together in ${memory.rounds} rounds with the same results`,
      text: noProgress(memory.streak.shown, texts.repeatedRound(memory.rounds)),
      evidence: [{ round, ordinal: -1 }],
    })
  },
}
