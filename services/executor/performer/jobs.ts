// The tries of calls that this owner of a partition has to do with, each as one union of phases.

import type { TryId } from '../../../shared/contract/ids.ts'
import type { Milliseconds } from '../../../shared/lib/clock.ts'
import type { Releasable } from '../../../shared/tools/released-agent.ts'
import type { ToolTask } from '../tasks.ts'
import type { ToolQuestions } from './tool-questions.ts'

export type ClaimTask = Extract<ToolTask, { kind: 'claim' }>
export type RunTask = Extract<ToolTask, { kind: 'run' }>

/** One try of a call. `free` gives its place back. */
export type Job =
  | { phase: 'queued'; leaveLine: () => void }
  | {
      phase: 'claimed'
      task: ClaimTask
      sentAt: Instant
      sent: Promise<boolean>
      free: () => void
      /** Its guards are being checked. */
      isChecked?: true
    }
  | {
      phase: 'running'
      task: RunTask
      tool: Releasable
      questions: ToolQuestions
      stopping: boolean
      free: () => void
    }
  /**
   * Another owner's claim. `stop`: its tool is to end, if that owner is dead. `leave`: nobody needs
   * its end any more.
   */
  | { phase: 'left'; stop: () => void; leave: () => void }
  | { phase: 'over' }

export type Claimed = Extract<Job, { phase: 'claimed' }>
export type Running = Extract<Job, { phase: 'running' }>

/** The jobs of one unit, by `nameOf`. */
export type Jobs = Map<string, Job>

export type Instant = { wall: Milliseconds; monotonic: Milliseconds }

/** The name of a try within its unit. */
export function nameOf({ round, ordinal, try: number }: TryId): string {
  return `${round}/${ordinal}/${number}`
}
