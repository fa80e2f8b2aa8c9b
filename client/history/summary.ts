// Summarizes one conversation for the list. The history has its turns, tokens and question. The newest
// activity has the end of its last turn, and the facts about each turn. The record that opened the
// last turn has its agent; the offset of that record is the turn's id. The id of a guest's conversation
// has its agent.

import { messageOf } from '../../shared/codec/message-of.ts'
import type { StoredRecord } from '../../shared/contract/bus.ts'
import type { ConversationId } from '../../shared/contract/ids.ts'
import { partitionOf } from '../../shared/contract/partition.ts'
import { guestOf } from '../../shared/contract/topology.ts'
import type { Milliseconds } from '../../shared/lib/clock.ts'
import { type ConversationView, reduce, viewOf } from '../../shared/view/conversation-view.ts'
import { inputTokensOf } from '../../shared/view/totals.ts'
import { type FactFold, factsOf, sumOfFacts, type TurnFacts } from '../../shared/view/turn-facts.ts'
import { type Ending, endingOf, type TurnView } from '../../shared/view/turn-view.ts'
import { openingOf } from '../turn/opening.ts'
import type { History, RoundUsage } from './histories.ts'
import type { ReadableLog } from './readable-log.ts'

/**
 * `weir conversations --json` prints one of these on each line, with its money. Times are append times, in
 * milliseconds since 1970-01-01 UTC.
 */
export type ConversationSummary = {
  conversation: ConversationId
  /** The agent of the last turn. Null: it is no longer in the log. */
  agent: string | null
  /** The first words of its first message. Null: its text is no longer in the log. */
  question: string | null
  /**
   * Its title for lists, or otherwise `question`. Where rules of its agent hide values, it is
   * `question`, which these rules have passed.
   */
  title: string | null
  turns: number
  /** The total of all finished rounds. The input includes cached tokens. */
  inputTokens: number
  outputTokens: number
  /** Of all turns together; `isWhole` false: older turns were not looked through. */
  facts: TurnFacts & { isWhole: boolean }
  /**
   * The end of the last turn. open: it still runs. ended: Weir has ended it, and a guest may go on.
   * unknown: its end is no longer in the log. For a conversation without a turn: the end of its last
   * message. Without a message: unjudged, if it only counts requests that passed unjudged, or forked.
   */
  last: Omit<Ending, 'outcome'> & { outcome: Ending['outcome'] | OutcomeWithoutEnd }
}

type OutcomeWithoutEnd = 'open' | 'unknown' | 'unjudged' | 'forked'

/** A conversation that the walk has found, as far as it is known. */
export type Unfinished = Omit<ConversationSummary, 'last' | 'facts' | 'title'> & {
  title: string | undefined
  /** Undefined: the walk has not reached its last end yet. */
  last: ConversationSummary['last'] | undefined
  /** The ids of its first and last turn. Undefined: no turn ever began. */
  firstTurn: number | undefined
  lastTurn: number | undefined
  /** As far as the walk has come. */
  view: ConversationView
  /** The walk has passed the beginning of its first turn. */
  isWhole: boolean
  /** The time of its last activity. */
  at: Milliseconds
}

/** `newest`: the newest activity record. */
export async function begin(
  log: ReadableLog,
  newest: StoredRecord,
  { rounds, title }: History,
): Promise<Unfinished> {
  const { key: conversation, value, time: at } = newest
  const found = withRounds(conversation, at, rounds)
  found.title = title
  const isCount = value !== null && messageOf(value)?.type === 'requests-unjudged'
  found.isWhole = found.firstTurn === undefined && !isCount
  if (found.lastTurn !== undefined)
    found.agent = guestOf(conversation) ?? (await agentOf(log, conversation, found.lastTurn))
  return found
}

function withRounds(
  conversation: ConversationId,
  at: Milliseconds,
  rounds: Iterable<RoundUsage>,
): Unfinished {
  const found: Unfinished = {
    conversation,
    agent: null,
    question: null,
    title: undefined,
    turns: 0,
    inputTokens: 0,
    outputTokens: 0,
    last: undefined,
    firstTurn: undefined,
    lastTurn: undefined,
    at,
    view: viewOf([]),
    isWhole: false,
  }
  for (const round of rounds) add(found, round)
  return found
}

/** `facts`: those of no turn. `at`: of its newest activity. */
export type FoldedConversation = {
  conversation: ConversationId
  at: Milliseconds
  title: string | undefined
  rounds: readonly RoundUsage[]
  turns: ReadonlyMap<number, TurnView>
  facts: FactFold | undefined
  isFork: boolean
}

/** The summary of a conversation whose turns are folded already. */
export function summaryOfViews({
  conversation,
  at,
  title,
  rounds,
  turns,
  facts,
  isFork,
}: FoldedConversation): ConversationSummary {
  const found = withRounds(conversation, at, rounds)
  found.title = title
  const { firstTurn, lastTurn } = found
  const last = lastTurn === undefined ? undefined : turns.get(lastTurn)
  if (lastTurn !== undefined) found.agent = guestOf(conversation) ?? last?.agent ?? null
  const view = { ...viewOf([]), ...(facts && { facts }) }
  // Older turns say nothing about the last one.
  const ending =
    lastTurn === undefined ? new Map(turns) : new Map(last === undefined ? [] : [[lastTurn, last]])
  found.last =
    isFork && turns.size === 0 && facts === undefined
      ? withoutEnd('forked', at)
      : lastOf({ ...found, view: { ...view, turns: ending } })
  found.view = { ...view, turns: new Map(turns) }
  found.isWhole =
    firstTurn === undefined ? facts === undefined : turns.get(firstTurn)?.startedAt !== undefined
  return summaryOf(found)
}

async function agentOf(
  { bus, topicPrefix, partitions }: ReadableLog,
  conversation: ConversationId,
  turn: number,
): Promise<string | null> {
  const partition = partitionOf(conversation, partitions)
  return (await openingOf({ bus, topicPrefix, partition }, turn))?.agent ?? null
}

function add(found: Unfinished, { turn, round, usage, question }: RoundUsage): void {
  if (round === 0) found.turns += 1
  found.lastTurn = Math.max(found.lastTurn ?? 0, turn)
  if (found.firstTurn === undefined || turn < found.firstTurn) {
    found.firstTurn = turn
    found.question = null
  }
  if (turn === found.firstTurn && question !== undefined) found.question = question
  if (usage === undefined) return
  found.inputTokens += inputTokensOf(usage)
  found.outputTokens += usage.outputTokens
}

/** Adds an activity record. The walk goes from newer to older records. */
export function addActivity(found: Unfinished, { value, time, offset }: StoredRecord): void {
  const message = messageOf(value)
  if (message === undefined) return
  reduce(found.view, { topic: 'activity', offset, time, message }, 'turn')
  found.last ??= lastOf(found)
  if (message.type === 'turn-started' && message.turn === found.firstTurn) found.isWhole = true
}

/** The end of the last turn, if the newest records show it. Undefined: they do not. */
function lastOf({ view, lastTurn, at }: Unfinished): ConversationSummary['last'] | undefined {
  const turns = [...view.turns.values()]
  const last =
    lastTurn === undefined ? turns.find(({ end }) => end !== undefined) : view.turns.get(lastTurn)
  const ending = last === undefined ? undefined : endingOf(last)
  if (ending !== undefined) return ending
  if (lastTurn === undefined && view.facts !== undefined) return withoutEnd('unjudged', at)
  // An older end, although the walk comes from newer records: the last turn began after the walk
  // did. A newer number belongs to a message that opened no turn.
  const isOpen = turns.some(
    ({ turn, startedAt, roundAt, end }) =>
      startedAt !== undefined || roundAt > 0 || (end !== undefined && turn < (lastTurn ?? 0)),
  )
  return isOpen ? withoutEnd('open', at) : undefined
}

/** `unknown`: the end is no longer in the log. */
function withoutEnd(outcome: OutcomeWithoutEnd, at: Milliseconds): ConversationSummary['last'] {
  return { outcome, class: null, cap: null, reason: null, at }
}

export function summaryOf(found: Unfinished): ConversationSummary {
  const { conversation, agent, question, title, turns, inputTokens, outputTokens, at, view } = found
  const facts = [view, ...view.turns.values()].flatMap((one) => one.facts ?? [])
  return {
    conversation,
    agent,
    question,
    title: title || question,
    turns,
    inputTokens,
    outputTokens,
    facts: { ...sumOfFacts(facts.map(factsOf)), isWhole: found.isWhole },
    last: found.last ?? withoutEnd('unknown', at),
  }
}
