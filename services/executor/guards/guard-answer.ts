// The effect of an enforcing guard's answer on the calls that waited: its verdicts, its silence, or
// an unusable answer. The texts are for the model that made the call.
// A guard answers for the calls that it received, each of them. Its verdicts
// on other calls are ignored.
// An unusable answer denies (R6): one missing verdict makes the whole answer
// unusable. Of two verdicts on one call, the stricter one counts.

import type { CallEnding } from '../../../shared/contract/call/call-endings.ts'
import { limits } from '../../../shared/contract/limits.ts'
import type {
  CallVerdict,
  GuardAnswer,
  GuardInForce,
  GuardVerdict,
  GuardWish,
  VerdictKind,
} from '../../../shared/contract/messages.ts'
import type { Milliseconds } from '../../../shared/lib/clock.ts'
import { cutToBytes, onOneLine, shortened } from '../../../shared/lib/text-cut.ts'
import {
  deniedByGuard,
  guardSays,
  noReasonGiven,
  reasonOfDenial,
  silentGuard,
  unusableGuard,
} from '../../../shared/model-texts/denied-calls.ts'

/** A guard that a round waits for. `due`: its deadline. `ordinals`: the calls that it received. */
export type AwaitedGuard = Pick<GuardInForce, 'name' | 'version' | 'onTimeout'> & {
  due: Milliseconds
  ordinals: number[]
}

export type Answer = { answer: GuardAnswer; version: string; verdicts: CallVerdict[] }

/** The answer of a guard for the calls that waited for it. */
export function answerOf(
  { name, ordinals }: AwaitedGuard,
  { version, verdicts }: GuardVerdict,
): Answer {
  const byOrdinal = new Map<number, CallVerdict>()
  for (const verdict of verdicts)
    if (!isStricter(byOrdinal.get(verdict.ordinal), verdict))
      byOrdinal.set(verdict.ordinal, verdict)
  const missing = ordinals.find((ordinal) => !byOrdinal.has(ordinal))
  const by = shortened(onOneLine(version), limits.guardVersionCharsMax)
  if (missing === undefined) {
    return {
      answer: 'verdicts',
      version: by,
      verdicts: ordinals.flatMap((ordinal) => byOrdinal.get(ordinal) ?? []).map(bounded),
    }
  }
  const evidence = `it said nothing of call ${missing}`
  return {
    answer: 'unusable',
    version: by,
    verdicts: ordinals.map((ordinal) =>
      denial(ordinal, 'guard.unusable', unusableGuard(name), evidence),
    ),
  }
}

const strictness: Record<VerdictKind, number> = { allow: 0, ask: 1, deny: 2 }

function isStricter(known: CallVerdict | undefined, { verdict }: CallVerdict): boolean {
  return known !== undefined && strictness[known.verdict] > strictness[verdict]
}

/** The verdicts on the calls of a guard whose deadline has passed. */
export function silenceOf({ name, version, onTimeout, ordinals }: AwaitedGuard): Answer {
  const verdicts = ordinals.map(
    (ordinal): CallVerdict =>
      onTimeout === 'allow'
        ? { ordinal, verdict: 'allow', code: 'guard.silent', text: '', evidence: null }
        : denial(ordinal, 'guard.silent', silentGuard(name), null),
  )
  return { answer: 'silent', version, verdicts }
}

/** The result of a call that a guard denied: it never ran. */
export function deniedCall(guard: string, { code, text }: CallVerdict): CallEnding {
  const why = text.startsWith(`the guard "${guard}" `) ? text : guardSays(guard) + text
  return {
    status: 'denied',
    text: deniedByGuard(why),
    reason: reasonOfDenial(guard, code),
    guard,
  }
}

/** An intervention that a guard requests, within its bounds. */
export function boundedIntervention(guard: string, { reason, text }: GuardWish): GuardWish {
  return {
    guard,
    reason: shortened(onOneLine(reason), limits.reasonBytesMax),
    text: cutToBytes(text, limits.guardTextBytesMax),
  }
}

function denial(ordinal: number, code: string, text: string, evidence: string | null): CallVerdict {
  return { ordinal, verdict: 'deny', code, text, evidence }
}

/** A guard's text may be anything: so far only its size was checked, by the relay. */
function bounded({ ordinal, verdict, code, text, evidence }: CallVerdict): CallVerdict {
  if (verdict === 'allow') return { ordinal, verdict, code: '', text: '', evidence: null }
  return {
    ordinal,
    verdict,
    code: shortened(onOneLine(code), limits.guardCodeCharsMax) || 'denied',
    text: cutToBytes(text, limits.guardTextBytesMax) || noReasonGiven,
    evidence: evidence === null ? null : cutToBytes(evidence, limits.guardEvidenceBytesMax),
  }
}
