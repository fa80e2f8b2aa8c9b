// Replaces what rules name in the contents of records. In two passes over the same records: learn,
// which finds; redact, which replaces.
// REDACTION-1. What a rule finds in one place is replaced in all texts of the bundle: an argument
//     comes again in an error, in an intervention, in the reply.
// REDACTION-2. Equal values get equal replacements, so loops stay loops. They are made with a key
//     of their own for each bundle, so nobody can try values out; nor on digests of arguments,
//     which get others for the same reason.
// REDACTION-3. What cannot be read cannot be redacted, and is left out; arguments in which a
//     pointer cannot be followed, because they were cut or are no JSON, are a value as a whole.
//     Ids, names of tools and kinds are never touched.
// REDACTION-4. The parts of a stream cut a text anywhere, so those of an attempt are redacted as
//     one text, and it all stands in the first of them.
// REDACTION-5. A text is redacted within each string of the JSON in it, and then as a whole: a
//     secret may be spelled with escapes, and may be a piece of JSON.
// REDACTION-6. All values must be known before the first is replaced (REDACTION-1), so they are
//     kept in memory; more than fit are an error, which names the rule.

import { createHmac, randomBytes } from 'node:crypto'
import { encode } from '../../../shared/codec/codec.ts'
import type { DeadLetter, Message, Part } from '../../../shared/contract/messages.ts'
import { WeirError } from '../../../shared/lib/errors.ts'
import { matchesPattern } from '../../../shared/runtime/guards/tool-pattern.ts'
import { messageOf } from '../../history/message-of.ts'
import {
  beginsLikeJson,
  changedStrings,
  parsedJson,
  parsedPiece,
  quotedIn,
} from './json-strings.ts'
import { gatherKnownValues } from './known-values.ts'
import type { RedactionRule } from './redaction-rules.ts'
import { once, type Said, saidIn, streamsOf, type Tools, toolsIn } from './said.ts'

export type Redaction = {
  learn(message: Message): void
  /**
   * All parts of one round, in the order of the log: what a broken attempt said stands nowhere
   * else.
   */
  learnParts(parts: readonly Part[]): void
  /** Undefined: it cannot be read, and must be left out (REDACTION-3). */
  redact(message: Message): Message | undefined
  /** As learnParts (REDACTION-4). */
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

/** Well below what Node keeps without further ado, also at two bytes for a character. */
const knownBytesMax = 512 * 1024 * 1024

/** Whose tools are remembered. Of an older one every rule for a tool counts. */
const roundsMax = 50_000

type PatternRule = RedactionRule & { pattern: RegExp }

/**
 * `bytesMax`: of all values in all spellings, and of their replacements. Throws `usage` where rules
 * find more.
 */
export function createRedaction(
  rules: RedactionRule[],
  {
    secret = randomBytes(32),
    bytesMax = knownBytesMax,
  }: { secret?: Uint8Array; bytesMax?: number } = {},
): Redaction {
  const known = gatherKnownValues()
  const madeShape = new RegExp(madeSource(rules), 'gu')
  const everywhere = rules
    .filter((rule): rule is PatternRule => isEverywhere(rule))
    .map((rule) => ({ rule, orMade: orMade(rules, rule) }))
  const inPlaces = rules.filter((rule) => !isEverywhere(rule))
  const made = new Set<string>()
  const tools = new Map<string, Tools>()

  function keyed(value: string): string {
    return createHmac('sha256', secret).update(value).digest('hex')
  }

  /** In the place of an approval's, which is made of the arguments. */
  function otherId(id: string): string {
    return keyed(id).replace(/^(.{4})(.{4})(.{4}).*$/s, '$1-$2-$3')
  }

  function replacementFor(rule: RedactionRule, value: string): string {
    const { name, replace } = rule
    if (value === '') return ''
    if (known.bytes + made.size * 100 > bytesMax) throw tooMuch(rule)
    if (replace === 'length')
      return 'x'.repeat(2 ** Math.ceil(Math.log2(Math.max(4, value.length))))
    const pseudonym = `${name}-${keyed(value).slice(0, 12)}`
    made.add(pseudonym)
    return pseudonym
  }

  /** Results name no tool: the calls of their round do, in the record before. */
  function toolsOf(message: Message): Tools {
    if (!('round' in message)) return new Map()
    const round = JSON.stringify([message.conversation, message.turn, message.round])
    const own = toolsIn(message)
    const [oldest] = tools.keys()
    if (own.size > 0) tools.set(round, own)
    if (tools.size > roundsMax && oldest !== undefined) tools.delete(oldest)
    return tools.get(round) ?? own
  }

  function learnValue(rule: RedactionRule, value: string): void {
    if (value.trim() === '') return
    const replacement = replacementFor(rule, value)
    for (const spelling of spellingsOf(value)) known.add(spelling, replacement)
  }

  function learnFrom({ place, tool, text }: Said): void {
    for (const rule of inPlaces) {
      if (rule.in !== undefined && !rule.in.has(place)) continue
      if (rule.tool !== undefined && tool !== undefined && !matchesPattern(rule.tool, tool))
        continue
      if (rule.pattern !== undefined)
        for (const found of matchesIn(text, rule.pattern)) learnValue(rule, found)
      if (rule.pointer !== undefined && (place === 'arguments' || place === 'results')) {
        for (const found of valuesSaid(text, rule.pointer, place === 'arguments'))
          learnValue(rule, found)
      }
    }
  }

  function redactPlain(text: string, isCut: boolean): string {
    let left = ''
    let from = 0
    for (const { 0: found, index } of made.size === 0 ? [] : text.matchAll(madeShape))
      if (made.has(found)) {
        left += known.replacedIn(text.slice(from, index), false) + found
        from = index + found.length
      }
    left += known.replacedIn(text.slice(from), isCut)
    return everywhere.reduce(
      (rest, { rule, orMade }) =>
        rest.replaceAll(orMade, (value) =>
          made.has(value) ? value : replacedByPattern(value, rule),
        ),
      left,
    )
  }

  /** What only looks like a replacement is as any other text. */
  function replacedByPattern(value: string, rule: PatternRule): string {
    if (value.search(madeShape) !== 0) return replacementFor(rule, value)
    return value.replaceAll(rule.pattern, (found) => replacementFor(rule, found))
  }

  /** Keeps REDACTION-5. */
  function redactText(text: string, isCut = false): string {
    return redactPlain(
      changedStrings(text, (leaf) =>
        leaf.length < text.length ? redactText(leaf) : redactPlain(leaf, false),
      ),
      isCut,
    )
  }

  function redactFields(value: unknown, skipped: string): unknown {
    if (Array.isArray(value)) return value.map((one) => redactFields(one, skipped))
    if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return value
    const isOfApproval = approvalIdIn(value) !== undefined
    return Object.fromEntries(
      Object.entries(value).map(([name, field]) => {
        if (typeof field !== 'string' || name === skipped)
          return [name, redactFields(field, skipped)]
        if (isDigest(name, field) || (isOfApproval && name === 'hash'))
          return [name, keyed(field).slice(0, field.length)]
        if (isOfApproval && name === 'id') return [name, otherId(field)]
        return [name, contentFields.has(name) ? redactText(field) : field]
      }),
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
      if (inside?.type === 'part') redaction.learnParts([inside])
      else if (inside !== undefined)
        for (const said of saidIn(inside, toolsOf(inside))) learnFrom(said)
      for (const id of inside === undefined ? [] : approvalIdsIn(inside)) known.add(id, otherId(id))
    },

    learnParts(parts) {
      for (const { place, tool, text } of streamsOf(parts).values())
        if (place !== null && text !== '') learnFrom({ place, tool, text })
    },

    redact(message) {
      if (message.type === 'dead-letter') return redactLetter(message)
      return message.type === 'part'
        ? redaction.redactParts([message])[0]
        : (redactFields(message, '') as Message)
    },

    redactParts(parts) {
      const texts = new Map<string, string>()
      for (const [stream, { text, isPieces }] of streamsOf(parts))
        texts.set(stream, redactText(text, isPieces))
      return parts.map((part) => ({
        ...part,
        events: part.events.map((event) => once(part, event, texts)),
      }))
    },
  }
  return redaction
}

/** Of an approval, or of what says something of one (services/approval/approval.ts). */
function approvalIdIn(value: object): string | undefined {
  const { id, raw } = value as { id?: unknown; raw?: unknown }
  return 'ordinal' in value &&
    raw === undefined &&
    typeof id === 'string' &&
    /^[0-9a-z]{4}-[0-9a-z]{4}-[0-9a-z]{4}$/.test(id)
    ? id
    : undefined
}

function approvalIdsIn(message: Message): string[] {
  const all = [message, ...('calls' in message ? message.calls : [])]
  return all.flatMap((one) => approvalIdIn(one) ?? [])
}

function tooMuch({ name }: RedactionRule): WeirError {
  return new WeirError(
    'usage',
    `--redact: with what the rule ${name} finds there is more to replace than can be kept in mind: narrow that rule, or export less at once (--conversation, --since, --until)`,
  )
}

function isEverywhere({ pattern, in: places, tool }: RedactionRule): boolean {
  return pattern !== undefined && places === undefined && tool === undefined
}

/**
 * What replacements look like, so that none is replaced again: two passes go over the strings of
 * JSON.
 */
function madeSource(rules: RedactionRule[]): string {
  return `(?:${rules.map(({ name }) => name).join('|')})-[0-9a-f]{12}`
}

function orMade(rules: RedactionRule[], { pattern }: PatternRule): RegExp {
  return new RegExp(`${madeSource(rules)}|(?:${pattern.source})`, 'gu')
}

/** Within the strings of JSON as well as across them (REDACTION-5). */
function matchesIn(text: string, pattern: RegExp): Set<string> {
  const found = new Set<string>()
  const look = (leaf: string): string => {
    for (const [match] of leaf.matchAll(pattern)) found.add(match)
    return changedStrings(leaf, (inner) => (inner.length < leaf.length ? look(inner) : inner))
  }
  look(text)
  return found
}

/** As it stands in a text: as it is, in JSON, in JSON within JSON, and in an address. */
function spellingsOf(value: string): Set<string> {
  const inJson = (text: string) => JSON.stringify(text).slice(1, -1)
  const once = inJson(value)
  const inAddress = encodeURIComponent(value.toWellFormed())
  return new Set([
    value,
    once,
    inJson(once),
    inJson(inJson(once)),
    inAddress,
    inAddress.replaceAll('%20', '+'),
  ])
}

/**
 * The key of an intervention: a digest of what came back (services/loop-detector/fingerprint.ts).
 */
function isDigest(name: string, field: string): boolean {
  return name === 'key' && /^[0-9a-f]{32}$/.test(field)
}

/** Keeps REDACTION-3. `isMeant`: the text should have been JSON. */
function valuesSaid(text: string, pointer: string[], isMeant: boolean): string[] {
  const value = parsedJson(text) ?? parsedPiece(text)
  if (value !== undefined) return valuesAt(value, pointer)
  if (beginsLikeJson(text) || (isMeant && text.includes('"')))
    return quotedIn(text).filter(({ length }) => length >= unreadableMin)
  return isMeant && text.length >= unreadableMin && !/^\s*(?:null|true|false)\s*$/.test(text)
    ? [text]
    : []
}

/** Shorter ones would be found everywhere. */
const unreadableMin = 4

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
