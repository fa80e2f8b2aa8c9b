// The sessions of OpenClaw: an event for each message, in the database of an agent, or as lines of older
// versions. Events are a tree: its last leaf is the conversation that counts.

import { isObject, jsonText, objectIn } from '../../lib/json/json-object.ts'
import {
  argumentTextAt,
  type Json,
  listAt,
  objectAt,
  textAt,
  textOr,
} from '../../transcript/json-fields.ts'
import { callPiece, endedPiece, leftOut, modelPiece, partText } from '../../transcript/pieces.ts'
import { recordedMessages, timeOf } from '../../transcript/recorded-messages.ts'
import { type Piece, responseWith } from '../../transcript/transcript.ts'
import type { SessionProgram } from '../format.ts'
import { countOf } from '../token-count.ts'

export const openclaw = {
  name: 'openclaw',
  session: {
    messages: recordedMessages({
      name: 'openclaw',
      list: 'events',
      title: 'OpenClaw',
      item: piecesOfEvent,
    }),
    joined: (lines) => {
      const [head] = lines
      return head?.type === 'session' && typeof head.id === 'string'
        ? sessionOf(lines, head.id)
        : undefined
    },
    place: ({ cwd }) => textOr(cwd),
    database: {
      ids: `select session_id as id from session_windows where updated_at >= ? order by created_at, session_id`,
      rows: `select e.session_id, e.event_json, e.event_zstd,
          (select p.session_id from session_windows p where p.session_key = coalesce(w.spawned_by, n.spawned_by)
            order by p.created_at desc limit 1) as parent
        from transcript_events e join session_windows w on w.session_id = e.session_id
        left join session_nodes n on n.session_key = w.session_key
        where e.session_id = ? order by e.seq`,
      session: (rows) => {
        const { session_id: id, parent } = rows[0] ?? {}
        const events = rows.map((row) => objectIn(textOr(row.event_json ?? row.event_zstd)) ?? {})
        return sessionOf(events, parent === null ? textOr(id) : `${parent}/${id}`)
      },
    },
    stored: {
      home: '.openclaw',
      variable: 'OPENCLAW_STATE_DIR',
      inside: 'agents',
      file: /^[^/]+\/(?:agent\/openclaw-agent\.sqlite|sessions\/[^/]+\.jsonl)$/,
      depth: 2,
    },
  },
} satisfies SessionProgram<'openclaw'>

function sessionOf(events: readonly Json[], sessionId: string): Json {
  return { sessionId, cwd: events[0]?.cwd, events: ofLastLeaf(events) }
}

/** The events from the root to the last one. All: the tree is broken. */
function ofLastLeaf(events: readonly Json[]): readonly Json[] {
  const parents = new Map(events.map(({ id, parentId }) => [id, parentId]))
  const kept = new Set<unknown>()
  let id = events.at(-1)?.id
  while (typeof id === 'string' && !kept.has(id)) {
    kept.add(id)
    id = parents.get(id)
  }
  return id === null ? events.filter((event) => kept.has(event.id)) : events
}

/** Events without a message for the model, and summaries of the runtime. */
const silent = new Set([
  ...['session', 'session_info', 'model_change', 'thinking_level_change', 'custom'],
  ...['compaction', 'branch_summary', 'reset', 'label', 'leaf'],
])

function piecesOfEvent(value: unknown, where: string): Piece[] {
  const event = objectAt(value, where)
  if (silent.has(textOr(event.type))) return []
  if (event.type !== 'message') return leftOut(`an event of type ${jsonText(event.type)}`, where)
  const message = objectAt(event.message, `${where}.message`)
  switch (message.role) {
    case 'user':
      return [{ kind: 'user', text: contentText(message.content, where) }]
    case 'assistant':
      return responsePieces(message, where)
    case 'toolResult':
      return [resultOf(message, where)]
    default:
      return leftOut(`a message of ${jsonText(message.role)}`, where)
  }
}

function contentText(content: unknown, where: string): string {
  if (typeof content === 'string') return content
  return listAt(content, `${where}.message.content`).map(partText).join('\n\n')
}

function responsePieces(message: Json, where: string): Piece[] {
  const { content, model, provider, usage, stopReason, responseId: id } = message
  const parts = listAt(content, `${where}.message.content`).filter(isObject)
  const pieces = parts.flatMap((part): Piece[] => {
    switch (part.type) {
      case 'text':
        return [{ kind: 'text', text: textOr(part.text) }]
      case 'thinking':
        return [{ kind: 'reasoning', block: part }]
      case 'toolCall':
        return [callPiece(part.id, part.name, argumentTextAt(part.arguments, where))]
      default:
        return leftOut(`a part of type ${jsonText(part.type)}`, where)
    }
  })
  return [
    ...(typeof model === 'string' ? [modelPiece(model, textOr(provider))] : []),
    ...responseWith(
      [...pieces, endedPiece(usage, usageOf, stopReason)],
      typeof id === 'string' ? id : undefined,
    ),
  ]
}

/** A command that fails is a call that succeeds. Its exit code tells the failure. */
function resultOf(message: Json, where: string): Piece {
  const { content, isError, details, timestamp, toolName } = message
  const exitCode = isObject(details) ? details.exitCode : undefined
  const hasFailed = typeof exitCode === 'number' && exitCode !== 0
  return {
    kind: 'result',
    id: textAt(message, 'toolCallId', `${where}.message`),
    name: textOr(toolName),
    text: contentText(content, where),
    isError: isError === true || hasFailed,
    where,
    ...timeOf(timestamp),
  }
}

function usageOf({ input, output, cacheRead, cacheWrite }: Json) {
  return {
    inputTokens: countOf(input),
    outputTokens: countOf(output),
    cacheReadTokens: countOf(cacheRead),
    cacheWriteTokens: countOf(cacheWrite),
  }
}
