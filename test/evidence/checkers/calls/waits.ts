// Calls that wait for guards in the log of `rounds-cleared`, for claims.ts: their guards, with the
// effect of each verdict or silence. Written a second time from the protocol, as claims.ts is.
//
// A call waits for every guard that enforces for its tool by the policy in its round. The first
// answer of each guard before round-cleared + deadline counts. One rejection is a veto. A request for
// a person lets the call pass if a person allowed it, or may still do so. Of two verdicts on one call
// the stricter one counts. An answer that omits a requested call rejects all calls. At the deadline on-timeout decides for a silent
// guard. Several deadlines at once apply in their order, then by name. At expiresAt, and with a
// cancel, all waits end.

import { approvalGuard } from '../../../../shared/contract/guard/approval-guard.ts'
import type {
  GuardAnswer,
  GuardInForce,
  GuardVerdict,
  RoundCleared,
  VerdictKind,
} from '../../../../shared/contract/messages.ts'

/** Of the approval guard: a person allowed the call. */
const allowedCode = 'approval.allowed'

/** A guard's verdict on a call, as it counted. */
export type CountedVerdict = {
  guard: string
  answer: GuardAnswer
  verdict: VerdictKind
  time: number
  at: string
}

/** A guard of a call. `due`: its deadline. */
export type AwaitedGuard = { name: string; onTimeout: GuardInForce['onTimeout']; due: number }

/**
 * A call with its guards. `awaited`: the guards without a verdict. Undefined: it does not wait.
 * `isRequested`: a guard requested a person. `isAllowed`: a person allowed it.
 */
export type Waiting = {
  ordinal: number
  expiresAt: number
  guards: AwaitedGuard[]
  counted: CountedVerdict[]
  awaited: AwaitedGuard[] | undefined
  isRequested?: boolean
  isAllowed?: boolean
}

/** The end of a wait: the call may run, or never will. */
export type WaitEnd = 'passed' | 'denied' | 'skipped'

type End<Call> = (call: Call, how: WaitEnd) => void

export function guardsOf(
  { policy }: RoundCleared,
  tool: string,
  clearedAt: number,
): AwaitedGuard[] {
  return policy.guards
    .filter((guard) => modeOf(guard, tool) === 'enforce')
    .map(({ name, onTimeout, deadlineMs }) => ({
      name,
      onTimeout,
      due: clearedAt + Math.max(1, deadlineMs),
    }))
}

/** `enforce` counts if several patterns match. Undefined: the guard does not judge this tool. */
export function modeOf(
  { tools }: Pick<GuardInForce, 'tools'>,
  tool: string,
): 'enforce' | 'shadow' | undefined {
  const modes = tools.filter(({ pattern }) => matches(pattern, tool)).map(({ mode }) => mode)
  return modes.includes('enforce') ? 'enforce' : modes[0]
}

/** A star in a pattern is any text. */
export function matches(pattern: string, tool: string): boolean {
  const pieces = pattern.split('*').map((piece) => piece.replaceAll(/[\\^$.|?+()[\]{}]/g, '\\$&'))
  return new RegExp(`^${pieces.join('.*')}$`, 's').test(tool)
}

/** Calls of a round at `time`, before the record at `at` is applied. */
export function passTime<Call extends Waiting>(
  calls: Call[],
  time: number,
  at: string,
  end: End<Call>,
): void {
  for (const call of calls) {
    if (call.awaited === undefined) continue
    if (time >= call.expiresAt) {
      call.awaited = undefined
      end(call, 'skipped')
      continue
    }
    const inOrder = call.awaited.toSorted((a, b) => a.due - b.due || (a.name < b.name ? -1 : 1))
    for (const { name, onTimeout, due } of inOrder) {
      if (time < due) continue
      applyVerdict(
        call,
        {
          guard: name,
          answer: 'silent',
          verdict: onTimeout === 'allow' ? 'allow' : 'deny',
          time,
          at,
        },
        end,
      )
    }
  }
}

/** Applies a guard's answer to the round of these calls. */
export function applyAnswer<Call extends Waiting>(
  calls: Call[],
  message: GuardVerdict,
  time: number,
  at: string,
  end: End<Call>,
): void {
  passTime(calls, time, at, end)
  const { guard, verdicts } = message
  if (guard === approvalGuard)
    for (const call of calls)
      if (verdicts.some(({ ordinal, code }) => ordinal === call.ordinal && code === allowedCode))
        call.isAllowed = true
  const required = calls.filter((call) =>
    // Persons get a request after the clearing, for the calls that still wait then.
    (guard === approvalGuard ? (call.awaited ?? []) : call.guards).some(
      ({ name }) => name === guard,
    ),
  )
  const isUsable = required.every(({ ordinal }) =>
    verdicts.some((verdict) => verdict.ordinal === ordinal),
  )
  for (const call of required) {
    if (!call.awaited?.some(({ name }) => name === guard)) continue
    const given = verdicts.flatMap(({ ordinal, verdict }) =>
      ordinal === call.ordinal ? [verdict] : [],
    )
    const strictest = (['deny', 'ask', 'allow'] as const).find((kind) => given.includes(kind))
    const answer = isUsable ? 'verdicts' : 'unusable'
    const verdict = isUsable ? countedAs(call, guard, strictest ?? 'deny') : 'deny'
    applyVerdict(call, { guard, answer, verdict, time, at }, end)
  }
}

/** Without a person who may still allow the call, a request for one denies. */
function countedAs(call: Waiting, guard: string, verdict: VerdictKind): VerdictKind {
  if (call.isAllowed) return verdict
  if (verdict === 'ask') {
    call.isRequested = true
    return call.awaited?.some(({ name }) => name === approvalGuard) ? 'ask' : 'deny'
  }
  return verdict === 'allow' && guard === approvalGuard && call.isRequested ? 'deny' : verdict
}

/** A guard without a wait has no effect. */
function applyVerdict<Call extends Waiting>(
  call: Call,
  counted: CountedVerdict,
  end: End<Call>,
): void {
  if (call.awaited === undefined) return
  call.counted.push(counted)
  const awaited = call.awaited.filter(({ name }) => name !== counted.guard)
  const how = counted.verdict === 'deny' ? 'denied' : awaited.length === 0 ? 'passed' : undefined
  call.awaited = how === undefined ? awaited : undefined
  if (how !== undefined) end(call, how)
}
