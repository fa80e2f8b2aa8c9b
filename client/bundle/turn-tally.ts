// The facts about each turn that a bundle lists, collected from the copied records.

import type { BundleTurn } from '../../shared/bus/bundle/format.ts'
import type { StoredRecord } from '../../shared/contract/bus.ts'
import type { ConversationId, TurnId } from '../../shared/contract/ids.ts'
import type { Message } from '../../shared/contract/messages.ts'
import { partitionOf } from '../../shared/contract/partition.ts'
import { type GuardTopicName, inboxOf, type TopicName } from '../../shared/contract/topology.ts'

export type TurnTally = {
  add(topic: TopicName | GuardTopicName, record: StoredRecord, message: Message): void
  /** Ordered by conversation and turn. */
  turns(): BundleTurn[]
}

export function createTurnTally(partitions: number): TurnTally {
  const conversations = new Map<string, Map<number, BundleTurn>>()
  /**
   * The first record of each conversation in its own partition. The beginning of an older turn is
   * missing.
   */
  const inboxBegins = new Map<string, number>()

  function turnOf(conversation: ConversationId, turn: number): BundleTurn {
    const turns = conversations.get(conversation) ?? new Map<number, BundleTurn>()
    conversations.set(conversation, turns)
    const known =
      turns.get(turn) ?? empty({ conversation, turn }, partitionOf(conversation, partitions))
    turns.set(turn, known)
    return known
  }

  return {
    add(topic, { key, partition, offset, time }, message) {
      // A stranger may have written this key into another partition.
      if (
        topic === inboxOf(key) &&
        !inboxBegins.has(key) &&
        partition === partitionOf(key, partitions)
      )
        inboxBegins.set(key, offset)
      switch (message.type) {
        case 'turn-started': {
          const { messageId, agent } = message
          Object.assign(turnOf(key, message.turn), { messageId, agent, beganAt: time })
          return
        }
        case 'turn-finished': {
          const { totals, outcome, class: failureClass, cap, reason, messageId } = message
          const { rounds, calls, inputTokens, outputTokens } = totals
          if (rounds === 0) return // the message opened no turn
          const ending = { messageId, endedAt: time, outcome, failureClass, cap, reason }
          Object.assign(turnOf(key, message.turn), {
            ...ending,
            rounds,
            calls,
            inputTokens,
            outputTokens,
          })
          return
        }
        case 'round-started': {
          const turn = turnOf(key, message.turn)
          turn.rounds = Math.max(turn.rounds, message.round)
          return
        }
        case 'round-outcome':
          turnOf(key, message.turn)
          return
      }
    },

    turns: () =>
      [...conversations].flatMap(([conversation, turns]) =>
        [...turns.values()].map((turn) => ({
          ...turn,
          whole: turn.turn >= (inboxBegins.get(conversation) ?? Number.POSITIVE_INFINITY),
        })),
      ),
  }
}

function empty({ conversation, turn }: TurnId, partition: number): BundleTurn {
  return {
    conversation,
    turn,
    partition,
    agent: null,
    messageId: null,
    beganAt: null,
    endedAt: null,
    outcome: 'open',
    failureClass: null,
    cap: null,
    reason: null,
    rounds: 0,
    calls: 0,
    inputTokens: 0,
    outputTokens: 0,
    whole: false,
  }
}
