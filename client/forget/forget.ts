// Deletes conversations. On a log of this machine all their records go at once, with their bytes. On
// Kafka their history goes at once, and the records of topics go when retention passes.
// FORGET-1. Nothing of a conversation with an open turn is deleted: its stages would write the rest.
// FORGET-2. The record that an idle unit is folded from stays: it has ids of messages only. So a
//     repeated message is still recognised, and a restart folds as the running process did.
// FORGET-3. `conversation-forgotten` follows in the activity. Readers drop their values of older
//     records.

import { existsSync } from 'node:fs'
import { batchesOf } from '../../shared/bus/range.ts'
import { encode } from '../../shared/codec/codec.ts'
import { messageOf } from '../../shared/codec/message-of.ts'
import { isEvidence, withoutContent } from '../../shared/contract/audit/link.ts'
import type { Erased, Erasure, RecordToAppend } from '../../shared/contract/bus.ts'
import type { ConversationId } from '../../shared/contract/ids.ts'
import { limits } from '../../shared/contract/limits.ts'
import type { PersonIdentity } from '../../shared/contract/messages.ts'
import { partitionOf } from '../../shared/contract/partition.ts'
import { defaultTenant } from '../../shared/contract/tenant.ts'
import { historyPrefix } from '../../shared/contract/topology.ts'
import type { Milliseconds } from '../../shared/lib/clock.ts'
import { WeirError } from '../../shared/lib/errors.ts'
import { toRecord } from '../../shared/runtime/record.ts'
import { appendChange } from '../../shared/runtime/settings/audited-change.ts'
import { openSearch } from '../search/search.ts'
import {
  type ForgetLog,
  type ForgetSelection,
  keysOf,
  type Selected,
  selectedConversations,
} from './rest.ts'

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
 * `until`: on Kafka, the time when retention has deleted the records of topics. Null: they are gone.
 */
export type Forgotten = {
  conversations: ConversationId[]
  open: ConversationId[]
  records: number
  isOverwritten: boolean
  until: Milliseconds | null
}

type Parts = ForgetLog & {
  partitions: number
  /** The search index of the data folder. Undefined: it is in memory. */
  searchFile?: string | undefined
  /** Of the topics' records. Undefined: until somebody deletes them. */
  retentionMs: Milliseconds | undefined
}

/** A message may come between the fold and the deletion. */
const triesMax = 3

/**
 * Throws `conversation.unknown` if there is none, `conversation.open` if a turn of one is open, and
 * `encryption.key-missing`.
 */
export async function forgetConversations(
  log: Parts,
  { by, identity, dryRun, ...selection }: ForgetOptions & { by: string },
): Promise<Forgotten> {
  for (let tries = 1; ; tries += 1) {
    const selected = await selectedConversations(log, selection)
    const { conversations, open } = selected
    if (conversations.length === 0) throw unknown(selection)
    const kept = { conversations, open, records: 0, isOverwritten: false, until: null }
    if (dryRun === true) return kept
    if (open.length > 0) throw stillOpen(open)
    const author = { by, identity: identity ?? 'claimed' }
    if (log.bus.erase === undefined)
      return { ...kept, ...(await removeFromTables(log, selected, author)) }
    const erased = await eraseAll(log, selected)
    if (erased !== undefined) {
      await noteAll(log, conversations, author)
      await removeFromIndex(log)
      return { ...kept, ...erased }
    }
    if (tries === triesMax) throw stillOpen(conversations)
  }
}

/** In pieces that fit into a request. Undefined: one of a piece has newer records. */
async function eraseAll(log: Parts, selected: Selected): Promise<Erased | undefined> {
  const { bus, topicPrefix } = log
  const all: Erased = { records: 0, isOverwritten: true }
  for (let at = 0; at < selected.conversations.length; at += limits.eraseConversationsMax) {
    const conversations = selected.conversations.slice(at, at + limits.eraseConversationsMax)
    const { keep, seen } = selected
    const evidence = await evidenceOf(log, new Set(conversations))
    const erased = await bus.erase?.({ topicPrefix, conversations, keep, seen, evidence })
    if (erased === undefined) return undefined
    all.records += erased.records
    all.isOverwritten = erased.isOverwritten
  }
  return all
}

/** The evidence of the conversations, without its content. */
async function evidenceOf(
  { bus, topicPrefix }: ForgetLog,
  conversations: ReadonlySet<ConversationId>,
): Promise<Erasure['evidence']> {
  const topic = `${topicPrefix}audit`
  const all: Erasure['evidence'] = []
  for (const { partition, begin: from, end: to } of await bus.ends(topic))
    for await (const records of batchesOf(bus, { topic, partition, from, to }))
      for (const { key, offset, value } of records) {
        const message = conversations.has(key) ? messageOf(value) : undefined
        if (!isEvidence(message)) continue
        all.push({ partition, offset, value: encode(withoutContent(message)) })
      }
  return all
}

type Author = { by: string; identity: PersonIdentity }

/** First the note: from then on no reader shows the older records. */
async function removeFromTables(
  log: Parts,
  { conversations }: Selected,
  author: Author,
): Promise<Pick<Forgotten, 'records' | 'until'>> {
  const { bus, topicPrefix, partitions, retentionMs } = log
  await noteAll(log, conversations, author)
  const topic = `${topicPrefix}history`
  let records = 0
  for (const conversation of conversations) {
    const partition = partitionOf(conversation, partitions)
    const prefix = historyPrefix(conversation)
    const tombstones: RecordToAppend[] = []
    for await (const key of keysOf(bus, { topic, partition }, prefix)) {
      if (!key.startsWith(prefix)) break
      tombstones.push({ topic, partition, key, value: null })
    }
    if (tombstones.length > 0) await bus.append(tombstones)
    records += tombstones.length
  }
  const keptMs = retentionMs && Math.max(retentionMs, limits.deadLettersKeptMs)
  return {
    records,
    until: keptMs === undefined ? Number.POSITIVE_INFINITY : bus.clock.now() + keptMs,
  }
}

/** Keeps FORGET-3. */
async function noteAll(
  { bus, topicPrefix, partitions }: Parts,
  conversations: readonly ConversationId[],
  { by, identity }: Author,
): Promise<void> {
  for (const conversation of conversations) {
    const message = { type: 'conversation-forgotten', conversation, by, identity } as const
    const partition = partitionOf(conversation, partitions)
    const note = toRecord({ topic: `${topicPrefix}activity`, partition, message })
    const change = { setting: `conversation:${conversation}`, by, after: undefined }
    await appendChange({ bus, topicPrefix, identity }, change, [note])
  }
}

/** Reads the notes into the index, which removes the words of the conversations. */
async function removeFromIndex({ searchFile, ...log }: Parts): Promise<void> {
  if (searchFile === undefined || !existsSync(searchFile)) return
  const progress = { expect: () => {}, read: () => {} }
  const search = openSearch({ ...log, hasIndex: true, progress, searchFile })
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

/** Keeps FORGET-1. */
function stillOpen(open: readonly ConversationId[]): WeirError {
  const ids = open.slice(0, shownMax).join(', ') + (open.length > shownMax ? ', …' : '')
  const [first] = open
  return new WeirError(
    'conversation.open',
    `nothing was deleted: a turn is open, or a message waits, in ${ids}. Wait for its end, or end it: weir stop --conversation ${first} --now --reason TEXT`,
    { retryable: true },
  )
}
