// `weir conversations`: lists the newest conversations with their ends and notable facts
// (client/history/newest-conversations.ts), or those that a filter finds (client/search).
// Here: the command's reading, its list and its tree. Not here: filters and the index
// (client/search), and the facts of a turn (shared/view).

import { newestConversations } from '../../../client/history/newest-conversations.ts'
import type { ReadableLog } from '../../../client/history/readable-log.ts'
import type { ConversationSummary } from '../../../client/history/summary.ts'
import { type FoundPage, openSearch } from '../../../client/search/search.ts'
import type { ConversationId } from '../../../shared/contract/ids.ts'
import { limits } from '../../../shared/contract/limits.ts'
import { isGuest } from '../../../shared/contract/topology.ts'
import { usageError } from '../../../shared/lib/errors.ts'
import type { Settings } from '../../../shared/settings/settings.ts'
import {
  isEmptyFilter,
  type Sort,
  type TurnFilter,
} from '../../../shared/view/filter/turn-filter.ts'
import type { Money } from '../../../shared/view/totals.ts'
import { painted } from '../../terminal/paint.ts'
import { moneyText } from '../../terminal/text/money-text.ts'
import { printable, printableJson } from '../../terminal/text/printable.ts'
import { count, second } from '../../terminal/text/quantities.ts'
import { factTexts } from '../facts-text.ts'
import { type FilterOptions, filterOf, sortOf } from '../filter-options.ts'
import { type MoneyReader, moneyReader } from '../money.ts'
import { withLog } from '../open-log.ts'
import { printTree, treeInLog } from './tree.ts'

/** `bundle`: reads this file instead of the log that the settings name. */
export type ConversationsOptions = FilterOptions & {
  json?: boolean
  /** Default: 20; of a tree `limits.treeListedMax`. */
  limit?: string
  sort?: string
  /** Shows the tree of this conversation instead of a list. */
  tree?: ConversationId
  unredacted?: boolean
  bundle?: string
}

/**
 * Prints the list to `out`. With `json`, one object per line (PricedConversation). With `tree`, prints
 * the tree, and with `json` one object (TreeTimeline).
 */
export async function listConversations(
  settings: Settings,
  { json, bundle, unredacted, sort: sorting, tree, ...options }: ConversationsOptions,
  out: NodeJS.WriteStream,
): Promise<void> {
  const { limit = tree === undefined ? '20' : `${limits.treeListedMax}`, ...conditions } = options
  const max = /^\d{1,6}$/.test(limit) ? Number(limit) : 0
  if (max < 1 || max > limits.conversationsListedMax)
    throw usageError(
      `--limit is '${printable(limit)}': give a whole number from 1 to ${limits.conversationsListedMax}`,
    )
  const filter = filterOf(conditions)
  const sort = sortOf(sorting)
  if (tree !== undefined && sorting !== undefined)
    throw usageError(
      '--sort and --tree are given: a tree has the order of its beginnings; for another order give --where tree=ID with the id of its root',
    )
  if (tree !== undefined) {
    const shown = await withLog(settings, (log) => treeInLog(log, tree, { filter, limit: max }), {
      bundle,
      unredacted,
    })
    if (json) out.write(`${printableJson(shown)}\n`)
    else printTree(shown, out)
    return
  }
  const { found, total } = await withLog(
    settings,
    async (log) => {
      const page = await pageOf(log, filter, { sort, limit: max })
      return { ...page, found: await withMoney(page.conversations, moneyReader(log)) }
    },
    { bundle, unredacted },
  )
  if (json) for (const summary of found) out.write(`${printableJson(summary)}\n`)
  else printList({ found, max, total, isFiltered: !isEmptyFilter(filter) }, out)
}

/** `total` undefined: not counted, because the newest ones are found without the index. */
export async function pageOf(
  log: ReadableLog,
  filter: TurnFilter,
  { sort, limit }: { sort: Sort; limit: number },
): Promise<Pick<FoundPage, 'conversations'> & { total: number | undefined }> {
  if (isEmptyFilter(filter) && sort === 'time')
    return { conversations: await newestConversations(log, limit), total: undefined }
  const search = openSearch(log)
  try {
    await search.refresh()
    const page = await search.page(filter, { sort, limit })
    if (page.total === 0) search.assertKnown(filter)
    return page
  } finally {
    await search.close()
  }
}

/** `money`: null: no model request was under a budget in money. */
export type PricedConversation = ConversationSummary & { money: Money | null }

export async function withMoney(
  found: readonly ConversationSummary[],
  reader: MoneyReader,
): Promise<PricedConversation[]> {
  const money = await reader.of(found.map(({ conversation }) => conversation))
  return found.map((one) => ({ ...one, money: money.get(one.conversation) ?? null }))
}

const noneYet = 'There is no conversation yet. Start one: weir ask --agent agent.yaml "..."\n'

type Listed = {
  found: PricedConversation[]
  max: number
  total: number | undefined
  isFiltered: boolean
}

function printList({ found, max, total, isFiltered }: Listed, out: NodeJS.WriteStream): void {
  if (found.length === 0) out.write(isFiltered ? 'No conversation matches.\n' : noneYet)
  for (const summary of found) {
    const isWell = ['answered', 'open', 'forked'].includes(summary.last.outcome)
    const { conversation, title, facts } = summary
    out.write(
      `${painted(out, 'title', printable(conversation))}${title === null ? '' : `  ${printable(title)}`}\n`,
    )
    out.write(`${painted(out, isWell ? 'plain' : 'bad', detailsOf(summary))}\n`)
    const notable = factTexts(facts)
    if (notable.length > 0)
      out.write(`${painted(out, 'warning', printable(`  ! ${notable.join('; ')}`))}\n`)
  }
  const shown = total === undefined ? `The newest ${max}` : `${found.length} of ${total}`
  if (total === undefined ? found.length === max : found.length < total)
    out.write(`${shown}; --limit N shows more, weir inspect ID shows one.\n`)
}

function detailsOf({
  conversation,
  agent,
  turns,
  inputTokens,
  outputTokens,
  last,
  money,
}: PricedConversation): string {
  const why = last.cap ?? last.class
  const ended = `${last.outcome}${why === null ? '' : ` (${why})`}`
  const cost = money === null ? '' : `, ${moneyText(money)}`
  const sum = inputTokens + outputTokens
  const isUnknown = sum === 0 && isGuest(conversation) // hooks see no usage
  const tokens = `${isUnknown ? 'tokens not known' : count(sum, 'token')}${cost}`
  return `  ${second(last.at)}  ${ended.padEnd(20)}  ${count(turns, 'turn')}, ${tokens}${agent === null ? '' : `, ${printable(agent)}`}`
}
