// Guards that a round should name and does not. The round names its guards, and any writer of three
// topics can leave them out. So the performer reads the registrations itself, right before a start.
// Part of the performer: the reducer gets the veto as the outcome of the claim (R2, R4).
// ABSENT-GUARDS-1. A guard that enforces for the tool, registered so since before the round was
//     stamped, must be in the round exactly as it is registered. Otherwise the call is denied (R6).
// ABSENT-GUARDS-2. A change that is younger than `limits.guardStampedMs` before the clearing may be
//     newer than the stamp. Then the round decides: a guard counts from the next response on.

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
  for (const { message, time } of registered) {
    if (message.type !== 'guard-registration') return vetoOf('policies', guardsUnreadable)
    if (time > clearedAt - limits.guardStampedMs || modeFor(message, tool) !== 'enforce') continue
    const named = guards.find(({ name }) => name === message.name)
    if (named === undefined || !isDeepStrictEqual(contentOf(named), contentOf(message)))
      return vetoOf(message.name, absentGuard(message.name))
  }
  return undefined
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
