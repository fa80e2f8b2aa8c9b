// The conversations that a deletion selects, and whether each one rests. It folds their inboxes as the
// stages do, because only the fold knows whether a turn is open or a round is outstanding.
// A conversation with a record that this process cannot read is never at rest, unless
// the keys of its tenant were deleted: then no stage can read it either.

import { conversation } from '../../services/conversation/reducer.ts'
import { guest } from '../../services/guest/reducer.ts'
import { batchesOf } from '../../shared/bus/range.ts'
import { decode, encryptedByte, typeIn } from '../../shared/codec/codec.ts'
import { messageOf } from '../../shared/codec/message-of.ts'
import type {
  Bus,
  Erasure,
  Offset,
  PartitionEnds,
  StoredRecord,
} from '../../shared/contract/bus.ts'
import { formerConversation } from '../../shared/contract/call/called-conversation.ts'
import { originsIn } from '../../shared/contract/history/fork.ts'
import { historyConversation } from '../../shared/contract/history/history-keys.ts'
import { type ConversationId, callOfConversation, withCallers } from '../../shared/contract/ids.ts'
import type { Message } from '../../shared/contract/messages.ts'
import type { Stage } from '../../shared/contract/stage.ts'
import { defaultTenant, tenantOf } from '../../shared/contract/tenant.ts'
import { originKey, summaryKey } from '../../shared/contract/topology.ts'
import { WeirError } from '../../shared/lib/errors.ts'
import { parseId } from '../../shared/runtime/derived-id.ts'
import { createFold } from '../../shared/runtime/fold.ts'

export type ForgetLog = { bus: Bus; topicPrefix: string }

/**
 * The conversations to delete: one, all in which a user wrote, or all of a tenant. `user`: as in
 * `Question.user`, or the subject of a token. The tenant of a user is `default` by default.
 */
export type ForgetSelection =
  | { conversation: ConversationId }
  | { user: string; tenant?: string }
  | { tenant: string }

/**
 * `open`: those with an open turn, an outstanding round or a waiting message. `histories`: the keys
 * to delete of each conversation in the table `history`. `untaken`: those with a title that intake may
 * not have taken yet. `forks`: others that begin with turns of these, and have a summary that repeats
 * such turns.
 */
export type Selected = Pick<Erasure, 'conversations' | 'forks' | 'keep' | 'seen'> & {
  open: ConversationId[]
  untaken: ConversationId[]
  histories: Map<ConversationId, string[]>
}

/** Each includes the conversations of its calls, and those of a guest's sub-agents. */
async function wantedBy(
  log: ForgetLog,
  selection: ForgetSelection,
): Promise<(id: ConversationId) => boolean> {
  // Each id has its tenant, so a whole tenant needs no callers.
  const needsCallers = 'conversation' in selection || 'user' in selection
  const callers = needsCallers ? await callersByClaim(log) : undefined
  const guests = needsCallers ? await rootsOfGuests(log) : undefined
  const rootOf = (id: ConversationId) => guests?.get(id) ?? withCallers(id, callers).at(-1) ?? id
  if ('conversation' in selection) {
    const { conversation: wanted } = selection
    return (id) => rootOf(id) === wanted || (id === wanted && guests?.has(id) === true)
  }
  const { tenant = defaultTenant } = selection
  if (!('user' in selection)) return (id) => tenantOf(id) === tenant
  const own = new Set<ConversationId>()
  const topic = `${log.topicPrefix}client-messages`
  for (const { partition, begin: from, end: to } of await log.bus.ends(topic))
    for await (const records of batchesOf(log.bus, { topic, partition, from, to }))
      for (const record of records) {
        if (tenantOf(record.key) !== tenant || own.has(record.key)) continue
        assertReadable(log.bus, record)
        if (record.value === null || typeIn(record.value) !== 'user-named') continue
        const message = messageOf(record.value)
        if (message?.type === 'user-named' && message.user === selection.user) own.add(record.key)
      }
  return (id) => own.has(rootOf(id))
}

/** The callers of the conversations with a hash as id. Only the claim of the call names both. */
async function callersByClaim({ bus, topicPrefix }: ForgetLog) {
  const callers = new Map<ConversationId, ConversationId>()
  const topic = `${topicPrefix}rounds-cleared`
  for (const { partition, begin: from, end: to } of await bus.ends(topic))
    for await (const records of batchesOf(bus, { topic, partition, from, to }))
      for (const { value } of records) {
        const claim = value !== null && typeIn(value) === 'claim' ? messageOf(value) : undefined
        if (claim?.type !== 'claim') continue
        const id = formerConversation(claim)
        if (callOfConversation(id) === undefined) callers.set(id, claim.conversation)
      }
  return callers
}

/** The roots of the sub-agents of guests. Their ids need not show them: a long id is a hash. */
async function rootsOfGuests({ bus, topicPrefix }: ForgetLog) {
  const roots = new Map<ConversationId, ConversationId>()
  const topic = `${topicPrefix}guest-events`
  for (const { partition, begin: from, end: to } of await bus.ends(topic))
    for await (const records of batchesOf(bus, { topic, partition, from, to }))
      for (const { value } of records) {
        const round =
          value !== null && typeIn(value) === 'guest-round' ? messageOf(value) : undefined
        if (round?.type !== 'guest-round' || round.policy.parent === null) continue
        roots.set(round.conversation, round.policy.parent.root)
      }
  return roots
}

/** Throws `encryption.key-missing`. */
export async function selectedConversations(
  log: ForgetLog,
  selection: ForgetSelection,
): Promise<Selected> {
  const isWanted = await wantedBy(log, selection)
  const found = new Set<ConversationId>()
  const open = new Set<ConversationId>()
  const keep: Selected['keep'] = []
  const seen: Selected['seen'] = []
  const histories: Selected['histories'] = new Map()
  const taken = new Map<ConversationId, Offset>()
  /** How far intake is known to have read, by partition. */
  const reached = new Map<number, Offset>()

  async function* recordsIn(topic: string, ends: PartitionEnds): AsyncGenerator<StoredRecord> {
    const { partition, begin: from, end: to } = ends
    seen.push({ topic, partition, end: to })
    for await (const records of batchesOf(log.bus, { topic, partition, from, to }))
      for (const record of records) {
        const id = parseId(record.id)
        if (id?.stage === 'intake') reached.set(partition, id.offset)
        if (!isWanted(record.key) || record.conversationKey === 'deleted') continue
        assertReadable(log.bus, record)
        if (!isRemainder(record)) found.add(record.key)
        yield record
      }
  }

  // The messages first: a message that intake takes meanwhile is then in the inbox that follows.
  const sent = new Map<ConversationId, Offset>()
  const titled = new Map<ConversationId, { partition: number; offset: Offset }>()
  const clients = `${log.topicPrefix}client-messages`
  for (const ends of await log.bus.ends(clients))
    for await (const { key, value, partition, offset } of recordsIn(clients, ends)) {
      const type = value === null ? undefined : typeIn(value)
      if (type === 'user-message') sent.set(key, offset)
      if (type === 'title-given') titled.set(key, { partition, offset })
    }

  async function fold<State, In extends Message>(
    stage: Stage<State, In>,
    inbox: 'conversation-events' | 'guest-events',
    rests: (state: State) => boolean,
  ): Promise<void> {
    const topic = `${log.topicPrefix}${inbox}`
    for (const ends of await log.bus.ends(topic)) {
      const { partition } = ends
      const folding = createFold<State, In, never>({
        stage,
        partition,
        topicPrefix: log.topicPrefix,
        marks: {},
        readBack: (from, to) => batchesOf(log.bus, { topic, partition, from, to }),
        decode,
        encode: undefined,
      })
      for await (const record of recordsIn(topic, ends)) {
        const id = parseId(record.id)
        if (id?.stage === 'intake') taken.set(record.key, id.offset)
        if (record.value?.[0] !== encryptedByte) await folding.apply(record)
      }
      for (const unit of folding.units.values())
        if (rests(unit.state)) keep.push({ topic, partition, offset: unit.first })
        else open.add(unit.conversation)
    }
  }
  await fold(conversation, 'conversation-events', ({ phase }) => phase === 'idle')
  await fold(guest, 'guest-events', ({ turn, pending, carrying }) => {
    return turn === undefined && pending.length === 0 && !carrying
  })
  for (const [id, offset] of sent) if (offset > (taken.get(id) ?? -1)) open.add(id)
  const untaken = [...titled].flatMap(([id, { partition, offset }]) =>
    offset > (reached.get(partition) ?? -1) ? [id] : [],
  )

  // Retention may have left a history alone.
  const topic = `${log.topicPrefix}history`
  const forks: ConversationId[] = []
  for (const { partition } of await log.bus.ends(topic))
    for await (const key of keysOf(log.bus, { topic, partition })) {
      const id = historyConversation(key)
      if (id === undefined) continue
      if (isWanted(id)) {
        found.add(id)
        histories.set(id, [...(histories.get(id) ?? []), key])
      } else if (key === summaryKey(id)) {
        const origins = await originsOf(log.bus, { topic, partition, id })
        if (!origins.some(isWanted)) continue
        forks.push(id)
        histories.set(id, [key])
      }
    }
  return {
    conversations: [...found],
    open: [...open],
    untaken,
    keep,
    seen,
    histories,
    forks,
  }
}

/** Whether an inbox has a record of one of the conversations that `seen` does not include. */
export async function hasNewer(
  { bus }: ForgetLog,
  { seen }: Pick<Selected, 'seen'>,
  conversations: ReadonlySet<ConversationId>,
): Promise<boolean> {
  for (const { topic, partition, end: from } of seen) {
    const to = (await bus.ends(topic)).find((ends) => ends.partition === partition)?.end ?? from
    for await (const records of batchesOf(bus, { topic, partition, from, to }))
      if (records.some(({ key }) => conversations.has(key))) return true
  }
  return false
}

/** A record that a deleted conversation leaves, or that its idle unit writes later. */
export function isRemainder({ value }: Pick<StoredRecord, 'value'>): boolean {
  const type = value === null ? undefined : typeIn(value)
  return type === 'carried' || type === 'guest-carried' || type === 'tick'
}

/** The conversations whose turns this one shares. */
async function originsOf(
  bus: Bus,
  { topic, partition, id }: { topic: string; partition: number; id: ConversationId },
): Promise<ConversationId[]> {
  const record = await bus.get({ topic, partition, key: originKey(id), waitMs: 0 })
  return originsIn(record && messageOf(record.value)).map((origin) => origin.conversation)
}

const keysRead = 1_000

async function* keysOf(
  bus: Bus,
  table: { topic: string; partition: number },
  after?: string,
): AsyncGenerator<string> {
  for (let from = after; ; ) {
    const keys = await bus.keys({ ...table, after: from, limit: keysRead })
    for (const { key } of keys) yield key
    from = keys.at(-1)?.key
    if (keys.length < keysRead) return
  }
}

function assertReadable(bus: Bus, { key, value }: StoredRecord): void {
  if (value?.[0] !== encryptedByte) return
  const tenant = tenantOf(key)
  const isDeleted = bus
    .hidden?.()
    .some((hidden) => hidden.tenant === tenant && hidden.reason === 'deleted')
  if (isDeleted === true) return
  throw new WeirError(
    'encryption.key-missing',
    `the records of ${tenant} are encrypted, and this process has no key that reads whether a turn is open: give --encryption-keys`,
  )
}
