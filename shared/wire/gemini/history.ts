// Gemini's contents: the body of a request, or its list of contents, and the answer.

import type { Declaration } from '../../contract/messages.ts'
import { isObject, jsonText } from '../../lib/json/json-object.ts'
import { alternatives, shown } from '../../settings/mistake.ts'
import {
  errorAnswer,
  furtherChoice,
  isPlain,
  jsonTextOf,
  listAt,
  notPutTogether,
  objectAt,
  readsAsError,
  textAt,
  toolsAt,
} from '../../transcript/json-fields.ts'
import {
  callPiece,
  endedPiece,
  exchangeReader,
  leftOut,
  userPieces,
} from '../../transcript/pieces.ts'
import { declarationOf, invalid, type Piece, responseWith } from '../../transcript/transcript.ts'
import type { Json } from '../format.ts'
import { member, objectIn, objectsIn } from './members.ts'
import { parametersOf } from './schema.ts'
import { geminiUsage } from './usage.ts'

export const readGemini = exchangeReader({
  lists: ['contents'],
  missing:
    'has no contents; must be the body of a request to generateContent, or its list of contents',
  text: (content) => content,
  item: piecesOfContent,
  answer: answerOfGemini,
  tools: toolsOf,
})

/** Undefined: the request lists none, or they are in content that the provider keeps. */
function toolsOf(body: Json, where: string): Declaration[] | undefined {
  return toolsAt(body.tools, where, (tool, place) =>
    objectsIn(objectAt(tool, place), 'functionDeclarations').map((declaration, n) =>
      declarationOf(
        textAt(declaration, 'name', `${place}.functionDeclarations[${n}]`),
        declaration.description,
        parametersOf(declaration),
      ),
    ),
  )
}

/** A content. SDKs take a text or a part in its place. */
export function piecesOfContent(value: unknown, where: string): Piece[] {
  if (typeof value === 'string') return [{ kind: 'user', text: value }]
  const content = objectAt(value, where)
  const { role = 'user', parts = [content] } = content
  const list = listAt(parts, `${where}.parts`)
  const at = (part: unknown, n: number): [Json, string] => {
    const place = `${where}.parts[${n}]`
    return [typeof part === 'string' ? { text: part } : objectAt(part, place), place]
  }
  switch (role) {
    case 'system':
      return []
    case 'user':
    case 'function':
    case 'tool':
      return textsOrResults(list.flatMap((part, n) => userPiece(...at(part, n))))
    case 'model':
      return responseWith(list.flatMap((part, n) => modelPiece(...at(part, n))))
    default:
      throw invalid(
        `${where}.role`,
        `is ${shown(role)}; must be ${alternatives(['user', 'model', 'function'])}`,
      )
  }
}

/** A text next to results is no new question. */
function textsOrResults(pieces: Piece[]): Piece[] {
  const results = pieces.filter(({ kind }) => kind !== 'user')
  return results.length > 0 ? results : userPieces(pieces)
}

function userPiece(part: Json, where: string): Piece[] {
  const response = objectIn(part, 'functionResponse')
  if (response !== undefined) return [resultOf(response, where)]
  if (typeof part.text === 'string') return [{ kind: 'user', text: part.text }]
  const data = objectIn(part, 'inlineData') ?? objectIn(part, 'fileData')
  if (data === undefined) return []
  return [{ kind: 'user', text: `[${jsonText(member(data, 'mimeType') ?? 'file')}]` }]
}

function resultOf(given: Json, where: string): Piece {
  const response = isObject(given.response) ? given.response : {}
  const failure = response.error ?? undefined
  const output = outputIn(response)
  const text = jsonTextOf(failure ?? output)
  return {
    kind: 'result',
    id: typeof given.id === 'string' ? given.id : '',
    name: typeof given.name === 'string' ? given.name : '',
    text,
    isError: failure !== undefined || (output === response && readsAsError(text)),
    where,
  }
}

/** SDKs name the output `output` or `result`. Without either, the whole object is the output. */
function outputIn(response: Json): unknown {
  const names = Object.keys(response)
  const [name] = names
  return names.length === 1 && (name === 'output' || name === 'result') ? response[name] : response
}

function modelPiece(part: Json, where: string): Piece[] {
  const call = objectIn(part, 'functionCall')
  if (call !== undefined)
    return [
      callPiece(call.id, textAt(call, 'name', `${where}.functionCall`), jsonTextOf(call.args)),
    ]
  if (part.thought === true) return [{ kind: 'reasoning', block: part }]
  if (typeof part.text === 'string')
    return part.text === '' ? [] : [{ kind: 'text', text: part.text }]
  const kinds = ['executableCode', 'codeExecutionResult', 'toolCall', 'toolResponse']
  if (kinds.some((kind) => member(part, kind) !== undefined))
    return leftOut('a tool that the provider ran', where)
  const [name = 'nothing'] = Object.keys(part)
  return name === 'thoughtSignature' ? [] : leftOut(`a part with ${name}`, where)
}

/** A response, the responses of a stream, or a content. */
export function answerOfGemini(value: unknown, where: string): Piece[] {
  if (isPlain(value)) return responseWith([{ kind: 'text', text: value }])
  const chunks = Array.isArray(value) ? value : [value]
  const pieces = chunks.flatMap((chunk, at) =>
    chunkPieces(chunk, Array.isArray(value) ? `${where}[${at}]` : where),
  )
  return responseWith(pieces)
}

function chunkPieces(chunk: unknown, where: string): Piece[] {
  if (!isObject(chunk)) return leftOut(notPutTogether, where)
  if (isObject(chunk.error)) return leftOut(errorAnswer, where)
  if (Array.isArray(chunk.parts)) return piecesOfContent({ role: 'model', ...chunk }, where)
  const feedback = objectIn(chunk, 'promptFeedback')
  if (!Array.isArray(chunk.candidates) && feedback === undefined)
    return leftOut(notPutTogether, where)
  const [first, ...others] = objectsIn(chunk, 'candidates')
  const content = isObject(first?.content) ? first.content : {}
  return [
    ...piecesOfContent({ parts: [], ...content, role: 'model' }, `${where} candidates[0].content`),
    endedPiece(
      objectIn(chunk, 'usageMetadata'),
      geminiUsage,
      first === undefined
        ? feedback && member(feedback, 'blockReason')
        : member(first, 'finishReason'),
    ),
    ...others.flatMap((_, at) => leftOut(furtherChoice, `${where} candidates[${at + 1}]`)),
  ]
}
