// A response with a visible text that is built like a call and cannot run (I2). Without an answer,
// the model assumes that the call did nothing and writes it again.
//
// UNREAD-CALL-1. The model gets the reason at most twice a turn. A later text of this kind is the
//     reply.
// UNREAD-CALL-2. In a text-only round there is no further request for the reason.

import type { EvidenceRef } from '../../../shared/contract/messages.ts'
import { unreadCall as words } from '../intervention-text.ts'
import { unreadCallsMax } from '../patience.ts'
import type { Rule } from '../rule.ts'

type Memory = { evidence: EvidenceRef[] }

export const unreadCall: Rule<Memory> = {
  name: 'unread-call',
  version: 1,
  kind: 'tool_loop',
  thresholds: [],
  description: 'A response is written like a call, and cannot be run.',
  firesWhen: 'a text is built like a call and cannot run',
  endedBy: 'nothing: two of a turn are answered',
  sentence: 'made no progress',
  initial: () => ({ evidence: [] }),

  judge(memory, { round, textOnly, unread }) {
    if (unread === null || textOnly || memory.evidence.length >= unreadCallsMax) return undefined
    memory.evidence = [...memory.evidence, { round, ordinal: -1 }]
    return {
      rung: 'nudge',
      ordinary: true,
      key: 'unread call',
      reason: `a response was written like a tool call that cannot be run: ${unread}`,
      text: words(unread),
      class: 'no_progress',
      evidence: memory.evidence,
    }
  },
}
