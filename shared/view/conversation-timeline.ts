// The timeline of a conversation, selected from its view. Pure. Owns: which turn a message opened, and
// the numbers of turns for people. Does not own: the content of a round (round-of.ts).

import type { MessageId } from '../contract/ids.ts'
import type { ConversationView } from './conversation-view.ts'
import { type RoundOptions, roundOf } from './round-of.ts'
import type { LooseMessage, SummaryTimeline, Timeline, TurnEnd, TurnTimeline } from './timeline.ts'
import { factsOf } from './turn-facts.ts'
import type { TurnView } from './turn-view.ts'
import { waitsOf } from './waits.ts'

export type TimelineOptions = RoundOptions & {
  /** Earlier turns of the conversation, of which the view has nothing (contextTurns). */
  context?: readonly number[]
}

export function conversationTimeline(view: ConversationView, options: TimelineOptions): Timeline {
  const opened = [...view.turns.values()]
    .filter(({ isOpened }) => isOpened)
    .sort((a, b) => a.turn - b.turn)
  const numbers = numbersOf([...opened.map(({ turn }) => turn), ...(options.context ?? [])])
  const turns = opened.map((turn) => turnOf(turn, numbers.get(turn.turn) ?? 0, view, options))
  const messages = looseMessages(view, turns)
  const isOpen = turns.some(({ end }) => end === null) || messages.some(({ end }) => end === null)
  return {
    conversation: view.conversation ?? '',
    state: isOpen ? 'open' : 'idle',
    forkedFrom: view.forkedFrom ?? null,
    title: view.title ?? null,
    turns,
    summary: summaryOf(view, numbers),
    messages,
    troubles: view.troubles.toSorted((a, b) => a.at - b.at),
    unreadable: view.unreadable,
  }
}

/**
 * The numbers of turns for people, by id: the oldest turn of which the log has anything is 1.
 * `turns`: in any order, perhaps with repeats.
 */
export function numbersOf(turns: Iterable<number>): Map<number, number> {
  const sorted = [...new Set(turns)].sort((a, b) => a - b)
  return new Map(sorted.map((turn, place) => [turn, place + 1]))
}

function summaryOf(
  { summary }: ConversationView,
  numbers: ReadonlyMap<number, number>,
): SummaryTimeline | null {
  if (summary === undefined) return null
  const { at, turn, round, entries, by, text, note } = summary
  return {
    at,
    turn: numbers.get(turn) ?? 0,
    round,
    entries,
    text,
    by: by === '' ? null : by,
    note: note === '' ? null : note,
  }
}

function turnOf(
  { turn, agent = '', messageId = '', opening, facts, failures, end, ...view }: TurnView,
  number: number,
  { asked, cancelled }: ConversationView,
  options: TimelineOptions,
): TurnTimeline {
  const question = asked.get(messageId)
  const rounds = [...view.rounds.values()].sort((a, b) => a.round - b.round)
  const waits = waitsOf(rounds)
  return {
    turn,
    number,
    agent,
    messageId,
    text: opening?.user ?? question?.text ?? null,
    contents: opening?.contents ?? [],
    messageAt: question?.at ?? null,
    startedAt: view.startedAt ?? view.firstAt,
    durationMs: end?.totals.wallMs ?? null,
    rounds: rounds.map((round) => roundOf(round, waits.get(round.round), options)),
    cancelRequestedAt: cancelled.get(messageId) ?? null,
    facts: factsOf(facts),
    failures,
    end: end === undefined ? null : endOf(end),
  }
}

function endOf({
  at,
  outcome,
  reason,
  class: failure,
  cap,
  reply,
  totals,
}: NonNullable<TurnView['end']>): TurnEnd {
  return { at, outcome, reason, class: failure, cap, reply, totals }
}

/** Messages that were refused, were removed from the queue, or still wait. */
function looseMessages(
  { turns, asked }: ConversationView,
  shown: readonly TurnTimeline[],
): LooseMessage[] {
  const ended = [...turns.values()].flatMap(({ isOpened, messageId = '', end }): LooseMessage[] => {
    if (isOpened || end === undefined) return []
    const { at, outcome, reason, class: failure } = end
    return [{ ...messageOf(messageId, asked), end: { at, outcome, reason, class: failure } }]
  })
  const known = new Set([...shown, ...ended].map(({ messageId }) => messageId))
  const waiting = [...asked.keys()].filter((messageId) => !known.has(messageId))
  return [...ended, ...waiting.map((messageId) => ({ ...messageOf(messageId, asked), end: null }))]
}

function messageOf(
  messageId: MessageId,
  asked: ConversationView['asked'],
): Omit<LooseMessage, 'end'> {
  const { text = null, at = null } = asked.get(messageId) ?? {}
  return { messageId, text, at }
}
