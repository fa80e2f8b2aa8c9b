// Finds the loop-detector's changed decisions: folds its inbox with each overlay, round by round.

import { reducers } from '../../../services/reducers.ts'
import type { PolicyContent } from '../../../shared/agents/policy/entries.ts'
import type { StoredRecord } from '../../../shared/contract/bus.ts'
import type { TurnId } from '../../../shared/contract/ids.ts'
import { isSameRound } from '../../../shared/contract/ids.ts'
import type { Intervention, Message, RoundOutcome } from '../../../shared/contract/messages.ts'
import { tokensOf } from '../../../shared/view/totals.ts'
import type { ReadLog, TopicRange } from '../log-range.ts'
import type { Changes, Decision } from './change.ts'
import type { Lens } from './lens.ts'
import { overlaying } from './overlay.ts'
import { createRepetitions } from './repetitions.ts'
import { createVariants } from './variants.ts'

/**
 * One `changes` for each overlay. `hasTurn`: whether a turn's beginning is there. Other turns are
 * left out.
 */
export function ladderLens(
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
    reducers['loop-detector'],
    options.overlays.map(overlaying),
  )
  const repeatedIn = createRepetitions()

  return {
    inbox,
    async take(record) {
      const [before = [], ...others] = await variants.take(record)
      for (const was of before.filter(isOutcome)) {
        if (!options.hasTurn(was)) continue
        const round = roundOf(record, was, repeatedIn(was))
        for (const [index, after] of others.entries()) {
          const is = after.find(
            (message): message is RoundOutcome => isOutcome(message) && isSameRound(message, was),
          )
          options.changes[index]?.judged({
            ...round,
            was: decisionOf(was.intervention),
            is: decisionOf(is?.intervention ?? null),
          })
        }
      }
    },
  }
}

export function isOutcome(message: Message): message is RoundOutcome {
  return message.type === 'round-outcome'
}

/** `repeated`: see repetitions.ts. */
export function roundOf(
  { topic, partition, offset }: StoredRecord,
  outcome: RoundOutcome,
  repeated: readonly number[],
) {
  const { conversation, turn, round, response, results } = outcome
  const at = { topic, partition, offset }
  return {
    conversation,
    turn,
    round,
    at,
    calls: response.calls,
    results,
    repeated,
    tokens: tokensOf(response.usage),
  }
}

export function decisionOf(intervention: Intervention | null): Decision | null {
  if (intervention === null) return null
  const { action, rule, ruleVersion, reason } = intervention
  return { action, rule: `${rule}@${ruleVersion}`, reason }
}
