// Whose beginning is in the range: only that can be judged (R2 of log-range.ts).
// B1. A turn is judged where the record that opened it is in the range: its number is that record's offset.
// B2. What a conversation remembers from turn to turn stands in a `carried` (R1): it is judged behind the first one that counts for whoever began to read
//     in the middle, which is one from whose `from` on the range has all of its records.

import type { Offset, StoredRecord } from '../../../shared/bus/port.ts'
import { decode, typeIn } from '../../../shared/codec.ts'
import type { Message } from '../../../shared/messages.ts'
import type { StageName } from '../../../shared/topology.ts'

export type Beginnings = {
  /** Takes a record of conversation-events, in order, before it is folded. */
  read(record: StoredRecord): void
  /** Whether what this record of the stage's inbox led to can be judged. */
  isThere(stage: StageName, input: StoredRecord): boolean
  /** The same of a record that a stage wrote, where what led to it is not at hand. */
  hasBegun(stage: StageName, given: { written: StoredRecord; inputOffset: Offset }): boolean
}

/** `turnsFrom`: undefined where the log is whole. `eventsFrom`: where conversation-events are read from. */
export function beginningsIn({ turnsFrom, eventsFrom }: { turnsFrom: Offset | undefined; eventsFrom: Offset }): Beginnings {
  if (turnsFrom === undefined) return { read() {}, isThere: () => true, hasBegun: () => true }
  const newest = new Map<string, Offset>()
  const carriedAt = new Map<string, Offset>()

  return {
    read(record) {
      const { key, offset, value } = record
      if (carriedAt.has(key)) return
      const message = value !== null && typeIn(value) === 'carried' ? messageIn(value) : undefined
      if (message?.type === 'carried' && message.from >= eventsFrom && message.from === newest.get(key)) {
        carriedAt.set(key, offset)
        newest.delete(key)
      } else newest.set(key, offset)
    },

    isThere: (stage, input) => isIn(stage, { message: messageIn(input.value), inputOffset: input.offset }),

    hasBegun(stage, { written, inputOffset }) {
      const message = messageIn(written.value)
      return isIn(stage, { message: message?.type === 'dead-letter' ? messageIn(message.value) : message, inputOffset })
    },
  }

  /** Both a record and what it led to name the conversation and the turn. What nobody could read was so then as now. */
  function isIn(stage: StageName, { message, inputOffset }: { message: Message | undefined; inputOffset: Offset }): boolean {
    if (message === undefined || !('conversation' in message)) return true
    if (stage === 'conversation') return inputOffset >= (carriedAt.get(message.conversation) ?? Number.POSITIVE_INFINITY)
    const turn = turnOf(message)
    return turn !== undefined && turn >= (turnsFrom as Offset)
  }
}

function messageIn(value: Uint8Array | null): Message | undefined {
  try {
    return value === null ? undefined : decode(value)
  } catch {
    return undefined
  }
}

function turnOf(message: Message): number | undefined {
  if (message.type === 'tick') return turnInUnit(message.unit)
  return 'turn' in message && typeof message.turn === 'number' ? message.turn : undefined
}

/** The unit of a tick is [conversation, turn] or [conversation, turn, round], but for the conversation's own. */
function turnInUnit(unit: string): number | undefined {
  try {
    const parts: unknown = JSON.parse(unit)
    return Array.isArray(parts) && typeof parts[1] === 'number' ? parts[1] : undefined
  } catch {
    return undefined
  }
}
