// Executor, verdict relay: copies the answers of guards to waiting rounds from the guards' own
// topics into the executor's inbox. Part of its performer. Owns: which records of a guard's topic
// are worth the reducer's look. Does not own: what a verdict means, and whether it comes in time
// (the reducer).
// VERDICT-RELAY-1. Who a guard is says its topic, because access rights are per topic: the name in
//     the record counts for nothing.
// VERDICT-RELAY-2. Only an answer to a round that waits for this very guard is copied, once for
//     each owner; nothing else that stands in a guard's topic costs the log.
// VERDICT-RELAY-3. What is not copied is logged and stays where it is. Then the guard is silent,
//     and the round's deadline decides (R6).
// VERDICT-RELAY-4. A guard may answer before this owner knows of the round: answers that nobody
//     waits for yet are kept, within bounds, and what fell out of them is read again.

import type { Logger } from 'pino'
import { leadersApartMs } from '../../../shared/bus/range.ts'
import { decode } from '../../../shared/codec/codec.ts'
import type { StoredRecord } from '../../../shared/contract/bus.ts'
import { limits } from '../../../shared/contract/limits.ts'
import type { GuardVerdict } from '../../../shared/contract/messages.ts'
import type { PerformerContext } from '../../../shared/contract/performer.ts'
import type { Milliseconds } from '../../../shared/lib/clock.ts'
import type { VerdictTask } from '../tasks.ts'

export type VerdictRelay = {
  /** All that a unit wants to hear of now; [] when it wants nothing. */
  reconcile(unit: string, tasks: VerdictTask[]): void
  close(): void
}

/** `write`: into the executor's inbox; must not throw. */
export function createRelay(
  context: Pick<PerformerContext, 'clock' | 'log' | 'guardVerdicts'>,
  write: (verdicts: GuardVerdict[]) => void,
): VerdictRelay {
  const followers = new Map<string, Follower>()
  /** By unit: what it waits for. */
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
 * Reads one guard's topic from the oldest round on that waits for it, for as long as any does and
 * `limits.guardFollowIdleMs` longer.
 */
function createFollower(
  guard: string,
  { clock, log, guardVerdicts }: Pick<PerformerContext, 'clock' | 'log' | 'guardVerdicts'>,
  write: (verdicts: GuardVerdict[]) => void,
  ended: () => void,
): Follower {
  /** When each came that waits. */
  const waiting = new Map<string, Milliseconds>()
  const kept = createKept()
  let reading: AbortController | undefined
  /**
   * Everything from this time on has been read, or will be, and what came before its round was
   * waited for is kept.
   */
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
          'the verdicts of a guard cannot be read; rounds that wait for it are decided at their deadline',
        )
      }
      await new Promise<void>((resolve) => clock.after(limits.guardFollowRetryMs, resolve))
    }
  }

  /** The answer in the record, if a round waits for it. */
  function awaited(record: StoredRecord): GuardVerdict | undefined {
    const verdict = verdictOf(record, guard, log)
    if (verdict === undefined) return undefined
    const place = placeOf(verdict)
    if (waiting.delete(place)) return verdict
    kept.keep(place, verdict, record)
    return undefined
  }
}

/** Undefined, and a line in the log: it is no answer of this guard that the executor could take. */
function verdictOf(
  { key, value, partition, offset }: StoredRecord,
  guard: string,
  log: Logger,
): GuardVerdict | undefined {
  const refuse = (why: string): undefined =>
    void log.warn({ guard, partition, offset }, `a record of a guard is left out: ${why}`)
  const bytes = value?.length ?? 0
  if (value === null || bytes > limits.guardVerdictBytesMax)
    return refuse(`it has ${bytes} bytes, and 1 to ${limits.guardVerdictBytesMax} are taken`)
  try {
    const message = decode(value)
    if (message.type !== 'guard-verdict')
      return refuse(`it is a ${message.type}, and must be a guard-verdict`)
    if (message.conversation !== key) return refuse('its key is not its conversation')
    return { ...message, guard } // keeps VERDICT-RELAY-1
  } catch (error) {
    return refuse(error instanceof Error ? error.message : String(error))
  }
}

function placeOf({
  conversation,
  turn,
  round,
}: Pick<GuardVerdict, 'conversation' | 'turn' | 'round'>): string {
  return JSON.stringify([conversation, turn, round])
}

/** The newest answers that nobody waited for when they came; of several to one round the first. */
function createKept() {
  const all = new Map<string, { verdict: GuardVerdict; bytes: number; time: Milliseconds }>()
  let bytesKept = 0
  let lost = Number.NEGATIVE_INFINITY

  return {
    take(place: string): GuardVerdict | undefined {
      const found = all.get(place)
      if (found === undefined) return undefined
      all.delete(place)
      bytesKept -= found.bytes
      return found.verdict
    },
    keep(place: string, verdict: GuardVerdict, { value, time }: StoredRecord): void {
      if (all.has(place)) return
      const bytes = value?.length ?? 0
      all.set(place, { verdict, bytes, time })
      bytesKept += bytes
      for (const [oldest, { bytes, time }] of all) {
        if (all.size <= limits.guardAnswersKeptMax && bytesKept <= limits.guardAnswersKeptBytesMax)
          return
        all.delete(oldest)
        bytesKept -= bytes
        lost = time
      }
    },
    /** The time of the newest that fell out. */
    lostUntil: () => lost,
    clear(): void {
      all.clear()
      bytesKept = 0
      lost = Number.NEGATIVE_INFINITY
    },
  }
}
