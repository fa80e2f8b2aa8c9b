// Claims of the performer: waits for a place to run a call and then claims the call
// (EXECUTOR-PERFORMER-2). Owns: the places of claims that are not sent yet.

import { tryIdOf } from '../../../shared/contract/ids.ts'
import type { PerformerContext } from '../../../shared/contract/performer.ts'
import { tenantOf } from '../../../shared/contract/tenant.ts'
import type { Slots } from '../../../shared/lib/slots.ts'
import { type ClaimTask, type Job, type Jobs, nameOf } from './jobs.ts'
import type { Writes } from './writes.ts'

export type Claims = {
  /** Claims the try as soon as it has a place, unless it has a job already. */
  request(unit: string, jobs: Jobs, task: ClaimTask): void
  /** Runs `work` and sends all claims that got a place meanwhile in one write. */
  collect(work: () => void): void
}

export type ClaimsOptions = Pick<PerformerContext, 'clock' | 'owner'> & {
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
