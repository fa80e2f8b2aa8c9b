// Guards that a round should name and does not. The round names its guards, and any writer of three
// topics can leave them out. So the performer reads the registrations itself, right before a start.
// Part of the performer: the reducer gets the veto as the outcome of the claim (R2, R4).
// A guard that enforced for the tool when the round was stamped must be in the round,
// as one of its registrations that can be the stamp's. Otherwise the call is denied (R6).
// The stamp is at most `limits.guardStampedMs` older than the clearing. So a changed
// guard judges on, as it was or as it is, and only a new name has no guard in this time.

import { isDeepStrictEqual } from 'node:util'
import type { CallEnding } from '../../../shared/contract/call/call-endings.ts'
import { limits } from '../../../shared/contract/limits.ts'
import type { GuardInForce, GuardRegistration } from '../../../shared/contract/messages.ts'
import type { PolicyRecord } from '../../../shared/contract/performer.ts'
import type { Milliseconds } from '../../../shared/lib/clock.ts'
import { absentGuard, guardsUnreadable } from '../../../shared/model-texts/denied-calls.ts'
import { modeFor } from '../../../shared/runtime/guards/tool-pattern.ts'
import { deniedCall } from '../guards/guard-answer.ts'

/** `clearedAt`: the append time of the round. `guards`: those that it names. */
export type GuardedCall = { tool: string; clearedAt: Milliseconds; guards: GuardInForce[] }

/** The veto of a call that lacks a guard. Undefined: the call may start. */
export function absentGuardDenial(
  registered: readonly Omit<PolicyRecord, 'key'>[],
  { tool, clearedAt, guards }: GuardedCall,
): CallEnding | undefined {
  const stampedAfter = clearedAt - limits.guardStampedMs
  for (const { message, time } of registered) {
    if (message.type !== 'guard-registration') return vetoOf('policies', guardsUnreadable)
    if ((message.firstAt ?? time) > stampedAfter) continue
    const named = guards.find(({ name }) => name === message.name)
    const mayStart = stampsSince(stampedAfter, message, time).some(
      (guard) =>
        modeFor(guard, tool) !== 'enforce' ||
        (named !== undefined && isDeepStrictEqual(contentOf(named), contentOf(guard))),
    )
    if (!mayStart) return vetoOf(message.name, absentGuard(message.name))
  }
  return undefined
}

/** The registrations of a guard that were in force at a time after `begin`. */
function stampsSince(
  begin: Milliseconds,
  message: GuardRegistration,
  time: Milliseconds,
): GuardInForce[] {
  const replacedAt = [...message.replaced.slice(1).map(({ since }) => since), time]
  const earlier = message.replaced.filter((_, place) => (replacedAt[place] ?? time) > begin)
  return [...earlier.map(({ guard }) => guard), message]
}

/** The veto while the registrations cannot be read (R6). */
export function unreadableGuardsDenial(): CallEnding {
  return vetoOf('policies', guardsUnreadable)
}

function vetoOf(guard: string, text: string): CallEnding {
  return deniedCall(guard, {
    ordinal: 0,
    verdict: 'deny',
    code: 'guard.absent',
    text,
    evidence: null,
  })
}

function contentOf({
  name,
  version,
  tools,
  deadlineMs,
  onTimeout,
  rules,
}: GuardInForce | GuardRegistration): GuardInForce {
  return { name, version, tools, deadlineMs, onTimeout, rules }
}
