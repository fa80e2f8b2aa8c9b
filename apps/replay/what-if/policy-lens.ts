// The lenses of another policy. Each one folds the inbox of a deciding stage with every overlay, and
// compares the decisions round by round.

import { reducers } from '../../../services/reducers.ts'
import type { PolicyContent } from '../../../shared/agents/policy/entries.ts'
import { messageOf } from '../../../shared/codec/message-of.ts'
import type { StoredRecord } from '../../../shared/contract/bus.ts'
import { isSameRound, type TurnId } from '../../../shared/contract/ids.ts'
import type { Intervention, Message, RoundOutcome } from '../../../shared/contract/messages.ts'
import { capReasonIn } from '../../../shared/contract/turn/turn-texts.ts'
import { tokensOf } from '../../../shared/view/totals.ts'
import type { ReadLog, TopicRange } from '../log-range.ts'
import { type Changes, type Decision, lastRound } from './change.ts'
import { overlaying } from './overlay.ts'
import { createRepetitions } from './repetitions.ts'
import { createVariants } from './variants.ts'

/** A lens reads one inbox of a partition and finds the decisions that change. */
export type Lens = {
  readonly inbox: TopicRange
  take(record: StoredRecord): Promise<void>
}

/** One `changes` for each overlay. Turns whose beginning is missing (`hasTurn`) are left out. */
export type PolicyLensOptions = {
  overlays: readonly PolicyContent[]
  changes: readonly Changes[]
  hasTurn: (turn: TurnId) => boolean
}

/** `before`: the outputs of the stage without a change. `outcomesIn`: the rounds that the record ends. */
type Deciding = {
  stage: 'loop-detector' | 'conversation'
  outcomesIn(record: StoredRecord, before: readonly Message[]): RoundOutcome[]
  decisionIn(written: readonly Message[], outcome: RoundOutcome): Decision | null
  /** Later outcomes in the log belong to the original decision, so only the first change counts. */
  endsWithChange: boolean
}

/** The loop-detector's decisions. */
const ladder: Deciding = {
  stage: 'loop-detector',
  outcomesIn: (_, before) => before.filter(isOutcome),
  decisionIn(written, outcome) {
    const own = written.filter(isOutcome).find((message) => isSameRound(message, outcome))
    return decisionOf(own?.intervention ?? null)
  },
  endsWithChange: false,
}

/** The effects of caps on a conversation. */
const caps: Deciding = {
  stage: 'conversation',
  outcomesIn({ value }, before) {
    if (before.length === 0) return [] // the conversation did not wait for this round
    const message = messageOf(value)
    return message?.type === 'round-outcome' ? [message] : []
  },
  decisionIn: capDecisionIn,
  endsWithChange: true,
}

export function policyLens(
  log: ReadLog,
  inbox: TopicRange,
  what: 'ladder' | 'caps',
  { overlays, changes, hasTurn }: PolicyLensOptions,
): Lens {
  const { stage, outcomesIn, decisionIn, endsWithChange } = what === 'caps' ? caps : ladder
  const variants = createVariants(log, inbox, reducers[stage], overlays.map(overlaying))
  const repeatedIn = createRepetitions()

  return {
    inbox,
    async take(record) {
      const [before = [], ...others] = await variants.take(record)
      for (const outcome of outcomesIn(record, before)) {
        if (!hasTurn(outcome)) continue
        const round = roundOf(record, outcome, repeatedIn(outcome))
        for (const [index, after] of others.entries()) {
          const found = changes[index]
          const isOver = endsWithChange && found?.byConversation.has(outcome.conversation)
          const [was, is] = isOver
            ? [null, null]
            : [decisionIn(before, outcome), decisionIn(after, outcome)]
          found?.judged({ ...round, was, is })
        }
      }
    },
  }
}

/**
 * The effect of a cap, or of an intervention that requests text, on this round. Null: it continues,
 * or ended without a cap.
 */
function capDecisionIn(
  written: readonly Message[],
  { intervention }: RoundOutcome,
): Decision | null {
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

export function isOutcome(message: Message): message is RoundOutcome {
  return message.type === 'round-outcome'
}

/** `repeated`: see repetitions.ts. */
export function roundOf(
  { topic, partition, offset }: StoredRecord,
  { conversation, turn, round, response, results }: RoundOutcome,
  repeated: readonly number[],
) {
  const id = { conversation, turn, round, at: { topic, partition, offset } }
  return { ...id, calls: response.calls, results, repeated, tokens: tokensOf(response.usage) }
}

function decisionOf(intervention: Intervention | null): Decision | null {
  if (intervention === null) return null
  const { action, rule, ruleVersion, reason } = intervention
  return { action, rule: `${rule}@${ruleVersion}`, reason }
}
