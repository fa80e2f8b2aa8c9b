// Selects the conversations of an export, each with one stretch: from the first to the last of its
// turns that match. A fold of its inbox cannot skip records. The search index has the turns that match.
// Memory: a few numbers for each conversation that was active in the exported time.

import type { ConversationId } from '../../shared/contract/ids.ts'
import { limits } from '../../shared/contract/limits.ts'
import { partitionOf } from '../../shared/contract/partition.ts'
import type { Milliseconds } from '../../shared/lib/clock.ts'
import {
  isEmptyFilter,
  type TurnFilter,
  type ValueKey,
} from '../../shared/view/filter/turn-filter.ts'
import type { ReadableLog } from '../history/readable-log.ts'
import { openSearch } from '../search/search.ts'
import { type Stretch, stretchesOf } from './stretches.ts'

/** The turns to export. */
export type ExportFilter = {
  /** Empty: all. */
  conversations: ReadonlySet<string>
  where: TurnFilter
}

export type Selection = {
  /** Undefined: the conversation is not exported. */
  stretchOf(conversation: ConversationId): Stretch | undefined
  /** The partitions of the selected conversations. */
  partitions: number[]
  /** The times of the first and of the last selected record so far. */
  window: { from: Milliseconds; to: Milliseconds }
  /** A few values of turns of this log, by key of the filter. */
  others: Map<ValueKey, string[]>
}

/** The longest time from a turn's beginning to its last record, unless it waited in a queue. */
const turnMsMax: Milliseconds = limits.turnWallMsMax + limits.turnExtensionMsMax + 60 * 60 * 1000

/** The result is useless once `signal` aborts. */
export async function selectionIn(
  log: ReadableLog,
  filter: ExportFilter,
  signal: AbortSignal,
): Promise<Selection> {
  const { conversations, where } = filter
  const all = Array.from({ length: log.partitions }, (_, partition) => partition)
  const partitions =
    conversations.size === 0
      ? all
      : [...new Set([...conversations].map((id) => partitionOf(id, log.partitions)))].sort(
          (a, b) => a - b,
        )
  if (isEmptyFilter(where)) {
    const window = { from: 0, to: Number.POSITIVE_INFINITY }
    const stretchOf = (id: string) =>
      conversations.size === 0 || conversations.has(id) ? whole(id) : undefined
    return { stretchOf, partitions, window, others: new Map() }
  }
  const selection = new Map<string, Stretch>()
  const { turns, others } = await turnsThat(log, where)
  for (const partition of partitions)
    for await (const stretch of matchingIn(log, partition, filter, { turns, signal }))
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

/** By the search index. Undefined: only the time counts, also of messages that wait for their turn. */
async function turnsThat(
  log: ReadableLog,
  where: TurnFilter,
): Promise<{ turns: Turns | undefined; others: Selection['others'] }> {
  const { since, until, ...conditions } = where
  if (isEmptyFilter(conditions)) return { turns: undefined, others: new Map() }
  const search = openSearch(log)
  try {
    await search.refresh()
    const others = [...where.values.keys()].map((key) => [key, search.known(key)] as const)
    return { turns: await search.turns(where), others: new Map(others) }
  } finally {
    await search.close()
  }
}

type Turns = ReadonlyMap<ConversationId, ReadonlySet<number>>

async function* matchingIn(
  log: ReadableLog,
  partition: number,
  { conversations, where }: ExportFilter,
  { turns, signal }: { turns: Turns | undefined; signal: AbortSignal },
): AsyncGenerator<Stretch> {
  const { since = 0, until = Number.POSITIVE_INFINITY } = where
  for await (const stretch of stretchesOf(log, partition, Math.max(0, since - turnMsMax), signal)) {
    const { conversation, first, last, lastAt, beganAt } = stretch
    if (conversations.size > 0 && !conversations.has(conversation)) continue
    const isOpen = last === Number.POSITIVE_INFINITY
    const isInTime = (isOpen || lastAt >= since) && beganAt < until
    const found = [...(turns?.get(conversation) ?? [])]
    if (isInTime && (turns === undefined || found.some((turn) => first <= turn && turn <= last)))
      yield stretch
  }
}
