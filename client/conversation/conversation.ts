// A conversation as a program reads it, and the list of conversations. They read the log, so any
// process that can read it has them. The command line uses the same readers.

import { type ConversationId, parseConversationId } from '../../shared/contract/ids.ts'
import { limits } from '../../shared/contract/limits.ts'
import { partitionOf } from '../../shared/contract/partition.ts'
import { isTenant, tenantRule } from '../../shared/contract/tenant.ts'
import { usageError } from '../../shared/lib/errors.ts'
import { shown } from '../../shared/settings/mistake.ts'
import type { ConversationMessage } from '../../shared/view/messages/messages.ts'
import type { ExportOptions } from '../bundle/exported-conversation.ts'
import type { BundleContent } from '../bundle/written-bundle.ts'
import type { Edge } from '../edge/edge.ts'
import type { FollowKey } from '../edge/followed-key.ts'
import { needOptions } from '../given-options.ts'
import { newestConversations } from '../history/newest-conversations.ts'
import type { ReadableLog } from '../history/readable-log.ts'
import type { ConversationSummary } from '../history/summary.ts'
import { type WhereKey, whereIn } from '../history/turn-filter.ts'
import type { CallPlace, TurnEvent, WholeCall } from '../turn/turn-event.ts'
import { type OfferedCall, offeredCalls, type SentResult, sendResult } from './client-calls.ts'
import { conversationEvents, type EventsOptions } from './conversation-events.ts'
import { type ConversationTurn, type TurnsOptions, turnsOf } from './conversation-turns.ts'
import { type ForkOptions, forkConversation } from './fork.ts'
import { messagesOf, wholeCall } from './history.ts'

/**
 * Conditions on a conversation. One turn of it must meet all but the times; of several values, one
 * is enough. `since`, `until`: the time of its last activity, in milliseconds since 1970-01-01 UTC.
 */
export type ConversationsWhere = Partial<Record<WhereKey, string | readonly string[]>> & {
  since?: number
  until?: number
}

/** `limit`: the length of a page, 20 by default. `after`: `next` of the page before. */
export type ConversationsOptions = { where?: ConversationsWhere; limit?: number; after?: string }

/** The latest activity first. `next` undefined: this is the last page. */
export type ConversationsPage = {
  conversations: ConversationSummary[]
  next: string | undefined
}

export type Conversation = {
  readonly id: ConversationId
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
}

/** Throws `message.invalid` for a bad id. */
export function conversationIn(log: Log, given: string): Conversation {
  const { bus, topicPrefix, partitions, followKey, edge } = log
  const id = parseConversationId(given)
  const place = { bus, topicPrefix, partition: partitionOf(id, partitions) }
  const call = (at: CallPlace) => wholeCall(place, id, at)
  return {
    id,
    messages: () => messagesOf(place, id),
    turns: (options) => turnsOf(place, id, options),
    events: (options = {}) => conversationEvents({ ...place, followKey }, id, options),
    call,
    result: async (at) => (await call(at))?.result ?? undefined,
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
  { where = {}, limit = 20, after = '0' }: ConversationsOptions,
): Promise<ConversationsPage> {
  needOptions(where, { code: 'usage', subject: 'where', example: "{ outcome: 'answered' }" })
  const { since = 0, until = Number.POSITIVE_INFINITY, ...conditions } = where
  for (const [name, time] of Object.entries({ since, until }))
    if (typeof time !== 'number' || Number.isNaN(time))
      throw usageError(
        `where.${name} is ${shown(time)}; must be a time in milliseconds, as of Date.now()`,
      )
  const skipped = /^\d{1,6}$/.test(after) ? Number(after) : Number.NaN
  const max = skipped + limit
  if (!Number.isSafeInteger(max) || limit < 1 || max > limits.conversationsListedMax)
    throw usageError(
      `limit is ${limit} and after is ${JSON.stringify(after)}: give a whole number from 1, and \`next\` of a page, up to ${limits.conversationsListedMax} conversations`,
    )
  for (const tenant of [conditions.tenant ?? []].flat())
    if (!isTenant(String(tenant)))
      throw usageError(`where.tenant is ${shown(tenant)}: ${tenantRule}`)
  const accepted = whereIn(conditions, ['since', 'until'])
  const readable: ReadableLog = { ...log, progress: { expect: () => {}, read: () => {} } }
  const found = await newestConversations(readable, max, accepted, { since, until })
  return {
    conversations: found.slice(skipped),
    next: found.length === max ? `${max}` : undefined,
  }
}
