// Calls that wait for the approval guard: which ones, and the programs that an executor finds for
// them. The offers to a person are in offered/person-offers.ts. Part of the reducer.

import { approvalGuard } from '../../../shared/contract/guard/approval-guard.ts'
import type { ProgramsHashed } from '../../../shared/contract/messages.ts'
import type { OpenCall, Round } from '../turn.ts'
import { rulesForTool } from './rules-of-round.ts'

/** For a new round: until their programs are known, none of its calls has the right one. */
export function forbidPrograms(round: Round): void {
  for (const open of round.calls.filter(isAsked)) open.program = ''
}

/** Whether an executor must find the programs of the round's calls before a person decides. */
export function needsPrograms({ policy, programsKnown, calls }: Round): boolean {
  return policy.bindsPrograms && !programsKnown && calls.some(isAsked)
}

/** The programs are known. Only the first record of a round counts. */
export function applyPrograms(round: Round, { programs }: ProgramsHashed): [] {
  if (!needsPrograms(round)) return []
  round.programsKnown = true
  for (const open of round.calls.filter(isAsked))
    open.program = programs.find(({ ordinal }) => ordinal === open.call.ordinal)?.hash ?? ''
  return []
}

/** Whether another guard may still request an approval. */
export function awaitsRequests({ policy, calls }: Round): boolean {
  return calls.some(
    (open) =>
      isAsked(open) &&
      open.phase.kind === 'waiting' &&
      open.phase.guards.some((name) => name !== approvalGuard) &&
      rulesForTool(policy, open.call.name).some(({ when }) => when === 'requested'),
  )
}

/** Whether a person may still have to decide the call. */
export function isAsked({ phase }: OpenCall): boolean {
  return phase.kind === 'waiting' && phase.guards.includes(approvalGuard)
}
