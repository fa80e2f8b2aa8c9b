// Gemini's contents: the body of a request, or its list of contents, and the answer.

import type { Declaration } from '../../contract/messages.ts'
import { isObject } from '../../lib/json/json-object.ts'
import { alternatives, shown } from '../../settings/mistake.ts'
import { finishWord } from '../../transcript/finish-reasons.ts'
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
} from '../../transcript/json-fields.ts'
import {
  declarationOf,
  invalid,
  type Piece,
  type ReadExchange,
  responseWith,
  type ToRead,
} from '../../transcript/transcript.ts'
import type { Json } from '../format.ts'
import { member, objectIn, objectsIn } from './members.ts'
import { parametersOf } from './schema.ts'
import { geminiUsage } from './usage.ts'

const expected = 'must be the body of a request to generateContent, or its list of contents'

export function readGemini({ request, answer }: ToRead, where: string): ReadExchange {
  const body: Json = Array.isArray(request) ? { contents: request } : objectAt(request, where)
  const { contents } = body
  if (contents === undefined) throw invalid(where, `has no contents; ${expected}`)
  const list = typeof contents === 'string' ? [contents] : listAt(contents, `${where} contents`)
  return {
    pieces: list.flatMap((content, at) => piecesOfContent(content, `${where} contents[${at}]`)),
    answer: answer === undefined ? undefined : answerOfGemini(answer, `${where} answer`),
    tools: toolsOf(body, where),
  }
}

/** Undefined: the request lists none, or they are in content that the provider keeps. */
function toolsOf(body: Json, where: string): Declaration[] | undefined {
  const { tools } = body
  if (tools === undefined || tools === null) return undefined
  return listAt(tools, `${where} tools`).flatMap((tool, at) => {
    const place = `${where} tools[${at}]`
    return objectsIn(objectAt(tool, place), 'functionDeclarations').map((declaration, n) =>
      declarationOf(
        textAt(declaration, 'name', `${place}.functionDeclarations[${n}]`),
        declaration.description,
        parametersOf(declaration),
      ),
    )
  })
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
      return userPieces(list.flatMap((part, n) => userPiece(...at(part, n))))
    case 'model':
      return responseWith(list.flatMap((part, n) => modelPiece(...at(part, n))))
    default:
      throw invalid(
        `${where}.role`,
        `is ${shown(role)}; must be ${alternatives(['user', 'model', 'function'])}`,
      )
  }
}

/** Texts of one content are one text. One beside results is no new question. */
function userPieces(pieces: Piece[]): Piece[] {
  const results = pieces.filter(({ kind }) => kind !== 'user')
  const texts = pieces.flatMap((piece) => (piece.kind === 'user' ? [piece.text] : []))
  return results.length > 0 || texts.length === 0
    ? results
    : [{ kind: 'user', text: texts.join('\n\n') }]
}

function userPiece(part: Json, where: string): Piece[] {
  const response = objectIn(part, 'functionResponse')
  if (response !== undefined) return [resultOf(response, where)]
  if (typeof part.text === 'string') return [{ kind: 'user', text: part.text }]
  const data = objectIn(part, 'inlineData') ?? objectIn(part, 'fileData')
  if (data === undefined) return []
  return [{ kind: 'user', text: `[${String(member(data, 'mimeType') ?? 'file')}]` }]
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
      {
        kind: 'call',
        id: typeof call.id === 'string' ? call.id : '',
        name: textAt(call, 'name', `${where}.functionCall`),
        arguments: jsonTextOf(call.args),
      },
    ]
  if (part.thought === true) return [{ kind: 'reasoning', block: part }]
  if (typeof part.text === 'string')
    return part.text === '' ? [] : [{ kind: 'text', text: part.text }]
  const kinds = ['executableCode', 'codeExecutionResult', 'toolCall', 'toolResponse']
  if (kinds.some((kind) => member(part, kind) !== undefined))
    return [{ kind: 'left-out', what: 'a tool that the provider ran', where }]
  const [name = 'nothing'] = Object.keys(part)
  return name === 'thoughtSignature'
    ? []
    : [{ kind: 'left-out', what: `a part with ${name}`, where }]
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
  if (!isObject(chunk)) return [{ kind: 'left-out', what: notPutTogether, where }]
  if (isObject(chunk.error)) return [{ kind: 'left-out', what: errorAnswer, where }]
  if (Array.isArray(chunk.parts)) return piecesOfContent({ role: 'model', ...chunk }, where)
  const feedback = objectIn(chunk, 'promptFeedback')
  if (!Array.isArray(chunk.candidates) && feedback === undefined)
    return [{ kind: 'left-out', what: notPutTogether, where }]
  const [first, ...others] = objectsIn(chunk, 'candidates')
  const content = isObject(first?.content) ? first.content : {}
  const usage = objectIn(chunk, 'usageMetadata')
  return [
    ...piecesOfContent({ parts: [], ...content, role: 'model' }, `${where} candidates[0].content`),
    {
      kind: 'ended',
      usage: usage && geminiUsage(usage),
      finish: finishWord(
        first === undefined
          ? feedback && member(feedback, 'blockReason')
          : member(first, 'finishReason'),
      ),
    },
    ...others.map(
      (_, at): Piece => ({
        kind: 'left-out',
        what: furtherChoice,
        where: `${where} candidates[${at + 1}]`,
      }),
    ),
  ]
}
