// The sessions of OpenCode: messages with parts, in a database or as `opencode export` prints them. A
// sub-agent is a session that names its parent.

import { isObject, jsonText, objectIn } from '../../lib/json/json-object.ts'
import { argumentTextAt, listAt, objectAt, textAt, textOr } from '../../transcript/json-fields.ts'
import { callPiece, endedPiece, leftOut, modelPiece } from '../../transcript/pieces.ts'
import { recordedMessages, timeOf } from '../../transcript/recorded-messages.ts'
import { type Piece, responseWith } from '../../transcript/transcript.ts'
import type { Json, SessionProgram } from '../format.ts'
import { countOf } from '../token-count.ts'

export const opencode = {
  name: 'opencode',
  session: {
    messages: recordedMessages({
      name: 'opencode',
      list: 'messages',
      title: 'OpenCode',
      item: piecesOfMessage,
    }),
    place: ({ directory, info }) =>
      textOr(directory ?? (isObject(info) ? info.directory : undefined)),
    database: {
      ids: 'select id from session where time_updated >= ? order by time_created, id',
      rows: `select session.id, session.parent_id, session.directory, message.id as message_id, message.data as message,
          part.data as part
        from session join message on message.session_id = session.id
        left join part on part.message_id = message.id
        where session.id = ? order by message.time_created, message.id, part.id`,
      session: sessionOf,
    },
    stored: {
      home: '.local/share',
      variable: 'XDG_DATA_HOME',
      inside: 'opencode',
      file: /^opencode[^/]*\.db$/,
      depth: 0,
    },
  },
} satisfies SessionProgram<'opencode'>

function sessionOf(rows: readonly Json[]): Json {
  const messages = new Map<unknown, { info: unknown; parts: unknown[] }>()
  for (const { message_id: id, message, part } of rows) {
    const known = messages.get(id) ?? { info: objectIn(textOr(message)), parts: [] }
    messages.set(id, known)
    if (typeof part === 'string') known.parts.push(objectIn(part))
  }
  const { id, parent_id: parent, directory } = rows[0] ?? {}
  return {
    sessionID: typeof parent === 'string' ? `${parent}/${id}` : id,
    directory,
    messages: [...messages.values()],
  }
}

function piecesOfMessage(value: unknown, where: string): Piece[] {
  const { info: sent, parts: list } = objectAt(value, where)
  const info = objectAt(sent, `${where}.info`)
  const parts = listAt(list, `${where}.parts`).filter(isObject)
  if (info.role === 'user') return userPieces(parts)
  if (info.summary === true) return leftOut('a summary that the runtime asked for', where)
  const { modelID: model, providerID: provider } = info
  const known = typeof model === 'string' ? [modelPiece(model, textOr(provider))] : []
  return [...known, ...responsePieces(parts, where)]
}

/** A message without a text that the user typed is of the runtime. */
function userPieces(parts: readonly Json[]): Piece[] {
  const texts = parts.filter(({ type }) => type === 'text')
  const typed = texts.filter(({ synthetic }) => synthetic !== true)
  const files = parts.filter(({ type }) => type === 'file')
  const text = [
    ...(typed.length > 0 ? typed : texts).map((part) => textOr(part.text)),
    ...files.map(({ mime }) => `[${textOr(mime)}]`),
  ].join('\n\n')
  return [{ kind: 'user', text, isOfHost: typed.length === 0 && files.length === 0 }]
}

/** A message has the steps of its agent: a response, and the results of its calls. */
function responsePieces(parts: readonly Json[], where: string): Piece[] {
  const pieces: Piece[] = []
  let said: Piece[] = []
  let results: Piece[] = []
  const endStep = () => {
    if (said.length > 0) pieces.push(...responseWith(said), ...results)
    said = []
    results = []
  }
  for (const [at, part] of parts.entries()) {
    const place = `${where}.parts[${at}]`
    switch (part.type) {
      case 'step-start':
        endStep()
        break
      case 'text':
        said.push({ kind: 'text', text: textOr(part.text) })
        break
      case 'reasoning':
        said.push({ kind: 'reasoning', block: part })
        break
      case 'tool': {
        const call = toolPart(part, place)
        said.push(call.call)
        results.push(...call.results)
        break
      }
      case 'step-finish':
        said.push(endedPiece(part.tokens, usageOf, part.reason))
        endStep()
        break
      case 'patch':
      case 'snapshot':
      case 'retry':
      case 'agent':
      case 'compaction':
        break
      default:
        pieces.push(...leftOut(`a part of type ${jsonText(part.type)}`, place))
    }
  }
  endStep()
  return pieces
}

/** The tool `invalid` stands for one that does not exist. A command that fails has an exit code. */
function toolPart(part: Json, where: string): { call: Piece; results: Piece[] } {
  const state = objectAt(part.state, `${where}.state`)
  const { input, status, output, error, metadata, time } = state
  const missing = part.tool === 'invalid' && isObject(input) ? input.tool : undefined
  const id = textAt(part, 'callID', where)
  const call = callPiece(id, missing ?? part.tool, argumentTextAt(input, `${where}.state.input`))
  if (status !== 'completed' && status !== 'error') return { call, results: [] }
  const exitCode = isObject(metadata) ? metadata.exit : undefined
  const hasFailed = typeof exitCode === 'number' && exitCode !== 0
  return {
    call,
    results: [
      {
        kind: 'result',
        id,
        text: textOr(status === 'error' ? error : output),
        isError: status === 'error' || missing !== undefined || hasFailed,
        where,
        ...timeOf(isObject(time) ? time.end : undefined),
      },
    ],
  }
}

function usageOf({ input, output, reasoning, cache }: Json) {
  const { read, write } = isObject(cache) ? cache : {}
  return {
    inputTokens: countOf(input),
    outputTokens: countOf(output) + countOf(reasoning),
    cacheReadTokens: countOf(read),
    cacheWriteTokens: countOf(write),
  }
}
