// The type of a kind of tool: a function that starts one call. A new kind is one file with a
// StartTool and one line in start-tool.ts. The simulator has a fake.

import type { CallingTurn, ToolRun } from '../agents/agents.ts'
import type { CallEnding } from '../contract/call/call-endings.ts'
import type { WholeContent } from '../contract/call/contents.ts'
import type { InputGiven, TokenSum } from '../contract/messages.ts'
import type { Clock, Milliseconds } from '../lib/clock.ts'

export type ToolCall = {
  /** JSON text, as the model wrote it. */
  arguments: string
  /** The same for all tries of one call. */
  idempotencyKey: string
  /** Its place in the trace of its turn (shared/contract/trace-ids.ts). Undefined: it gets none. */
  traceparent?: string | undefined
  /** How long it may run before it is stopped. */
  timeoutMs: Milliseconds
  /** Between the stop signal and the kill. */
  graceMs: Milliseconds
  clock: Clock
  /** It must run the files as they are now: a process that has loaded them earlier does not do. */
  isBound?: boolean
  /** The arguments as the tool's check returned them. Undefined: parse `arguments`. */
  value?: unknown
  /** Undefined: no person can answer here. */
  ask?: AskPerson
  /** The context of the question. Undefined: this process has none. */
  context?: unknown
  /** Of its turn, for a turn that the call runs. Undefined: as in FunctionCall. */
  caller?: CallingTurn
}

/**
 * Asks a person, one question at a time. `question`: its text in records (input-question.ts). The
 * answer comes within `waitMs`; `cancel` if nobody answers. Never rejects.
 */
export type AskPerson = (question: string, waitMs: Milliseconds) => Promise<PersonAnswer>
export type PersonAnswer = Pick<InputGiven, 'answer' | 'values'>

/**
 * `fault` is for the operator's log only: it may name programs, folders and servers, which a record
 * must not (see the design). `printed`: other output of the tool, bounded, for the debug log only.
 * `isGivenBack`: another owner starts the call. `goesOn`: this one began, and its work goes on, for which
 * another start waits.
 */
export type ToolEnding = CallEnding & {
  fault?: string
  printed?: string
  isGivenBack?: true
  goesOn?: boolean
  /** The images of the result. */
  contents?: WholeContent[]
  /** The tokens of the agent's turn that it ran. */
  tokens?: TokenSum
}

export type RunningTool = {
  /** True as soon as it runs, false if it could not be started. Never rejects. */
  readonly started: Promise<boolean>
  /**
   * The end: ok, error (also if it could not be started), timed_out, unknown if `stop`
   * ended it, or skipped if `stop` came before its start. Resolves soon after the tool's end, its
   * timeout and grace, or `stop`, for any tool. Never rejects.
   */
  readonly ended: Promise<ToolEnding>
  /**
   * Signals it to stop and kills it after `graceMs`; 0 kills it at once. A second call can only
   * shorten the grace. `why` completes "it was stopped: ...".
   */
  stop(graceMs: Milliseconds, why: string): void
}

/**
 * Starts one call synchronously: on return the process runs or has failed to start, or the request
 * is on its way. Must not throw.
 */
export type StartTool<Run extends ToolRun = ToolRun> = (run: Run, call: ToolCall) => RunningTool
