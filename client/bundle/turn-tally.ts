// The facts about each turn that a bundle lists, collected from the copied records.

import type { BundleTurn } from '../../shared/bus/bundle/format.ts'
import type { StoredRecord } from '../../shared/contract/bus.ts'
import type { ConversationId } from '../../shared/contract/ids.ts'
import type { Message } from '../../shared/contract/messages.ts'
import { partitionOf } from '../../shared/contract/partition.ts'
import { type GuardTopicName, inboxOf, type TopicName } from '../../shared/contract/topology.ts'
import { type ConversationView, reduce } from '../../shared/view/conversation-view.ts'
import type { TurnView } from '../../shared/view/turn-view.ts'

export type TurnTally = {
  add(topic: TopicName | GuardTopicName, record: StoredRecord, message: Message): void
  /** Ordered by conversation and turn. */
  turns(): BundleTurn[]
}

export function createTurnTally(partitions: number): TurnTally {
  const views = new Map<ConversationId, ConversationView>()
  /**
   * The first record of each conversation in its own partition. The beginning of an older turn is
   * missing.
   */
  const inboxBegins = new Map<string, number>()

  return {
    add(topic, { key, partition, offset, time }, message) {
      // A stranger may have written this key into another partition.
      if (
        topic === inboxOf(key) &&
        !inboxBegins.has(key) &&
        partition === partitionOf(key, partitions)
      )
        inboxBegins.set(key, offset)
      // A record under another key, as of the history, may be of a turn that is not copied.
      if ('turn' in message && message.conversation === key)
        views.set(key, reduce(views.get(key), { topic, offset, time, message }, 'turn'))
    },

    turns: () =>
      [...views].flatMap(([conversation, { turns }]) => {
        const partition = partitionOf(conversation, partitions)
        const begin = inboxBegins.get(conversation) ?? Number.POSITIVE_INFINITY
        return [...turns.values()].flatMap((view) => {
          const whole = view.turn >= begin
          return hasBegun(view) ? [{ conversation, partition, whole, ...bundleTurn(view) }] : []
        })
      }),
  }
}

/** A message that opened no turn has a number too. */
function hasBegun({ startedAt, round, end }: TurnView): boolean {
  return startedAt !== undefined || round > 0 || (end?.totals.rounds ?? 0) > 0
}

type Shown = Omit<BundleTurn, 'conversation' | 'partition' | 'whole'>

function bundleTurn({ end, ...view }: TurnView): Shown {
  return {
    turn: view.turn,
    agent: view.agent ?? null,
    messageId: view.messageId ?? null,
    beganAt: view.startedAt ?? null,
    endedAt: end?.at ?? null,
    outcome: end?.outcome ?? 'open',
    failureClass: end?.class ?? null,
    cap: end?.cap ?? null,
    reason: end?.reason ?? null,
    rounds: end?.totals.rounds ?? view.round,
    calls: end?.totals.calls ?? 0,
    inputTokens: end?.totals.inputTokens ?? 0,
    outputTokens: end?.totals.outputTokens ?? 0,
  }
}
