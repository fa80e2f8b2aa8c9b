// The part of a cleared round that a guard sees: the undecided calls of the tools that it was
// registered for (guard.ts).

import { argumentText } from '../../contract/call/call.ts'
import type { GuardedCall, GuardedRound, JsonObject } from '../../contract/guard/guard.ts'
import type { ConversationId } from '../../contract/ids.ts'
import type { GuardInForce, RoundCleared } from '../../contract/messages.ts'
import { tenantOf } from '../../contract/tenant.ts'
import type { Milliseconds } from '../../lib/clock.ts'
import { objectIn } from '../../lib/json/json-object.ts'
import { modeFor } from './tool-pattern.ts'

/**
 * Undefined: the guard is not in force in this round, or the round has no call for it. `time`:
 * append time of the record. The registration in the round counts, not the guard's present one,
 * because the executor waits by the one in the round. `forkedFrom`: of the same tenant.
 */
export function guardedRoundOf(
  cleared: RoundCleared,
  guard: string,
  time: Milliseconds,
): { round: GuardedRound; inForce: GuardInForce; forkedFrom: ConversationId | null } | undefined {
  const inForce = cleared.policy.guards.find(({ name }) => name === guard)
  if (inForce === undefined) return undefined
  const calls = guardedCalls(cleared, inForce)
  const { conversation, turn, round, agent } = cleared
  if (calls.length === 0) return undefined
  const { forkedFrom } = cleared.policy
  const isOfTenant = forkedFrom !== null && tenantOf(forkedFrom) === tenantOf(conversation)
  return {
    inForce,
    forkedFrom: isOfTenant ? forkedFrom : null,
    round: { conversation, turn, round, agent, time, calls, ended: [] },
  }
}

function guardedCalls(
  { calls, decided, declarations }: RoundCleared,
  inForce: GuardInForce,
): GuardedCall[] {
  const isDecided = new Set(decided.map(({ ordinal }) => ordinal))
  const declared = new Map(declarations.map((declaration) => [declaration.name, declaration]))
  return calls
    .flatMap((call): GuardedCall[] => {
      const declaration = declared.get(call.name)
      // The executor denies a call without a declaration, or whose arguments are not an object.
      const mode = modeFor(inForce, call.name)
      if (isDecided.has(call.ordinal) || declaration === undefined || mode === undefined) return []
      const rawArguments = argumentText(call)
      const args = objectIn(rawArguments) as JsonObject | undefined
      return args === undefined
        ? []
        : [
            {
              ordinal: call.ordinal,
              name: call.name,
              arguments: args,
              rawArguments,
              source: call.source,
              enforced: mode === 'enforce',
              declaration,
            },
          ]
    })
    .sort((a, b) => a.ordinal - b.ordinal)
}
