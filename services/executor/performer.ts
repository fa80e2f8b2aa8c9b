// Executor, performer: claims calls, runs their tools, and writes what became of them into the
// executor's own inbox. Owns: the tools that this process runs. Does not own: any decision; the
// reducer reads what is written here and decides (R4).
// EXECUTOR-PERFORMER-1. A tool starts only out of a claim that this very owner has sent and
//     remembers, that the log has accepted, that is not cancelled and that is younger than
//     startWithin on both clocks: the monotonic one stands still while the machine sleeps, the wall
//     clock may be set. A start leaves that phase, so a claim starts at most one tool. A claim that
//     it does not remember is left alone: its deadline decides.
// EXECUTOR-PERFORMER-2. A claim is sent only with a place to run it in hand, once for each (call,
//     try), and its place comes back exactly once.
// EXECUTOR-PERFORMER-3. What was claimed and is not started is given back (an outcome without a
//     result), and then never starts.
// EXECUTOR-PERFORMER-4. A tool that ended is reported, also when the partition is lost: the reducer
//     of whoever owns it now knows the claim.
// EXECUTOR-PERFORMER-5. A write that is refused means that the bus gave up: nothing more begins
//     here, and the deadlines in the log decide.

import { type Agents, findDeclared } from '../../shared/agents/agents.ts'
import type { CallEnding } from '../../shared/contract/call-endings.ts'
import { limits } from '../../shared/contract/limits.ts'
import type { Message } from '../../shared/contract/messages.ts'
import type {
  Performer,
  PerformerContext,
  StartPerformer,
} from '../../shared/contract/performer.ts'
import { unreachable } from '../../shared/contract/stage.ts'
import type { Port } from '../../shared/contract/topology.ts'
import type { Milliseconds } from '../../shared/lib/clock.ts'
import { createSlots, type Slots } from '../../shared/lib/slots.ts'
import { createRelay } from './guards/verdict-relay.ts'
import { bounded, rejected } from './results.ts'
import type { CallTry, HearTask, ToolTask } from './tasks.ts'
import type { RunningTool, StartTool, ToolEnding } from './tools/tool.ts'
import { createToolSlots } from './tools/tool-slots.ts'

type ClaimTask = Extract<ToolTask, { kind: 'claim' }>
type RunTask = Extract<ToolTask, { kind: 'run' }>

/** One try of a call, as far as this owner has to do with it. `free` gives its place back. */
type Job =
  | { phase: 'queued'; leaveLine: () => void }
  | { phase: 'claimed'; task: ClaimTask; sentAt: Instant; sent: Promise<boolean>; free: () => void }
  | { phase: 'running'; task: RunTask; tool: RunningTool; stopping: boolean; free: () => void }
  | { phase: 'over' }

type Claimed = Extract<Job, { phase: 'claimed' }>
type Running = Extract<Job, { phase: 'running' }>

type Jobs = Map<string, Job>

type Instant = { wall: Milliseconds; monotonic: Milliseconds }

type Parts = { agents: Agents; run: StartTool; slotsOf: (agent: string, tool: string) => Slots }

/**
 * `agents`: with the commands that only this process knows. `run`: starts tools. `slots`: places
 * for running tools; one object serves all partitions of a process, and so do the places of a tool
 * with a `concurrency`.
 */
export function startExecutor({
  agents,
  run,
  slots = createSlots(limits.runningToolsMax),
}: Omit<Parts, 'slotsOf'> & { slots?: Slots }): StartPerformer<ToolTask | HearTask> {
  const slotsOf = createToolSlots(agents, slots)
  return (context) => performerOf({ agents, run, slotsOf }, context)
}

function performerOf(
  { agents, run, slotsOf }: Parts,
  context: PerformerContext,
): Performer<ToolTask | HearTask> {
  const { clock, log, owner } = context
  /** By unit, then by round, call and try. */
  const units = new Map<string, Jobs>()
  const running = new Set<Running>()
  /** What close() waits for; none of it rejects. */
  const pending = new Set<Promise<unknown>>()
  /** Places that were given for claims that are not sent yet. */
  let places: { jobs: Jobs; job: Job; task: ClaimTask; free: () => void }[] = []
  const relay = createRelay(context, (verdicts) => track(write('self', verdicts)))
  let reconciling = false
  let closing = false

  return {
    reconcile(unit, all) {
      if (closing) return
      reconciling = true
      const tasks = all.filter((task) => task.kind !== 'hear')
      relay.reconcile(
        unit,
        all.filter((task) => task.kind === 'hear'),
      )
      const jobs = units.get(unit) ?? new Map<string, Job>()
      units.set(unit, jobs)
      const wanted = new Set(tasks.map(nameOf))
      for (const name of [...jobs.keys()].filter((name) => !wanted.has(name))) drop(jobs, name)
      for (const task of tasks) {
        if (task.kind === 'claim') wantClaim(unit, jobs, task)
        else if (task.owner === owner) wantRun(jobs, task)
        else leaveToOther(jobs, task)
      }
      if (jobs.size === 0) units.delete(unit)
      reconciling = false
      sendClaims()
    },

    async close(how) {
      closing = true
      relay.close()
      letGo((jobs, name, job) => giveBack(jobs, name, job))
      const stopAll = () => {
        for (const job of running) stop(job, 0, 'the executor shut down')
      }
      const cancelStop =
        how === 'shutdown' ? clock.after(limits.shutdownGraceMs, stopAll) : () => {}
      while (pending.size > 0) await Promise.all(pending)
      cancelStop()
    },
  }

  function wantClaim(unit: string, jobs: Jobs, task: ClaimTask): void {
    if (jobs.has(nameOf(task))) return
    let leaveLine = () => {}
    const job: Job = { phase: 'queued', leaveLine: () => leaveLine() }
    jobs.set(nameOf(task), job)
    leaveLine = slotsOf(task.agent, task.tool).wait(unit, (free) => {
      places.push({ jobs, job, task, free })
      if (!reconciling) sendClaims()
    })
  }

  /**
   * One write for all claims that got a place. A place whose waiter has gone meanwhile goes to the
   * next, which may be one of ours.
   */
  function sendClaims(): void {
    while (places.length > 0) {
      const [wanted, unwanted] = split(
        places,
        ({ jobs, job, task }) => jobs.get(nameOf(task)) === job,
      )
      places = []
      if (wanted.length > 0) {
        // Before the write: the claim's time in the log, from which its deadline counts, is not
        // earlier than this.
        const sentAt = { wall: clock.now(), monotonic: clock.monotonic() }
        const sent = write(
          'self',
          wanted.map(({ task }) => ({ type: 'claim', ...callTryOf(task), owner })),
        )
        track(sent)
        for (const { jobs, task, free } of wanted)
          jobs.set(nameOf(task), { phase: 'claimed', task, sentAt, sent, free })
      }
      for (const { free } of unwanted) free()
    }
  }

  /** The log has accepted this owner's claim: start it, give it back, or stop what runs. */
  function wantRun(jobs: Jobs, task: RunTask): void {
    const name = nameOf(task)
    const job = jobs.get(name)
    switch (job?.phase) {
      case 'claimed':
        if (task.cancelled || isLate(job.sentAt, task.startWithinMs)) giveBack(jobs, name, job)
        else start(jobs, task, job)
        return
      case 'running':
        if (task.cancelled && !job.stopping) stop(job, task.graceMs, 'the turn was cancelled')
        return
      case 'queued':
      case undefined:
        log.warn(
          callTryOf(task),
          'a claim in the name of this owner that it did not send; it is left to its deadline',
        )
        job?.leaveLine()
        jobs.set(name, { phase: 'over' })
        return
      case 'over':
        return
      default:
        return unreachable(job)
    }
  }

  /**
   * Another owner's claim won. Where the bus proves that owner dead, nobody need wait for the
   * deadline.
   */
  function leaveToOther(jobs: Jobs, task: RunTask): void {
    const name = nameOf(task)
    if (jobs.get(name)?.phase === 'over') return
    drop(jobs, name)
    jobs.set(name, { phase: 'over' })
    if (context.formerOwnersDead)
      track(write('self', [{ type: 'lapsed', ...callTryOf(task), owner: task.owner }]))
  }

  function isLate(sentAt: Instant, startWithinMs: Milliseconds): boolean {
    const passed = [clock.monotonic() - sentAt.monotonic, clock.now() - sentAt.wall]
    // A clock that went back proves nothing, so it counts as late.
    return passed.some((duration) => duration < 0 || duration >= startWithinMs)
  }

  function start(jobs: Jobs, task: RunTask, { free }: Claimed): void {
    const name = nameOf(task)
    jobs.set(name, { phase: 'over' })
    const tool = findDeclared(agents, task.agent, task.declaration)
    if (tool === undefined) {
      free()
      log.warn(
        { ...callTryOf(task), agent: task.agent },
        'no tool with this declaration in the agent files of this executor; the call is rejected',
      )
      track(report(task, noSuchTool, 0))
      return
    }
    const { arguments: text, idempotencyKey, timeoutMs, graceMs } = task
    const started = startSafely(() =>
      run(tool.run, { arguments: text, idempotencyKey, timeoutMs, graceMs, clock }),
    )
    const job: Running = { phase: 'running', task, tool: started, stopping: false, free }
    jobs.set(name, job)
    running.add(job)
    track(follow(jobs, job))
  }

  /** From the start of a tool to the report of its end (EXECUTOR-PERFORMER-4). */
  async function follow(jobs: Jobs, job: Running): Promise<void> {
    const { task, tool } = job
    const startedAt = clock.monotonic()
    let isTold = false
    let cancelTelling = (): void => {}
    const tellStarted = (): void => {
      if (isTold) return
      isTold = true
      cancelTelling()
      track(
        write('activity', [
          { type: 'tool-started', ...callTryOf(task), name: task.declaration.name },
        ]),
      )
    }
    const hasStarted = tool.started.then((started) => {
      if (started) cancelTelling = clock.after(limits.toolStartedHoldMs, tellStarted)
      return started
    })
    const ending = await tool.ended
    const started = await hasStarted
    const durationMs = started ? Math.max(0, Math.round(clock.monotonic() - startedAt)) : 0
    if (started) tellStarted()
    running.delete(job)
    if (jobs.get(nameOf(task)) === job) jobs.set(nameOf(task), { phase: 'over' })
    job.free()
    if (ending.fault !== undefined)
      log.error(
        { ...callTryOf(task), agent: task.agent, tool: task.declaration.name },
        ending.fault,
      )
    if (ending.printed !== undefined)
      log.debug(
        { ...callTryOf(task), printed: ending.printed },
        'what the tool wrote beside its result',
      )
    await report(task, ending, durationMs)
  }

  function stop(job: Running, graceMs: Milliseconds, why: string): void {
    job.stopping = true
    job.tool.stop(graceMs, why)
  }

  function giveBack(jobs: Jobs, name: string, { task, sent, free }: Claimed): void {
    jobs.set(name, { phase: 'over' })
    free()
    // After the claim: before it, the reducer would see nothing to give back.
    track(
      sent.then(
        (isSent) =>
          isSent && write('self', [{ type: 'outcome', ...callTryOf(task), owner, result: null }]),
      ),
    )
  }

  /**
   * Nobody wants this try any more, or it is another's: leaves the line, frees the place, stops the
   * tool.
   */
  function drop(jobs: Jobs, name: string): void {
    const job = jobs.get(name)
    jobs.delete(name)
    if (job?.phase === 'queued') job.leaveLine()
    if (job?.phase === 'claimed') job.free()
    if (job?.phase === 'running') stop(job, job.task.graceMs, 'its turn is over')
  }

  /** Waits for nothing more, and does `withClaim` to what is claimed and not started. */
  function letGo(withClaim: (jobs: Jobs, name: string, job: Claimed) => void): void {
    const all = [...units.values()].flatMap((jobs) =>
      [...jobs].map(([name, job]) => ({ jobs, name, job })),
    )
    for (const { jobs, name, job } of all) if (job.phase === 'queued') drop(jobs, name)
    for (const { jobs, name, job } of all) if (job.phase === 'claimed') withClaim(jobs, name, job)
  }

  function report(
    task: RunTask,
    { status, text, reason }: CallEnding,
    durationMs: Milliseconds,
  ): Promise<boolean> {
    const result = bounded({ ordinal: task.ordinal, status, text, reason, durationMs })
    return write('self', [{ type: 'outcome', ...callTryOf(task), owner, result }])
  }

  /** True when all are acknowledged. Never rejects (EXECUTOR-PERFORMER-5). */
  function write(port: Port, messages: Message[]): Promise<boolean> {
    const written = async () => context.write(port, messages)
    return written().then(
      () => true,
      (error) => {
        log.error(
          { err: error, port },
          'the bus refused a write of the executor, which starts nothing more on this partition',
        )
        closing = true
        relay.close()
        letGo(drop)
        return false
      },
    )
  }

  function track(work: Promise<unknown>): void {
    pending.add(work)
    void work.finally(() => pending.delete(work))
  }
}

const noSuchTool = rejected(
  'the executor has no tool with this declaration.',
  'no tool with this declaration',
)

/** StartTool must not throw; if one does, the others of this process must not suffer. */
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

function split<T>(all: T[], isFirst: (one: T) => boolean): [T[], T[]] {
  return [all.filter(isFirst), all.filter((one) => !isFirst(one))]
}

function callTryOf({ conversation, turn, round, ordinal, try: number }: CallTry): CallTry {
  return { conversation, turn, round, ordinal, try: number }
}

/** Its place in its unit. */
function nameOf({ round, ordinal, try: number }: CallTry): string {
  return `${round}/${ordinal}/${number}`
}
