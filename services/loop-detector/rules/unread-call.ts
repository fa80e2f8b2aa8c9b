// A response whose visible text is built like a call and cannot run (I2). Left without a word, the
// model takes it for a call that did nothing, and writes it again.
// UNREAD-CALL-1. It is told so, with the reason, at most twice a turn; from then on such a text is
//     what it is, the reply.
// UNREAD-CALL-2. In a text-only round nothing follows that could be answered.

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
  begin: () => ({ evidence: [] }),

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
