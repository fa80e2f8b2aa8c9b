// The texts of a record, each with its place and its tool, for the rules of a redaction.

import type { Message, Part, PartEvent } from '../../contract/messages.ts'
import type { RedactionPlace } from './redaction-rule.ts'

/** `tool` undefined: unknown, so it can be any. '': none. */
export type RecordText = { place: RedactionPlace; tool: string | undefined; text: string }

/** The names of the tools of calls, by their ordinals. */
export type Tools = ReadonlyMap<unknown, string>

/**
 * The texts of a record outside streams. `tools`: the known tools of the round. `tool`: the tool of
 * the enclosing call.
 */
export function* textsIn(
  value: unknown,
  tools: Tools,
  tool: string | undefined = '',
): Generator<RecordText> {
  if (Array.isArray(value)) for (const one of value) yield* textsIn(one, tools, tool)
  if (
    typeof value !== 'object' ||
    value === null ||
    Array.isArray(value) ||
    value instanceof Uint8Array
  )
    return
  const fields = value as Record<string, unknown>
  const own =
    'ordinal' in fields ? (tools.get(fields.ordinal) ?? (fields.name as string | undefined)) : tool
  for (const [name, field] of Object.entries(fields)) {
    const place = typeof field === 'string' ? placeOf(name, fields) : undefined
    if (typeof field !== 'string') yield* textsIn(field, tools, own)
    else if (place !== undefined) yield { place, tool: own, text: field }
  }
}

/** The tools in a record with the calls of its round. */
export function toolsIn(message: Message): Tools {
  const { calls, response } = message as { calls?: unknown; response?: unknown }
  const list = calls ?? (response as { calls?: unknown } | null | undefined)?.calls
  return new Map(Array.isArray(list) ? list.map(({ ordinal, name }) => [ordinal, name]) : [])
}

/** `shown`: as the history of a guest has them. */
const argumentFields = new Set(['raw', 'arguments', 'sent', 'shown'])

function placeOf(name: string, fields: Record<string, unknown>): RedactionPlace | undefined {
  if (argumentFields.has(name)) return 'arguments'
  if (name === 'values' || name === 'title') return 'user'
  if (name === 'reasoning') return 'reasoning'
  if (name === 'user' || ((name === 'system' || name === 'context') && 'policy' in fields))
    return 'user'
  if (name === 'reply') return 'text'
  if (name === 'result') return 'results'
  if (name !== 'text') return undefined
  if ('status' in fields) return 'results'
  if ('throughTurn' in fields) return 'text'
  if ('messageId' in fields) return 'user'
  return 'calls' in fields ? 'text' : undefined
}

// ── Streams ──

/** Kinds whose texts are pieces of one text. Any other text is complete. */
const pieces = new Set<PartEvent['kind']>([
  'text',
  'refusal',
  'reasoning',
  'call_arguments',
  'call_piece',
  'call_piece_beside',
])

/** The place of an event's text; null: no particular one. */
const placeOfKind: Record<PartEvent['kind'], RedactionPlace | null> = {
  text: 'text',
  refusal: 'text',
  reasoning: 'reasoning',
  reasoning_block: 'reasoning',
  call_start: 'arguments',
  call_whole: 'arguments',
  call_arguments: 'arguments',
  call_done: 'arguments',
  call_piece: 'arguments',
  call_piece_beside: 'arguments',
  call_end: null,
  call_extra: null,
  call_free_text: null,
  error: null,
  kept_apart: null,
  provider_said: null,
}

/** One text of one attempt. `isPieces`: it was streamed in pieces and can be truncated. */
export type Stream = {
  place: RedactionPlace | null
  tool: string | undefined
  text: string
  isPieces: boolean
}

/** The streams in the parts of one round, in the order of the log. */
export function streamsOf(parts: readonly Part[]): Map<string, Stream> {
  const streams = new Map<string, Stream>()
  const tools = new Map<string, string>()
  for (const part of parts)
    for (const event of part.events) {
      const call = `${part.attempt} ${event.index}`
      if (event.name !== null && event.kind !== 'call_extra')
        tools.set(call, (tools.get(call) ?? '') + event.name)
      const key = streamOf(part, event)
      const isPieces = pieces.has(event.kind)
      const text = isPieces ? (streams.get(key)?.text ?? '') + event.text : event.text
      const place = placeOfKind[event.kind]
      streams.set(key, {
        place,
        tool: place === 'arguments' ? tools.get(call) : '',
        text,
        isPieces,
      })
    }
  return streams
}

/** The key of an event's stream. */
export function streamOf({ attempt }: Part, { kind, index, text }: PartEvent): string {
  const one = kind === 'call_piece_beside' ? 'call_piece' : kind
  return pieces.has(kind)
    ? `${attempt} ${one} ${index}`
    : `${attempt} ${one} ${index} whole ${text}`
}

/** The event with its stream's text from `texts`. The first piece holds the whole text. */
export function once(part: Part, event: PartEvent, texts: Map<string, string>): PartEvent {
  const stream = streamOf(part, event)
  const text = texts.get(stream) ?? ''
  if (pieces.has(event.kind)) texts.set(stream, '')
  return { ...event, text }
}
