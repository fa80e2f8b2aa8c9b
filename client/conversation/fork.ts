// Forks a conversation at a turn: a new conversation whose history begins with the turns up to that
// one. The turns are shared and not copied. It writes a request, and intake writes the fork.
// The turn is over, so its entries are in the history and never change.
// The new id has the tenant and the partition of the conversation.

import { randomBytes } from 'node:crypto'
import { refuseWithoutSpace } from '../../shared/bus/space.ts'
import { type ConversationId, isConversationOfCall } from '../../shared/contract/ids.ts'
import { limits } from '../../shared/contract/limits.ts'
import type { ForkRequested, HistoryEntry, Origin } from '../../shared/contract/messages.ts'
import { partitionOf } from '../../shared/contract/partition.ts'
import { conversationOfTenant, defaultTenant, tenantOf } from '../../shared/contract/tenant.ts'
import { isGuest, originKey } from '../../shared/contract/topology.ts'
import { usageError, WeirError } from '../../shared/lib/errors.ts'
import { cutToBytes } from '../../shared/lib/text-cut.ts'
import { shown } from '../../shared/settings/mistake.ts'
import { needOptions } from '../given-options.ts'
import { refuseUnknownKeys } from '../known-keys.ts'
import type { Place } from '../turn/opening.ts'
import { turnsOf } from './conversation-turns.ts'
import { entriesOfOrigin, historyOf } from './history.ts'

/** `turn`: the last turn of the new conversation's beginning. Default: the newest one. */
export type ForkOptions = { turn?: number }

export type Forking = {
  place: Place
  partitions: number
  write: (request: ForkRequested) => Promise<void>
}

/**
 * The id of the new conversation. Throws `conversation.unknown`, `usage` for a turn that is open or
 * that the conversation does not have, `history.missing`, and `fork.unconfirmed` if no stage runs.
 */
export async function forkConversation(
  { place, partitions, write }: Forking,
  conversation: ConversationId,
  options: ForkOptions = {},
): Promise<ConversationId> {
  const asked = { code: 'usage', subject: 'fork' } as const
  needOptions(options, { ...asked, example: '{ turn: 0 }' })
  refuseUnknownKeys(options, ['turn'], asked)
  if (isGuest(conversation))
    throw usageError(
      `${JSON.stringify(conversation)} belongs to an agent that owns its model, and it has its own history: fork the conversation in that agent`,
    )
  const origins = await originsOf(place, conversation, options.turn)
  refuseWithoutSpace(place.bus)
  const fork = newId(conversation, partitions)
  await write({ type: 'fork-requested', conversation: fork, origins })
  // A message that is sent now must find it.
  const key = originKey(fork)
  const { bus, topicPrefix, partition } = place
  const table = { topic: `${topicPrefix}history`, partition }
  const record = await bus.get({ ...table, key, waitMs: limits.intakeWaitMs })
  if (record !== undefined) return fork
  throw new WeirError(
    'fork.unconfirmed',
    `no stage has confirmed the fork ${fork} within ${limits.intakeWaitMs / 1000} seconds: start the stages (weir up), and fork again`,
    { retryable: true },
  )
}

/** The origins of a fork at this turn, oldest first. */
async function originsOf(
  place: Place,
  conversation: ConversationId,
  given: number | undefined,
): Promise<Origin[]> {
  const { own, origins } = await historyOf(place, conversation)
  if (own.length === 0 && origins.length === 0)
    throw new WeirError('conversation.unknown', 'there is no such conversation')
  const newest = Math.max(...own.map((entry) => entry.turn), origins.at(-1)?.turn ?? -1)
  const turn = given ?? newest
  if (!Number.isSafeInteger(turn) || turn < 0)
    throw usageError(`turn is ${shown(given)}; must be the number of a turn, as events have it`)
  const at = origins.findIndex((origin) => turn <= origin.turn)
  const origin = origins[at]
  if (origin === undefined) await assertOver(place, conversation, { turn, entries: own })
  const forked =
    origin === undefined
      ? originAt({ conversation, turn, entries: own })
      : originAt({ ...origin, turn, entries: await entriesOfOrigin(place, origin) })
  const all = [...(origin === undefined ? origins : origins.slice(0, at)), forked]
  if (all.length > limits.forkOriginsMax)
    throw usageError(
      `this conversation is a fork of ${all.length - 1} forks, and a fork can have ${limits.forkOriginsMax} origins: begin a new conversation`,
    )
  return all
}

type Forked = { conversation: ConversationId; turn: number; entries: readonly HistoryEntry[] }

function originAt({ conversation, turn, entries: all }: Forked): Origin {
  const turns = [...new Set(all.map((entry) => entry.turn))].sort((a, b) => a - b)
  if (turns.includes(turn))
    return { conversation, turn, entries: all.filter((entry) => entry.turn <= turn).length }
  const named = turns.slice(-turnsNamed).join(', ')
  throw usageError(`there is no turn ${turn}: the turns are ${named}`)
}

/** Turns that an error names. */
const turnsNamed = 20

/**
 * All rounds of the turn must be in the history: a turn that was cancelled ends before its last round
 * does. An earlier turn is over, and so is a turn whose opening the log no longer has.
 */
async function assertOver(
  place: Place,
  conversation: ConversationId,
  { turn, entries }: Omit<Forked, 'conversation'>,
): Promise<void> {
  const [newest] = await turnsOf(place, conversation, { limit: 1 })
  if (newest?.turn !== turn) return
  const { end } = newest
  const isLast = (entry: HistoryEntry) => entry.turn === turn && entry.round === end?.totals.rounds
  if (end === undefined || !entries.some(isLast))
    throw usageError(`turn ${turn} is still open: wait for its end, or cancel it first`)
}

const suffix = /~[0-9a-f]{10}$/

/** Some tries find the partition. */
function newId(conversation: ConversationId, partitions: number): ConversationId {
  const partition = partitionOf(conversation, partitions)
  const tenant = tenantOf(conversation)
  const agent = tenant === defaultTenant ? 'agent' : conversationOfTenant(tenant, 'agent')
  const name = isConversationOfCall(conversation) ? agent : conversation.replace(suffix, '')
  const stem = cutToBytes(name, limits.conversationIdBytesMax - suffixBytes)
  for (;;) {
    const id = `${stem}~${randomBytes(5).toString('hex')}`
    if (partitionOf(id, partitions) === partition) return id
  }
}

const suffixBytes = 11
