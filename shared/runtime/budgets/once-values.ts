// The values of calls that must not run twice in a tenant, as reservations of the ledger.
// Its log is that of the tenant, so calls of other partitions count exactly.
// The log gets a hash of the values, never the values and never a result.
// Values are free again only if the call had no effect. A call without an end holds them
// as one that may have run.

import { type CallEnding, deniedAs } from '../../contract/call/call-endings.ts'
import { onceGuard, onceRuleOf } from '../../contract/guard/once-guard.ts'
import { onceHash } from '../../contract/guard/once-hash.ts'
import { type CallId, callKey, roundIdOf } from '../../contract/ids.ts'
import type { Declaration, GuardInForce, ResultStatus } from '../../contract/messages.ts'
import { tenantOf } from '../../contract/tenant.ts'
import type { Milliseconds } from '../../lib/clock.ts'
import { deniedByGuard, guardSays, reasonOfDenial } from '../../model-texts/denied-calls.ts'
import { onceElsewhere, onceTenantFull, onceUnread } from '../../model-texts/once.ts'
import { modeAmong } from '../guards/tool-pattern.ts'
import type { CallReservations } from './call-reservations.ts'
import type { EqualCall } from './once-table.ts'

/** `arguments`: as the tool gets them. `guards`: those in force. `forMs`: the longest time it may run. */
export type OnceCall = CallId & {
  declaration: Declaration
  arguments: string
  guards: readonly GuardInForce[]
  forMs: Milliseconds
}

export type OnceValues = {
  /** Whether the call needs its values: an enforced rule of its tool counts in the whole tenant. */
  concerns(call: Pick<OnceCall, 'declaration' | 'guards'>): boolean
  /** The denial of a call whose values another one holds. Undefined: the call has them. */
  denialOf(call: OnceCall): Promise<CallEnding | undefined>
  /** The call has ended so, or never begins (`skipped`). */
  ended(call: CallId, status: ResultStatus): Promise<void>
}

export function onceValues(reservations: CallReservations): OnceValues {
  return {
    concerns({ declaration, guards }) {
      const mode = modeAmong(guards, { guard: onceGuard, tool: declaration.name })
      return onceRuleOf(declaration)?.within === 'tenant' && mode === 'enforce'
    },

    async denialOf({ declaration, arguments: rawArguments, forMs, ...id }) {
      const rule = onceRuleOf(declaration)
      if (rule === undefined) return undefined
      const { name, hints } = declaration
      const hash = onceHash({ name, rawArguments, hints }, rule, tenantOf(id.conversation))
      const once = { hash, forMs: rule.forMs }
      const decision = await reservations.reserve({ ...reservingOf(id), forMs, once })
      switch (decision.kind) {
        case 'granted':
          return undefined
        case 'equal': {
          const { status, since } = decision.call
          const text = onceElsewhere[status](name, new Date(since).toISOString())
          return denial(codes[status], text, placeOf(decision.call))
        }
        case 'full':
          return denial('once.full', onceTenantFull)
        case 'refused': // another record has its name
        case 'unread':
          return denial('once.unread', onceUnread)
      }
    },

    async ended(id, status) {
      const how = endOf(status)
      if (how !== undefined) await reservations.end(reservingOf(id), how)
    },
  }
}

/** Undefined: the call may have run, so its reservation expires. */
function endOf(status: ResultStatus): 'settled' | 'released' | undefined {
  if (status === 'ok') return 'settled'
  return status === 'error' || status === 'denied' || status === 'skipped' ? 'released' : undefined
}

const codes = { open: 'once.open', done: 'once.done', unknown: 'once.may-have-run' } as const

/** `earlier`: the place of the equal call, for people. */
function denial(code: string, text: string, earlier?: string): CallEnding {
  const reason = reasonOfDenial(onceGuard, code)
  return {
    ...deniedAs(
      deniedByGuard(guardSays(onceGuard) + text),
      earlier === undefined ? reason : `${reason} (${earlier})`,
    ),
    guard: onceGuard,
  }
}

/** So a person finds the earlier result, of which the ledger has a hash only. */
function placeOf({ conversation, turn, call }: EqualCall): string {
  const at = `turn at offset ${turn} of ${conversation}`
  const [, round, ordinal] = /,(\d+),(\d+)\]$/.exec(call) ?? []
  return round === undefined ? at : `call ${ordinal} in round ${round} of the ${at}`
}

function reservingOf({ conversation, turn, round, ordinal }: CallId) {
  const id = { conversation, turn, round, ordinal }
  return { round: roundIdOf(id), name: `once ${callKey(id)}` }
}
