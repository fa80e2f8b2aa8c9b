// Calls that differ only in their stamps (stamp.ts) keep succeeding with the same result: one call
// in ever new spellings. This is the last and slowest rule, because a difference may have a hidden
// meaning.
//
// The rule comes after all others and counts only successes. For failures the error
// counts, with any arguments.
// A new result of the tool, and a call that differs in more than stamps, end all
// streaks.
// New ids in the answer to a message are no new result. For a tool that declares
// `mutates`, ids of the message or of the request are stamps too.
// Calls that wait are exempt.
// For a call whose result repeats its one text, each number is a stamp (echo.ts).

import { limits } from '../../../shared/contract/limits.ts'
import { remember } from '../../../shared/lib/recency.ts'
import { noProgress, finding as texts } from '../../../shared/model-texts/interventions.ts'
import type { CallEvidence } from '../evidence/call-evidence.ts'
import { fingerprint } from '../evidence/fingerprint.ts'
import { masked, withoutEchoes } from '../evidence/mask.ts'
import { isMessage, withoutMessageId, withoutNewIds, withoutStamps } from '../evidence/stamp.ts'
import { type CountedStreak, counted, found, weightiest } from '../ladder.ts'
import { mayHaveReferences } from '../meaning/page-reference.ts'
import { sameAnswerRoundsMax } from '../patience.ts'
import type { Finding, Rule } from '../rule.ts'

type NearStreak = CountedStreak & { calls: Set<string> }

/** `known`: calls without their stamps, with their results. */
type Memory = { known: Set<string>; streaks: Map<string, NearStreak> }

export const nearEqual: Rule<Memory> = {
  name: 'near-equal',
  version: 10,
  kind: 'tool_loop',
  thresholds: ['loop.identicalSuccesses'],
  description:
    'Calls that differ only in a time, a counter or a random value keep succeeding with the same result.',
  firesWhen:
    'calls that differ only in a time, an attempt, a nonce or a remark have the same result for the 8th time. The same message is sent for the 8th time',
  endedBy: 'a new result, or a call that differs in more',
  sentence: 'made no progress',
  initial: () => ({ known: new Set(), streaks: new Map() }),

  judge(memory, { calls }, { loop }) {
    // No early exit: each call must become known.
    let isNew = false
    const seen: Near[] = []
    for (const call of calls) {
      if (call.isDenied || call.effect === 'waits') continue
      const one = nearOf(call)
      if (one === undefined ? call.isNew : remember(memory.known, one.near, limits.loopSeenMax))
        isNew = true
      if (one !== undefined && !call.poll) seen.push(one)
    }
    if (isNew) memory.streaks.clear()
    const findings: Finding[] = []
    for (const one of seen) {
      const { call, near } = one
      const known = memory.streaks.get(near)
      const isOther = known && remember(known.calls, call.outcome, limits.loopStreaksMax)
      if (known && !isOther && known.calls.size < 2) continue // identical-success counts these
      const streak = counted(memory.streaks, near, call, () => ({
        calls: new Set([call.outcome]),
      }))
      if (streak && streak.rounds >= sameAnswerRoundsMax(loop)) findings.push(finding(streak, one))
    }
    return weightiest(findings)
  },
}

/**
 * `near`: equal for calls that differ only in stamps and have the same result. `isSame`: only results
 * differ, in new ids.
 */
type Near = { call: CallEvidence; near: string; isSame?: boolean }

/** Undefined: the call has no stamp. */
function nearOf(call: CallEvidence): Near | undefined {
  const { tool, key, result, failure, effect, value, mayBeStamped, mutates } = call
  if (call.repeated !== undefined)
    return { call, near: fingerprint('near-arguments', tool, call.repeated) }
  if (failure !== undefined) return undefined
  const sent = mutates ? withoutMessageId(value) : undefined
  if (sent !== undefined) {
    const text = masked(withoutNewIds(withoutEchoes(call.text, sent.ids)))
    return { call, near: fingerprint('near-arguments', tool, sent.text, text) }
  }
  const plain = mayBeStamped ? withoutStamps(value, mayHaveReferences(call.text)) : undefined
  if (plain !== undefined) return { call, near: fingerprint('near-arguments', tool, plain, result) }
  if (effect === 'reads' || !isMessage(value)) return undefined
  const text = masked(withoutNewIds(call.text))
  return { call, near: fingerprint('near-arguments', key, text), isSame: true }
}

function finding(streak: NearStreak, { call, isSame }: Near): Finding {
  const { tool, shown } = call
  const times = `in ${streak.rounds} rounds`
  return found(streak, {
    key: `${tool} → ${shown.outcome}`,
    reason: isSame
      ? `${tool}(${shown.arguments}) sent the same text ${times}, and the answers differ only in new ids`
      : `${tool} was called ${times} with arguments that differ only in a time, a number of the attempt, a nonce or a remark on a command, and ${shown.outcome}`,
    text: noProgress(streak.shown, isSame ? texts.sentAgain(streak.rounds) : texts.nearEqual),
  })
}
