// The tools that this owner of a partition runs, from the start to the report of the end
// (EXECUTOR-PERFORMER-4). Owns: the running tools.
// TOOL-RUNS-1. No result and no log line contains a secret of an agent file, in any of its
//     spellings, from any tool.
// TOOL-RUNS-2. A call that a person may have decided starts only the program that the question had
//     (program/program-hash.ts).

import { type Agents, findDeclared, type ToolRun } from '../../shared/agents/agents.ts'
import { secretsOf } from '../../shared/agents/secrets.ts'
import type { CallEnding } from '../../shared/contract/call-endings.ts'
import { tryIdOf } from '../../shared/contract/ids.ts'
import { limits } from '../../shared/contract/limits.ts'
import type { PerformerContext } from '../../shared/contract/performer.ts'
import type { Milliseconds } from '../../shared/lib/clock.ts'
import { secretMask } from '../../shared/lib/secret-mask.ts'
import { type Jobs, nameOf, type Running, type RunTask } from './jobs.ts'
import type { ProgramHash } from './program/program-hash.ts'
import { bounded, rejected } from './results.ts'
import { type ContextOf, startChecked } from './tools/checked-start.ts'
import type { RunningTool, StartTool, ToolCall, ToolEnding } from './tools/tool.ts'
import { neverStarted } from './tools/tool-endings.ts'
import type { Writes } from './writes.ts'

export type ToolRuns = {
  /** Starts the tool of an accepted claim. `free` gives the place back when it ends. */
  start(jobs: Jobs, task: RunTask, free: () => void): void
  /** Reports a call that must not start. */
  refuse(jobs: Jobs, task: RunTask, ending: CallEnding, free: () => void): void
  stop(job: Running, graceMs: Milliseconds, why: string): void
  stopAll(why: string): void
}

export type ToolRunsOptions = {
  context: Pick<PerformerContext, 'clock' | 'log' | 'owner'>
  agents: Agents
  run: StartTool
  contextOf?: ContextOf | undefined
  programHash: ProgramHash
  writes: Writes
}

export function createToolRuns({
  context,
  agents,
  run,
  contextOf,
  programHash,
  writes,
}: ToolRunsOptions): ToolRuns {
  const { clock, log, owner } = context
  const { write, track } = writes
  const hideSecrets = secretMask(secretsOf(agents))
  const running = new Set<Running>()

  async function follow(jobs: Jobs, job: Running): Promise<void> {
    const { task } = job
    const startedAt = clock.monotonic()
    const { ending, started } = await endOf(job)
    const durationMs = started ? Math.max(0, Math.round(clock.monotonic() - startedAt)) : 0
    running.delete(job)
    if (jobs.get(nameOf(task)) === job) jobs.set(nameOf(task), { phase: 'over' })
    job.free()
    if (ending.fault !== undefined)
      log.error({ ...tryIdOf(task), agent: task.agent, tool: task.declaration.name }, ending.fault)
    if (ending.printed !== undefined)
      log.debug({ ...tryIdOf(task), printed: ending.printed }, 'the tool printed beside its result')
    await report(task, ending, durationMs)
  }

  /** Reports `tool-started` when the tool has run for a moment, or when it ends before that. */
  async function endOf({ task, tool }: Running): Promise<{ ending: ToolEnding; started: boolean }> {
    let isReported = false
    let cancelReport = (): void => {}
    const reportStart = (): void => {
      if (isReported) return
      isReported = true
      cancelReport()
      track(
        write('activity', [
          { type: 'tool-started', ...tryIdOf(task), name: task.declaration.name },
        ]),
      )
    }
    const hasStarted = tool.started.then((started) => {
      if (started) cancelReport = clock.after(limits.toolStartedHoldMs, reportStart)
      return started
    })
    const ending = withoutSecrets(await tool.ended)
    const started = await hasStarted
    if (started) reportStart()
    return { ending, started }
  }

  /** Keeps TOOL-RUNS-1. */
  function withoutSecrets(ending: ToolEnding): ToolEnding {
    const { text, reason, fault, printed } = ending
    return {
      ...ending,
      text: hideSecrets(text),
      reason: hideSecrets(reason),
      ...(fault !== undefined && { fault: hideSecrets(fault) }),
      ...(printed !== undefined && { printed: hideSecrets(printed) }),
    }
  }

  function report(
    task: RunTask,
    { status, text, reason }: CallEnding,
    durationMs: Milliseconds,
  ): Promise<boolean> {
    const result = bounded({ ordinal: task.ordinal, status, text, reason, durationMs })
    return write('self', [{ type: 'outcome', ...tryIdOf(task), owner, result }])
  }

  function stop(job: Running, graceMs: Milliseconds, why: string): void {
    job.stopping = true
    job.tool.stop(graceMs, why)
  }

  return {
    start(jobs, task, free) {
      const name = nameOf(task)
      jobs.set(name, { phase: 'over' })
      const tool = findDeclared(agents, task.agent, task.declaration)
      if (tool === undefined) {
        free()
        log.warn(
          { ...tryIdOf(task), agent: task.agent },
          'the agent files of this executor have no tool with this declaration; the call is rejected',
        )
        track(report(task, noSuchTool, 0))
        return
      }
      const { arguments: text, idempotencyKey, timeoutMs, graceMs, program } = task
      const call = { arguments: text, idempotencyKey, timeoutMs, graceMs, clock }
      // Nothing happens between the check of the program and the start (keeps TOOL-RUNS-2).
      const start = (checked: ToolCall) =>
        program === undefined || program === programHash(tool.run)
          ? run(tool.run, program === undefined ? checked : { ...checked, isBound: true })
          : neverStarted(changedProgram(tool.run.kind, program))
      const started = startSafely(() =>
        startChecked({
          tool,
          call,
          turn: task,
          contextOf,
          start: (it) => startSafely(() => start(it)),
        }),
      )
      const job: Running = { phase: 'running', task, tool: started, stopping: false, free }
      jobs.set(name, job)
      running.add(job)
      track(follow(jobs, job))
    },

    refuse(jobs, task, ending, free) {
      jobs.set(nameOf(task), { phase: 'over' })
      free()
      track(report(task, ending, 0))
    },

    stop,

    stopAll(why) {
      for (const job of running) stop(job, 0, why)
    },
  }
}

/** The call never ran. `program`: the hash of the approved one. */
function changedProgram(kind: ToolRun['kind'], program: string): ToolEnding {
  return {
    status: 'vetoed',
    text: 'Tool call vetoed before execution: the program of this tool changed after the call was shown for approval, so the approval does not hold for it. Call the tool again if you still need it: the call is then shown with the new program.',
    reason: 'its program changed after the question',
    fault: `the program of this ${kind} tool is not the approved one (${program.slice(0, 12)}): a file of it changed, or this executor has other files than the one that asked. Compare them, then let the model call it again`,
  }
}

const noSuchTool = rejected(
  'the executor has no tool with this declaration.',
  'no tool with this declaration',
)

/** StartTool must not throw. If one does, the other tools of this process go on. */
function startSafely(start: () => RunningTool): RunningTool {
  try {
    return start()
  } catch (error) {
    const ending: ToolEnding = {
      ...{
        status: 'error',
        text: 'The tool could not be started.',
        reason: 'could not be started',
      },
      fault: `starting the tool threw: ${error instanceof Error ? error.message : String(error)}`,
    }
    return { started: Promise.resolve(false), ended: Promise.resolve(ending), stop: () => {} }
  }
}
