// Responses in a row with text and no call. In a turn of Weir the first such text is the reply and
// ends the turn, unless an intervention objects. In traces of other frameworks, which `weir judge`
// reads, agents announce the same step for ever.
//
// Equal texts have a lower limit than different texts. Case, blanks and punctuation
// make no difference.
// A call ends the monologue.

import { limits } from '../../../shared/contract/limits.ts'
import { monologue as words } from '../../../shared/model-texts/interventions.ts'
import { fingerprint } from '../evidence/fingerprint.ts'
import { found, type Streak } from '../ladder.ts'
import { monologueMin } from '../patience.ts'
import type { Rule } from '../rule.ts'

type Memory = Pick<Streak, 'action' | 'evidence'> & { inRow: number; same: number; last: string }

export const monologue: Rule<Memory> = {
  name: 'monologue',
  version: 1,
  kind: 'monologue',
  thresholds: [],
  description: 'Responses announce and do nothing.',
  firesWhen:
    '3 responses in a row have the same text and do nothing, or 6 have any text and do nothing',
  endedBy: 'a call',
  sentence: 'kept talking and did nothing',
  initial: () => ({ action: 'none', evidence: [], inRow: 0, same: 0, last: '' }),

  judge(memory, { round, called, spoke, text }) {
    if (called) {
      Object.assign(memory, { action: 'none', evidence: [], inRow: 0, same: 0, last: '' })
      return undefined
    }
    if (!spoke) return undefined
    const print = fingerprint('speech', plain(text))
    memory.inRow += 1
    memory.same = print === memory.last ? memory.same + 1 : 1
    memory.last = print
    memory.evidence = [...memory.evidence, { round, ordinal: -1 }].slice(
      -limits.interventionEvidenceMax,
    )
    const isSame = memory.same >= monologueMin.same
    if (!isSame && memory.inRow < monologueMin.any) return undefined
    return found(memory, {
      key: 'text without action',
      reason: isSame
        ? `${memory.same} responses in a row said the same and did nothing`
        : `${memory.inRow} responses in a row spoke and did nothing`,
      text: words(memory.inRow),
    })
  },
}

function plain(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()
}
