// Reads the requests and answers of guests, in the formats of shared/wire.

import { hostNamed, isHostText } from '../../shared/hosts/hosts.ts'
import { sentArguments } from '../../shared/hosts/rewriting.ts'
import { WeirError } from '../../shared/lib/errors.ts'
import { isObject } from '../../shared/lib/json/json-object.ts'
import { alternatives, kindOf, shown } from '../../shared/settings/mistake.ts'
import { errorAnswer, furtherChoice, notPutTogether } from '../../shared/transcript/json-fields.ts'
import type { Piece, ReadExchange } from '../../shared/transcript/transcript.ts'
import type { TranscriptFormat } from '../../shared/wire/format.ts'
import { formatNamed, formatNames, historyFormats } from '../../shared/wire/formats.ts'
import type {
  AnyGuestAnswer,
  AnyGuestRequest,
  GuestFormat,
  GuestRequest,
  ReadGuestRequest,
} from './guest-conversation.ts'

/** Throws `guest.format` for a request that has neither a format nor pieces. */
export function checkRequest(given: unknown, method: string): void {
  if (isObject(given) && ('format' in given || 'pieces' in given)) return
  throw formatError(
    `${method} needs the request of the agent, such as { format: 'openai-chat', body }, and got ${given === undefined ? 'none' : kindOf(given)}`,
  )
}

/** The request as values. Throws `guest.format` with the path into the body. */
export function readRequest(request: AnyGuestRequest): ReadGuestRequest {
  const { pieces, tools } = 'pieces' in request ? request : readBody(request)
  return { pieces: asSent(pieces, request.host), tools }
}

function readBody({ format, body }: GuestRequest): ReadExchange {
  return named(() => transcriptOf(format).read({ request: body, answer: undefined }, 'body'))
}

/**
 * The pieces with the arguments that the model sent, and with the texts of the host marked. A hook
 * shows its host's object for arguments too.
 */
function asSent(pieces: readonly Piece[], host: string | undefined): readonly Piece[] {
  const rewriting = hostNamed(host)?.rewriting
  return pieces.map((piece) => {
    if (piece.kind === 'user' && isHostText(host, piece.text)) return { ...piece, isOfHost: true }
    return piece.kind === 'call' && rewriting !== undefined
      ? { ...piece, arguments: sentArguments(piece.arguments, rewriting) }
      : piece
  })
}

/**
 * The items of a history that is one list in a known place, and the request with the items from a
 * place on. Each item is read without the others. Undefined: the history is in another form.
 */
export function itemsOf({
  body,
  ...request
}: GuestRequest): { items: unknown[]; from(place: number): GuestRequest } | undefined {
  if (Array.isArray(body))
    return { items: body, from: (place) => ({ ...request, body: body.slice(place) }) }
  if (!isObject(body)) return undefined
  const [name, ...others] = listNames.filter((one) => body[one] !== undefined)
  const items = name === undefined ? undefined : body[name]
  if (name === undefined || others.length > 0 || !Array.isArray(items)) return undefined
  return { items, from: (place) => ({ ...request, body: { ...body, [name]: items.slice(place) } }) }
}

/** The fields in which some format has a history. */
const listNames = [...new Set(historyFormats.flatMap(({ transcript }) => transcript.lists))]

/**
 * Throws `guest.format` with the path into the answer. An answer that cannot be read whole may have
 * calls, and no verdict would name them (R6).
 */
export function readAnswer(answered: AnyGuestAnswer): readonly Piece[] {
  if ('pieces' in answered) return asSent(answered.pieces, answered.request.host)
  const { request, answer } = answered
  const { format, host } = request
  const reader = transcriptOf(format)
  const expected = `must be ${reader.answerName}, whole and parsed`
  if (typeof answer === 'string' || answer === null || typeof answer !== 'object')
    throw formatError(`answer is ${answer === undefined ? 'missing' : kindOf(answer)}; ${expected}`)
  if (answer instanceof Promise) throw formatError(`answer is a promise: await it; ${expected}`)
  const pieces = named(() => reader.answer(answer, 'answer'))
  for (const piece of pieces)
    if (piece.kind === 'left-out' && unreadAnswers.includes(piece.what))
      throw formatError(
        piece.what === furtherChoice
          ? `${piece.where.replace(' ', '.')} is a further choice; Weir judges one answer: request it with n: 1`
          : `${piece.where} is ${piece.what === errorAnswer ? 'an error' : kindOf(answer)}; ${expected}`,
      )
  return asSent(pieces, host)
}

const unreadAnswers: readonly string[] = [notPutTogether, errorAnswer, furtherChoice]

function transcriptOf(name: GuestFormat): TranscriptFormat {
  const format = formatNamed(name as unknown)
  if (format !== undefined) return format.transcript
  throw formatError(`format is ${shown(name)}; must be ${alternatives([...formatNames])}`)
}

export function formatError(text: string): WeirError {
  return new WeirError('guest.format', text)
}

/** The readers name a file, then a path. Their hints name an option of a command. */
function named<T>(read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (error instanceof RangeError) throw formatError('the history is nested too deeply')
    if (!(error instanceof WeirError) || error.code !== 'transcript.invalid') throw error
    throw formatError(
      error.message
        .replace(/^(body|answer) (?=\w+[[:])/, '$1.')
        .replace(/\. Use --format (\w+)$/, (_, name) => `. Use the format of ${name}`),
    )
  }
}

/** Everything that the model reads, for a hash or a size. */
export function contentOf(request: AnyGuestRequest): unknown {
  return 'pieces' in request ? [request.pieces, request.tools] : request.body
}
