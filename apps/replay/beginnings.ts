// Finds the units whose beginnings are in the range. Only these can be judged.
// A turn is judged if the range has the record that opened it. Its number is that
// record's offset.
// A conversation's memory stands in a `carried` (R1). It is judged after the first
// `carried` for which the range has all records, and before it if nothing older is remembered.

import { typeIn } from '../../shared/codec/codec.ts'
import { messageOf } from '../../shared/codec/message-of.ts'
import type { Offset, StoredRecord } from '../../shared/contract/bus.ts'
import type { TurnId } from '../../shared/contract/ids.ts'
import { limits } from '../../shared/contract/limits.ts'
import type { Carried, Message } from '../../shared/contract/messages.ts'
import type { StageName } from '../../shared/contract/topology.ts'
import { jsonIn } from '../../shared/lib/json/json-object.ts'

/** `unknown`: a later record decides. */
export type Begun = 'yes' | 'no' | 'unknown'

export type Beginnings = {
  /** Call it with the records of conversation-events, in order, before each one is folded. */
  read(record: StoredRecord): void
  /**
   * Whether a unit began in the range. Its record is at this offset of the stage's inbox, and has
   * this content or an output with this content.
   */
  begun(stage: StageName, content: Uint8Array | null, inputOffset: Offset): Begun
}

export const wholeLog: Beginnings = { read() {}, begun: () => 'yes' }

/** The state of a conversation before its first `carried` that counts. */
type Unknown = { opensWith: Message['type'] | undefined; newest: Offset; messageIds: Set<string> }

/**
 * `hasTurn`: whether the range has the record that opened the turn. `eventsFrom`: the first offset
 * that is read of conversation-events. `anewAt`: from this offset on, nothing older is remembered.
 * 0: everything is.
 */
export function beginningsIn({
  hasTurn,
  eventsFrom,
  anewAt = 0,
}: {
  hasTurn(turn: TurnId): boolean
  eventsFrom: Offset
  anewAt?: Offset | undefined
}): Beginnings {
  const unknown = new Map<string, Unknown>()
  const knownFrom = new Map<string, Offset>()

  return {
    read(record) {
      const { key, offset, value } = record
      if (knownFrom.has(key)) return
      const type = value === null ? undefined : typeIn(value)
      const known = unknown.get(key) ?? { opensWith: type, newest: -1, messageIds: new Set() }
      const message = type === 'carried' || type === 'user-message' ? messageOf(value) : undefined
      if (
        message?.type === 'carried' &&
        message.from >= eventsFrom &&
        message.from === known.newest
      ) {
        unknown.delete(key)
        knownFrom.set(key, beganWithNothing(known, message) ? 0 : offset)
        return
      }
      if (message?.type === 'user-message') known.messageIds.add(message.messageId)
      known.newest = offset
      unknown.set(key, known)
    },

    /**
     * A record and its outputs name the conversation and the turn. A record that cannot be read now
     * could not be read then either.
     */
    begun(stage, content, inputOffset) {
      const found = messageOf(content)
      const message = found?.type === 'dead-letter' ? messageOf(found.value) : found
      if (message === undefined || !('conversation' in message)) return 'yes'
      if (stage !== 'conversation') {
        const { conversation } = message
        return hasTurn({ conversation, turn: turnOf(message) ?? -1 }) ? 'yes' : 'no'
      }
      if (anewAt > 0 && inputOffset >= anewAt) return 'yes'
      const from = knownFrom.get(message.conversation)
      if (from === undefined) return 'unknown'
      return inputOffset >= from ? 'yes' : 'no'
    },
  }
}

function beganWithNothing({ opensWith, messageIds }: Unknown, { state }: Carried): boolean {
  if (messageIds.size >= limits.recentMessageIdsMax) return false // older ids would be forgotten
  return (
    opensWith === 'user-message' &&
    state !== null &&
    state.recentMessageIds.every((id) => messageIds.has(id))
  )
}

function turnOf(message: Message): number | undefined {
  if (message.type === 'tick') return turnInUnit(message.unit)
  return 'turn' in message && typeof message.turn === 'number' ? message.turn : undefined
}

/**
 * The unit of a tick is [conversation, turn] or [conversation, turn, round], except the
 * conversation's.
 */
function turnInUnit(unit: string): number | undefined {
  const parts = jsonIn(unit)
  return Array.isArray(parts) && typeof parts[1] === 'number' ? parts[1] : undefined
}
