// Replaces what rules name in the contents of records. In two passes over the same records: learn, which finds; redact, which replaces.
// X1. What a rule finds in one place is replaced in all texts of the bundle: an argument comes again in an error, in an intervention, in the reply.
// X2. Equal values get equal replacements, so loops stay loops. They are made with a key of their own for each bundle, so nobody can try values out.
// X3. What cannot be read cannot be redacted, and is left out. Ids, names of tools and kinds are never touched.
// X4. The parts of a stream cut a text anywhere, so those of an attempt are redacted as one text, and it all stands in the first of them.

import { createHmac, randomBytes } from 'node:crypto'
import { encode } from '../../../shared/codec.ts'
import { matchesPattern } from '../../../shared/guards/tool-pattern.ts'
import type { DeadLetter, Message, Part, PartEvent } from '../../../shared/messages.ts'
import { messageOf } from '../message-of.ts'
import type { RedactionPlace, RedactionRule } from './redaction-rules.ts'

export type Redaction = {
  learn(message: Message): void
  /** Undefined: it cannot be read, and must be left out (X3). */
  redact(message: Message): Message | undefined
  /** All parts of one round, in the order of the log (X4). */
  redactParts(parts: Part[]): Part[]
}

/** Fields that hold what somebody said, whatever the record. */
const contentFields = new Set([
  'text',
  'user',
  'reply',
  'raw',
  'sent',
  'arguments',
  'reason',
  'note',
  'nudge',
  'reasoning',
  'key',
  'fault',
  'by',
  'evidence',
])

export function createRedaction(rules: RedactionRule[], secret: Uint8Array = randomBytes(32)): Redaction {
  const learned = new Map<string, string>()
  let pattern: RegExp | undefined
  const everywhere = rules.filter((rule) => rule.pattern !== undefined && rule.in === undefined && rule.tool === undefined)
  const inPlaces = rules.filter((rule) => !everywhere.includes(rule))

  function replacementFor({ name, replace }: RedactionRule, value: string): string {
    if (replace === 'length') return 'x'.repeat(2 ** Math.ceil(Math.log2(Math.max(4, value.length))))
    return `${name}-${createHmac('sha256', secret).update(value).digest('hex').slice(0, 12)}`
  }

  function learnValue(rule: RedactionRule, value: string): void {
    if (value.trim() === '') return
    pattern = undefined
    for (const spelling of new Set([value, JSON.stringify(value).slice(1, -1)]))
      if (!learned.has(spelling)) learned.set(spelling, replacementFor(rule, value))
  }

  function learnFrom({ place, tool, text }: Said): void {
    for (const rule of inPlaces) {
      if (rule.in !== undefined && !rule.in.has(place)) continue
      if (rule.tool !== undefined && (tool === undefined || !matchesPattern(rule.tool, tool))) continue
      for (const found of rule.pattern === undefined ? [] : text.matchAll(rule.pattern)) learnValue(rule, found[0])
      if (rule.pointer !== undefined && (place === 'arguments' || place === 'results'))
        for (const value of valuesAt(parsed(text), rule.pointer)) learnValue(rule, value)
    }
  }

  /** The longest first, or a value would be replaced in the middle of another. */
  function knownValues(): RegExp | undefined {
    if (learned.size === 0) return undefined
    const longestFirst = [...learned.keys()].sort((a, b) => b.length - a.length)
    pattern ??= new RegExp(longestFirst.map(patternOf).join('|'), 'gu')
    return pattern
  }

  function redactPlain(text: string): string {
    const known = knownValues()
    const first = known === undefined ? text : text.replaceAll(known, (value) => learned.get(value) ?? value)
    return everywhere.reduce(
      (left, rule) => left.replaceAll(rule.pattern as RegExp, (value) => (value === '' ? '' : replacementFor(rule, value))),
      first,
    )
  }

  /** JSON stays JSON, also where a value is written with other escapes than ours. */
  function redactText(text: string): string {
    const value = parsed(text)
    if (typeof value !== 'object' || value === null) return redactPlain(text)
    let isChanged = false
    const redacted = mapped(value, (leaf) => {
      const after = redactPlain(leaf)
      if (after !== leaf) isChanged = true
      return after
    })
    return isChanged ? JSON.stringify(redacted) : text
  }

  function redactFields(value: unknown, skipped: string): unknown {
    if (Array.isArray(value)) return value.map((one) => redactFields(one, skipped))
    if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return value
    return Object.fromEntries(
      Object.entries(value).map(([name, field]) => [
        name,
        typeof field === 'string' && contentFields.has(name) && name !== skipped ? redactText(field) : redactFields(field, skipped),
      ]),
    )
  }

  function redactLetter(letter: DeadLetter): Message | undefined {
    const inside = messageOf(letter.value)
    const redacted = inside && redaction.redact(inside)
    if (redacted === undefined) return undefined
    return { ...(redactFields(letter, 'key') as DeadLetter), value: encode(redacted) }
  }

  const redaction: Redaction = {
    learn(message) {
      const inside = message.type === 'dead-letter' ? messageOf(message.value) : message
      if (inside !== undefined) for (const said of saidIn(inside)) learnFrom(said)
    },
    redact: (message) => (message.type === 'dead-letter' ? redactLetter(message) : (redactFields(message, '') as Message)),
    redactParts(parts) {
      const seen = new Map<string, string>()
      for (const [stream, text] of streamsOf(parts)) seen.set(stream, redactText(text))
      return parts.map((part) => ({ ...part, events: part.events.map((event) => once(event, streamOf(part, event), seen)) }))
    },
  }
  return redaction
}

/** A short value is no piece of a longer word: or a PIN of one digit would change every number. */
function patternOf(value: string): string {
  const escaped = value.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&')
  return value.length < 4 ? `(?<![\\p{L}\\p{N}])${escaped}(?![\\p{L}\\p{N}])` : escaped
}

type Said = { place: RedactionPlace; tool: string | undefined; text: string }

/** All that was said in a record, with the tool that it was said to or by. */
function* saidIn(value: unknown, tools: ReadonlyMap<unknown, string> = new Map()): Generator<Said> {
  if (Array.isArray(value)) for (const one of value) yield* saidIn(one, tools)
  if (typeof value !== 'object' || value === null || Array.isArray(value) || value instanceof Uint8Array) return
  const fields = value as Record<string, unknown>
  const known = new Map([...tools, ...toolsIn(fields)])
  for (const [name, field] of Object.entries(fields)) {
    if (typeof field === 'string') {
      const place = placeOf(name, fields)
      if (place !== undefined) yield { place, tool: String(fields.name ?? known.get(fields.ordinal) ?? ''), text: field }
    } else yield* saidIn(field, known)
  }
}

function toolsIn({ calls, response }: Record<string, unknown>): [unknown, string][] {
  const list = calls ?? (response as { calls?: unknown } | null | undefined)?.calls
  return Array.isArray(list) ? list.map(({ ordinal, name }) => [ordinal, name]) : []
}

function placeOf(name: string, fields: Record<string, unknown>): RedactionPlace | undefined {
  if (name === 'raw' || name === 'arguments' || name === 'sent') return 'arguments'
  if (name === 'reasoning') return 'reasoning'
  if (name === 'user') return 'user'
  if (name === 'reply') return 'text'
  if (name !== 'text') return undefined
  if ('status' in fields) return 'results'
  return 'messageId' in fields ? 'user' : 'calls' in fields ? 'text' : undefined
}

function valuesAt(value: unknown, [step, ...rest]: string[]): string[] {
  if (step === undefined) return leavesOf(value)
  if (Array.isArray(value) && step === '*') return value.flatMap((one) => valuesAt(one, rest))
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return []
  return valuesAt((value as Record<string, unknown>)[step], rest)
}

function leavesOf(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  if (typeof value === 'number') return [String(value)]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(leavesOf) : []
}

/** Texts and numbers by what `change` makes of them; a number that stays as it is stays a number. */
function mapped(value: unknown, change: (leaf: string) => string): unknown {
  if (typeof value === 'string') return change(value)
  if (typeof value === 'number') {
    const after = change(String(value))
    return after === String(value) ? value : after
  }
  if (Array.isArray(value)) return value.map((one) => mapped(one, change))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, field]) => [key, mapped(field, change)]))
}

/** Undefined: it is no JSON. */
function parsed(text: string): unknown {
  if (!/^\s*[[{]/.test(text)) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Kinds whose texts are pieces of one text; any other stands by itself. */
const pieces = new Set<PartEvent['kind']>(['text', 'refusal', 'reasoning', 'call_arguments', 'call_piece', 'call_piece_beside'])

function streamOf({ attempt }: Part, { kind, index, text }: PartEvent): string {
  const one = kind === 'call_piece_beside' ? 'call_piece' : kind
  return pieces.has(kind) ? `${attempt} ${one} ${index}` : `whole ${text}`
}

function streamsOf(parts: Part[]): Map<string, string> {
  const texts = new Map<string, string>()
  for (const part of parts)
    for (const event of part.events) {
      const stream = streamOf(part, event)
      texts.set(stream, pieces.has(event.kind) ? (texts.get(stream) ?? '') + event.text : event.text)
    }
  return texts
}

/** A text that came in pieces stands whole in the first of them. */
function once(event: PartEvent, stream: string, redacted: Map<string, string>): PartEvent {
  const text = redacted.get(stream) ?? ''
  if (pieces.has(event.kind)) redacted.set(stream, '')
  return { ...event, text }
}
