// The stretches of a conversation's inbox that can be folded alone. A fold finds them: it shows
// when the conversation is at rest.
// A stretch begins with a message to a conversation at rest (unknown or idle) and ends
// at its next rest. So a turn is in one stretch, together with queued messages' turns.
// `from` is the offset at which folding begins: the latest `carried`, or the stretch's
// first record. Earlier records are not needed (R1).
// Memory: a few numbers for each stretch, and the reducer's state of conversations
// that are open or idle.

import { conversation as conversationStage } from '../../services/conversation/reducer.ts'
import { type Guest, guest as guestStage } from '../../services/guest/reducer.ts'
import type { StoredRecord } from '../../shared/contract/bus.ts'
import type { ConversationId } from '../../shared/contract/ids.ts'
import type { Message } from '../../shared/contract/messages.ts'
import type { Stage } from '../../shared/contract/stage.ts'
import { stages } from '../../shared/contract/topology.ts'
import type { Milliseconds } from '../../shared/lib/clock.ts'
import { foldOfLog } from '../../shared/runtime/log/log-fold.ts'
import type { ReadableLog } from '../history/readable-log.ts'
import { scan } from '../history/scan.ts'

/**
 * Inclusive offsets in the conversation's inbox. The numbers of its turns are from `first` to
 * `last`.
 */
export type Stretch = {
  conversation: ConversationId
  from: number
  first: number
  /** Infinity: the stretch is open at the end of the log. */
  last: number
  beganAt: Milliseconds
  /** The time of its last record so far. */
  lastAt: Milliseconds
}

/**
 * The stretches of a partition: those of conversations, then those of guests, each in the order of
 * their ends and open ones last. Reads records from `since` on.
 */
export async function* stretchesOf(
  log: ReadableLog,
  partition: number,
  since: Milliseconds,
  signal: AbortSignal,
): AsyncGenerator<Stretch> {
  const of = { log, partition, since, signal }
  yield* stretchesIn(of, conversationStage, ({ phase }) => phase === 'idle')
  yield* stretchesIn(of, guestStage, isGuestAtRest)
}

type Reading = { log: ReadableLog; partition: number; since: Milliseconds; signal: AbortSignal }

async function* stretchesIn<State, In extends Message>(
  { log, partition, since, signal }: Reading,
  stage: Stage<State, In>,
  isIdle: (state: State) => boolean,
): AsyncGenerator<Stretch> {
  const { inbox } = stages[stage.name]
  const fold = await foldOfLog(log, stage, partition)
  const isAtRest = (state: State | undefined) => state === undefined || isIdle(state)
  const open = new Map<string, Stretch>()
  for await (const records of scan(log, { topic: inbox, partition, since })) {
    if (signal.aborted) return
    for (const record of records) {
      const wasAtRest = isAtRest(fold.units.get(record.key)?.state)
      const taken = fold.apply(record)
      const { unit, outputs } = taken instanceof Promise ? await taken : taken
      if (unit === undefined) continue
      const after = fold.units.get(unit)
      const stretch = open.get(unit) ?? begun(record, after?.first)
      stretch.lastAt = Math.max(stretch.lastAt, record.time)
      if (!isAtRest(after?.state)) {
        open.set(unit, stretch)
      } else if (!wasAtRest || outputs.some(({ message }) => message.type === 'turn-finished')) {
        open.delete(unit) // a refused message is a stretch alone
        yield { ...stretch, last: record.offset }
      }
    }
  }
  yield* open.values()
}

function isGuestAtRest({ turn, pending }: Guest): boolean {
  return turn === undefined && pending.length === 0
}

function begun({ key, offset, time }: StoredRecord, from = offset): Stretch {
  return {
    conversation: key,
    from,
    first: offset,
    last: Number.POSITIVE_INFINITY,
    beganAt: time,
    lastAt: time,
  }
}
