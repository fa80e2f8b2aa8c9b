// The same text is written into the same place again and again. Each time the file differs and the
// call succeeds, so every other rule sees news.
//
// SAME-CHANGE-1. Only a text with its place counts: an edit, or a command that writes its own words
//     into a file. A build, a key or a move may be repeated as often as the work needs.
// SAME-CHANGE-2. Another text for the same place is progress there.

import { limits } from '../../../../shared/contract/limits.ts'
import { touch } from '../../../../shared/lib/recency.ts'
import { noProgress, finding as texts } from '../../../../shared/model-texts/interventions.ts'
import { addMatch, emptyStreak, found, roundsText, type Streak, weightiest } from '../../ladder.ts'
import { placeOfChange } from '../../meaning/written-text.ts'
import { sameChangeRoundsMax } from '../../patience.ts'
import type { Finding, Rule } from '../../rule.ts'

/** By call. */
type Memory = Map<string, Streak & { place: string; rounds: number }>

export const sameChange: Rule<Memory> = {
  name: 'same-change',
  version: 1,
  kind: 'tool_loop',
  thresholds: ['loop.identicalSuccesses'],
  description: 'The same text is written into the same place again and again.',
  firesWhen: 'a call writes the same text into the same place for the 8th time, with any result',
  endedBy: 'another text for the same place',
  sentence: 'kept writing the same text into the same place',
  initial: () => new Map(),

  judge(memory, { round, calls }, { loop }) {
    const findings: Finding[] = []
    for (const call of calls) {
      const place = placeOfChange(call)
      if (place === undefined) continue
      const known = memory.get(call.key)
      if (known === undefined)
        for (const [key, streak] of memory) if (streak.place === place) memory.delete(key)
      const streak = known ?? { ...emptyStreak(), place, rounds: 0 }
      if (streak.round === round) continue
      addMatch(streak, call)
      streak.rounds += 1
      touch(memory, call.key, streak, limits.loopStreaksMax)
      if (streak.rounds % sameChangeRoundsMax(loop) !== 0) continue
      const label = `${call.tool}(${call.shown.arguments})`
      findings.push(
        found(streak, {
          key: label,
          reason: `${label} made the same change in ${roundsText(streak.rounds)}`,
          text: noProgress(streak.shown, texts.sameChange(streak.rounds)),
        }),
      )
    }
    return weightiest(findings)
  },
}
