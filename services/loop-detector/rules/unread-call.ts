// A response with a visible text that is built like a call and did not run (I2). Without an answer,
// the model assumes that the call did nothing and writes it again.
//
// The model gets the reason at most twice a turn. A later text that cannot run is the
// reply.
// In a text-only round there is no further request for the reason.
// A held text gets the reason once, and again only after a call. Repeated, a call
// that is the whole text gets a last request without tools. Any other text is the reply.

import type { EvidenceRef, TextCallsHold } from '../../../shared/contract/messages.ts'
import { heldCall, unreadCall as words } from '../../../shared/model-texts/interventions.ts'
import { unreadCallsMax } from '../patience.ts'
import type { Finding, JudgedRound, Rule } from '../rule.ts'

/**
 * `evidence`: the texts that cannot run. `held`: those that could run and were held: reminders in
 * the turn, and texts since the last call.
 */
type Memory = { evidence: EvidenceRef[]; held: { reminders: number; inRow: EvidenceRef[] } }

export const unreadCall: Rule<Memory> = {
  name: 'unread-call',
  version: 1,
  kind: 'tool_loop',
  thresholds: [],
  description: 'A response is written like a call, and does not run.',
  firesWhen: 'a text is built like a call and does not run',
  endedBy: 'nothing: two of a turn are answered',
  sentence: 'made no progress',
  initial: () => ({ evidence: [], held: { reminders: 0, inRow: [] } }),

  judge(memory, judged) {
    const { round, textOnly, unread, held, called } = judged
    if (called) memory.held.inRow = []
    if (unread === null || textOnly) return undefined
    if (held !== null) return judgeHeld(memory, { ...judged, held }, unread)
    if (memory.evidence.length >= unreadCallsMax) return undefined
    memory.evidence = [...memory.evidence, { round, ordinal: -1 }]
    return {
      action: 'nudge',
      ordinary: true,
      key: 'unread call',
      reason: `a response was written like a tool call that cannot be run: ${unread}`,
      text: words(unread),
      class: 'no_progress',
      evidence: memory.evidence,
    }
  },
}

function judgeHeld(
  { held: memory }: Memory,
  { round, held }: JudgedRound & { held: TextCallsHold },
  why: string,
): Finding | undefined {
  memory.inRow = [...memory.inRow, { round, ordinal: -1 }].slice(-unreadCallsMax)
  const common = { key: 'held call', class: 'no_progress' as const, evidence: memory.inRow }
  if (memory.inRow.length === 1 && memory.reminders < unreadCallsMax) {
    memory.reminders += 1
    const reason = `a response holds a tool call that is written as text, which did not run: ${why}`
    return {
      ...common,
      action: 'nudge',
      ordinary: true,
      reason,
      text: heldCall.nudge(why, held === 'tell'),
    }
  }
  if (held !== 'tell') return undefined
  const reason = `the model still writes its tool calls as text, which did not run: ${why}`
  return { ...common, action: 'text_only', ordinary: false, reason, text: heldCall.lastChance }
}
