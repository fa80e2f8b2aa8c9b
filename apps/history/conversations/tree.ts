// `weir conversations --tree ID`: the tree of a conversation as a timeline with sums
// (shared/view/tree.ts). The search index finds its turns, as for each filter.

import type { ReadableLog } from '../../../client/history/readable-log.ts'
import { openSearch, type Search } from '../../../client/search/search.ts'
import { type ConversationId, parseConversationId } from '../../../shared/contract/ids.ts'
import { isGuest } from '../../../shared/contract/topology.ts'
import { treeOf } from '../../../shared/contract/tree.ts'
import type { TurnFilter } from '../../../shared/view/filter/turn-filter.ts'
import {
  addTurnToTree,
  beginTree,
  type TreeLine,
  type TreeSum,
  type TreeTimeline,
  treeTimeline,
} from '../../../shared/view/tree.ts'
import { painted } from '../../terminal/paint.ts'
import { moneyText } from '../../terminal/text/money-text.ts'
import { printable } from '../../terminal/text/printable.ts'
import { count, durationText, number, second } from '../../terminal/text/quantities.ts'
import { type MoneyReader, moneyReader } from '../money.ts'

type Wanted = { filter: TurnFilter; limit: number }

/** `conversation`: any of the tree. Throws `usage` if no turn of the tree matches. */
export async function treeInLog(
  log: ReadableLog,
  conversation: ConversationId,
  wanted: Wanted,
): Promise<TreeTimeline> {
  const search = openSearch(log)
  try {
    await search.refresh()
    return await foundTree(conversation, { ...wanted, search, money: moneyReader(log) })
  } finally {
    await search.close()
  }
}

/** As treeInLog, of the records that the search has read. */
export async function foundTree(
  conversation: ConversationId,
  { filter, limit, search, money }: Wanted & { search: Search; money: MoneyReader },
): Promise<TreeTimeline> {
  const id = parseConversationId(conversation)
  const root = search.treeOf(id) ?? treeOf({ conversation: id, parent: null })
  const ofTree: TurnFilter = {
    ...filter,
    values: new Map(filter.values).set('tree', new Set([root])),
  }
  const fold = beginTree(root, limit)
  await search.views(ofTree, (id, view) => addTurnToTree(fold, id, view))
  if (fold.conversations.size === 0 && search.behind === 0) search.assertKnown(ofTree)
  return treeTimeline(fold, await money.of([...fold.conversations.keys()]))
}

/** Deeper lines have the same indent, so a line stays readable. */
const indentsMax = 12

export function printTree(
  { root, lines, sum, turnsLeftOut }: TreeTimeline,
  out: NodeJS.WriteStream,
): void {
  if (lines.length === 0) {
    out.write('No turn of the tree matches.\n')
    return
  }
  for (const line of lines) {
    const indent = '  '.repeat(Math.min(line.depth, indentsMax))
    const isWell = line.outcome === 'answered' || line.outcome === 'open'
    const name = painted(out, 'title', printable(line.conversation))
    out.write(`${indent}${name}${parentText(line)}\n`)
    out.write(`${indent}${painted(out, isWell ? 'plain' : 'bad', printable(detailsOf(line)))}\n`)
  }
  out.write(
    `Sum of ${printable(root)}: ${count(sum.conversations, 'conversation')}, ${useText(sum)}\n`,
  )
  printEnds(sum, out)
  if (turnsLeftOut > 0)
    out.write(
      `${count(turnsLeftOut, 'turn')} of further conversations left out, also of the sum; --limit N shows more.\n`,
    )
}

function printEnds({ failed, stopped }: TreeSum, out: NodeJS.WriteStream): void {
  for (const [title, ids] of Object.entries({ failed, stopped }))
    if (ids.length > 0)
      out.write(`${painted(out, 'bad', printable(`  ${title}: ${ids.join(', ')}`))}\n`)
}

function parentText({ depth, isParentKnown }: TreeLine): string {
  return depth > 0 && !isParentKnown ? '  parent not known' : ''
}

function detailsOf(line: TreeLine): string {
  const why = line.cap ?? line.class
  const ended = `${line.outcome}${why === null ? '' : ` (${why})`}`
  const isUnseen = line.tokens === 0 && isGuest(line.conversation) // hooks see no usage
  return `  ${second(line.startedAt)}  ${line.agent ?? 'agent not known'}  ${ended}  ${useText(line, isUnseen)}`
}

function useText(
  { turns, rounds, calls, denied, pending, tokens, money, durationMs }: TreeLine | TreeSum,
  isUnseen = false,
): string {
  return [
    count(turns, 'turn'),
    count(rounds, 'round'),
    count(calls, 'call'),
    ...(denied === 0 ? [] : [`${number(denied)} denied`]),
    ...(pending === 0 ? [] : [`${number(pending)} waiting for a person`]),
    isUnseen ? 'tokens not known' : count(tokens, 'token'),
    ...(money === null ? [] : [moneyText(money)]),
    durationMs === null ? 'runs' : durationText(durationMs),
  ].join(', ')
}
