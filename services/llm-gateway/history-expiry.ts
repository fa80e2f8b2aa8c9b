// History expiry: takes the entries of conversations in which nothing happens any more out of the
// table `history`, on one assigned partition. Owns: which conversation is old, and when to look.
// Does not own: what an entry says (conversation), when the bus lets go of what was taken out.
//
// HISTORY-EXPIRY-1. A conversation goes as a whole, when its newest entry is older than `idleMs`.
//     Every entry is looked at again before it goes, and one young entry keeps them all: the user
//     has come back.
// HISTORY-EXPIRY-2. No open turn loses its history. A turn's first entry is written when it opens,
//     and a turn is over 48 hours later at most (limits.turnWallMsMax and turnExtensionMsMax);
//     `idleMs` is longer than that, or Weir does not start (shared/contract/retention.ts). So an
//     old conversation has no request left to build.
// HISTORY-EXPIRY-3. A step looks at a bounded number of keys and reads no values, so the table may
//     be of any size. What one step did not do, a later one does; nothing is remembered over a
//     restart. The first pass begins at a random place: a process that lives for seconds does its
//     share too.
// HISTORY-EXPIRY-4. Old is what the log's own time says (R2), never this machine's clock: one that
//     is a week ahead would forget every conversation at once. Where no record came since the
//     assignment nothing is old.
// HISTORY-EXPIRY-5. Two owners may sweep the same partition: a tombstone over a tombstone changes
//     nothing.

import type { ConversationId } from '../../shared/contract/ids.ts'
import { limits } from '../../shared/contract/limits.ts'
import type { PerformerContext } from '../../shared/contract/performer.ts'
import { historyConversation, historyPrefix } from '../../shared/contract/topology.ts'
import type { Milliseconds } from '../../shared/lib/clock.ts'

/** The conversation whose keys are being passed; they stand together. */
type Passing = { conversation: ConversationId; newest: Milliseconds }

/**
 * Begins to look, slowly. `stop`: resolves when it no longer writes; a look that waits for a broker
 * that is away holds up nobody's end.
 */
export function startHistoryExpiry(
  context: PerformerContext,
  idleMs: Milliseconds,
): { stop(): Promise<void> } {
  const { clock, log, historyTable } = context
  let after: string | undefined = historyPrefix(context.owner)
  let isFirstPass = true
  let passing: Passing | undefined
  let isStopped = false
  let writing: Promise<void> = Promise.resolve()
  let cancelNext = clock.after(limits.historySweepStepMs, look)

  function look(): void {
    step().then(
      (isPassOver) => plan(isPassOver ? limits.historySweepEveryMs : limits.historySweepStepMs),
      (error: unknown) => {
        if (!isStopped)
          log.warn(
            { err: error },
            'looking for old conversations in the history failed; it is tried again in an hour',
          )
        passing = undefined
        plan(limits.historySweepEveryMs)
      },
    )
  }

  function plan(afterMs: Milliseconds): void {
    if (!isStopped) cancelNext = clock.after(afterMs, look)
  }

  /**
   * One page of keys. True: a whole pass is over; the first one began in the middle, so another
   * follows it.
   */
  async function step(): Promise<boolean> {
    const keys = await historyTable.keys(after, limits.historySweepKeysMax)
    const over: Passing[] = []
    for (const { key, time } of keys) {
      const conversation = historyConversation(key)
      if (passing !== undefined && passing.conversation === conversation)
        passing.newest = Math.max(passing.newest, time)
      else {
        if (passing !== undefined) over.push(passing)
        passing = conversation === undefined ? undefined : { conversation, newest: time }
      }
    }
    const isEnd = keys.length < limits.historySweepKeysMax
    if (isEnd && passing !== undefined) over.push(passing)
    if (isEnd) passing = undefined
    after = isEnd ? undefined : keys.at(-1)?.key
    for (const { conversation, newest } of over) if (isOld(newest)) await forget(conversation)
    const isPassOver = isEnd && !isFirstPass
    if (isEnd) isFirstPass = false
    return isPassOver
  }

  /**
   * Looks at all of its keys anew (HISTORY-EXPIRY-1), and takes them out at once, as far as they
   * fit into one write.
   */
  async function forget(conversation: ConversationId): Promise<void> {
    const prefix = historyPrefix(conversation)
    const old: string[] = []
    for (let from = prefix; ; ) {
      const page = await historyTable.keys(from, limits.historySweepKeysMax)
      const own = page.filter(({ key }) => key.startsWith(prefix))
      if (isStopped || own.some(({ time }) => !isOld(time))) return
      old.push(...own.map(({ key }) => key))
      const last = own.at(-1)
      if (
        last === undefined ||
        own.length < page.length ||
        page.length < limits.historySweepKeysMax
      )
        break
      if (old.length >= limits.historyForgottenMax) break
      from = last.key
    }
    writing = historyTable.forget(old)
    await writing
    log.info(
      { conversation, entries: old.length },
      'the history of a conversation in which nothing happened was taken away',
    )
  }

  function isOld(time: Milliseconds): boolean {
    const now = historyTable.logTime()
    return now !== undefined && time < now - idleMs
  }

  return {
    async stop() {
      isStopped = true
      cancelNext()
      await writing.catch(() => {}) // the step says so
    },
  }
}
