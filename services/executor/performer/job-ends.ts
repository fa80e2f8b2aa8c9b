// The ends of a job without a result of its tool: it is dropped, or its claim is given back.
// Keeps EXECUTOR-PERFORMER-2 and EXECUTOR-PERFORMER-3.

import { tryIdOf } from '../../../shared/contract/ids.ts'
import type { Claimed, Jobs } from './jobs.ts'
import type { ToolRuns } from './tool-runs.ts'
import type { Writes } from './writes.ts'

type Parts = { owner: string; writes: Writes; runs: ToolRuns }

export function createJobEnds({ owner, writes: { write, track }, runs }: Parts) {
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
    if (job?.phase === 'running') runs.stop(job, job.task.graceMs, 'its turn is over')
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
