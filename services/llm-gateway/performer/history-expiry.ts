// History expiry: removes idle conversations from the table `history`, on one assigned partition.
// Owns: which conversation is old, and the time of the next step.
// Does not own: the contents of an entry (conversation), the time at which the bus frees removed
// entries.
//
// A conversation is removed as a whole, once its newest entry is older than
// `idleMs`. All entries are checked again before that, and one young entry keeps them all.
// No open turn loses its history: `idleMs` is longer than the longest turn
// (shared/contract/retention.ts). The origins of a fork stay as long as the fork.
// A step checks a bounded number of keys. Only the first removal of a pass reads on:
// the records of forks. The first pass begins at a random place, so short processes do their share.
// Age is measured in the log's time (R2): a machine clock a week ahead would
// remove everything. Without a record since the assignment nothing is old.
// Two owners may sweep the same partition: a tombstone over a tombstone changes
// nothing.

import { originsIn } from '../../../shared/contract/history/fork.ts'
import {
  historyConversation,
  historyPrefix,
} from '../../../shared/contract/history/history-keys.ts'
import type { ConversationId } from '../../../shared/contract/ids.ts'
import type { Message } from '../../../shared/contract/messages.ts'
import type { PerformerContext } from '../../../shared/contract/performer.ts'
import { originKey } from '../../../shared/contract/topology.ts'
import type { Milliseconds } from '../../../shared/lib/clock.ts'
import { WeirError } from '../../../shared/lib/errors.ts'

/**
 * Keys of the history that one step of its expiry checks, the time between two steps, and the
 * time between two passes over all keys.
 */
export const historySweepKeysMax = 256
export const historySweepStepMs = 1_000
export const historySweepEveryMs = 60 * 60_000
/**
 * Entries of one conversation that one write removes from the history. The next pass removes the
 * rest.
 */
const historyForgottenMax = 8_192

/** The conversation of the current keys. Its keys are adjacent. */
type Passing = { conversation: ConversationId; newest: Milliseconds }

/** Conversations with forks that a pass can keep apart. With more of them a pass removes nothing. */
const originsMax = 100_000
/** The record is in the table already. */
const originWaitMs = 1_000

/**
 * Starts the slow sweep. `stop` resolves once it no longer writes, and does not wait for a read
 * from an unreachable broker.
 */
export function startHistoryExpiry(
  context: PerformerContext,
  idleMs: Milliseconds,
): { stop(): Promise<void> } {
  const { clock, log, historyTable } = context
  let after: string | undefined = historyPrefix(context.owner)
  let isFirstPass = true
  let passing: Passing | undefined
  /** The origins of the forks. Undefined: this pass has removed nothing yet. */
  let origins: ReadonlySet<ConversationId> | undefined
  let isStopped = false
  let writing: Promise<void> = Promise.resolve()
  let cancelNext = clock.after(historySweepStepMs, sweep)

  function sweep(): void {
    step().then(
      (isPassOver) => plan(isPassOver ? historySweepEveryMs : historySweepStepMs),
      (error: unknown) => {
        if (!isStopped) log.warn({ err: error }, 'history expiry failed; it runs again in an hour')
        passing = undefined
        origins = undefined
        plan(historySweepEveryMs)
      },
    )
  }

  function plan(afterMs: Milliseconds): void {
    if (!isStopped) cancelNext = clock.after(afterMs, sweep)
  }

  /**
   * Reads one page of keys. Returns true after a whole pass. The first pass begins in the middle
   * and does not count.
   */
  async function step(): Promise<boolean> {
    const keys = await historyTable.keys(after, historySweepKeysMax)
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
    const isEnd = keys.length < historySweepKeysMax
    if (isEnd && passing !== undefined) over.push(passing)
    if (isEnd) passing = undefined
    after = isEnd ? undefined : keys.at(-1)?.key
    for (const { conversation, newest } of over)
      if (isOld(newest)) {
        origins ??= await originsOfForks()
        if (!origins.has(conversation)) await removeConversation(conversation)
      }
    const isPassOver = isEnd && !isFirstPass
    if (isEnd) {
      isFirstPass = false
      origins = undefined
    }
    return isPassOver
  }

  /** Undefined also for a record that nobody can read, such as one whose tenant's key was deleted. */
  async function readable(key: string): Promise<Message | undefined> {
    try {
      return await context.kept(key, originWaitMs)
    } catch (error) {
      if (error instanceof WeirError && error.code.startsWith('codec.')) return undefined
      throw error
    }
  }

  /** A fork that is made later in the same pass may lose its origin. */
  async function originsOfForks(): Promise<ReadonlySet<ConversationId>> {
    const kept = new Set<ConversationId>()
    for (let from: string | undefined; !isStopped; ) {
      const page = await historyTable.keys(from, historySweepKeysMax)
      for (const { key } of page) {
        const fork = historyConversation(key)
        if (fork === undefined || key !== originKey(fork)) continue
        for (const { conversation } of originsIn(await readable(key))) kept.add(conversation)
        if (kept.size > originsMax)
          throw new Error(`the history has forks of more than ${originsMax} conversations`)
      }
      from = page.at(-1)?.key
      if (page.length < historySweepKeysMax) break
    }
    return kept
  }

  /**
   * Checks all keys of the conversation again and removes as many as fit into
   * one write.
   */
  async function removeConversation(conversation: ConversationId): Promise<void> {
    const prefix = historyPrefix(conversation)
    const old: string[] = []
    for (let from = prefix; ; ) {
      const page = await historyTable.keys(from, historySweepKeysMax)
      const own = page.filter(({ key }) => key.startsWith(prefix))
      if (isStopped || own.some(({ time }) => !isOld(time))) return
      old.push(...own.map(({ key }) => key))
      const last = own.at(-1)
      if (last === undefined || own.length < page.length || page.length < historySweepKeysMax) break
      if (old.length >= historyForgottenMax) break
      from = last.key
    }
    writing = historyTable.forget(old)
    await writing
    log.info({ conversation, entries: old.length }, 'removed the history of an idle conversation')
  }

  function isOld(time: Milliseconds): boolean {
    const now = historyTable.logTime()
    return now !== undefined && time < now - idleMs
  }

  return {
    async stop() {
      isStopped = true
      cancelNext()
      await writing.catch(() => {}) // the step logs the error
    },
  }
}
