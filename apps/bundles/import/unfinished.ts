// Finds the messages of a bundle or a backup that had no end, by folding its records. Its tables do not
// count: anybody can write them.

import { endsOf } from '../../../client/history/readable-log.ts'
import { scan } from '../../../client/history/scan.ts'
import {
  type Conversation,
  conversation as conversationStage,
} from '../../../services/conversation/reducer.ts'
import { outstandingOf } from '../../../services/conversation/turn.ts'
import type { Outstanding } from '../../../services/turn/unit.ts'
import { messageOf } from '../../../shared/codec/message-of.ts'
import type { Offset } from '../../../shared/contract/bus.ts'
import type { Message } from '../../../shared/contract/messages.ts'
import type { Output } from '../../../shared/contract/stage.ts'
import { stages } from '../../../shared/contract/topology.ts'
import { foldOfLog } from '../../../shared/runtime/log/log-fold.ts'
import type { OpenLog } from '../../history/open-log.ts'

/** Of one partition. `turns`: the open ones, by their number. */
export type Unfinished = {
  messages: ReadonlySet<Offset>
  turns: ReadonlySet<Offset>
  conversations: readonly OpenConversation[]
}

/** `round`: the one whose outcome the conversation waits for. `queued`: the ids of waiting messages. */
export type OpenConversation = {
  conversation: string
  round: Outstanding | undefined
  messageId: string | undefined
  queued: string[]
}

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
  const conversations: OpenConversation[] = []
  for (const { conversation, state } of fold.units.values()) {
    const open = openIn(conversation, state)
    const { messageId, queued, round } = open
    if (round !== undefined || queued.length > 0) conversations.push(open)
    for (const id of messageId === undefined ? queued : [messageId, ...queued])
      for (const offset of sent.get(keyOf(conversation, id)) ?? []) messages.add(offset)
    if (state.phase === 'open') turns.add(state.turn.turn)
  }
  return { messages, turns, conversations }
}

function endedIn(outputs: readonly Output[]): string[] {
  return outputs.flatMap(({ message }: { message: Message }) =>
    message.type === 'turn-finished' ? [keyOf(message.conversation, message.messageId)] : [],
  )
}

/** The work that Weir would still do. A turn that was ended early may have a round that still runs. */
function openIn(conversation: string, state: Conversation): OpenConversation {
  const queued = state.queue.map(({ messageId }) => messageId)
  switch (state.phase) {
    case 'open': {
      const { messageId } = state.turn.message
      return { conversation, round: outstandingOf(state.turn), messageId, queued }
    }
    case 'waiting':
      return { conversation, round: state.outstanding, messageId: undefined, queued }
    default:
      return { conversation, round: undefined, messageId: undefined, queued }
  }
}

function keyOf(conversation: string, messageId: string): string {
  return JSON.stringify([conversation, messageId])
}
