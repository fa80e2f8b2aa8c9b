// The result of a guard's function: its verdicts, or the reason why the answer cannot be used. A
// guard is foreign code, so all of its answer is checked.

import type { GuardedRound } from '../../contract/guard/guard.ts'
import { limits } from '../../contract/limits.ts'
import type { CallVerdict, GuardWish } from '../../contract/messages.ts'
import { cutToBytes, onOneLine, shortened } from '../../lib/text-cut.ts'
import { failedGuard } from '../../model-texts/denied-calls.ts'

/**
 * `state`: as JSON; undefined: nothing to keep. `fault`: why the answer cannot be used. Then each
 * call is denied, and the guard's state stays.
 */
export type Answered =
  | {
      state: string | undefined
      verdicts: CallVerdict[]
      intervention: GuardWish | null
      fault?: undefined
    }
  | { verdicts: CallVerdict[]; fault: string }

const codeShape = /^[a-z0-9_.-]{1,64}$/

/** Throws if a getter of the answer throws. */
export function answeredBy(judgement: unknown, { calls }: GuardedRound): Answered {
  const unusable = (why: string) => failedAnswer(calls, 'guard.unusable', why)
  if (typeof judgement !== 'object' || judgement === null)
    return unusable(
      `judge returned ${judgement === null ? 'null' : typeof judgement}, not an object`,
    )
  if ('then' in judgement) {
    if (judgement instanceof Promise) judgement.catch(() => {}) // a rejection would end the process
    return unusable(
      'judge returned a promise; a guard that waits for another service must declare external: true',
    )
  }
  const { state, verdicts, intervention } = judgement as {
    state?: unknown
    verdicts?: unknown
    intervention?: unknown
  }
  if (!Array.isArray(verdicts)) return unusable('its verdicts are not an array')
  const byOrdinal = new Map<number, CallVerdict>()
  for (const one of verdicts as unknown[]) {
    const verdict = verdictIn(one)
    if (typeof verdict === 'string') return unusable(verdict)
    if (!calls.some(({ ordinal }) => ordinal === verdict.ordinal))
      return unusable(`it names call ${verdict.ordinal}, which is not in its round`)
    if (byOrdinal.has(verdict.ordinal)) return unusable(`it names call ${verdict.ordinal} twice`)
    byOrdinal.set(verdict.ordinal, verdict)
  }
  const missing = calls.find(({ ordinal }) => !byOrdinal.has(ordinal))
  if (missing !== undefined) return unusable(`it has no verdict for call ${missing.ordinal}`)
  const text = state === undefined ? undefined : JSON.stringify(state)
  if (state !== undefined && text === undefined)
    return unusable(`its state is a ${typeof state}; must be data that JSON can hold`)
  if (text !== undefined && Buffer.byteLength(text) > limits.guardStateBytesMax)
    return unusable(
      `its state has ${Buffer.byteLength(text)} bytes; at most ${limits.guardStateBytesMax} are kept`,
    )
  return {
    state: text,
    verdicts: calls.flatMap(({ ordinal }) => byOrdinal.get(ordinal) ?? []),
    intervention: interventionIn(intervention),
  }
}

/** Denies each call, because the guard itself failed (R6). `why` is for people. */
export function failedAnswer(calls: GuardedRound['calls'], code: string, why: string): Answered {
  const evidence = cutToBytes(why, limits.guardEvidenceBytesMax)
  return {
    verdicts: calls.map(({ ordinal }) => ({
      ordinal,
      verdict: 'deny',
      code,
      text: failedGuard,
      evidence,
    })),
    fault: evidence,
  }
}

/** The verdict, or a text that describes its fault. */
function verdictIn(value: unknown): CallVerdict | string {
  if (typeof value !== 'object' || value === null) return 'a verdict is not an object'
  const { ordinal, verdict, code, text, evidence } = value as Record<string, unknown>
  if (typeof ordinal !== 'number' || !Number.isInteger(ordinal)) return 'a verdict has no ordinal'
  if (verdict === 'allow') return { ordinal, verdict, code: '', text: '', evidence: null }
  if (verdict !== 'deny' && verdict !== 'ask')
    return `the verdict on call ${ordinal} is none of allow, deny and ask`
  if (typeof code !== 'string' || !codeShape.test(code))
    return `the code of call ${ordinal} is not 1 to 64 of a-z, 0-9, _, . and -`
  if (typeof text !== 'string' || text.trim() === '')
    return `the ${verdict === 'ask' ? 'request for approval' : 'denial'} of call ${ordinal} has no text`
  return {
    ordinal,
    verdict,
    code,
    text: cutToBytes(text, limits.guardTextBytesMax),
    evidence:
      typeof evidence === 'string' ? cutToBytes(evidence, limits.guardEvidenceBytesMax) : null,
  }
}

function interventionIn(value: unknown): GuardWish | null {
  if (typeof value !== 'object' || value === null) return null
  const { reason, text } = value as Record<string, unknown>
  if (typeof reason !== 'string' || typeof text !== 'string' || text.trim() === '') return null
  return {
    guard: '',
    reason: shortened(onOneLine(reason), limits.reasonBytesMax),
    text: cutToBytes(text, limits.guardTextBytesMax),
  }
}
