// Responses with neither visible text nor a call, thinking-only ones among them (I4).
// EMPTY-RESPONSE-1. Two counters: in a row, which a call or visible text resets, and in the turn,
//     which nothing does.
// EMPTY-RESPONSE-2. Each is answered by an ordinary reminder while both allowances last; the one
//     after is answered by a last request without tools.
// EMPTY-RESPONSE-3. What the length limit cut counts for the turn, not for the row: it is asked to
//     be brief.

import { limits } from '../../../shared/contract/limits.ts'
import type { EvidenceRef } from '../../../shared/contract/messages.ts'
import { emptyResponse as texts } from '../intervention-text.ts'
import type { Finding, Rule } from '../rule.ts'

type Memory = { called: boolean; inRow: number; inTurn: number; evidence: EvidenceRef[] }

export const emptyResponse: Rule<Memory> = {
  name: 'empty-response',
  version: 1,
  kind: 'empty_cap',
  thresholds: ['empty.beforeTools', 'empty.afterTools', 'empty.perTurn'],
  description: 'Responses have neither visible text nor a call.',
  firesWhen:
    'responses have neither text nor call: a reminder follows each, and a last request without tools follows the one over the allowance',
  endedBy: 'a call or visible text, for those in a row; nothing, for those of the turn',
  sentence: 'kept giving empty responses',
  keyRepeatsSentence: true,
  begin: () => ({ called: false, inRow: 0, inTurn: 0, evidence: [] }),

  judge(memory, { round, called, spoke, cut, textOnly }, { empty }) {
    if (called || spoke) {
      memory.inRow = 0
      memory.called ||= called
      return undefined
    }
    if (textOnly) return undefined // what follows a silent text-only round is one rule for all of them: see judgement.ts
    memory.inTurn += 1
    if (!cut) memory.inRow += 1
    memory.evidence = [...memory.evidence, { round, ordinal: -1 }].slice(
      -limits.interventionEvidenceMax,
    )

    if (memory.inTurn > empty.perTurn) return lastChance(memory, 'in the turn', memory.inTurn)
    if (memory.inRow > (memory.called ? empty.afterTools : empty.beforeTools))
      return lastChance(memory, 'in a row', memory.inRow)
    return {
      rung: 'nudge',
      ordinary: true,
      key: 'empty response',
      reason: `a response ${cut ? 'was cut before it had' : 'had no'} visible text or call (${memory.inRow} in a row, ${memory.inTurn} in the turn)`,
      text: cut ? texts.brevity : texts.nudge,
      class: 'no_progress',
      evidence: memory.evidence,
    }
  },
}

function lastChance({ evidence }: Memory, where: string, responses: number): Finding {
  return {
    rung: 'text_only',
    ordinary: false,
    key: `empty responses ${where}`,
    reason: `${responses} responses ${where} had no visible text and no call`,
    text: texts.lastChance(responses),
    class: 'no_progress',
    evidence,
  }
}
