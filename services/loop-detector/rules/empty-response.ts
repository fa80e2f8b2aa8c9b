// Responses with neither visible text nor a call, including those with thinking only (I4).
//
// Two counters: one in a row, which a call or visible text resets, and one for
// the turn, which nothing resets.
// An ordinary reminder follows each while both allowances last. After that a last
// request without tools follows.
// A response that the length limit cut counts for the turn, not for the row. Its
// reminder requests a short answer.

import { limits } from '../../../shared/contract/limits.ts'
import type { EvidenceRef } from '../../../shared/contract/messages.ts'
import { emptyResponse as texts } from '../../../shared/model-texts/interventions.ts'
import type { Finding, Rule } from '../rule.ts'

type Memory = { called: boolean; inRow: number; inTurn: number; evidence: EvidenceRef[] }

export const emptyResponse: Rule<Memory> = {
  name: 'empty-response',
  version: 1,
  kind: 'empty_cap',
  thresholds: ['empty.beforeTools', 'empty.afterTools', 'empty.perTurn'],
  description: 'Responses have neither visible text nor a call.',
  firesWhen:
    'responses have neither text nor call: a reminder follows each one within the allowance, a last request without tools the next one',
  endedBy: 'in a row: a call or visible text; in the turn: nothing',
  sentence: 'kept giving empty responses',
  keyRepeatsSentence: true,
  initial: () => ({ called: false, inRow: 0, inTurn: 0, evidence: [] }),

  judge(memory, { round, called, spoke, cut, textOnly }, { empty }) {
    if (called || spoke) {
      memory.inRow = 0
      memory.called ||= called
      return undefined
    }
    if (textOnly) return undefined // judgement.ts ends a text-only round without text for all rules
    memory.inTurn += 1
    if (!cut) memory.inRow += 1
    memory.evidence = [...memory.evidence, { round, ordinal: -1 }].slice(
      -limits.interventionEvidenceMax,
    )

    if (memory.inTurn > empty.perTurn) return lastChance(memory, 'in the turn', memory.inTurn)
    if (memory.inRow > (memory.called ? empty.afterTools : empty.beforeTools))
      return lastChance(memory, 'in a row', memory.inRow)
    return {
      action: 'nudge',
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
    action: 'text_only',
    ordinary: false,
    key: `empty responses ${where}`,
    reason: `${responses} responses ${where} had no visible text and no call`,
    text: texts.lastChance(responses),
    class: 'no_progress',
    evidence,
  }
}
