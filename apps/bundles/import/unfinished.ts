// Finds the messages of a bundle that had no end, by folding its records. The bundle's tables do not
// count: anybody can write them.

import { endsOf } from '../../../client/history/readable-log.ts'
import { scan } from '../../../client/history/scan.ts'
import {
  type Conversation,
  conversation as conversationStage,
} from '../../../services/conversation/reducer.ts'
import { messageOf } from '../../../shared/codec/message-of.ts'
import type { Offset } from '../../../shared/contract/bus.ts'
import type { Message } from '../../../shared/contract/messages.ts'
import type { Output } from '../../../shared/contract/stage.ts'
import { stages } from '../../../shared/contract/topology.ts'
import { foldOfLog } from '../../../shared/runtime/log/log-fold.ts'
import type { OpenLog } from '../../history/open-log.ts'

/** Of one partition. `turns`: the open ones, by their number. */
export type Unfinished = { messages: ReadonlySet<Offset>; turns: ReadonlySet<Offset> }

/** By partition, of the inbox of the conversation. Throws the reason of an abort by `signal`. */
export async function unfinishedIn(
  log: OpenLog,
  signal: AbortSignal,
): Promise<Map<number, Unfinished>> {
  const found = new Map<number, Unfinished>()
  for (const { partition, begin, end } of await endsOf(log, stages.conversation.inbox)) {
    if (begin === end) continue
    found.set(partition, await unfinishedOf(log, partition, signal))
  }
  return found
}

async function unfinishedOf(
  log: OpenLog,
  partition: number,
  signal: AbortSignal,
): Promise<Unfinished> {
  const fold = await foldOfLog(log, conversationStage, partition, { encode: undefined })
  /** The records of each message since its last end, by conversation and message id. */
  const sent = new Map<string, Offset[]>()
  for await (const records of scan(log, { topic: stages.conversation.inbox, partition })) {
    signal.throwIfAborted()
    for (const record of records) {
      const message = messageOf(record.value)
      if (message?.type === 'user-message') {
        const key = keyOf(message.conversation, message.messageId)
        sent.set(key, [...(sent.get(key) ?? []), record.offset])
      }
      const { outputs } = await fold.apply(record)
      for (const key of endedIn(outputs)) sent.delete(key)
    }
  }
  const messages = new Set<Offset>()
  const turns = new Set<Offset>()
  for (const { conversation, state } of fold.units.values()) {
    for (const messageId of waitingIn(state))
      for (const offset of sent.get(keyOf(conversation, messageId)) ?? []) messages.add(offset)
    if (state.phase === 'open') turns.add(state.turn.turn)
  }
  return { messages, turns }
}

function endedIn(outputs: readonly Output[]): string[] {
  return outputs.flatMap(({ message }: { message: Message }) =>
    message.type === 'turn-finished' ? [keyOf(message.conversation, message.messageId)] : [],
  )
}

/** The ids of messages that Weir would still answer. */
function waitingIn(state: Conversation): string[] {
  const queued = state.queue.map(({ messageId }) => messageId)
  return state.phase === 'open' ? [state.turn.message.messageId, ...queued] : queued
}

function keyOf(conversation: string, messageId: string): string {
  return JSON.stringify([conversation, messageId])
}
