// The tools that this owner of a partition runs, from the start to the report of the end.
// Owns: the running tools, and the phases of a job.
// No result, question and log line contains a secret of an agent file, in any of its
// spellings, from any tool.
// A call that a person may have decided starts only the program that the question had
// (program/program-hash.ts).

import { type Agents, findDeclared, type ToolRun } from '../../../shared/agents/agents.ts'
import { secretsOf } from '../../../shared/agents/secrets.ts'
import { type CallEnding, denied } from '../../../shared/contract/call/call-endings.ts'
import { contentRef, piecesOf } from '../../../shared/contract/call/contents.ts'
import { approvalGuard } from '../../../shared/contract/guard/approval-guard.ts'
import { type TryId, tryIdOf } from '../../../shared/contract/ids.ts'
import type { ResultStatus } from '../../../shared/contract/messages.ts'
import type { PerformerContext } from '../../../shared/contract/performer.ts'
import { traceparentOf } from '../../../shared/contract/trace-ids.ts'
import type { Clock, Milliseconds } from '../../../shared/lib/clock.ts'
import { secretMask } from '../../../shared/lib/log/secret-mask.ts'
import { noToolDeclared, programChanged } from '../../../shared/model-texts/denied-calls.ts'
import { toolStartFailed } from '../../../shared/model-texts/tools.ts'
import { type ContextOf, startChecked } from '../../../shared/tools/checked-start.ts'
import { type Releasable, releasable } from '../../../shared/tools/released-agent.ts'
import type {
  AskPerson,
  RunningTool,
  StartTool,
  ToolCall,
  ToolEnding,
} from '../../../shared/tools/tool.ts'
import { neverStarted } from '../../../shared/tools/tool-endings.ts'
import { bounded } from '../results.ts'
import type { ToolTask } from '../tasks.ts'
import type { KeptTools } from './kept/kept-tools.ts'
import type { KeptResult } from './kept/result-files.ts'
import type { ProgramHash } from './program/program-hash.ts'
import { type ToolQuestions, toolQuestions } from './tool-questions.ts'
import type { Writes } from './writes.ts'

/**
 * How long a tool-started record is held back. For a quick tool, one write then has its start and
 * its end.
 */
export const toolStartedHoldMs = 10

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
  /** Given back by this owner. The claim may become one of nobody. */
  | { phase: 'returned' }
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

export type ToolRuns = {
  /** Starts the tool of an accepted claim. `free` gives the place back when it ends. */
  start(jobs: Jobs, task: RunTask, claimed: Pick<Claimed, 'sentAt' | 'free'>): void
  /** Reports a call that must not start. */
  refuse(jobs: Jobs, task: RunTask, ending: CallEnding, free: () => void): void
  /** Reports the end of a tool that outlived its owner. True when the log has it. */
  reportLeft(task: RunTask, result: KeptResult): Promise<boolean>
  stop(job: Running, graceMs: Milliseconds, why: string): void
  stopAll(why: string): void
  /** Gives back the calls that run a turn of another agent. */
  releaseAgents(): void
}

export type ToolRunsOptions = {
  context: Pick<PerformerContext, 'clock' | 'log'>
  /** For the time that a claim has left. */
  clock: Clock
  agents: Agents
  run: StartTool
  contextOf?: ContextOf | undefined
  kept?: KeptTools | undefined
  programHash: ProgramHash
  /** The reservations of the calls. */
  places: { ended(task: RunTask, status: ResultStatus): Promise<void> }
  writes: Writes
}

export function createToolRuns({
  context,
  clock: machineClock,
  agents,
  run,
  contextOf,
  kept,
  programHash,
  places,
  writes,
}: ToolRunsOptions): ToolRuns {
  const { clock, log } = context
  const { write, track } = writes
  const hideSecrets = secretMask(secretsOf(agents))
  const jobsRunning = new Set<Running>()

  async function follow(jobs: Jobs, job: Running): Promise<void> {
    const { task } = job
    const startedAt = clock.monotonic()
    const { ending: whole, started } = await endOf(job, writes, clock)
    const ending = withoutSecrets(whole, hideSecrets)
    const durationMs = started ? Math.max(0, Math.round(clock.monotonic() - startedAt)) : 0
    jobsRunning.delete(job)
    if (jobs.get(nameOf(task)) === job) jobs.set(nameOf(task), { phase: 'over' })
    job.free()
    if (ending.fault !== undefined)
      log.error({ ...tryIdOf(task), agent: task.agent, tool: task.declaration.name }, ending.fault)
    if (ending.printed !== undefined)
      log.debug(
        { ...tryIdOf(task), printed: ending.printed },
        'the tool printed next to its result',
      )
    if (!(await reportEnd(task, ending, durationMs))) return
    kept?.forget(task)
  }

  /** True when the log has the end. A call that is given back keeps its places for its next try. */
  async function reportEnd(task: RunTask, ending: ToolEnding, ms: Milliseconds): Promise<boolean> {
    const isWritten = await report(writes, task, ending, ms)
    if (isWritten && ending.isGivenBack !== true) await places.ended(task, ending.status)
    return isWritten
  }

  function stop(job: Running, graceMs: Milliseconds, why: string): void {
    job.stopping = true
    job.tool.stop(graceMs, why)
  }

  return {
    start(jobs, task, { sentAt, free }) {
      const name = nameOf(task)
      jobs.set(name, { phase: 'over' })
      const tool = findDeclared(agents, task.agent, task.declaration)
      if (tool === undefined) {
        free()
        log.warn(
          { ...tryIdOf(task), agent: task.agent },
          'the agent files of this executor have no tool with this declaration; the call is denied',
        )
        track(reportEnd(task, noSuchTool, 0))
        return
      }
      const {
        arguments: text,
        idempotencyKey,
        timeoutMs,
        graceMs,
        program,
        redact,
        calledBy,
        tree,
      } = task
      const traceparent = tool.traceparent === true ? traceparentOf(task) : undefined
      const questions = toolQuestions(task, clock, (message) => track(write('self', [message])))
      const ask: AskPerson = (question, waitMs) => questions.ask(hideSecrets(question), waitMs)
      const times = { timeoutMs, graceMs, clock }
      const call = {
        arguments: text,
        idempotencyKey,
        traceparent,
        ...times,
        ask,
        caller: { redact, calledBy, tree },
      }
      // Nothing happens between the check of the program and the start.
      const start = (checked: ToolCall) =>
        program === undefined || program === programHash(tool.run)
          ? begin(tool.run, program === undefined ? checked : { ...checked, isBound: true })
          : neverStarted(changedProgram(tool.run.kind, program))
      const begin = (toolRun: ToolRun, checked: ToolCall) =>
        kept === undefined || toolRun.kind !== 'command'
          ? run(toolRun, checked)
          : kept.start(toolRun, checked, {
              claim: task,
              leftMs: leftOf(machineClock, sentAt, task),
            })
      const started = startSafely(() =>
        startChecked({
          tool,
          call,
          turn: task,
          contextOf,
          start: (it) => startSafely(() => start(it)),
        }),
      )
      const running = releasable(tool.run, started)
      const job: Running = {
        phase: 'running',
        task,
        tool: running,
        questions,
        stopping: false,
        free,
      }
      jobs.set(name, job)
      jobsRunning.add(job)
      track(follow(jobs, job))
    },

    refuse(jobs, task, ending, free) {
      jobs.set(nameOf(task), { phase: 'over' })
      free()
      track(report(writes, task, ending, 0))
    },

    reportLeft(task, { ending, durationMs }) {
      return reportEnd(task, withoutSecrets(ending, hideSecrets), durationMs)
    },

    stop,

    stopAll(why) {
      for (const job of jobsRunning) stop(job, 0, why)
    },

    releaseAgents() {
      for (const { tool } of jobsRunning) tool.release?.()
    },
  }
}

/** Reports `tool-started` when the tool has run for a moment, or when it ends before that. */
async function endOf(
  { task, tool }: Running,
  { write, track }: Writes,
  clock: Clock,
): Promise<{ ending: ToolEnding; started: boolean }> {
  let isReported = false
  let cancelReport = (): void => {}
  const reportStart = (): void => {
    if (isReported) return
    isReported = true
    cancelReport()
    track(
      write('activity', [{ type: 'tool-started', ...tryIdOf(task), name: task.declaration.name }]),
    )
  }
  const hasStarted = tool.started.then((started) => {
    if (started) cancelReport = clock.after(toolStartedHoldMs, reportStart)
    return started
  })
  const ending = await tool.ended
  const started = await hasStarted
  if (started) reportStart()
  return { ending, started }
}

function withoutSecrets(ending: ToolEnding, hideSecrets: (text: string) => string): ToolEnding {
  const { text, reason, fault, printed } = ending
  return {
    ...ending,
    text: hideSecrets(text),
    reason: hideSecrets(reason),
    ...(fault !== undefined && { fault: hideSecrets(fault) }),
    ...(printed !== undefined && { printed: hideSecrets(printed) }),
  }
}

async function report(
  { write }: Writes,
  task: RunTask,
  {
    status,
    text,
    reason,
    isGivenBack,
    contents: whole = [],
    tokens,
    guard = '',
    goesOn = false,
  }: ToolEnding,
  durationMs: Milliseconds,
): Promise<boolean> {
  const { owner } = task
  if (isGivenBack)
    return write('self', [{ type: 'outcome', ...tryIdOf(task), owner, result: null, goesOn }])
  // Before the outcome: the next request waits for no piece.
  const { conversation } = task
  for (const content of whole)
    for (const piece of piecesOf(content))
      if (!(await write('history', [{ type: 'content-kept', conversation, ...piece }])))
        return false
  const contents = whole.map(contentRef)
  const { ordinal } = task
  const result = bounded({
    ordinal,
    status,
    text,
    reason,
    durationMs,
    contents,
    tokens: tokens ?? null,
    guard,
  })
  return write('self', [{ type: 'outcome', ...tryIdOf(task), owner, result, goesOn }])
}

/** How long the claim allows a start, by the clock that has less left. */
function leftOf(clock: Clock, sentAt: Instant, { startWithinMs }: RunTask): Milliseconds {
  const passed = Math.max(clock.now() - sentAt.wall, clock.monotonic() - sentAt.monotonic)
  return startWithinMs - passed
}

/** The call never ran. `program`: the hash of the allowed one. */
function changedProgram(kind: ToolRun['kind'], program: string): ToolEnding {
  return {
    status: 'denied',
    text: programChanged,
    reason: 'its program changed after the question',
    guard: approvalGuard,
    fault: `the program of this ${kind} tool is not the allowed one (${program.slice(0, 12)}): a file of it changed, or this executor has other files than the one that asked. Compare them, then let the model call it again`,
  }
}

const noSuchTool = denied(noToolDeclared, 'no tool with this declaration')

/** StartTool must not throw. If one does, the other tools of this process go on. */
function startSafely(start: () => RunningTool): RunningTool {
  try {
    return start()
  } catch (error) {
    const ending: ToolEnding = {
      status: 'error',
      text: toolStartFailed,
      reason: 'could not be started',
      fault: `starting the tool threw: ${error instanceof Error ? error.message : String(error)}`,
    }
    return { started: Promise.resolve(false), ended: Promise.resolve(ending), stop: () => {} }
  }
}
