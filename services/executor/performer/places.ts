// The reservations that calls of this performer need before they start. A child needs a place in its tree,
// and a call that must not run twice in its tenant needs its values. Part of the performer. Owns: nothing;
// the ledger decides.

import { type Agents, findDeclared } from '../../../shared/agents/agents.ts'
import type { CallEnding } from '../../../shared/contract/call/call-endings.ts'
import { callKey, roundIdOf } from '../../../shared/contract/ids.ts'
import type { ResultStatus } from '../../../shared/contract/messages.ts'
import type { PerformerContext } from '../../../shared/contract/performer.ts'
import { lineOf } from '../../../shared/contract/tree.ts'
import type { Milliseconds } from '../../../shared/lib/clock.ts'
import { callReservations } from '../../../shared/runtime/budgets/call-reservations.ts'
import { childPlaces } from '../../../shared/runtime/budgets/child-places.ts'
import type { LedgerReader } from '../../../shared/runtime/budgets/ledger-reader.ts'
import { onceValues } from '../../../shared/runtime/budgets/once-values.ts'
import { treeNameOf } from '../../../shared/runtime/budgets/tree-budgets.ts'
import type { RunTask } from './tool-runs.ts'

export type Places = {
  /** The denial of a call that may not start now. Undefined: it has its reservations. */
  denialOf(task: RunTask): Promise<CallEnding | undefined>
  /** The log has this end of the call, or the call never starts here (`skipped`). */
  ended(task: RunTask, status: ResultStatus): Promise<void>
}

type PlacesOptions = { agents: Agents; context: PerformerContext; ledgers: LedgerReader }

export function createPlaces({ agents, context, ledgers }: PlacesOptions): Places {
  const reservations = callReservations(context, ledgers)
  const children = childPlaces(reservations)
  const once = onceValues(reservations)

  function isChild({ agent, declaration }: RunTask): boolean {
    const run = findDeclared(agents, agent, declaration)?.run
    return run?.kind === 'function' && run.runsAgent !== undefined
  }

  /** A further try may start until the round expires, and must find the reservation of an earlier one. */
  function longestMs({ startWithinMs, timeoutMs, graceMs, expiresAt }: RunTask): Milliseconds {
    return Math.max(0, expiresAt - context.clock.now()) + startWithinMs + timeoutMs + graceMs
  }

  async function denialAsChild(task: RunTask): Promise<CallEnding | undefined> {
    const { tree: caps } = task
    if (caps === null || !isChild(task)) return undefined
    const own = { round: roundIdOf(task), name: callKey(task), forMs: longestMs(task) }
    return children.denialOf({ ...own, tree: treeNameOf(task), depth: lineOf(task).length, caps })
  }

  async function leaveTree(task: RunTask, status: ResultStatus): Promise<void> {
    if (task.tree === null || !isChild(task)) return
    await children.giveBack({ round: roundIdOf(task), name: callKey(task) }, status === 'skipped')
  }

  return {
    async denialOf(task) {
      const denial = await denialAsChild(task)
      if (denial !== undefined || !once.concerns(task)) return denial
      const equal = await once.denialOf({ ...task, forMs: longestMs(task) })
      if (equal !== undefined) await leaveTree(task, 'skipped')
      return equal
    },

    async ended(task, status) {
      await leaveTree(task, status)
      if (once.concerns(task)) await once.ended(task, status)
    },
  }
}
