// The same text is written into the same place again and again. Each time the file differs and the
// call succeeds, so every other rule sees news.
//
// Only a text with its place counts: an edit, or a command that writes its own words
// into a file. A build, a key or a move may be repeated as often as the work needs.
// Another text for the same place is progress there.

import { noProgress, finding as texts } from '../../../../shared/model-texts/interventions.ts'
import { textHash } from '../../evidence/fingerprint.ts'
import { type CountedStreak, counted, found, roundsText, weightiest } from '../../ladder.ts'
import { placeOfChange } from '../../meaning/written-text.ts'
import { sameAnswerRoundsMax } from '../../patience.ts'
import type { Finding, Rule } from '../../rule.ts'

/** By call. `place`: a hash. A title of a note may be long. */
type Memory = Map<string, CountedStreak & { place: number }>

export const sameChange: Rule<Memory> = {
  name: 'same-change',
  version: 3,
  kind: 'tool_loop',
  thresholds: ['loop.identicalSuccesses'],
  description: 'The same text is written into the same place again and again.',
  firesWhen: 'a call writes the same text into the same place for the 8th time, with any result',
  endedBy: 'another text for the same place',
  sentence: 'kept writing the same text into the same place',
  initial: () => new Map(),

  judge(memory, { calls }, { loop }) {
    const findings: Finding[] = []
    for (const call of calls) {
      const written = placeOfChange(call)
      if (written === undefined) continue
      const place = textHash(written)
      if (!memory.has(call.key))
        for (const [key, streak] of memory) if (streak.place === place) memory.delete(key)
      const streak = counted(memory, call.key, call, () => ({ place }))
      if (streak === undefined || streak.rounds % sameAnswerRoundsMax(loop) !== 0) continue
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
