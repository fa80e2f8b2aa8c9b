// Finds the first decision of a conversation that other caps change. It folds the inbox with each
// overlay, and stops there: later outcomes in the log belong to the original decision.

import { reducers } from '../../../services/reducers.ts'
import type { PolicyContent } from '../../../shared/agents/policy/entries.ts'
import { decode } from '../../../shared/codec/codec.ts'
import type { TurnId } from '../../../shared/contract/ids.ts'
import type { Message, RoundOutcome } from '../../../shared/contract/messages.ts'
import { capReasonIn } from '../../../shared/contract/turn/turn-texts.ts'
import type { ReadLog, TopicRange } from '../log-range.ts'
import { type Changes, type Decision, lastRound } from './change.ts'
import { decisionOf, roundOf } from './ladder-lens.ts'
import type { Lens } from './lens.ts'
import { overlaying } from './overlay.ts'
import { createRepetitions } from './repetitions.ts'
import { createVariants } from './variants.ts'

export function capLens(
  log: ReadLog,
  inbox: TopicRange,
  options: {
    overlays: readonly PolicyContent[]
    changes: readonly Changes[]
    hasTurn: (turn: TurnId) => boolean
  },
): Lens {
  const variants = createVariants(
    log,
    inbox,
    reducers.conversation,
    options.overlays.map(overlaying),
  )
  const repeatedIn = createRepetitions()

  return {
    inbox,
    async take(record) {
      const [before = [], ...others] = await variants.take(record)
      if (before.length === 0) return // the conversation did not wait for this round
      const outcome = outcomeIn(record.value)
      if (outcome === undefined || !options.hasTurn(outcome)) return
      const round = roundOf(record, outcome, repeatedIn(outcome))
      for (const [index, after] of others.entries()) {
        const changes = options.changes[index]
        const isOver = changes?.byConversation.has(outcome.conversation) === true
        const [was, is] = isOver
          ? [null, null]
          : [decisionIn(before, outcome), decisionIn(after, outcome)]
        changes?.judged({ ...round, was, is })
      }
    },
  }
}

function outcomeIn(value: Uint8Array | null): RoundOutcome | undefined {
  const message = value === null ? undefined : decode(value)
  return message?.type === 'round-outcome' ? message : undefined
}

/**
 * The effect of a cap, or of an intervention that requests text, on this round. Null: it continues,
 * or ended without a cap.
 */
function decisionIn(written: readonly Message[], { intervention }: RoundOutcome): Decision | null {
  for (const message of written) {
    if (message.type === 'turn-finished')
      return message.cap === null
        ? null
        : { action: 'end', rule: lastRound, reason: message.reason }
    if (message.type === 'model-request' && message.callsLeft === 0) {
      const reason = capReasonIn(message.nudge ?? '')
      return reason === undefined
        ? decisionOf(intervention)
        : { action: 'text_only', rule: lastRound, reason }
    }
  }
  return null
}
