// The questions to the search index: a filter as SQL, and rows as summaries.
// A filter becomes SQL here only, so every user of a filter finds the same turns. Its
// words are searched before (word-turns.ts).

import type { DatabaseSync } from '../../shared/bus/sqlite.ts'
import type { ConversationId } from '../../shared/contract/ids.ts'
import type { Milliseconds } from '../../shared/lib/clock.ts'
import type { Sort, TurnFilter, ValueKey } from '../../shared/view/filter/turn-filter.ts'
import type { FactFold } from '../../shared/view/turn-facts.ts'
import type { TurnView } from '../../shared/view/turn-view.ts'
import type { RoundUsage } from '../history/histories.ts'
import { type ConversationSummary, summaryOfViews } from '../history/summary.ts'
import { valueOfText } from './stored-value.ts'

/** Known values of one key that an error and a form name. */
const valuesShownMax = 50

type Sql = { text: string; values: (string | number)[] }

/** `table`: of the turns that have all words of the filter. Undefined: the filter has no word. */
export type Searched = { filter: TurnFilter; table: string | undefined; now: Milliseconds }

const columns: Record<Sort, string> = { time: 'at', cost: 'usd', tokens: 'tokens', duration: 'ms' }

export type Page = { sort?: Sort; limit: number; skip?: number }

export function findConversations(
  db: DatabaseSync,
  searched: Searched,
  { sort = 'time', limit, skip = 0 }: Page,
): { conversations: ConversationSummary[]; total: number } {
  const { text, values } = ofConversations(searched)
  const total = db.prepare(`SELECT count(*) AS n FROM conversations c WHERE ${text}`).get(...values)
  const order = sort === 'time' ? 'at DESC, id DESC' : `${columns[sort]} DESC, at DESC`
  const rows = db
    .prepare(
      `SELECT id, name, at, facts, title, hidden FROM conversations c WHERE ${text} ORDER BY ${order} LIMIT ? OFFSET ?`,
    )
    .all(...values, limit, skip)
  return { conversations: rows.map((row) => summaryOfRow(db, row)), total: Number(total?.n) }
}

export function findTurns(db: DatabaseSync, searched: Searched): Map<ConversationId, Set<number>> {
  const turns = ofTurns(searched)
  const bounds = ofBounds(searched.filter)
  const found = new Map<ConversationId, Set<number>>()
  const rows = db
    .prepare(
      `SELECT c.name AS name, t.turn AS turn FROM turns t JOIN conversations c ON c.id = t.conversation
       WHERE ${turns.text} AND ${bounds.text}`,
    )
    .all(...turns.values, ...bounds.values)
  for (const row of rows) {
    const name = String(row.name)
    found.set(name, (found.get(name) ?? new Set()).add(Number(row.turn)))
  }
  return found
}

/** Calls `each` with the view of each matching turn, in the order of their beginnings. */
export function eachTurn(
  db: DatabaseSync,
  searched: Searched,
  each: (conversation: ConversationId, view: TurnView) => void,
): void {
  const turns = ofTurns(searched)
  const bounds = ofBounds(searched.filter)
  const rows = db
    .prepare(
      `SELECT c.name AS name, t.view AS view FROM turns t JOIN conversations c ON c.id = t.conversation
       WHERE ${turns.text} AND ${bounds.text} ORDER BY t.since, t.id`,
    )
    .iterate(...turns.values, ...bounds.values)
  for (const { name, view } of rows) each(String(name), valueOfText<TurnView>(view))
}

/** Of `given` those that turns have. Default: a few of all. */
export function knownValues(
  db: DatabaseSync,
  key: ValueKey,
  given?: ReadonlySet<string>,
): string[] {
  if (given === undefined)
    return db
      .prepare('SELECT DISTINCT value FROM facets WHERE key = ? ORDER BY value LIMIT ?')
      .all(key, valuesShownMax)
      .map(({ value }) => String(value))
  const known = db.prepare('SELECT 1 FROM facets WHERE key = ? AND value = ? LIMIT 1')
  return [...given].filter((value) => known.get(key, value) !== undefined)
}

/** By the newest turn of the conversation. */
export function treeOfConversation(
  db: DatabaseSync,
  conversation: ConversationId,
): ConversationId | undefined {
  const row = db
    .prepare(
      `SELECT f.value AS root FROM conversations c JOIN turns t ON t.conversation = c.id
       JOIN facets f ON f.turn = t.id AND f.key = 'tree' WHERE c.name = ? ORDER BY t.turn DESC LIMIT 1`,
    )
    .get(conversation)
  return row === undefined ? undefined : String(row.root)
}

function ofConversations(searched: Searched): Sql {
  const bounds = ofBounds(searched.filter)
  const turns = ofTurns(searched)
  if (turns.text === anyTurn) return { ...bounds, text: `c.at > 0 AND ${bounds.text}` }
  const matching = ['turns', loneForks].map(
    (table) => `SELECT t.conversation FROM ${table} t WHERE ${turns.text}`,
  )
  return {
    text: `c.at > 0 AND ${bounds.text} AND c.id IN (${matching.join(' UNION ALL ')})`,
    values: [...bounds.values, ...turns.values, ...turns.values],
  }
}

/** Forks without an own turn, each as a turn without an end. */
const loneForks = `(SELECT -conversation AS id, conversation, since, since AS until FROM forks f
  WHERE NOT EXISTS (SELECT 1 FROM turns WHERE turns.conversation = f.conversation))`

const anyTurn = 'TRUE'

function ofBounds({ minTokens, minCost }: TurnFilter): Sql {
  return joined([
    ...(minTokens === undefined ? [] : [{ text: 'c.tokens >= ?', values: [minTokens] }]),
    ...(minCost === undefined ? [] : [{ text: 'c.usd >= ?', values: [minCost] }]),
  ])
}

function ofTurns({ filter, table, now }: Searched): Sql {
  const { values, longerThan, since, until } = filter
  return joined([
    ...[...values].map(([key, wanted]) => ({
      text: `t.id IN (SELECT turn FROM facets WHERE key = ? AND value IN (${[...wanted].map(() => '?')}))`,
      values: [key, ...wanted],
    })),
    ...(table === undefined ? [] : [{ text: `t.id IN (SELECT turn FROM ${table})`, values: [] }]),
    ...(longerThan === undefined
      ? []
      : [{ text: 'coalesce(t.until, ?) - t.since > ?', values: [now, longerThan] }]),
    ...(since === undefined
      ? []
      : [{ text: '(t.until IS NULL OR t.until >= ?)', values: [since] }]),
    ...(until === undefined ? [] : [{ text: 't.since < ?', values: [until] }]),
  ])
}

function joined(all: readonly Sql[]): Sql {
  return {
    text: all.length === 0 ? anyTurn : all.map(({ text }) => text).join(' AND '),
    values: all.flatMap(({ values }) => values),
  }
}

type Row = Record<string, unknown>

function summaryOfRow(
  db: DatabaseSync,
  { id, name, at, facts, title, hidden }: Row,
): ConversationSummary {
  const turns = db
    .prepare('SELECT id, turn, question, view FROM turns WHERE conversation = ?')
    .all(Number(id))
  const rounds = db.prepare('SELECT round, input, output FROM entries WHERE turn = ?')
  const isFork = db.prepare('SELECT 1 FROM forks WHERE conversation = ?').get(Number(id))
  return summaryOfViews({
    conversation: String(name),
    isFork: isFork !== undefined,
    at: Number(at),
    title: title === null || hidden === 1 ? undefined : String(title),
    facts: facts ? valueOfText<FactFold>(facts) : undefined,
    turns: new Map(turns.map(({ turn, view }) => [Number(turn), valueOfText<TurnView>(view)])),
    rounds: turns.flatMap(({ id: own, turn, question }) =>
      rounds.all(Number(own)).map(
        ({ round, input, output }): RoundUsage => ({
          turn: Number(turn),
          round: Number(round),
          question: round === 0 && question !== null ? String(question) : undefined,
          usage:
            input === null
              ? undefined
              : {
                  inputTokens: Number(input),
                  outputTokens: Number(output),
                  cacheReadTokens: 0,
                  cacheWriteTokens: 0,
                },
        }),
      ),
    ),
  })
}
