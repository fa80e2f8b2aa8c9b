// The formats of a guest's history, each with its readers. To add a format, write its reader in
// shared/transcript and add it here and to guest-conversation.ts.

import type { Declaration } from '../../shared/contract/messages.ts'
import { WeirError } from '../../shared/lib/errors.ts'
import { isObject } from '../../shared/lib/json/json-object.ts'
import { alternatives, shown } from '../../shared/settings/mistake.ts'
import { answerOfAiSdk, readAiSdk } from '../../shared/transcript/ai-sdk.ts'
import { answerOfMessages, readAnthropic } from '../../shared/transcript/anthropic.ts'
import { answerOfLangchain, readLangchain } from '../../shared/transcript/langchain.ts'
import { answerOfOpenai, readOpenai } from '../../shared/transcript/openai.ts'
import { itemListNames, readOpenaiAgents } from '../../shared/transcript/openai-agents.ts'
import type { Piece, ReadExchange, ToRead } from '../../shared/transcript/transcript.ts'
import { type GuestFormat, type GuestRequest, guestFormats } from './guest-conversation.ts'

type GuestReader = {
  read(exchange: ToRead, where: string): ReadExchange
  /** The pieces of a finished answer. */
  answer(answer: unknown, where: string): Piece[]
}

const readers: Record<GuestFormat, GuestReader> = {
  anthropic: { read: readAnthropic, answer: answerOfMessages },
  'openai-chat': { read: readOpenai, answer: answerOfOpenai },
  'openai-responses': { read: readOpenai, answer: answerOfOpenai },
  'ai-sdk': { read: readAiSdk, answer: answerOfAiSdk },
  langchain: { read: readLangchain, answer: answerOfLangchain },
  'openai-agents': { read: readOpenaiAgents, answer: answerOfOpenai },
}

/** `tools`: those that the request offers. Undefined: it lists none. */
export type ReadGuestRequest = { pieces: Piece[]; tools: Declaration[] | undefined }

/** Throws `guest.format` with the path into the body. */
export function readRequest({ format, body }: GuestRequest): ReadGuestRequest {
  return named(() => readerOf(format).read({ request: body, answer: undefined }, 'body'))
}

/**
 * The items of a history that is one list in a known place, and the request with the items from a
 * place on. Each item is read without the others. Undefined: the history is in another form.
 */
export function itemsOf({
  format,
  body,
}: GuestRequest): { items: unknown[]; from(place: number): GuestRequest } | undefined {
  if (Array.isArray(body))
    return { items: body, from: (place) => ({ format, body: body.slice(place) }) }
  if (!isObject(body)) return undefined
  const [name, ...others] = listNames.filter((one) => body[one] !== undefined)
  const items = name === undefined ? undefined : body[name]
  if (name === undefined || others.length > 0 || !Array.isArray(items)) return undefined
  return { items, from: (place) => ({ format, body: { ...body, [name]: items.slice(place) } }) }
}

/** The fields in which some format has a history. */
const listNames = [
  ...['messages', 'input', 'prompt', 'originalInput', 'original_input'],
  ...itemListNames,
]

/** Throws `guest.format` with the path into the answer. */
export function readAnswer(format: GuestFormat, answer: unknown): Piece[] {
  return named(() => readerOf(format).answer(answer, 'answer'))
}

function readerOf(format: GuestFormat): GuestReader {
  const reader = Object.hasOwn(readers, format) ? readers[format] : undefined
  if (reader !== undefined) return reader
  throw formatError(`format is ${shown(format)}; must be ${alternatives([...guestFormats])}`)
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
