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
          m.tool_calls, m.tool_name, m.timestamp, m.finish_reason, m.reasoning_content, m.observed, m.compacted,
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

/** A compaction writes the messages that it keeps once more. */
function sessionOf(rows: readonly Json[]): Json {
  const keyOf = ({ role, content, tool_call_id: id, tool_calls: calls }: Json) =>
    JSON.stringify([role, content, id, calls])
  const archived = new Set(rows.filter(({ compacted }) => compacted === 1).map(keyOf))
  const { id, parent, cwd: directory } = rows[0] ?? {}
  return {
    sessionID: typeof parent === 'string' ? `${parent}/${id}` : id,
    directory,
    messages: rows.filter((row) => row.compacted === 1 || !archived.has(keyOf(row))),
  }
}

/** The beginning of a content that is no text. */
const jsonMark = '\0json:'
const summary = /^\[CONTEXT (?:COMPACTION|SUMMARY)\b/

function piecesOfMessage(value: unknown, where: string): Piece[] {
  const row = objectAt(value, where)
  const { content: stored, tool_calls: calls, finish_reason: finish, model, provider } = row
  const text = textOr(stored)
  const content = text.startsWith(jsonMark) ? jsonIn(text.slice(jsonMark.length)) : stored
  if (summary.test(text)) return leftOut('a summary that the runtime asked for', where)
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
