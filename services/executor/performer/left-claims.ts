// Claims of other owners, which may be dead. A command tool outlives its executor on this machine
// (kept/): the next owner waits for its end and reports it as the outcome of that claim.
// The outcome names the claim's own owner, and the reducer judges it like those of that owner.
// Nothing is started or claimed here.
// A cancel reaches the turn of an agent that goes on without the owner of its call.
// A claim lapses early only if the bus proves its owner dead and no process of this
// machine holds its tool.

import { type Agents, findDeclared } from '../../../shared/agents/agents.ts'
import { tryIdOf } from '../../../shared/contract/ids.ts'
import { limits } from '../../../shared/contract/limits.ts'
import type { PerformerContext } from '../../../shared/contract/performer.ts'
import type { Clock } from '../../../shared/lib/clock.ts'
import { nobody } from '../turn.ts'
import type { KeptTools } from './kept/kept-tools.ts'
import type { Job, RunTask, ToolRuns } from './tool-runs.ts'
import type { Writes } from './writes.ts'

export type LeftClaims = {
  /** Follows the claim until it ends, or until the job is left. */
  follow(task: RunTask): Extract<Job, { phase: 'left' }>
  close(): void
}

export type LeftClaimsOptions = {
  agents: Agents
  context: Pick<PerformerContext, 'formerOwnersDead' | 'hasEnded' | 'log'>
  clock: Clock
  kept: KeptTools | undefined
  runs: Pick<ToolRuns, 'reportLeft'>
  writes: Writes
}

export function createLeftClaims({
  agents,
  context: { formerOwnersDead, hasEnded, log },
  clock,
  kept,
  runs,
  writes: { write, track },
}: LeftClaimsOptions): LeftClaims {
  let isClosed = false

  return {
    follow(task) {
      let isOver = false
      let isCancelled = false
      const isDead = task.owner === nobody || formerOwnersDead || hasEnded?.(task.owner) === true
      if (task.cancelled) cancel()
      look()
      return {
        phase: 'left',
        leave,
        stop() {
          cancel()
          stop()
        },
      }

      function cancel(): void {
        if (!isCancelled) track(cancelAgent(agents, task, log))
        isCancelled = true
      }

      function look(): void {
        if (isOver || isClosed) return
        const left = kept?.find(task, isDead) ?? { state: 'absent' }
        if (left.state === 'running') {
          clock.after(limits.leftClaimLookMs, look)
          return
        }
        isOver = true
        if (left.state === 'ended') {
          log.info(tryIdOf(task), 'a tool outlived its executor; its result is reported now')
          track(
            runs.reportLeft(task, left.result).then((isWritten) => {
              if (isWritten) left.remove()
            }),
          )
        } else if (isDead)
          track(write('self', [{ type: 'lapsed', ...tryIdOf(task), owner: task.owner }]))
      }

      function stop(): void {
        const left = isOver ? undefined : kept?.find(task, isDead)
        if (left?.state === 'running') left.stop()
      }

      function leave(): void {
        stop()
        isOver = true
      }
    },

    close() {
      isClosed = true
    },
  }
}

/** Cancels the turn that the call runs, if the call runs an agent. Never rejects. */
export async function cancelAgent(
  agents: Agents,
  { agent, declaration, idempotencyKey, calledBy, redact, tree, ...id }: RunTask,
  log: PerformerContext['log'],
): Promise<void> {
  const run = findDeclared(agents, agent, declaration)?.run
  if (run?.kind !== 'function') return
  try {
    await run.cancelAgent?.({ idempotencyKey, caller: { calledBy, redact, tree } })
  } catch (error) {
    log.error({ ...tryIdOf(id), err: error }, 'the turn of an agent could not be cancelled')
  }
}
