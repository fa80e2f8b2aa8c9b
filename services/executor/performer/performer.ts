// Executor, performer: claims calls, runs their tools, and writes the outcomes into the executor's
// own inbox. Owns: the jobs of each unit. Does not own: any decision; the reducer decides (R4).
// A tool starts only from a claim that this owner sent and the log accepted,
// not cancelled, not stopped, younger than startWithin. A claim starts at most one tool.
// A claim is sent only with a place to run the call, once for each (call,
// try). Its place comes back exactly once.
// A claim that does not start is given back (an outcome without a result).
// Its tool then never starts.
// The end of a tool is always reported, also after the partition is lost: the
// reducer of the new owner knows the claim.
// After a refused write nothing more starts here: the bus has failed. The
// deadlines in the log decide.

import type { CallEnding } from '../../../shared/contract/call/call-endings.ts'
import { tryIdOf } from '../../../shared/contract/ids.ts'
import { limits } from '../../../shared/contract/limits.ts'
import type {
  Performer,
  PerformerContext,
  StartPerformer,
} from '../../../shared/contract/performer.ts'
import { unreachable } from '../../../shared/contract/stage.ts'
import { tenantOf, type WeightOf } from '../../../shared/contract/tenant.ts'
import { guardKeyPrefix, stopKeyPrefix } from '../../../shared/contract/topology.ts'
import type { Clock, Milliseconds } from '../../../shared/lib/clock.ts'
import type { Slots } from '../../../shared/lib/slots.ts'
import {
  type BudgetReaders,
  createBudgetReaders,
} from '../../../shared/runtime/budgets/budget-readers.ts'
import { stopOfCall, stoppedCall } from '../../../shared/runtime/settings/stops.ts'
import { stopsInForce } from '../../../shared/runtime/settings/stops-in-force.ts'
import { createToolSlots, toolPlaces } from '../../../shared/tools/tool-slots.ts'
import { byPart, type ExecutorTask, type OfferTask, type ToolTask } from '../tasks.ts'
import { absentGuardDenial, unreadableGuardsDenial } from './absent-guards.ts'
import { cancelAgent, createLeftClaims, type LeftClaims } from './left-claims.ts'
import { createOffers } from './offers.ts'
import { createPlaces } from './places.ts'
import { type ProgramHash, programHasher } from './program/program-hash.ts'
import { createProgramHashes } from './program/program-hashes.ts'
import { watchStops } from './stopped-calls.ts'
import {
  type Claimed,
  type ClaimTask,
  createToolRuns,
  type Instant,
  type Job,
  type Jobs,
  nameOf,
  type RunTask,
  type ToolRuns,
  type ToolRunsOptions,
} from './tool-runs.ts'
import { createRelay } from './verdict-relay.ts'
import { createWrites, type Writes } from './writes.ts'

type Parts = Omit<ToolRunsOptions, 'context' | 'clock' | 'writes' | 'places'> & {
  budgets: BudgetReaders
  slotsOf: (agent: string, tool: string) => Slots
}

type ExecutorOptions = Pick<Parts, 'agents' | 'run' | 'contextOf' | 'kept'> & {
  programHash?: ProgramHash
  slots?: Slots
  weightOf?: WeightOf | undefined
  budgets?: BudgetReaders
}

/**
 * `agents`: with the commands, which only this process knows. `run` starts tools, and `kept` those
 * that outlive this process. `contextOf`: the contexts of this process's questions. `slots`: the
 * places for running tools, shared by all partitions of a process. So are the places of a tool with
 * a `concurrency`. `weightOf`: the weights of tenants that wait for those. Default: all are equal.
 * `budgets`: those of the process.
 */
export function startExecutor({
  agents,
  run,
  contextOf,
  kept,
  programHash = programHasher(agents),
  weightOf,
  slots = toolPlaces(limits.runningToolsMax, weightOf),
  budgets = createBudgetReaders(),
}: ExecutorOptions): StartPerformer<ExecutorTask> {
  const slotsOf = createToolSlots(agents, slots, weightOf)
  const parts = { agents, run, contextOf, kept, programHash, slotsOf, budgets }
  return (context) => performerOf(parts, context)
}

function performerOf(
  { agents, run, contextOf, kept, programHash, slotsOf, budgets }: Parts,
  context: PerformerContext,
): Performer<ExecutorTask> {
  const { log, owner, machineClock: clock = context.clock } = context
  const units = new Map<string, Jobs>()
  const writes = createWrites(context, () => stopWork(drop))
  const { write, track } = writes
  const relay = createRelay(context, (verdicts) => track(write('self', verdicts)))
  const claims = createClaims({ clock, owner, slotsOf, writes })
  const places = createPlaces({ agents, context, ledgers: budgets.ledgers })
  const member = budgets.join()
  const runs = createToolRuns({
    context,
    clock,
    agents,
    run,
    contextOf,
    kept,
    programHash,
    places,
    writes,
  })
  const left = createLeftClaims({ agents, context, clock, kept, runs, writes })
  const programs = createProgramHashes({ agents, programHash }, (message) =>
    track(write('self', [message])),
  )
  const vetoOf = createVeto(context)
  const offers = createOffers({ agents, contextOf, clock, owner, writes, vetoOf })
  const { drop, giveBack } = createJobEnds({ owner, writes, runs })
  const stops = watchStops({ context, clock, writes })
  let closing = false

  return {
    reconcile(unit, tasks) {
      if (closing) return
      stops.want(unit, tasks)
      const { verdicts, hashes, offered, tools } = byPart(tasks)
      relay.reconcile(unit, verdicts)
      programs.reconcile(unit, hashes)
      offers.reconcile(unit, offered)
      claims.collect(() => reconcileJobs(unit, tools))
    },

    async close(how) {
      stopWork(giveBack)
      if (how === 'shutdown') runs.releaseAgents()
      const cancelStop =
        how === 'shutdown'
          ? clock.after(limits.shutdownGraceMs, () => runs.stopAll('the executor shut down'))
          : () => {}
      await writes.finished()
      cancelStop()
      member.leave()
    },
  }

  function stopWork(release: (jobs: Jobs, name: string, job: Claimed) => void): void {
    closing = true
    stops.close()
    relay.close()
    offers.close()
    left.close()
    releaseClaims(units, { drop, release })
  }

  function reconcileJobs(unit: string, tasks: ToolTask[]): void {
    const jobs: Jobs = units.get(unit) ?? new Map()
    units.set(unit, jobs)
    const names = new Set(tasks.map(nameOf))
    for (const name of [...jobs.keys()]) if (!names.has(name)) drop(jobs, name)
    for (const task of tasks) {
      if (task.kind === 'claim') claims.request(unit, jobs, task)
      else if (task.owner === owner) runOwn(jobs, task)
      else leaveToOther(jobs, task, { left, drop })
    }
    if (jobs.size === 0) units.delete(unit)
  }

  /**
   * The log has accepted this owner's claim: starts the tool, gives the claim back, or stops it.
   */
  function runOwn(jobs: Jobs, task: RunTask): void {
    const name = nameOf(task)
    const job = jobs.get(name)
    switch (job?.phase) {
      case 'claimed':
        if (task.cancelled && task.try > 1) track(cancelAgent(agents, task, log))
        if (task.cancelled || isLate(clock, job.sentAt, task.startWithinMs))
          giveBack(jobs, name, job)
        else if (job.isChecked !== true) {
          job.isChecked = true
          track(startUnlessDenied(jobs, task, job))
        }
        return
      case 'running':
        if (task.answer !== undefined) job.questions.apply(task.answer)
        if (task.cancelled && !job.stopping)
          runs.stop(job, task.graceMs, task.stopReason ?? 'the turn was cancelled')
        return
      case 'queued':
      case undefined:
        log.warn(
          tryIdOf(task),
          'a claim names this owner, which did not send it; its deadline decides',
        )
        job?.leaveLine()
        jobs.set(name, { phase: 'over' })
        return
      case 'left':
      case 'returned':
      case 'over':
        return
      default:
        return unreachable(job)
    }
  }

  /** Starts the tool, unless a guard is missing, an operator stopped it or the claim ended. */
  async function startUnlessDenied(jobs: Jobs, task: RunTask, job: Claimed): Promise<void> {
    const veto = (await vetoOf(task)) ?? (await places.denialOf(task))
    const isOver = jobs.get(nameOf(task)) !== job // dropped, given back or cancelled
    const isTooLate = closing || isLate(clock, job.sentAt, task.startWithinMs)
    if (veto === undefined && (isOver || isTooLate)) track(places.ended(task, 'skipped'))
    if (isOver) return
    if (isTooLate) return giveBack(jobs, nameOf(task), job)
    if (veto === undefined) return runs.start(jobs, task, job)
    log.warn({ ...tryIdOf(task), reason: veto.reason }, 'a call was denied before its start')
    runs.refuse(jobs, task, veto, job.free)
  }
}

type ClaimsOptions = Pick<PerformerContext, 'clock' | 'owner'> & {
  slotsOf: (agent: string, tool: string) => Slots
  writes: Writes
}

/** A place of a claim that is not sent yet. */
type Place = { jobs: Jobs; job: Job; task: ClaimTask; free: () => void }

function createClaims({ clock, owner, slotsOf, writes }: ClaimsOptions) {
  let places: Place[] = []
  let isCollecting = false

  /**
   * One write for all claims that got a place. A place whose job is gone goes to the next
   * waiter. That can be a job of this performer, so this is a loop.
   */
  function send(): void {
    while (places.length > 0) {
      const current = places
      places = []
      const usable = current.filter(isWaiting)
      if (usable.length > 0) claim(usable)
      for (const place of current) if (!usable.includes(place)) place.free()
    }
  }

  function claim(granted: Place[]): void {
    // Read before the write: the claim's deadline counts from its time in the log, which is later.
    const sentAt = { wall: clock.now(), monotonic: clock.monotonic() }
    const sent = writes.write(
      'self',
      granted.map(({ task }) => ({ type: 'claim', ...tryIdOf(task), owner })),
    )
    writes.track(sent)
    for (const { jobs, task, free } of granted)
      jobs.set(nameOf(task), { phase: 'claimed', task, sentAt, sent, free })
  }

  return {
    /** Claims the try as soon as it has a place, unless it has a job already. */
    request(unit: string, jobs: Jobs, task: ClaimTask): void {
      if (jobs.has(nameOf(task))) return
      let leaveLine = () => {}
      const job: Job = { phase: 'queued', leaveLine: () => leaveLine() }
      jobs.set(nameOf(task), job)
      const take = (free: () => void): void => {
        places.push({ jobs, job, task, free })
        if (!isCollecting) send()
      }
      leaveLine = slotsOf(task.agent, task.tool).wait(unit, take, tenantOf(task.conversation))
    },

    /** Runs `work` and sends all claims that got a place meanwhile in one write. */
    collect(work: () => void): void {
      isCollecting = true
      work()
      isCollecting = false
      send()
    },
  }
}

function isWaiting({ jobs, job, task }: Place): boolean {
  return jobs.get(nameOf(task)) === job
}

type JobEndsOptions = { owner: string; writes: Writes; runs: ToolRuns }

/** The ends of a job without a result of its tool. */
function createJobEnds({ owner, writes: { write, track }, runs }: JobEndsOptions) {
  return { giveBack, drop }

  function giveBack(jobs: Jobs, name: string, { task, sent, free }: Claimed): void {
    jobs.set(name, { phase: 'returned' })
    free()
    // After the claim's write: before it, the reducer has no claim to give back.
    const place = { ...tryIdOf(task), owner }
    const outcome = { type: 'outcome' as const, ...place, result: null, goesOn: false }
    track(sent.then((isSent) => isSent && write('self', [outcome])))
  }

  /** Ends a try that is over or another owner's: leaves the line, frees the place, stops the tool. */
  function drop(jobs: Jobs, name: string): void {
    const job = jobs.get(name)
    jobs.delete(name)
    if (job?.phase === 'queued') job.leaveLine()
    if (job?.phase === 'claimed') job.free()
    if (job?.phase === 'running') runs.stop(job, job.task.graceMs, 'its turn is over')
    if (job?.phase === 'left') job.leave()
  }
}

/** Drops all queued jobs, and calls `release` for each claim that has not started. */
function releaseClaims(
  units: ReadonlyMap<string, Jobs>,
  {
    drop,
    release,
  }: {
    drop: (jobs: Jobs, name: string) => void
    release: (jobs: Jobs, name: string, job: Claimed) => void
  },
): void {
  const all = [...units.values()].flatMap((jobs) =>
    [...jobs].map(([name, job]) => ({ jobs, name, job })),
  )
  for (const { jobs, name, job } of all) if (job.phase === 'queued') drop(jobs, name)
  for (const { jobs, name, job } of all) if (job.phase === 'claimed') release(jobs, name, job)
}

/** Another owner's claim won, perhaps that of a dead one (left-claims.ts). */
function leaveToOther(
  jobs: Jobs,
  task: RunTask,
  { left, drop }: { left: LeftClaims; drop: (jobs: Jobs, name: string) => void },
): void {
  const name = nameOf(task)
  const job = jobs.get(name)
  if (job?.phase === 'left') {
    if (task.cancelled) job.stop()
    return
  }
  if (job?.phase === 'over') return
  drop(jobs, name)
  jobs.set(name, { phase: 'over' }) // a write may reconcile before it returns
  jobs.set(name, left.follow(task))
}

/** Finds the reason why a call may not start now: a missing guard, or an operator's stop. */
function createVeto({ policies, log }: PerformerContext) {
  return async (task: RunTask | OfferTask): Promise<CallEnding | undefined> => {
    try {
      const { declaration, clearedAt, guards } = task
      const records = await policies(guardKeyPrefix, stopKeyPrefix)
      const stops = stopsInForce(records, task)
      if (typeof stops === 'string') return unreadableGuardsDenial()
      const stop = stopOfCall(stops, declaration.name)
      if (stop !== undefined) return stoppedCall(stop, false)
      const registered = records.filter(({ key }) => key.startsWith(guardKeyPrefix))
      return absentGuardDenial(registered, { tool: declaration.name, clearedAt, guards })
    } catch (error) {
      log.error({ err: error, ...tryIdOf(task) }, 'the guards and stops in policies cannot be read')
      return unreadableGuardsDenial()
    }
  }
}

function isLate(clock: Clock, sentAt: Instant, startWithinMs: Milliseconds): boolean {
  const passed = [clock.monotonic() - sentAt.monotonic, clock.now() - sentAt.wall]
  // Two clocks: the monotonic one stands still while the machine sleeps, the wall clock may be set.
  // A clock that went back proves nothing, so the claim counts as late.
  return passed.some((duration) => duration < 0 || duration >= startWithinMs)
}
