// The sessions of Gemini CLI: one JSON object with all messages, or lines. A later line replaces the
// message with its id, takes messages back, or replaces all of them.

import { isObject, jsonText } from '../../lib/json/json-object.ts'
import {
  argumentTextAt,
  jsonTextOf,
  listAt,
  objectAt,
  textOr,
} from '../../transcript/json-fields.ts'
import { callPiece, leftOut, modelPiece } from '../../transcript/pieces.ts'
import { recordedMessages, timeOf } from '../../transcript/recorded-messages.ts'
import { type Piece, responseWith } from '../../transcript/transcript.ts'
import type { Json, SessionProgram } from '../format.ts'
import { piecesOfContent } from '../gemini/history.ts'
import { geminiUsage } from '../gemini/usage.ts'

export const geminiCli = {
  name: 'gemini-cli',
  session: {
    messages: recordedMessages({
      name: 'gemini-cli',
      list: 'messages',
      title: 'Gemini CLI',
      item: piecesOfMessage,
    }),
    joined,
    place: ({ projectHash }) => textOr(projectHash),
    stored: {
      home: '',
      variable: 'GEMINI_CLI_HOME',
      inside: '.gemini/tmp',
      file: /\/chats\/.*\.jsonl?$/,
      depth: 3,
    },
  },
} satisfies SessionProgram<'gemini-cli'>

/** The file of a sub-agent stands in a folder with the id of its session. */
function joined(lines: readonly Json[], folder: string): Json | undefined {
  const [head] = lines
  if (typeof head?.sessionId !== 'string' || typeof head.projectHash !== 'string') return undefined
  let messages = new Map<unknown, Json>()
  for (const line of lines) {
    const { $rewindTo: back, $set: set, id } = line
    const all = isObject(set) ? set.messages : line.messages
    if (typeof back === 'string') messages = before(messages, back)
    else if (Array.isArray(all))
      messages = new Map(all.filter(isObject).map((one) => [one.id, one]))
    else if (typeof id === 'string') messages.set(id, line)
  }
  const { sessionId, kind } = head
  const name = kind === 'subagent' ? `${folder}/${sessionId}` : sessionId
  return { ...head, sessionId: name, messages: [...messages.values()] }
}

/** An id that is not there takes all messages back. */
function before(messages: ReadonlyMap<unknown, Json>, id: string): Map<unknown, Json> {
  const at = [...messages.keys()].indexOf(id)
  return new Map([...messages].slice(0, Math.max(0, at)))
}

function piecesOfMessage(value: unknown, where: string): Piece[] {
  const message = objectAt(value, where)
  const { type, content } = message
  const parts = partsOf(content)
  switch (type) {
    case 'user':
      return piecesOfContent({ role: 'user', parts }, where).filter(
        (piece) => piece.kind !== 'user' || !isOfHost(piece.text),
      )
    case 'gemini':
      return responsePieces(message, parts, where)
    case 'info':
    case 'warning':
    case 'error':
      return []
    default:
      return leftOut(`a message of type ${jsonText(type)}`, where)
  }
}

/** A text, a part, or a list of both. */
function partsOf(content: unknown): unknown[] {
  if (Array.isArray(content)) return content
  return content === undefined || content === '' ? [] : [content]
}

/** Commands of the program, and texts that it puts into the history. */
function isOfHost(text: string): boolean {
  return /^\s*($|[/?]|<(session|hook)_context>)/.test(text)
}

/** The calls stand next to the content, and in some sessions in it too. */
function responsePieces(message: Json, parts: unknown[], where: string): Piece[] {
  const { thoughts, toolCalls, tokens, model } = message
  const calls = listAt(toolCalls ?? [], `${where}.toolCalls`).map((call, at) =>
    objectAt(call, `${where}.toolCalls[${at}]`),
  )
  const said = piecesOfContent({ role: 'model', parts }, where)
  return [
    ...(typeof model === 'string' ? [modelPiece(model, 'google')] : []),
    ...responseWith([
      ...(Array.isArray(thoughts) ? thoughts : []).map(
        (block): Piece => ({ kind: 'reasoning', block }),
      ),
      ...said.filter(({ kind }) => kind !== 'call' || calls.length === 0),
      ...calls.map(({ id, name, args }) => callPiece(id, name, argumentTextAt(args, where))),
      ...(isObject(tokens) ? [endedOf(tokens)] : []),
    ]),
    ...calls.flatMap((call, at) => resultOf(call, `${where}.toolCalls[${at}]`)),
  ]
}

function endedOf({ input, output, cached, thoughts, tool }: Json): Piece {
  const usage = geminiUsage({
    promptTokenCount: input,
    candidatesTokenCount: output,
    cachedContentTokenCount: cached,
    thoughtsTokenCount: thoughts,
    toolUsePromptTokenCount: tool,
  })
  return { kind: 'ended', usage, finish: '' }
}

/** The list can have the results of all calls of its response. */
function resultOf(call: Json, where: string): Piece[] {
  const { id, name, result, status, timestamp } = call
  if (result === undefined || result === null) return []
  const isError = status === 'error' || status === 'cancelled'
  const time = timeOf(timestamp)
  if (!Array.isArray(result))
    return [
      {
        kind: 'result',
        id: jsonText(id),
        name: jsonText(name),
        text: jsonTextOf(result),
        isError,
        where,
        ...time,
      },
    ]
  return piecesOfContent({ role: 'user', parts: result }, where).flatMap((piece) =>
    piece.kind === 'result' && (piece.id === id || piece.id === '')
      ? [{ ...piece, ...time, id: jsonText(id), isError: isError || piece.isError }]
      : [],
  )
}
