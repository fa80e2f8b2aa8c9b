// Replaces values in the contents of records, in two passes over the same records: `learn` finds
// the values, `redact` replaces them. All values are kept in memory, with a limit.
// A value found in one place is replaced in all texts of the bundle, because an
// argument can recur in an error, an intervention or the reply.
// Equal values get equal replacements, so loops stay loops. Each bundle has its own
// secret key, so nobody can guess values. Digests of arguments are replaced too.
// An unreadable record is left out. Arguments that a pointer cannot follow are one
// value. Ids, names of tools and kinds never change.
// The parts of an attempt are redacted as one text, which the first of them holds. A
// stream can be split anywhere.
// Each JSON string within a text is redacted first, then the whole text. A secret can
// contain escapes, or be a piece of JSON.

import type { LetterCodec } from '../../codec/message-of.ts'
import { roundKey } from '../../contract/ids.ts'
import type { Call, DeadLetter, Message, Part } from '../../contract/messages.ts'
import { everything } from '../../contract/redaction/value-pattern.ts'
import { matchesPattern } from '../guards/tool-pattern.ts'
import { visibleText } from './folded-text.ts'
import { beginsLikeJson, parsedJson, parsedPiece, quotedIn } from './json-strings.ts'
import { once, type RecordText, streamsOf, type Tools, textsIn, toolsIn } from './record-texts.ts'
import { isEverywhere, type RedactionRule } from './redaction-rule.ts'
import { createReplacements } from './replacements.ts'
import { matchesIn, redactTextBy } from './text-redaction.ts'

export type Redaction = {
  learn(message: Message): void
  /** The same for the arguments of calls, which a record about their ends does not hold. */
  learnCalls(calls: readonly Pick<Call, 'ordinal' | 'name' | 'raw'>[]): void
  /** All parts of one round, in the order of the log. Only they hold a broken attempt's texts. */
  learnParts(parts: readonly Part[]): void
  /** Undefined: unreadable, so it must be left out. */
  redact(message: Message): Message | undefined
  /** Takes the same parts as learnParts. */
  redactParts(parts: Part[]): Part[]
}

/**
 * Fields with free text, in all records. `title`: of a conversation. `requested`: by a guard, with its
 * text. `rule`: of a waiting call, the same text.
 */
const contentFields = new Set(
  (
    'text title user reply raw sent shown arguments question values result reason note nudge reasoning ' +
    'key fault by evidence requested rule system context'
  ).split(' '),
)

/** Rounds whose tools are remembered. For an older round, every rule for a tool applies. */
const roundsMax = 50_000

/**
 * `bytesMax`: the limit for all values in all spellings and their replacements. Throws `usage` above
 * it, with the rule. `keepsIds`: digests of arguments stay, because people and records name them.
 * `letters`: reads the records in dead letters. Default: a dead letter is left out.
 */
export function createRedaction(
  rules: readonly RedactionRule[],
  {
    keepsIds = false,
    letters,
    ...options
  }: { secret?: Uint8Array; bytesMax?: number; keepsIds?: boolean; letters?: LetterCodec } = {},
): Redaction {
  const replacements = createReplacements(rules, options)
  const redactText = redactTextBy(replacements, rules.filter(isEverywhere))
  // A bundle is read twice. For a record alone the search for spellings would double the time.
  const learned = rules.filter(
    (rule) => !isEverywhere(rule) || (!keepsIds && rule.pattern !== everything),
  )
  const tools = new Map<string, Tools>()

  /** Results do not name their tool. The calls of the round do, in the record before. */
  function toolsOf(message: Message): Tools {
    if (!('round' in message)) return new Map()
    const round = roundKey(message)
    const own = toolsIn(message)
    const [oldest] = tools.keys()
    if (own.size > 0) tools.set(round, own)
    if (tools.size > roundsMax && oldest !== undefined) tools.delete(oldest)
    return tools.get(round) ?? own
  }

  function learnFrom({ place, tool, text }: RecordText): void {
    const visible = visibleText(text)?.text
    for (const rule of learned) {
      if (rule.in !== undefined && !rule.in.has(place)) continue
      if (rule.tool !== undefined && tool !== undefined && !matchesPattern(rule.tool, tool))
        continue
      if (rule.pattern !== undefined)
        for (const one of visible === undefined ? [text] : [text, visible])
          for (const found of matchesIn(one, rule.pattern)) replacements.learn(rule, found)
      if (rule.pointer !== undefined && (place === 'arguments' || place === 'results')) {
        for (const found of valuesSaid(text, rule.pointer, place === 'arguments'))
          replacements.learn(rule, found)
      }
    }
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
          return [name, keepsIds ? field : replacements.digest(field).slice(0, field.length)]
        if (isOfApproval && name === 'id')
          return [name, keepsIds ? field : replacements.ofId(field)]
        return [name, isContent(name, value) ? redactText(field) : field]
      }),
    )
  }

  function redactLetter(letter: DeadLetter): Message | undefined {
    const inside = letters?.messageOf(letter.value)
    const redacted = inside && redaction.redact(inside)
    if (letters === undefined || redacted === undefined) return undefined
    return { ...(redactFields(letter, 'key') as DeadLetter), value: letters.encode(redacted) }
  }

  const redaction: Redaction = {
    learn(message) {
      const inside = message.type === 'dead-letter' ? letters?.messageOf(message.value) : message
      if (inside?.type === 'part') redaction.learnParts([inside])
      else if (inside !== undefined)
        for (const found of textsIn(inside, toolsOf(inside))) learnFrom(found)
      if (inside === undefined || keepsIds) return
      for (const id of approvalIdsIn(inside)) replacements.learnId(id)
    },

    learnCalls(calls) {
      for (const { name, raw } of calls) learnFrom({ place: 'arguments', tool: name, text: raw })
    },

    learnParts(parts) {
      for (const { place, tool, text } of streamsOf(parts).values())
        if (place !== null && text !== '') learnFrom({ place, tool, text })
    },

    redact(message) {
      if (message.type === 'dead-letter') return redactLetter(message)
      if (message.type === 'part') return redaction.redactParts([message])[0]
      // A value can be split between parts. The writer of a bundle has all parts.
      return redactFields('rest' in message ? { ...message, rest: [] } : message, '') as Message
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

/** Whether the field of this name is free text. The name of an image or a file is. */
function isContent(name: string, fields: object): boolean {
  return contentFields.has(name) || (name === 'name' && 'mediaType' in fields)
}

/** The digest of an approval or of a record about one (services/approval/approval.ts). */
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

/** The key of an intervention, a digest of results (services/loop-detector/evidence/fingerprint.ts). */
function isDigest(name: string, field: string): boolean {
  return name === 'key' && /^[0-9a-f]{32}$/.test(field)
}

/** `isMeant`: the text should be JSON. */
function valuesSaid(text: string, pointer: string[], isMeant: boolean): string[] {
  const value = parsedJson(text) ?? parsedPiece(text)
  if (value !== undefined) return valuesAt(value, pointer)
  if (beginsLikeJson(text) || (isMeant && text.includes('"')))
    return quotedIn(text).filter(({ length }) => length >= unreadableMin)
  return isMeant && text.length >= unreadableMin && !/^\s*(?:null|true|false)\s*$/.test(text)
    ? [text]
    : []
}

/** Shorter values would match everywhere. */
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
