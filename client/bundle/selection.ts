// Selects the conversations of an export, each with one stretch: from the first to the last of its
// turns that match. A fold of its inbox cannot skip records. Memory: a few numbers for each
// conversation that was active in the exported time, and for each turn with a condition.

import { messageOf } from '../../shared/codec/message-of.ts'
import type { ConversationId } from '../../shared/contract/ids.ts'
import { limits } from '../../shared/contract/limits.ts'
import { partitionOf } from '../../shared/contract/partition.ts'
import type { Milliseconds } from '../../shared/lib/clock.ts'
import { turnSummary } from '../../shared/view/summary.ts'
import { addToTurn, beginTurn, type TurnView } from '../../shared/view/turn-view.ts'
import type { ReadableLog } from '../history/readable-log.ts'
import { scan } from '../history/scan.ts'
import { matches, valuesOf, type Where, type WhereKey } from '../history/turn-filter.ts'

import { type Stretch, stretchesOf } from './stretches.ts'

/** The turns to export. */
export type ExportFilter = {
  /** Empty: all. */
  conversations: ReadonlySet<string>
  since: Milliseconds
  until: Milliseconds
  where: Where
  /** No time and no condition is given: each conversation is exported as a whole. */
  isWhole: boolean
}

export type Selection = {
  /** Undefined: the conversation is not exported. */
  stretchOf(conversation: ConversationId): Stretch | undefined
  /** The partitions of the selected conversations. */
  partitions: number[]
  /** The times of the first and of the last selected record so far. */
  window: { from: Milliseconds; to: Milliseconds }
  /** A few values of turns that did not match, by key of `where`. */
  others: Others
}

type Others = Map<WhereKey, Set<string>>

/** Of each key. */
const othersMax = 10

/** The longest time from a turn's beginning to its last record, unless it waited in a queue. */
const turnMsMax: Milliseconds = limits.turnWallMsMax + limits.turnExtensionMsMax + 60 * 60 * 1000

/** The result is useless once `signal` aborts. */
export async function selectionIn(
  log: ReadableLog,
  filter: ExportFilter,
  signal: AbortSignal,
): Promise<Selection> {
  const { conversations } = filter
  const all = Array.from({ length: log.partitions }, (_, partition) => partition)
  const partitions =
    conversations.size === 0
      ? all
      : [...new Set([...conversations].map((id) => partitionOf(id, log.partitions)))].sort(
          (a, b) => a - b,
        )
  if (filter.isWhole) {
    const window = { from: 0, to: Number.POSITIVE_INFINITY }
    const stretchOf = (id: string) =>
      conversations.size === 0 || conversations.has(id) ? whole(id) : undefined
    return { stretchOf, partitions, window, others: new Map() }
  }
  const selection = new Map<string, Stretch>()
  const others: Others = new Map([...filter.where.keys()].map((key) => [key, new Set()]))
  for (const partition of partitions)
    for await (const stretch of matchingIn(log, partition, filter, { others, signal }))
      selection.set(stretch.conversation, joined(selection.get(stretch.conversation), stretch))
  const from = [...selection.values()].reduce(
    (least, { beganAt }) => Math.min(least, beganAt),
    Number.POSITIVE_INFINITY,
  )
  const to = [...selection.values()].reduce(
    (most, { last, lastAt }) => Math.max(most, last === Number.POSITIVE_INFINITY ? last : lastAt),
    0,
  )
  return { stretchOf: (id) => selection.get(id), partitions, window: { from, to }, others }
}

function whole(conversation: ConversationId): Stretch {
  const forEver = Number.POSITIVE_INFINITY
  return { conversation, from: 0, first: 0, last: forEver, beganAt: 0, lastAt: forEver }
}

function joined(a: Stretch | undefined, b: Stretch): Stretch {
  if (a === undefined) return b
  return {
    conversation: a.conversation,
    from: Math.min(a.from, b.from),
    first: Math.min(a.first, b.first),
    last: Math.max(a.last, b.last),
    beganAt: Math.min(a.beganAt, b.beganAt),
    lastAt: Math.max(a.lastAt, b.lastAt),
  }
}

type Search = { others: Others; signal: AbortSignal }

async function* matchingIn(
  log: ReadableLog,
  partition: number,
  filter: ExportFilter,
  { others, signal }: Search,
): AsyncGenerator<Stretch> {
  const { conversations, since, until, where } = filter
  const inTime: Stretch[] = []
  for await (const stretch of stretchesOf(log, partition, Math.max(0, since - turnMsMax), signal)) {
    if (conversations.size > 0 && !conversations.has(stretch.conversation)) continue
    const isOpen = stretch.last === Number.POSITIVE_INFINITY
    if ((isOpen || stretch.lastAt >= since) && stretch.beganAt < until) inTime.push(stretch)
  }
  yield* where.size === 0
    ? inTime
    : await matchingTurns(log, partition, filter, { stretches: inTime, others, signal })
}

/** The stretches with a matching turn, by the records of the activity. */
async function matchingTurns(
  log: ReadableLog,
  partition: number,
  { where }: ExportFilter,
  { stretches, others, signal }: Search & { stretches: Stretch[] },
): Promise<Stretch[]> {
  const folds = await turnsIn(log, partition, stretches, signal)
  return stretches.filter((stretch) => {
    const known = [...(folds.get(stretch)?.values() ?? [])]
    // Its message may still wait for its turn.
    const isWaiting = known.length === 0 && stretch.last === Number.POSITIVE_INFINITY
    const turns = (isWaiting ? [beginTurn(0, 0)] : known).map(turnSummary)
    if (turns.some((turn) => matches(where, turn))) return true
    for (const turn of turns)
      for (const [key, known] of others)
        for (const value of valuesOf(key, turn)) if (known.size < othersMax) known.add(value)
    return false
  })
}

/** The turns of each stretch, folded from the activity, by their ids. */
async function turnsIn(
  log: ReadableLog,
  partition: number,
  stretches: Stretch[],
  signal: AbortSignal,
): Promise<Map<Stretch, Map<number, TurnView>>> {
  const folds = new Map<Stretch, Map<number, TurnView>>()
  if (stretches.length === 0) return folds
  const byConversation = Map.groupBy(stretches, ({ conversation }) => conversation)
  const since = stretches.reduce(
    (least, { beganAt }) => Math.min(least, beganAt),
    Number.POSITIVE_INFINITY,
  )
  for await (const records of scan(log, { topic: 'activity', partition, since })) {
    if (signal.aborted) break
    for (const { key, value, time } of records) {
      const ofKey = byConversation.get(key)
      const message = ofKey && messageOf(value)
      if (ofKey === undefined || message === undefined || !('turn' in message)) continue
      const id = Number(message.turn)
      const stretch = ofKey.find(({ first, last }) => first <= id && id <= last)
      if (stretch === undefined) continue
      const turns = folds.get(stretch) ?? new Map<number, TurnView>()
      folds.set(stretch, turns)
      const turn = turns.get(id) ?? beginTurn(id, time)
      turns.set(id, turn)
      addToTurn(turn, { message, time, topic: 'activity' }, 'turn')
    }
  }
  return folds
}
