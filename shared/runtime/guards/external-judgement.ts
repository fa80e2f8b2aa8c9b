// Calls an external guard for rounds of one partition, several at a time. Each round gets an answer
// or a failure; a guard that stops leaves the open ones without.

import type { ExternalGuard, GuardedRound } from '../../contract/guard/guard.ts'
import { limits } from '../../contract/limits.ts'
import type { GuardInForce } from '../../contract/messages.ts'
import type { Clock, Milliseconds } from '../../lib/clock.ts'
import { thrownText } from '../../lib/error-place.ts'
import { type Answered, answeredBy, failedAnswer } from './judgement.ts'
import type { WithinLimit } from './time-limit.ts'

/** The runtime fills in `answered` and `judgedMs`. */
export type ExternalJob = {
  round: GuardedRound
  inForce: Pick<GuardInForce, 'deadlineMs'>
  answered?: Answered
  judgedMs: Milliseconds
}

type Place = { clock: Clock; within: WithinLimit; stopping: AbortSignal }

export async function judgeExternally(
  guard: ExternalGuard,
  jobs: readonly ExternalJob[],
  place: Place,
): Promise<void> {
  const waiting = jobs.values() // all workers take from it
  async function work(): Promise<void> {
    for (const job of waiting) {
      if (place.stopping.aborted) return
      const began = place.clock.monotonic()
      const answered = await answerOf(guard, job, place)
      job.judgedMs = Math.max(0, place.clock.monotonic() - began)
      if (answered !== undefined) job.answered = answered
    }
  }
  await Promise.all(Array.from({ length: limits.guardExternalCallsMax }, work))
}

/** Undefined: the guard stopped first. */
async function answerOf(
  guard: ExternalGuard,
  { round, inForce }: ExternalJob,
  { clock, within, stopping }: Place,
): Promise<Answered | undefined> {
  const { calls } = round
  // A late round gets as long as any guard has: its verdict still counts for people.
  const limitMs = Math.max(
    limits.guardJudgeMsMax,
    round.time + Math.max(1, inForce.deadlineMs) - clock.now(),
  )
  const stop = new AbortController()
  const onStop = () => stop.abort()
  stopping.addEventListener('abort', onStop, { once: true })
  const isOver = Promise.withResolvers<undefined>()
  stop.signal.addEventListener('abort', () => isOver.resolve(undefined), { once: true })
  const cancelTimer = clock.after(limitMs, () => stop.abort())
  try {
    let given: unknown
    const isWithin = within(() => {
      given = guard.judge(undefined, structuredClone(round), { signal: stop.signal })
    }, limits.guardJudgeMsMax)
    if (!isWithin)
      return failedAnswer(
        calls,
        'guard.stuck',
        `judge did not return within ${limits.guardJudgeMsMax} ms`,
      )
    const answer = Promise.resolve(given)
    answer.catch(() => {}) // a rejection after the deadline must not end the process
    const judgement = await Promise.race([answer, isOver.promise])
    if (stopping.aborted) return undefined
    if (stop.signal.aborted)
      return failedAnswer(calls, 'guard.stuck', `judge gave no answer within ${limitMs} ms`)
    const answered = answeredBy(judgement, round)
    return answered.fault === undefined && answered.state !== undefined
      ? failedAnswer(
          calls,
          'guard.unusable',
          'judge returned a state; an external guard keeps none',
        )
      : answered
  } catch (error) {
    if (stopping.aborted) return undefined
    return stop.signal.aborted
      ? failedAnswer(calls, 'guard.stuck', `judge gave no answer within ${limitMs} ms`)
      : failedAnswer(calls, 'guard.threw', `judge threw: ${thrownText(error, import.meta.url)}`)
  } finally {
    cancelTimer()
    stopping.removeEventListener('abort', onStop)
    stop.abort()
  }
}
