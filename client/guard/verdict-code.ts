// The codes of the verdicts on a guest's calls, from the reasons of the log.
// A program decides by the code, and people read the reason. Version 1 only gains
// codes.

import {
  deniedBeforeReason,
  givenBeforeReason,
  roundOverReason,
  skippedCall,
} from '../../shared/contract/call/call-endings.ts'
import { approvalGuard } from '../../shared/contract/guard/approval-guard.ts'
import type { DeniedCall } from '../../shared/contract/messages.ts'

/**
 * Empty at `allow`. At `pending`: `approval.pending`, a person decides. `guard.pending`, a guard has not
 * answered. `guest.pending`, the call is not judged yet. At `deny`: `call.denied`, the call is
 * wrong or its tool unknown. `guard.denied`, by a guard. `approval.denied`, by a person or for
 * lack of one. `turn.over`, the turn ended before. `guest.denied-before`, the first time that this
 * answer came. `guest.repeated`, the answer has the call twice, or an equal answer has its
 * verdict. `guest.limits`, the answer is above a limit. `guest.over`, the round or turn is over.
 * `guest.unavailable`, Weir could not judge it in time. Newer versions may add codes.
 */
export type VerdictCode =
  | ''
  | 'approval.pending'
  | 'guard.pending'
  | 'guest.pending'
  | 'call.denied'
  | 'guard.denied'
  | 'approval.denied'
  | 'turn.over'
  | 'guest.denied-before'
  | 'guest.repeated'
  | 'guest.limits'
  | 'guest.over'
  | 'guest.unavailable'

/** `guards`: the names of those that a call waits for. Empty: it is not judged. */
export function codeOfWait(guards: string): VerdictCode {
  if (guards === '') return 'guest.pending'
  return guards.split(', ').includes(approvalGuard) ? 'approval.pending' : 'guard.pending'
}

/** `code`: the reason of the result of a call that never ran. */
export function codeOfDenial({
  code: reason,
  guard,
}: Pick<DeniedCall, 'code' | 'guard'>): VerdictCode {
  if (reason === roundOverReason) return 'guest.over'
  if (reason === givenBeforeReason) return 'guest.repeated'
  if (reason === deniedBeforeReason) return 'guest.denied-before'
  if (skippedReasons.includes(reason)) return 'turn.over'
  if (guard === '') return 'call.denied'
  return guard === approvalGuard ? 'approval.denied' : 'guard.denied'
}

const skippedReasons = [skippedCall('cancelled').reason, skippedCall('expired').reason]
