// The sessions of Hermes: the messages of Chat Completions, in a database. A sub-agent is a session that
// names the one that delegated to it.

import { jsonIn, objectIn } from '../../lib/json/json-object.ts'
import { finishWord } from '../../transcript/finish-reasons.ts'
import { objectAt, textOr } from '../../transcript/json-fields.ts'
import { leftOut, modelPiece } from '../../transcript/pieces.ts'
import { recordedMessages, timeOf } from '../../transcript/recorded-messages.ts'
import type { Piece } from '../../transcript/transcript.ts'
import type { Json, SessionProgram } from '../format.ts'
import { piecesOfMessage as piecesOfChat } from '../openai-chat/history.ts'

export const hermes = {
  name: 'hermes',
  session: {
    messages: recordedMessages({
      name: 'hermes',
      list: 'messages',
      title: 'Hermes',
      item: piecesOfMessage,
    }),
    place: ({ directory }) => textOr(directory),
    database: {
      ids: `select id from sessions where 1000 * max(started_at, coalesce(ended_at, 0), coalesce(
          (select max(timestamp) from messages where session_id = sessions.id), 0)) >= ?
        order by started_at, id`,
      rows: `select s.id, s.cwd, s.model, s.billing_provider as provider, m.role, m.content, m.tool_call_id,
          m.tool_calls, m.tool_name, m.timestamp, m.finish_reason, m.reasoning_content, m.observed,
          case when json_valid(s.model_config) then json_extract(s.model_config, '$._delegate_from') end as parent
        from sessions s join messages m on m.session_id = s.id
        where s.id = ? and (m.active = 1 or m.compacted = 1) order by m.id`,
      session: sessionOf,
    },
    stored: {
      home: '.hermes',
      variable: 'HERMES_HOME',
      inside: '',
      file: /^state\.db$/,
      depth: 0,
    },
  },
} satisfies SessionProgram<'hermes'>

function sessionOf(rows: readonly Json[]): Json {
  const { id, parent, cwd: directory } = rows[0] ?? {}
  return {
    sessionID: typeof parent === 'string' ? `${parent}/${id}` : id,
    directory,
    messages: withoutCopies(rows),
  }
}

/** More messages than a compaction copies from the beginning. */
const headMax = 100

/**
 * A compaction writes the first and the last messages once more: in their order, in front of its
 * summary and after it. The copies end with the last message, so a later equal one is new.
 */
function withoutCopies(rows: readonly Json[]): Json[] {
  const messages: Json[] = []
  /** The messages that the model sees, and whether they are copies. */
  let live: { key: string; isCopy: boolean }[] = []
  /** The messages that the last compaction may still copy. */
  let compacted = orderedKeys([])
  for (const row of rows) {
    const key = keyOf(row)
    if (isSummary(row)) {
      const head = live.splice(live.length - copiedHead(live.map((one) => one.key)))
      messages.length -= head.filter(({ isCopy }) => !isCopy).length
      compacted = orderedKeys(live.map((one) => one.key))
      live = head
    }
    const isCopy = compacted.take(key)
    if (!isCopy) messages.push(row)
    live.push({ key, isCopy })
  }
  return messages
}

/** The number of messages at the end that repeat the beginning. */
function copiedHead(keys: readonly string[]): number {
  for (let head = Math.min(headMax, Math.floor(keys.length / 2)); head > 0; head -= 1) {
    const from = keys.length - head
    if (keys.slice(from).every((key, place) => key === keys[place])) return head
  }
  return 0
}

/** `take`: false: the key is not among those after the last taken one. */
function orderedKeys(keys: readonly string[]): { take(key: string): boolean } {
  const places = Map.groupBy(keys.keys(), (place) => keys[place] as string)
  let next = 0
  return {
    take(key) {
      const own = places.get(key) ?? []
      while (own.length > 0 && (own[0] as number) < next) own.shift()
      const place = own.shift()
      if (place !== undefined) next = place + 1
      return place !== undefined
    },
  }
}

function keyOf({ role, content, tool_call_id: id, tool_calls: calls }: Json): string {
  return JSON.stringify([role, content, id, calls])
}

/** The beginning of a content that is no text. */
const jsonMark = '\0json:'
const summary = /^\[CONTEXT (?:COMPACTION|SUMMARY)\b/

function isSummary({ content }: Json): boolean {
  return summary.test(textOr(content))
}

function piecesOfMessage(value: unknown, where: string): Piece[] {
  const row = objectAt(value, where)
  const { content: stored, tool_calls: calls, finish_reason: finish, model, provider } = row
  const text = textOr(stored)
  const content = text.startsWith(jsonMark) ? jsonIn(text.slice(jsonMark.length)) : stored
  if (isSummary(row)) return leftOut('a summary that the runtime asked for', where)
  const sent = { ...row, content, tool_calls: jsonIn(textOr(calls)) ?? [] }
  const pieces = piecesOfChat(sent, where).map((piece): Piece => {
    if (piece.kind === 'user') return { ...piece, isOfHost: row.observed === 1 }
    return piece.kind === 'result' ? resultOf(piece, row) : piece
  })
  if (row.role !== 'assistant') return pieces
  const named = typeof model === 'string' ? [modelPiece(model, textOr(provider))] : []
  return [...named, ...pieces, { kind: 'ended', usage: undefined, finish: finishWord(finish) }]
}

/** A command that fails is a call that succeeds. Its exit code tells the failure. */
function resultOf(piece: Piece & { kind: 'result' }, { timestamp, tool_name: tool }: Json): Piece {
  const { exit_code: code } = objectIn(piece.text) ?? {}
  const hasFailed = typeof code === 'number' && code !== 0
  const isMissing = tool === null && /^Tool '.*' does not exist\b/.test(piece.text)
  const at = typeof timestamp === 'number' ? timestamp * 1_000 : undefined
  return { ...piece, isError: piece.isError || hasFailed || isMissing, ...timeOf(at) }
}
