// Claims of other owners, which may be dead. A command tool outlives its executor on this machine
// (kept/): the next owner waits for its end and reports it as the outcome of that claim.
// The outcome names the claim's own owner, and the reducer judges it like that owner's
// (EXEC-1). Nothing is started or claimed here.
// A claim lapses early only if the bus proves its owner dead and no process of this
// machine holds its tool.

import { tryIdOf } from '../../../shared/contract/ids.ts'
import { limits } from '../../../shared/contract/limits.ts'
import type { PerformerContext } from '../../../shared/contract/performer.ts'
import type { Clock } from '../../../shared/lib/clock.ts'
import type { KeptTools } from './kept/kept-tools.ts'
import type { Job, RunTask, ToolRuns } from './tool-runs.ts'
import type { Writes } from './writes.ts'

export type LeftClaims = {
  /** Follows the claim until it ends, or until the job is left. */
  follow(task: RunTask): Extract<Job, { phase: 'left' }>
  close(): void
}

export type LeftClaimsOptions = {
  context: Pick<PerformerContext, 'formerOwnersDead' | 'hasEnded' | 'log'>
  clock: Clock
  kept: KeptTools | undefined
  runs: Pick<ToolRuns, 'reportLeft'>
  writes: Writes
}

export function createLeftClaims({
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
      const isDead = formerOwnersDead || hasEnded?.(task.owner) === true
      look()
      return { phase: 'left', leave, stop }

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
