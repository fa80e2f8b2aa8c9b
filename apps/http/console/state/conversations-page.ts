// A page of the list of conversations, the keys of its filters, and the tree of a conversation. The search
// index answers. While the index is first made, a list without a filter comes from the log.

import type { PageAsked } from '../../../../client/conversation/conversation.ts'
import { newestConversations } from '../../../../client/history/newest-conversations.ts'
import type { Search } from '../../../../client/search/search.ts'
import type { ConversationId } from '../../../../shared/contract/ids.ts'
import { limits } from '../../../../shared/contract/limits.ts'
import { systemClock } from '../../../../shared/lib/clock.ts'
import { pause } from '../../../../shared/lib/pause.ts'
import {
  acceptedValues,
  emptyFilter,
  filterKeys,
  isEmptyFilter,
  isValueKey,
} from '../../../../shared/view/filter/turn-filter.ts'
import { foundTree } from '../../../history/conversations/tree.ts'
import type { MoneyReader } from '../../../history/money.ts'
import type { ConsoleParts } from '../console-parts.ts'
import type { ConversationsData, FilterData, TreeData } from '../page/console-state.ts'

/** How long a list waits for new records of the log, before it shows those that were read. */
const waitMs = 1_000

/** A list waits for no read of more records, such as the first one of a log. */
const awaitedRecordsMax = 20_000

/** A read knows its length so soon after its begin. */
const lookMs = 50

type Page = Omit<ConversationsData, 'conversations'> & {
  conversations: Awaited<ReturnType<typeof newestConversations>>
}

/** Throws `usage` for a name that no turn has. */
export async function conversationsPage(
  { log, search: late }: Pick<ConsoleParts, 'log' | 'search'>,
  { filter, sort, limit, skip }: PageAsked,
): Promise<Page> {
  const search = await late.open()
  await readFor(search, waitMs)
  const { behind } = search
  if (behind > 0 && isEmptyFilter(filter) && sort === 'time') {
    const newest = await search.whilePaused(() => newestConversations(log, skip + limit))
    const next = newest.length === skip + limit ? `${skip + limit}` : null
    return { conversations: newest.slice(skip), next, total: null, all: null, behind }
  }
  const { conversations, total } = await search.page(filter, { sort, limit, skip })
  if (total === 0 && behind === 0) search.assertKnown(filter)
  const end = skip + conversations.length
  const { total: all } = await search.page(emptyFilter(), { limit: 0 })
  return { conversations, total, all, behind, next: end < total ? `${end}` : null }
}

/** The keys of the filters, with the values that a person can choose. */
export async function filtersOf({ search: late }: Pick<ConsoleParts, 'search'>) {
  const search = await late.open()
  await readFor(search, waitMs)
  return filterKeys.map((key): FilterData => {
    if (!isValueKey(key)) return { key, accepted: null, known: null }
    const accepted = acceptedValues(key)
    return { key, accepted, known: accepted === null ? search.known(key) : null }
  })
}

/** `conversation`: any of the tree. Throws `usage` for one that no turn has. */
export async function treeData(
  conversation: ConversationId,
  { search: late, money }: Pick<ConsoleParts, 'search'> & { money: MoneyReader },
): Promise<TreeData> {
  const search = await late.open()
  await readFor(search, waitMs)
  const wanted = { filter: emptyFilter(), limit: limits.treeListedMax, search, money }
  const tree = await foundTree(conversation, wanted)
  return { ...tree, behind: search.behind }
}

/** The read goes on afterwards. */
async function readFor(search: Search, ms: number): Promise<void> {
  let isRead = false
  const reading = search.refresh().then(() => {
    isRead = true
  })
  reading.catch(() => {}) // the next list reports a failure that comes later
  const until = systemClock.monotonic() + ms
  while (!isRead && search.behind <= awaitedRecordsMax && systemClock.monotonic() < until) {
    const late = new AbortController()
    await Promise.race([reading, pause(systemClock, lookMs, late.signal)])
    late.abort()
  }
}
