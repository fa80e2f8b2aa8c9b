// Deletes conversations. On a log of this machine all their records go at once, with their bytes. On
// Kafka their history goes at once, and the records of topics go when retention passes.
// Nothing of a conversation with an open turn is deleted: its stages would write the rest.
// The record that an idle unit is folded from stays: it has ids of messages only. So a
// repeated message is still recognised, and a restart folds as the running process did.
// `conversation-forgotten` is written to the activity before the deletion, and stays. Readers
// drop their values of older records. A repeated deletion finishes one that failed after the note.

import { existsSync } from 'node:fs'
import { eraseIn } from '../../shared/bus/erase-in.ts'
import { batchesOf, noneIfMissing } from '../../shared/bus/range.ts'
import { encode } from '../../shared/codec/codec.ts'
import { messageOf } from '../../shared/codec/message-of.ts'
import { isEvidence, withoutContent } from '../../shared/contract/audit/link.ts'
import type { Erasure, Offset } from '../../shared/contract/bus.ts'
import { historyPrefix } from '../../shared/contract/history/history-keys.ts'
import type { ConversationId } from '../../shared/contract/ids.ts'
import { limits } from '../../shared/contract/limits.ts'
import type { PersonIdentity } from '../../shared/contract/messages.ts'
import { partitionOf } from '../../shared/contract/partition.ts'
import { defaultTenant } from '../../shared/contract/tenant.ts'
import type { Milliseconds } from '../../shared/lib/clock.ts'
import { WeirError } from '../../shared/lib/errors.ts'
import { toRecord } from '../../shared/runtime/record.ts'
import { appendChange } from '../../shared/runtime/settings/audited-change.ts'
import { openSearch } from '../search/search.ts'
import {
  type ForgetLog,
  type ForgetSelection,
  hasNewer,
  type Selected,
  selectedConversations,
} from './rest.ts'
import { hasReadable, type TopicsLog } from './unreadable.ts'

/** Conversations in one request to the owner that deletes them. */
export const eraseConversationsMax = 1_000

export type { ForgetSelection } from './rest.ts'

/** `by`: the person who deletes. `dryRun`: deletes nothing, and lists the conversations. */
export type ForgetOptions = ForgetSelection & {
  by?: string
  identity?: PersonIdentity
  dryRun?: boolean
}

/**
 * `open`: those with an open turn. Only a dry run has them.
 * `records`: how many were deleted.
 * `isOverwritten`: in a data folder, their bytes are gone from unused parts of the file too. False: a
 * reader has the former file open, or the file is too large to write it anew while Weir runs.
 * `isUnreadable`: no process can read a record of them any more: the records are gone, or deleted keys
 * encrypted all of them.
 * `until`: on Kafka, the time when retention has deleted the records of topics, with the evidence of
 * the conversations. For unreadable records: the time from which brokers may not keep their deleted keys.
 * `never`: `retentionDays` is 0. Null: they are gone, as in a data folder.
 */
export type Forgotten = {
  conversations: ConversationId[]
  open: ConversationId[]
  records: number
  isOverwritten: boolean
  isUnreadable: boolean
  until: Milliseconds | 'never' | null
}

type Parts = TopicsLog & {
  partitions: number
  /** The log is in a data folder, which deletes records at once. */
  isLocal: boolean
  /** The search index of the data folder. Undefined: it is in memory. */
  searchFile?: string | undefined
  /** Of the topics' records. Undefined: until somebody deletes them. */
  retentionMs: Milliseconds | undefined
  /** Of evidence. */
  auditMs: Milliseconds
}

/** A message may come between the fold and the deletion. */
const triesMax = 3

type Author = { by: string; identity: PersonIdentity }

/**
 * Throws `conversation.unknown` if there is none, `conversation.open` if a turn of one is open, and
 * `encryption.key-missing`. The text of an error names the number of those that were deleted before it.
 */
export async function forgetConversations(
  log: Parts,
  { by, identity, dryRun, ...selection }: ForgetOptions & { by: string },
): Promise<Forgotten> {
  const done = new Set<ConversationId>()
  const all: Forgotten = {
    conversations: [],
    open: [],
    records: 0,
    isOverwritten: false,
    isUnreadable: false,
    until: null,
  }
  const author = { by, identity: identity ?? 'claimed' }
  let hasEvidence = false

  /** False: a conversation has newer records than `selected`. */
  async function deleteAll(selected: Selected): Promise<boolean> {
    const evidenceOf = evidenceReader(log, selected.conversations)
    let { forks } = selected
    for (const conversations of piecesOf(selected.conversations)) {
      const piece = { ...selected, conversations, forks }
      forks = []
      const deleted = await deletePiece(log, piece, { author, evidenceOf })
      if (deleted === undefined) return false
      for (const id of conversations) done.add(id)
      all.records += deleted.records
      all.isOverwritten = deleted.isOverwritten
      hasEvidence ||= deleted.hasEvidence
    }
    return true
  }

  try {
    for (let tries = 1; ; tries += 1) {
      const selected = await selectedConversations(log, selection)
      const { conversations, open } = selected
      if (conversations.length === 0 && done.size === 0) throw unknown(selection)
      if (dryRun === true) return { ...all, conversations, open }
      if (open.length > 0) throw stillOpen(open)
      if (await deleteAll(selected)) break
      if (tries === triesMax) throw stillOpen(conversations)
    }
    await removeFromIndex(log)
    all.isUnreadable = log.isLocal || !(await hasReadable(log, done))
  } catch (error) {
    throw done.size > 0 && error instanceof WeirError ? afterSome(done.size, error) : error
  }
  const until = log.isLocal ? null : untilOf(log, { ...all, hasEvidence })
  return { ...all, conversations: [...done], until }
}

function afterSome(deleted: number, cause: WeirError): WeirError {
  const { code, message, retryable } = cause
  const text = `${deleted} conversations were deleted, and then: ${message}`
  return new WeirError(code, text, { retryable, cause })
}

/** Pieces that fit into a request. */
function* piecesOf(conversations: readonly ConversationId[]): Generator<ConversationId[]> {
  for (let at = 0; at < conversations.length; at += eraseConversationsMax)
    yield conversations.slice(at, at + eraseConversationsMax)
}

type Deleted = Pick<Forgotten, 'records' | 'isOverwritten'> & { hasEvidence: boolean }

/**
 * The notes come first: after a failure between them and the deletion, the conversations are still
 * there to be deleted. Undefined: one of them has newer records.
 */
async function deletePiece(
  log: Parts,
  selected: Selected,
  { author, evidenceOf }: { author: Author; evidenceOf: ReturnType<typeof evidenceReader> },
): Promise<Deleted | undefined> {
  const conversations = new Set(selected.conversations)
  if (await hasNewer(log, selected, conversations)) return undefined
  const notes = await noteAll(log, selected.conversations, author)
  const evidence = await evidenceOf(conversations)
  const hasEvidence = evidence.length > 0
  if (log.isLocal) {
    const { topicPrefix } = log
    const { seen, forks } = selected
    const keep = [...selected.keep, ...notes]
    const erasure = {
      topicPrefix,
      conversations: selected.conversations,
      forks,
      keep,
      seen,
      evidence,
    }
    const erased = await eraseIn(log.bus, erasure)
    return erased && { ...erased, hasEvidence }
  }
  if (await hasNewer(log, selected, conversations)) return undefined
  const records = await removeFromTables(log, selected)
  return { records, isOverwritten: false, hasEvidence }
}

/**
 * Returns the evidence of some of the conversations, without its content. Each record of `audit` is
 * read once for all of them.
 */
function evidenceReader({ bus, topicPrefix }: ForgetLog, all: readonly ConversationId[]) {
  const topic = `${topicPrefix}audit`
  const byConversation = new Map<ConversationId, Erasure['evidence']>(all.map((id) => [id, []]))
  const ends = new Map<number, Offset>()
  return async (conversations: ReadonlySet<ConversationId>) => {
    for (const { partition, begin, end: to } of await bus.ends(topic)) {
      const from = ends.get(partition) ?? begin
      for await (const records of batchesOf(bus, { topic, partition, from, to }))
        for (const { key, offset, value } of records) {
          const evidence = byConversation.get(key)
          const message = evidence && messageOf(value)
          if (!isEvidence(message)) continue
          evidence?.push({ partition, offset, value: encode(withoutContent(message)) })
        }
      ends.set(partition, to)
    }
    return [...conversations].flatMap((id) => byConversation.get(id) ?? [])
  }
}

/**
 * Deletes the keys that were read. A message that comes during the deletion can open a turn whose
 * stages read a part of the history: Kafka has no deletion that depends on other records.
 */
async function removeFromTables(
  { bus, topicPrefix, partitions }: Parts,
  { conversations, forks, histories, untaken }: Selected,
): Promise<number> {
  const topic = `${topicPrefix}history`
  // Intake would write a title that is on its way after the tombstone. The empty title follows it.
  const wanted = new Set(conversations)
  for (const conversation of untaken.filter((id) => wanted.has(id))) {
    const message = { type: 'title-given', conversation, title: '' } as const
    const partition = partitionOf(conversation, partitions)
    await bus.append([toRecord({ topic: `${topicPrefix}client-messages`, partition, message })])
  }
  let records = 0
  for (const conversation of [...conversations, ...forks]) {
    const partition = partitionOf(conversation, partitions)
    const keys = histories.get(conversation) ?? []
    const tombstones = keys.map((key) => ({ topic, partition, key, value: null }))
    if (tombstones.length > 0) await bus.append(tombstones)
    records += tombstones.length
  }
  await removeKeys({ bus, topicPrefix, partitions }, conversations)
  return records
}

/** Last, because no reader can check a record after it. */
async function removeKeys(
  { bus, topicPrefix, partitions }: Pick<Parts, 'bus' | 'topicPrefix' | 'partitions'>,
  conversations: readonly ConversationId[],
): Promise<void> {
  const topic = `${topicPrefix}conversation-keys`
  for (const conversation of conversations) {
    const partition = partitionOf(conversation, partitions)
    const table = { topic, partition, prefix: historyPrefix(conversation), upToNow: true }
    const keys = await bus.list(table).catch(noneIfMissing)
    const tombstones = keys.map(({ key }) => ({ topic, partition, key, value: null }))
    if (tombstones.length > 0) await bus.append(tombstones)
  }
}

/** Keeps the longest retention of the topics that have records of the conversations. */
function untilOf(
  { bus, retentionMs, auditMs }: Parts,
  { isUnreadable, hasEvidence }: { isUnreadable: boolean; hasEvidence: boolean },
): Forgotten['until'] {
  if (isUnreadable) return bus.clock.now() + limits.keysCompactedMs
  if (retentionMs === undefined) return 'never'
  const keptMs = Math.max(retentionMs, limits.deadLettersKeptMs, hasEvidence ? auditMs : 0)
  return bus.clock.now() + keptMs
}

/** The places of the notes. */
async function noteAll(
  { bus, topicPrefix, partitions }: Parts,
  conversations: readonly ConversationId[],
  { by, identity }: Author,
): Promise<Erasure['keep']> {
  const topic = `${topicPrefix}activity`
  const places: Erasure['keep'] = []
  for (const conversation of conversations) {
    const message = { type: 'conversation-forgotten', conversation, by, identity } as const
    const partition = partitionOf(conversation, partitions)
    const note = toRecord({ topic, partition, message })
    const change = { setting: `conversation:${conversation}`, by, after: undefined }
    const appended = await appendChange({ bus, topicPrefix, identity }, change, [note])
    for (const { offset } of appended) places.push({ topic, partition, offset })
  }
  return places
}

/** Reads the notes into the index, which removes the words of the conversations. */
async function removeFromIndex({ searchFile, isLocal, ...log }: Parts): Promise<void> {
  if (searchFile === undefined || !existsSync(searchFile)) return
  const progress = { expect: () => {}, read: () => {} }
  const search = openSearch({ ...log, hasIndex: isLocal, progress, searchFile })
  try {
    await search.refresh()
  } finally {
    await search.close()
  }
}

function unknown(selection: ForgetSelection): WeirError {
  return new WeirError('conversation.unknown', `there is no conversation ${subjectOf(selection)}`)
}

function subjectOf(selection: ForgetSelection): string {
  if ('conversation' in selection) return selection.conversation
  const { tenant = defaultTenant } = selection
  return 'user' in selection
    ? `of the user ${selection.user} in the tenant ${tenant}`
    : `of the tenant ${tenant}`
}

const shownMax = 5

function stillOpen(open: readonly ConversationId[]): WeirError {
  const ids = open.slice(0, shownMax).join(', ') + (open.length > shownMax ? ', …' : '')
  const [first] = open
  return new WeirError(
    'conversation.open',
    `the deletion was refused: a turn is open, or a message waits, in ${ids}. Wait for its end, or end it: weir stop --conversation ${first} --now --reason TEXT, and after the deletion weir release conversation:${first}`,
    { retryable: true },
  )
}
