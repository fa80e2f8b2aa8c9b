// Folds records of the log into the search index: a row for each turn with its view, its values and
// the words of its rounds.
// A batch and the position behind it are written in one transaction. Another process may
// write the same file: a batch of another position is dropped, and its reader continues at the new one.
// Each row follows from records alone, in any order, so an index made anew is equal.
// Values that the rules of an agent hide are never in the index: the words of such a
// conversation come from all of its entries together.
// A deleted entry of the history takes its words with it. A turn without records is
// deleted.

import { createHash } from 'node:crypto'
import type { DatabaseSync } from '../../shared/bus/sqlite.ts'
import { messageOf } from '../../shared/codec/message-of.ts'
import type { StoredRecord } from '../../shared/contract/bus.ts'
import { historyRound, titledConversation } from '../../shared/contract/history/history-keys.ts'
import type { RoundId } from '../../shared/contract/ids.ts'
import { limits } from '../../shared/contract/limits.ts'
import type { HistoryEntry, Message } from '../../shared/contract/messages.ts'
import { tenantOf } from '../../shared/contract/tenant.ts'
import { cutToBytes } from '../../shared/lib/text-cut.ts'
import { valuesOf } from '../../shared/view/filter/turn-filter.ts'
import { inputTokensOf, isOfMoney, usdOf } from '../../shared/view/totals.ts'
import { addFact, beginFacts, type FactFold } from '../../shared/view/turn-facts.ts'
import { addToTurn, beginTurn, type TurnView } from '../../shared/view/turn-view.ts'
import { questionIn, titleIn } from '../history/histories.ts'
import { forkedConversation } from '../history/lone-forks.ts'
import { type IndexStatements, removeGone, statementsIn } from './index-statements.ts'
import { storedText, valueOfText } from './stored-value.ts'

export const indexedTopics = ['history', 'activity', 'budgets'] as const
export type IndexedTopic = (typeof indexedTopics)[number]

/** `begin`, `next`: of the partition. `time`: of the record before `next`. */
export type Position = { next: number; time: number; begin: number }
export type Batch = {
  topic: IndexedTopic
  partition: number
  /** The position at which the records were read. */
  from: Position
  to: Position
  records: readonly StoredRecord[]
}

/**
 * All entries of conversations with hidden values, as readers may see them. None of a conversation: its
 * words are not in the index.
 */
export type ShownEntries = ReadonlyMap<string, readonly HistoryEntry[]>

/** `at`: the time of its newest activity in the batch. */
type OpenConversation = { id: number; at: number }
type OpenTurn = { id: number; conversation: string; view: TurnView; offset: number }

/** The positions, as they are stored. */
export function positionsIn(db: DatabaseSync): Map<string, Position> {
  const rows = db.prepare('SELECT topic, partition, next, time, begin FROM positions').all()
  return new Map(
    rows.map((row) => [
      placeOf(String(row.topic), Number(row.partition)),
      { next: Number(row.next), time: Number(row.time), begin: Number(row.begin) },
    ]),
  )
}

export function placeOf(topic: string, partition: number): string {
  return `${topic}/${partition}`
}

export type TurnIndex = {
  /** The conversations of these records of the history that have hidden values. */
  hiddenIn(records: readonly StoredRecord[]): Set<string>
  /** False: another process has written this partition meanwhile. */
  add(batch: Batch, shown: ShownEntries): boolean
}

export function createTurnIndex(db: DatabaseSync): TurnIndex {
  const sql = statementsIn(db)
  let turns = new Map<string, OpenTurn>()
  let conversations = new Map<string, OpenConversation>()

  function openConversation(name: string): OpenConversation {
    const known = conversations.get(name)
    if (known !== undefined) return known
    const { id } = sql.conversation.get(name) ?? sql.addConversation.get(name) ?? {}
    const added = { id: Number(id), at: 0 }
    conversations.set(name, added)
    return added
  }

  function conversation(name: string): number {
    return openConversation(name).id
  }

  function turnOf(
    { conversation: name, turn }: { conversation: string; turn: number },
    at: { time: number; partition: number },
  ): OpenTurn {
    const key = `${turn} ${name}`
    const known = turns.get(key)
    if (known !== undefined) return known
    const own = conversation(name)
    const row = sql.turn.get(own, turn)
    const view = row === undefined ? beginTurn(turn, at.time) : valueOfText<TurnView>(row.view)
    // The row is whole from the start: `write` leaves out deleted turns.
    const { id } =
      row ?? sql.addTurn.get(own, turn, view.firstAt, at.partition, storedText(view)) ?? {}
    const added = { id: Number(id), conversation: name, view, offset: Number(row?.offset ?? -1) }
    turns.set(key, added)
    return added
  }

  function addActivity({ key, value, time, offset, partition }: StoredRecord): void {
    const message = messageOf(value)
    if (message === undefined || !('conversation' in message) || message.conversation !== key)
      return
    if (message.type === 'conversation-forgotten') return forget(key, time)
    const open = openConversation(key)
    open.at = Math.max(open.at, time)
    if (message.type === 'requests-unjudged') addConversationFact(key, message)
    if (!('turn' in message) || message.turn === null) return
    const turn = turnOf({ conversation: key, turn: message.turn }, { time, partition })
    turn.offset = Math.max(turn.offset, offset)
    addToTurn(turn.view, { message, time, topic: 'activity' }, 'turn')
  }

  /** The turns from before its deletion. On Kafka their records are read again from an older log. */
  function forget(name: string, time: number): void {
    const own = conversation(name)
    for (const [key, { conversation: of, view }] of turns)
      if (of === name && view.firstAt <= time) turns.delete(key)
    removeFork(sql, own, time)
    if (removeTurns(sql, own, time)) conversations.delete(name)
  }

  function addConversationFact(key: string, message: Message): void {
    const stored = sql.facts.get(conversation(key))?.facts
    const facts = stored ? valueOfText<FactFold>(stored) : beginFacts()
    addFact(facts, message)
    sql.setFacts.run(storedText(facts), conversation(key))
  }

  function addHistory({ key, value, time, partition }: StoredRecord, shown: ShownEntries): void {
    const round = historyRound(key)
    const fork = forkedConversation(key)
    if (fork !== undefined) {
      const isGone = addFork(sql, openConversation(fork), { name: fork, value, time })
      return void (isGone && conversations.delete(fork)) // a later record needs a new row
    }
    if (round === undefined) return addTitle(sql, { key, value }, { conversation, shown })
    if (value === null) return removeEntry(sql, conversation(round.conversation), round)
    const entry = messageOf(value)
    if (entry?.type !== 'history-entry' || entry.conversation !== round.conversation) return
    const turn = turnOf(round, { time, partition })
    addToTurn(turn.view, { message: entry, time, topic: 'history' }, 'turn')
    delete turn.view.opening
    const usage = entry.response?.usage
    sql.entry.run(
      ...[turn.id, round.round],
      ...[usage === undefined ? null : inputTokensOf(usage), usage?.outputTokens ?? null],
    )
    if (!shown.has(entry.conversation)) setText(sql, turn.id, entry)
  }

  function write(): void {
    for (const { id, view, offset } of turns.values()) {
      const { end, firstAt, lastAt } = view
      const until = end === undefined ? null : lastAt
      sql.setTurn.run(firstAt, until, offset, storedText(view), id)
      sql.removeFacets.run(id)
      for (const [key, value] of valuesOf(view)) sql.facet.run(key, value, id)
    }
    // One write for each: every row is in four indexes.
    for (const { id, at } of conversations.values()) sql.sums.run(at, id, id, id, id)
  }

  return {
    hiddenIn(records) {
      const hidden = new Set<string>()
      for (const { value } of records) {
        const entry = messageOf(value)
        if (entry?.type !== 'history-entry') continue
        const isHidden = sql.isHidden.get(entry.conversation)?.hidden === 1
        if (isHidden || entry.redact.length > 0) hidden.add(entry.conversation)
      }
      return hidden
    },

    add({ topic, partition, from, to, records }, shown) {
      db.exec('BEGIN IMMEDIATE')
      try {
        const stored = sql.position.get(topic, partition)
        if (Number(stored?.next ?? from.begin) !== from.next) {
          db.exec('ROLLBACK')
          return false
        }
        turns = new Map()
        conversations = new Map()
        for (const record of records)
          if (topic === 'activity') addActivity(record)
          else if (topic === 'history') addHistory(record, shown)
          else addSettled(sql, record, conversation)
        for (const [name, entries] of shown) showOnly(sql, conversation(name), entries)
        write()
        if (topic === 'activity' && to.begin > Number(stored?.begin ?? 0))
          removeGone(db, partition, to.begin)
        sql.setPosition.run(topic, partition, to.next, to.time, to.begin)
        db.exec('COMMIT')
        return true
      } catch (error) {
        db.exec('ROLLBACK')
        throw error
      }
    },
  }
}

/** The words of a title with hidden values are not in the index. */
function addTitle(
  sql: IndexStatements,
  { key, value }: Pick<StoredRecord, 'key' | 'value'>,
  { conversation, shown }: { conversation: (name: string) => number; shown: ShownEntries },
): void {
  const name = titledConversation(key)
  if (name === undefined) return
  const title = titleIn(value) || null
  if (title === null && sql.conversation.get(name) === undefined) return
  const id = conversation(name)
  if (shown.has(name)) sql.hide.run(id)
  sql.setTitle.run(title, id)
  setNameText(sql, id)
}

/** The words of the title, and of the id of a fork, which may have no turn. */
function setNameText(sql: IndexStatements, id: number): void {
  const { name, title, hidden, words } = sql.names.get(id) ?? {}
  const texts = [
    ...(sql.fork.get(id) === undefined ? [] : [String(name)]),
    ...(title == null || hidden === 1 ? [] : [String(title)]),
  ]
  if (words === 1) {
    sql.removeText.run(-id)
    sql.noteDeleted.run()
  }
  if (texts.length > 0) sql.addText.run(-id, texts.join('\n'))
  sql.setWords.run(texts.length > 0 ? 1 : 0, id)
}

/** The origins of the conversation. Without a value they were deleted. True: so was its row. */
function addFork(
  sql: IndexStatements,
  open: OpenConversation,
  { name, value, time }: Pick<StoredRecord, 'value' | 'time'> & { name: string },
): boolean {
  if (messageOf(value)?.type !== 'conversation-forked') {
    removeFork(sql, open.id, time)
    return Number(sql.removeEmpty.run(open.id).changes) > 0
  }
  open.at = Math.max(open.at, time)
  sql.addFork.run(open.id, time)
  sql.facet.run('tenant', tenantOf(name), -open.id)
  sql.facet.run('tree', name, -open.id)
  setNameText(sql, open.id)
  return false
}

/** Of a fork that began until then. */
function removeFork(sql: IndexStatements, id: number, time: number): void {
  if (Number(sql.removeFork.run(id, time).changes) === 0) return
  sql.removeFacets.run(-id)
  setNameText(sql, id)
}

function addSettled(
  sql: IndexStatements,
  { key, value }: StoredRecord,
  conversation: (name: string) => number,
): void {
  const message = messageOf(value)
  if (!isOfMoney(message) || message.tenant !== key) return
  sql.settled.run(message.attempt, conversation(message.conversation), usdOf(message) ?? 0)
}

function showOnly(sql: IndexStatements, own: number, entries: readonly HistoryEntry[]): void {
  sql.hide.run(own)
  sql.removeQuestions.run(own)
  setNameText(sql, own)
  const shown = new Set<number>()
  for (const entry of entries) {
    const turn = sql.turn.get(own, entry.turn)?.id
    const id = turn === undefined ? undefined : setText(sql, Number(turn), entry)
    if (id !== undefined) shown.add(id)
  }
  for (const { id } of sql.entriesWithText.all(own)) {
    if (shown.has(Number(id))) continue
    sql.removeText.run(Number(id))
    sql.setDigest.run(null, Number(id))
    sql.noteDeleted.run()
  }
}

/** The id of the entry. Words that the entry no longer has are removed, and that is noted. */
function setText(sql: IndexStatements, turn: number, entry: HistoryEntry): number | undefined {
  const row = sql.entryId.get(turn, entry.round)
  if (row === undefined) return undefined
  const id = Number(row.id)
  if (entry.round === 0 && entry.user !== null)
    sql.question.run(questionIn(entry.conversation, entry.user), turn)
  const text = textOf(entry)
  const digest = createHash('sha256').update(text).digest('base64')
  if (row.digest === digest) return id
  if (row.digest !== null) {
    sql.removeText.run(id)
    sql.noteDeleted.run()
  }
  sql.addText.run(id, text)
  sql.setDigest.run(digest, id)
  return id
}

/** The turns that began until then. True: the conversation has no other. */
function removeTurns(sql: IndexStatements, own: number, time: number): boolean {
  for (const remove of sql.forget) remove.run(own, time)
  sql.forgetSums.run(own)
  sql.noteDeleted.run()
  return Number(sql.removeEmpty.run(own).changes) > 0
}

function removeEntry(sql: IndexStatements, own: number, { turn, round }: RoundId): void {
  const id = sql.turn.get(own, turn)?.id
  if (id === undefined) return
  const entry = sql.entryId.get(Number(id), round)?.id
  if (entry === undefined) return
  sql.removeText.run(Number(entry))
  sql.removeEntry.run(Number(entry))
  sql.noteDeleted.run()
  if (round === 0) sql.question.run(null, Number(id))
}

/** The words by which the search finds a round: also the id of its conversation. */
function textOf({ conversation, round, user, response, results }: HistoryEntry): string {
  const texts = [
    ...(round === 0 ? [conversation, user ?? ''] : []),
    response?.text ?? '',
    ...(response?.calls ?? []).flatMap(({ name, raw }) => [name, raw]),
    ...results.map(({ text }) => text),
  ]
  return cutToBytes(texts.join('\n'), limits.searchTextBytesMax)
}
