// What a kind of tool is: a way to start one call of it. A further kind is one file that gives a
// StartTool and one line where kinds are chosen (start-tool.ts); the simulator hands in a fake.

import type { ToolRun } from '../../../shared/agents/agents.ts'
import type { CallEnding } from '../../../shared/contract/call-endings.ts'
import type { Clock, Milliseconds } from '../../../shared/lib/clock.ts'

export type ToolCall = {
  /** JSON text, as the model wrote it. */
  arguments: string
  /** The same for all tries of one call. */
  idempotencyKey: string
  /** How long it may run before it is asked to stop. */
  timeoutMs: Milliseconds
  /** Between asking it to stop and killing it. */
  graceMs: Milliseconds
  clock: Clock
}

/**
 * `fault` is for the operator's log only: it may name programs, folders and servers, which a record
 * must not (design: what a record may not say). `printed`: what the tool wrote beside its result,
 * bounded; for the debug log only.
 */
export type ToolEnding = CallEnding & { fault?: string; printed?: string }

export type RunningTool = {
  /** True as soon as it really runs, false when it could not be started. Never rejects. */
  readonly started: Promise<boolean>
  /**
   * How it ended: ok, error (also where it could not be started), timed_out, outcome_unknown when
   * `stop` ended it, or skipped when `stop` came before it began. Comes soon after the tool's own
   * end, its timeout and grace, or stop; whatever the tool does. Never rejects.
   */
  readonly ended: Promise<ToolEnding>
  /**
   * Asks it to stop and kills it after `graceMs`; 0: kills it at once. A second call can only
   * shorten the grace. `why` completes "it was stopped: ...".
   */
  stop(graceMs: Milliseconds, why: string): void
}

/**
 * Starts one call now, synchronously: when it returns, the process was started or could not be, the
 * request is on its way. Must not throw.
 */
export type StartTool<Run extends ToolRun = ToolRun> = (run: Run, call: ToolCall) => RunningTool
