// The tries of calls that this owner of a partition has to do with, each as one union of phases: how one
// gets a place and is claimed, and how it ends without a result of its tool.
// Owns: the places of claims that are not sent yet. Keeps EXECUTOR-PERFORMER-2 and
// EXECUTOR-PERFORMER-3.

import { type TryId, tryIdOf } from '../../../shared/contract/ids.ts'
import type { PerformerContext } from '../../../shared/contract/performer.ts'
import { tenantOf } from '../../../shared/contract/tenant.ts'
import type { Milliseconds } from '../../../shared/lib/clock.ts'
import type { Slots } from '../../../shared/lib/slots.ts'
import type { Releasable } from '../../../shared/tools/released-agent.ts'
import type { ToolTask } from '../tasks.ts'
import type { ToolQuestions } from './tool-questions.ts'
import type { Writes } from './writes.ts'

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

type Claims = {
  /** Claims the try as soon as it has a place, unless it has a job already. */
  request(unit: string, jobs: Jobs, task: ClaimTask): void
  /** Runs `work` and sends all claims that got a place meanwhile in one write. */
  collect(work: () => void): void
}

type ClaimsOptions = Pick<PerformerContext, 'clock' | 'owner'> & {
  slotsOf: (agent: string, tool: string) => Slots
  writes: Writes
}

type Place = { jobs: Jobs; job: Job; task: ClaimTask; free: () => void }

export function createClaims({ clock, owner, slotsOf, writes }: ClaimsOptions): Claims {
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
    request(unit, jobs, task) {
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

    collect(work) {
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

type Parts = {
  owner: string
  writes: Writes
  stop(job: Running, graceMs: Milliseconds, why: string): void
}

export function createJobEnds({ owner, writes: { write, track }, stop }: Parts) {
  return { giveBack, drop }

  function giveBack(jobs: Jobs, name: string, { task, sent, free }: Claimed): void {
    jobs.set(name, { phase: 'over' })
    free()
    // After the claim's write: before it, the reducer has no claim to give back.
    track(
      sent.then(
        (isSent) =>
          isSent && write('self', [{ type: 'outcome', ...tryIdOf(task), owner, result: null }]),
      ),
    )
  }

  /** Ends a try that is over or another owner's: leaves the line, frees the place, stops the tool. */
  function drop(jobs: Jobs, name: string): void {
    const job = jobs.get(name)
    jobs.delete(name)
    if (job?.phase === 'queued') job.leaveLine()
    if (job?.phase === 'claimed') job.free()
    if (job?.phase === 'running') stop(job, job.task.graceMs, 'its turn is over')
    if (job?.phase === 'left') job.leave()
  }
}

/** Drops all queued jobs, and calls `release` for each claim that has not started. */
export function releaseClaims(
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
