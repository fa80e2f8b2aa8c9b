// Executor, verdict relay: copies guards' answers to waiting rounds from the guards' own topics
// into the executor's inbox. Part of the performer. Owns: the choice of the records to copy. Does
// not own: the meaning of a verdict, and whether it is in time (the reducer).
// The topic identifies the guard, because access rights are per topic. The name in
// the record is ignored.
// Only an answer to a round that waits for this guard is copied, once for each
// owner. Any other record of a guard's topic costs the log nothing.
// Any other record is logged and stays. The guard then counts as silent, and the
// round's deadline decides (R6).
// A guard may answer before this owner knows the round. Early answers are kept,
// within bounds; dropped ones are read again.

import type { Logger } from 'pino'
import { leadersApartMs } from '../../../shared/bus/range.ts'
import { decode } from '../../../shared/codec/codec.ts'
import type { StoredRecord } from '../../../shared/contract/bus.ts'
import { approvalGuard } from '../../../shared/contract/guard/approval-guard.ts'
import { inputKey, type RoundId } from '../../../shared/contract/ids.ts'
import { limits } from '../../../shared/contract/limits.ts'
import type { GuardVerdict, InputGiven } from '../../../shared/contract/messages.ts'
import type { PerformerContext } from '../../../shared/contract/performer.ts'
import type { Milliseconds } from '../../../shared/lib/clock.ts'
import type { VerdictTask } from '../tasks.ts'

/**
 * Early answers that the executor keeps for each guard until their rounds wait for them, and
 * their bytes together.
 */
export const guardAnswersKeptMax = 1_024
const guardAnswersKeptBytesMax = 8 * 1024 * 1024

export type VerdictRelay = {
  /** All answers that a unit waits for now; [] for none. */
  reconcile(unit: string, tasks: VerdictTask[]): void
  close(): void
}

/** A verdict, or from the approval guard the answer to a question of a running tool. */
export type RelayedAnswer = GuardVerdict | InputGiven

/** `write`: into the executor's inbox; must not throw. */
export function createRelay(
  context: Pick<PerformerContext, 'clock' | 'log' | 'guardVerdicts'>,
  write: (answers: RelayedAnswer[]) => void,
): VerdictRelay {
  const followers = new Map<string, Follower>()
  /** By unit. */
  const units = new Map<string, Map<string, VerdictTask>>()

  return {
    reconcile(unit, tasks) {
      const before = units.get(unit)
      if (before === undefined && tasks.length === 0) return
      const now = new Map(tasks.map((task) => [JSON.stringify([task.guard, placeOf(task)]), task]))
      if (now.size === 0) units.delete(unit)
      else units.set(unit, now)
      for (const [name, task] of before ?? [])
        if (!now.has(name)) followers.get(task.guard)?.forget(placeOf(task))
      for (const [name, task] of now) if (!before?.has(name)) followerOf(task.guard).wait(task)
    },

    close() {
      for (const follower of followers.values()) follower.close()
      followers.clear()
    },
  }

  function followerOf(guard: string): Follower {
    const known = followers.get(guard)
    if (known !== undefined) return known
    const created = createFollower(guard, context, write, () => followers.delete(guard))
    followers.set(guard, created)
    return created
  }
}

type Follower = { wait(task: VerdictTask): void; forget(place: string): void; close(): void }

/**
 * Reads one guard's topic from the oldest waiting round on. Stops `limits.guardFollowIdleMs` after
 * the last round has its answer.
 */
function createFollower(
  guard: string,
  { clock, log, guardVerdicts }: Pick<PerformerContext, 'clock' | 'log' | 'guardVerdicts'>,
  write: (answers: RelayedAnswer[]) => void,
  ended: () => void,
): Follower {
  /** When each waiting round arrived. */
  const waiting = new Map<string, Milliseconds>()
  const kept = createKept()
  let reading: AbortController | undefined
  /** Every record from this time on has been read or will be. Early answers among them are kept. */
  let knownSince = Number.POSITIVE_INFINITY
  let cancelIdle = () => {}

  return {
    wait(task) {
      cancelIdle()
      const place = placeOf(task)
      const early = kept.take(place)
      if (early !== undefined) return write([early])
      waiting.set(place, task.since)
      if (
        reading === undefined ||
        task.since - leadersApartMs < knownSince ||
        task.since <= kept.lostUntil()
      )
        restart()
    },

    forget(place) {
      waiting.delete(place)
      if (waiting.size > 0) return
      cancelIdle()
      cancelIdle = clock.after(limits.guardFollowIdleMs, () => {
        stop()
        ended()
      })
    },

    close: stop,
  }

  function stop(): void {
    cancelIdle()
    reading?.abort()
    reading = undefined
  }

  function restart(): void {
    stop()
    kept.clear()
    knownSince = Math.min(...waiting.values()) - leadersApartMs
    reading = new AbortController()
    void read(knownSince, reading.signal)
  }

  async function read(since: Milliseconds, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        for await (const records of guardVerdicts({ guard, since, signal })) {
          if (signal.aborted) return
          const verdicts = records.flatMap((record) => awaited(record) ?? [])
          if (verdicts.length > 0) write(verdicts)
        }
      } catch (error) {
        if (signal.aborted) return
        log.error(
          { err: error, guard },
          'cannot read the verdicts of a guard; its deadline decides the rounds that wait for it',
        )
      }
      await new Promise<void>((resolve) => clock.after(limits.guardFollowRetryMs, resolve))
    }
  }

  /** The answer in the record, if a round waits for it. */
  function awaited(record: StoredRecord): RelayedAnswer | undefined {
    const answer = answerOf(record, guard, log)
    if (answer === undefined) return undefined
    const place = placeOf(answer)
    if (waiting.delete(place)) return answer
    kept.keep(place, answer, record)
    return undefined
  }
}

/** A round that waits for a guard's verdict, or a question of a running tool. */
function placeOf({ input = 0, ...round }: RoundId & { input?: number }): string {
  return inputKey({ ...round, input })
}

/** Undefined, with a warning, if the executor cannot accept the record as this guard's answer. */
function answerOf(
  { key, value, partition, offset }: StoredRecord,
  guard: string,
  log: Logger,
): RelayedAnswer | undefined {
  const refuse = (why: string): undefined =>
    void log.warn({ guard, partition, offset }, `ignored a record of a guard: ${why}`)
  const bytes = value?.length ?? 0
  if (value === null || bytes > limits.guardVerdictBytesMax)
    return refuse(`it has ${bytes} bytes, but must have 1 to ${limits.guardVerdictBytesMax}`)
  try {
    const message = decode(value)
    const isInput = message.type === 'input-given' && guard === approvalGuard && message.input > 0
    if (message.type !== 'guard-verdict' && !isInput)
      return refuse(`it is a ${message.type}, but must be a guard-verdict`)
    if (message.conversation !== key) return refuse('its key is not its conversation')
    if (message.type === 'input-given') return message
    return { ...message, guard }
  } catch (error) {
    return refuse(error instanceof Error ? error.message : String(error))
  }
}

/** The newest early answers, the first for each round. */
function createKept() {
  const all = new Map<string, { verdict: RelayedAnswer; bytes: number; time: Milliseconds }>()
  let bytesKept = 0
  let lost = Number.NEGATIVE_INFINITY

  return {
    take(place: string): RelayedAnswer | undefined {
      const found = all.get(place)
      if (found === undefined) return undefined
      all.delete(place)
      bytesKept -= found.bytes
      return found.verdict
    },
    keep(place: string, verdict: RelayedAnswer, { value, time }: StoredRecord): void {
      if (all.has(place)) return
      const bytes = value?.length ?? 0
      all.set(place, { verdict, bytes, time })
      bytesKept += bytes
      for (const [oldest, { bytes, time }] of all) {
        if (all.size <= guardAnswersKeptMax && bytesKept <= guardAnswersKeptBytesMax) return
        all.delete(oldest)
        bytesKept -= bytes
        lost = time
      }
    },
    /** The time of the newest dropped answer. */
    lostUntil: () => lost,
    clear(): void {
      all.clear()
      bytesKept = 0
      lost = Number.NEGATIVE_INFINITY
    },
  }
}
