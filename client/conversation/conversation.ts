// A conversation as a program reads it, and the list of conversations. They read the log, so any
// process that can read it has them. The command line uses the same readers.

import { type ConversationId, parseConversationId } from '../../shared/contract/ids.ts'
import { limits } from '../../shared/contract/limits.ts'
import { partitionOf } from '../../shared/contract/partition.ts'
import { isTenant, tenantRule } from '../../shared/contract/tenant.ts'
import { systemClock } from '../../shared/lib/clock.ts'
import { usageError } from '../../shared/lib/errors.ts'
import { shown } from '../../shared/settings/mistake.ts'
import {
  conditionsIn,
  type FilterKey,
  filterFrom,
  isEmptyFilter,
  type Sort,
  sortNamed,
  type TurnFilter,
} from '../../shared/view/filter/turn-filter.ts'
import type { ConversationMessage } from '../../shared/view/messages/messages.ts'
import type { ExportOptions } from '../bundle/exported-conversation.ts'
import type { BundleContent } from '../bundle/written-bundle.ts'
import type { Edge } from '../edge/edge.ts'
import type { FollowKey } from '../edge/followed-key.ts'
import { needOptions } from '../given-options.ts'
import { newestConversations } from '../history/newest-conversations.ts'
import type { ReadableLog } from '../history/readable-log.ts'
import type { ConversationSummary } from '../history/summary.ts'
import { refuseUnknownKeys } from '../known-keys.ts'
import type { FoundPage, Search } from '../search/search.ts'
import type { CallPlace, TurnEvent, WholeCall } from '../turn/turn-event.ts'
import { type OfferedCall, offeredCalls, type SentResult, sendResult } from './client-calls.ts'
import { conversationEvents, type EventsOptions } from './conversation-events.ts'
import { type ConversationTurn, type TurnsOptions, turnsOf } from './conversation-turns.ts'
import { type ForkOptions, forkConversation } from './fork.ts'
import { messagesOf, wholeCall } from './history.ts'
import { setTitle, titleOf } from './title.ts'

/**
 * Conditions on a conversation, as `weir conversations --where` has them. One turn must meet all
 * conditions, except those on tokens and cost. Of several values, one is enough. `text`: words of the
 * question, the answers, the arguments and the results. `since`, `until`: a turn was active in this
 * time. A number is in milliseconds since 1970-01-01 UTC.
 */
export type ConversationsWhere = Partial<
  Record<FilterKey, string | number | readonly string[] | undefined>
>

/**
 * `sort`: the latest activity first (`time`), or the most `cost`, `tokens` or `duration` of a turn.
 * `limit`: the length of a page, 20 by default. `after`: `next` of the page before.
 */
export type ConversationsOptions = {
  where?: ConversationsWhere
  sort?: Sort
  limit?: number
  after?: string
}

/**
 * `next` undefined: this is the last page. `total`: all that match, on all pages. Undefined: they were not
 * counted, because there is no condition.
 */
export type ConversationsPage = {
  conversations: ConversationSummary[]
  next: string | undefined
  total: number | undefined
}

export type Conversation = {
  readonly id: ConversationId
  /**
   * Its title: that of `setTitle`, or otherwise the first words of its first message. Undefined: it has
   * no finished round yet.
   */
  title(): Promise<string | undefined>
  /**
   * Gives it a title for lists: at most 256 bytes on one line. An empty text removes the title. Resolves
   * when the request is written. Throws `message.invalid` and `conversation.unknown`.
   */
  setTitle(title: string): Promise<void>
  /** Its finished rounds as messages to show, those of its origins first. Empty: the log has none. */
  messages(): Promise<ConversationMessage[]>
  /**
   * Its newest turns, the newest first: at most 64. Empty: the log has no such conversation.
   */
  turns(options?: TurnsOptions): Promise<ConversationTurn[]>
  /**
   * The events of all its turns, from the position `after` or the turn `turn` on, and then those
   * that arrive, until `signal` aborts or the loop is left.
   */
  events(options?: EventsOptions): AsyncIterable<TurnEvent>
  /** The whole arguments and the whole result of a call. Undefined: the log has no such call. */
  call(place: CallPlace): Promise<WholeCall | undefined>
  /** The whole result of a call. Undefined: it has none yet. */
  result(place: CallPlace): Promise<string | undefined>
  /** The calls of its newest turn that wait for your result: those of tools with `client: true`. */
  offeredCalls(): Promise<OfferedCall[]>
  /**
   * Sends the result of a call that was offered. Resolves when it counts, or when it is written and
   * no stage runs for ten seconds. The same result again changes nothing. Throws `call.unknown`,
   * `call.over` for a late or second result, and `message.invalid`.
   */
  sendResult(call: CallPlace, result: SentResult): Promise<void>
  /**
   * Begins a new conversation whose history is that of this one up to a turn. The turns are shared and
   * not copied, and both conversations go on separately. It has the same tenant. Throws
   * `conversation.unknown`, `usage` for a turn that is open or unknown, and `fork.unconfirmed` if no
   * stage runs.
   */
  fork(options?: ForkOptions): Promise<Conversation>
  /**
   * Writes the bundle that `weir export` writes: a file to keep, send, inspect and replay. Throws
   * `conversation.unknown`, `output.exists`, `output.unwritable`, and `usage` for a bad rule.
   */
  export(file: string, options?: ExportOptions): Promise<BundleContent>
}

/** `source`: the name of the bus. */
type Log = Omit<ReadableLog, 'progress' | 'bundle'> & {
  source: string
  followKey: FollowKey
  edge: Edge
  /** The search index of the log. It is opened for the first filter. */
  search: () => Promise<Search>
}

/** Throws `message.invalid` for a bad id. */
export function conversationIn(log: Log, given: string): Conversation {
  const { bus, topicPrefix, partitions, followKey, edge } = log
  const id = parseConversationId(given)
  const place = { bus, topicPrefix, partition: partitionOf(id, partitions) }
  const call = (at: CallPlace) => wholeCall(place, id, at)
  return {
    id,
    title: () => titleOf(place, id),
    setTitle: (title) => setTitle({ place, write: edge.title }, id, title),
    messages: () => messagesOf(place, id),
    turns: (options) => turnsOf(place, id, options),
    events: (options = {}) => conversationEvents({ ...place, followKey }, id, options),
    call,
    result: async (at) => (await call(at))?.rawResult ?? undefined,
    offeredCalls: () => offeredCalls(place, id),
    sendResult: (at, result) => sendResult({ place, edge }, id, at, result),
    fork: async (options) =>
      conversationIn(
        log,
        await forkConversation({ place, partitions, write: edge.fork }, id, options),
      ),
    // Loaded when it is needed: a bundle is rare, and its writer opens SQLite.
    export: async (file, options = {}) =>
      (await import('../bundle/exported-conversation.ts')).exportConversation(
        log,
        id,
        file,
        options,
      ),
  }
}

/**
 * A page of the list. Conversations that become active between two pages may come twice. Throws
 * `usage` for unknown conditions.
 */
export async function conversationsIn(
  log: Log,
  options: ConversationsOptions,
): Promise<ConversationsPage> {
  const asked = { code: 'usage', subject: 'conversations' } as const
  needOptions(options, { ...asked, example: "{ where: { outcome: 'failed' } }" })
  refuseUnknownKeys(options, ['where', 'sort', 'limit', 'after'], asked)
  const { filter, sort, limit, skip } = pageAsked(options)
  if (isEmptyFilter(filter) && sort === 'time') {
    const readable: ReadableLog = { ...log, progress: { expect: () => {}, read: () => {} } }
    const found = await newestConversations(readable, skip + limit)
    const next = found.length === skip + limit ? `${skip + limit}` : undefined
    return { conversations: found.slice(skip), next, total: undefined }
  }
  const search = await log.search()
  await search.refresh()
  return pageIn(await search.page(filter, { sort, limit, skip }), skip)
}

export type PageAsked = { filter: TurnFilter; sort: Sort; limit: number; skip: number }

/** Throws `usage`. */
export function pageAsked({
  where = {},
  sort = 'time',
  limit = 20,
  after = '0',
}: ConversationsOptions): PageAsked {
  needOptions(where, { code: 'usage', subject: 'where', example: "{ outcome: 'answered' }" })
  const skip = /^\d{1,6}$/.test(after) ? Number(after) : Number.NaN
  const max = skip + limit
  if (!Number.isSafeInteger(max) || limit < 1 || max > limits.conversationsListedMax)
    throw usageError(
      `limit is ${limit} and after is ${JSON.stringify(after)}: give a whole number from 1, and \`next\` of a page, up to ${limits.conversationsListedMax} conversations`,
    )
  for (const tenant of [where.tenant ?? []].flat())
    if (!isTenant(String(tenant)))
      throw usageError(`where.tenant is ${shown(tenant)}: ${tenantRule}`)
  const filter = filterFrom(conditionsIn(where), systemClock.now())
  return { filter, sort: sortNamed(String(sort), 'sort'), limit, skip }
}

export function pageIn({ conversations, total }: FoundPage, skip: number): ConversationsPage {
  const end = skip + conversations.length
  return { conversations, total, next: end < total ? `${end}` : undefined }
}
