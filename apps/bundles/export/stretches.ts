// The stretches of a conversation's inbox that can be folded by themselves. Found by folding: the
// conversation's own reducer says when it is at rest.
// STRETCHES-1. A stretch begins where a conversation that was at rest (unknown, or idle) takes a
//     message, and ends where it is at rest again. So a turn is in one stretch only, with the turns
//     whose messages waited in its queue.
// STRETCHES-2. `from` is where folding begins: the `carried` that the conversation was idle since,
//     or the stretch's first record. Nothing before it is needed (R1).
// STRETCHES-3. Memory: a few numbers for each stretch, and what the reducer holds for conversations
//     that are open or idle.

import {
  type Conversation,
  conversation as conversationStage,
} from '../../../services/conversation/reducer.ts'
import type { StoredRecord } from '../../../shared/contract/bus.ts'
import type { Milliseconds } from '../../../shared/lib/clock.ts'
import { foldOfLog } from '../../../shared/runtime/log-fold.ts'
import type { OpenLog } from '../../history/open-log.ts'
import { scan } from '../../history/scan.ts'

/**
 * Offsets in the inbox `conversation-events`, all inclusive. Turns in it have the numbers from
 * `first` to `last`.
 */
export type Stretch = {
  conversation: string
  from: number
  first: number
  /** Infinity: it was open at the end of the log. */
  last: number
  beganAt: Milliseconds
  /** Of its last record so far. */
  lastAt: Milliseconds
}

const inbox = 'conversation-events'

/**
 * Those of a partition, from records not older than `since`, in the order in which they ended; the
 * open ones last.
 */
export async function* stretchesOf(
  log: OpenLog,
  partition: number,
  since: Milliseconds,
  signal: AbortSignal,
): AsyncGenerator<Stretch> {
  const fold = foldOfLog(log, conversationStage, partition)
  const open = new Map<string, Stretch>()
  for await (const records of scan(log, { topic: inbox, partition, since })) {
    if (signal.aborted) return
    for (const record of records) {
      const wasAtRest = isAtRest(fold.units.get(record.key)?.state)
      const taken = fold.take(record)
      const { unit, outputs } = taken instanceof Promise ? await taken : taken
      if (unit === undefined) continue
      const after = fold.units.get(unit)
      const stretch = open.get(unit) ?? begun(record, after?.first)
      stretch.lastAt = Math.max(stretch.lastAt, record.time)
      if (!isAtRest(after?.state)) {
        open.set(unit, stretch)
      } else if (!wasAtRest || outputs.some(({ message }) => message.type === 'turn-finished')) {
        open.delete(unit) // the latter: a message that was refused is a stretch of its own
        yield { ...stretch, last: record.offset }
      }
    }
  }
  yield* open.values()
}

function isAtRest(state: Conversation | undefined): boolean {
  return state === undefined || state.phase === 'idle'
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
