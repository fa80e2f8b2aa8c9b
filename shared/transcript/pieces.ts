// Pieces that several formats make of their messages, and the reading of an exchange.

import type { Declaration, Usage } from '../contract/messages.ts'
import { isObject, jsonText } from '../lib/json/json-object.ts'
import { finishWord } from './finish-reasons.ts'
import { type Json, listAt, objectAt, textOr } from './json-fields.ts'
import { invalid, type Piece, type ReadExchange, type ToRead } from './transcript.ts'

export function callPiece(id: unknown, name: unknown, sent: string): Piece {
  return { kind: 'call', id: textOr(id), name: textOr(name), arguments: sent }
}

export function leftOut(what: string, where: string): Piece[] {
  return [{ kind: 'left-out', what, where }]
}

/** `usage`: of the answer; other than an object: unknown. */
export function endedPiece(usage: unknown, read: (usage: Json) => Usage, reason: unknown): Piece {
  return {
    kind: 'ended',
    usage: isObject(usage) ? read(usage) : undefined,
    finish: finishWord(reason),
  }
}

/** `provider`: its name in lists of prices; undefined: unknown. */
export function modelPiece(name: string, provider?: string): Piece {
  return { kind: 'model', model: { name, provider } }
}

/** The text of a part, or its type. */
export function partText(part: unknown): string {
  if (!isObject(part)) return jsonText(part)
  return typeof part.text === 'string' ? part.text : `[${jsonText(part.type)}]`
}

/** Texts of one message are one text. */
export function userPieces(pieces: Piece[]): Piece[] {
  const others = pieces.filter(({ kind }) => kind !== 'user')
  const texts = pieces.flatMap((piece) => (piece.kind === 'user' ? [piece.text] : []))
  return texts.length === 0 ? others : [...others, { kind: 'user', text: texts.join('\n\n') }]
}

/** The parts of a format that read an exchange. */
type ExchangeParts = {
  /** The members that can have the list. A list without a body is the first. */
  lists: readonly [string, ...string[]]
  /** The error for a body without one. */
  missing: string
  /** The message of a text in place of the list. Absent: the list must be one. */
  text?(text: string): unknown
  item(value: unknown, where: string): Piece[]
  answer(value: unknown, where: string): Piece[]
  /** Undefined: the request lists no tools. */
  tools(body: Json, where: string): Declaration[] | undefined
}

/** Reads the body of a request, or its list of messages. */
export function exchangeReader({ lists, missing, text, item, answer, tools }: ExchangeParts) {
  return (read: ToRead, where: string): ReadExchange => {
    const { request } = read
    const body = Array.isArray(request) ? { [lists[0]]: request } : objectAt(request, where)
    const name = lists.find((one) => body[one] !== undefined)
    if (name === undefined) throw invalid(where, missing)
    const sent = body[name]
    const list =
      typeof sent === 'string' && text !== undefined
        ? [text(sent)]
        : listAt(sent, `${where} ${name}`)
    return {
      pieces: list.flatMap((one, at) => item(one, `${where} ${name}[${at}]`)),
      answer: read.answer === undefined ? undefined : answer(read.answer, `${where} answer`),
      tools: tools(body, where),
    }
  }
}
