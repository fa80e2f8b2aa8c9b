// The calls of this performer that run a turn of another agent: each has a place in its tree before it
// starts. Part of the performer. Owns: nothing; the ledger decides (CHILD-PLACES-1).

import { type Agents, findDeclared } from '../../../shared/agents/agents.ts'
import type { CallEnding } from '../../../shared/contract/call/call-endings.ts'
import { callKey, roundIdOf } from '../../../shared/contract/ids.ts'
import type { PerformerContext } from '../../../shared/contract/performer.ts'
import { lineOf } from '../../../shared/contract/tree.ts'
import { childPlaces } from '../../../shared/runtime/budgets/child-places.ts'
import type { LedgerReader } from '../../../shared/runtime/budgets/ledger-reader.ts'
import { treeNameOf } from '../../../shared/runtime/budgets/tree-budgets.ts'
import type { RunTask } from './tool-runs.ts'

export type Children = {
  /** The denial of a call that may start no child now. Undefined: the call may start. */
  denialOf(task: RunTask): Promise<CallEnding | undefined>
  /** The log has the end of the call. */
  ended(task: RunTask): Promise<void>
}

type ChildrenOptions = { agents: Agents; context: PerformerContext; ledgers: LedgerReader }

export function createChildren({ agents, context, ledgers }: ChildrenOptions): Children {
  const places = childPlaces(context, ledgers)

  function isChild({ agent, declaration }: RunTask): boolean {
    const run = findDeclared(agents, agent, declaration)?.run
    return run?.kind === 'function' && run.runsAgent !== undefined
  }

  return {
    async denialOf(task) {
      const { tree: caps, timeoutMs, graceMs, startWithinMs, expiresAt } = task
      if (caps === null || !isChild(task)) return undefined
      // A further try may start until then, and must find the place of a child that runs already.
      const triesMs = Math.max(0, expiresAt - context.clock.now())
      return places.denialOf({
        round: roundIdOf(task),
        name: callKey(task),
        tree: treeNameOf(task),
        depth: lineOf(task).length,
        caps,
        forMs: triesMs + startWithinMs + timeoutMs + graceMs,
      })
    },

    async ended(task) {
      if (task.tree === null || !isChild(task)) return
      await places.giveBack({ round: roundIdOf(task), name: callKey(task) })
    },
  }
}
