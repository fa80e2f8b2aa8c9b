// The echo check: whether an earlier text of the conversation already holds a call that the model
// wrote as text. Such a call may be a quote, so it never runs. The gateway checks, because it has
// the history (llm-gateway/performer/echo-check.ts).
// Does not own: which texts count as earlier texts (llm-gateway), the use of the result
// (text-calls.ts).
//
// Spelling does not matter: blanks, quotes, escapes, entities, fences, line numbers, the
// order of members, the shape of the call, a call inside of a JSON text.
// In doubt it is an echo: also one call of several, and a text with too much to search.
// The work is linear in the texts, and bounded over all of them.
// The call's words near each other are an echo too (echo-words.ts), but not those of another
// call of the tool that JSON spells whole.

import { canonical } from '../../shared/contract/arguments/compiled-schema.ts'
import type { AnsweredText, EarlierText } from '../../shared/contract/call/echo-check.ts'
import { isObject } from '../../shared/lib/json/json-object.ts'
import { callsAfterText } from './dialects/after-text.ts'
import { fenced, withoutTurnEnd } from './dialects/around-calls.ts'
import type { WrittenCall } from './dialects/dialect.ts'
import { dialects, readingIn } from './dialects/marks.ts'
import { type Repair, readJson } from './dialects/readers/written-json.ts'
import {
  answerIn,
  judgedCall,
  type OfferedTool,
  type RecoveredCall,
  recover,
} from './dialects/recover.ts'
import { argumentKeys, nameKeys, objectOf } from './dialects/unrunnable.ts'
import { type CallWords, callWords, holdsWords, type Work } from './echo-words.ts'
import { plain } from './spelling.ts'

/** The source of the first earlier text that holds a call of the answer. Null: none does. */
export function echoSource(
  { text, offered, callsAsText }: AnsweredText,
  earlier: Iterable<EarlierText>,
): string | null {
  const answer = answerIn(text)
  const whole = recover({ text: answer, offered, callsAsText })
  const { recovery, frame } = (whole === undefined ? callsAfterText(text, offered) : undefined) ?? {
    recovery: whole,
    frame: answer,
  }
  if (recovery?.kind !== 'calls') return null
  const sought = soughtFor(frame, recovery.calls, offered)
  for (const { source, text: before } of earlier)
    if (holds(before, sought, 0) || sought.work.left < 0) return source
  return null
}

type Sought = {
  offered: OfferedTool[]
  names: Set<string>
  /** Each call in one spelling. */
  calls: Set<string>
  /**
   * The words of each name. A text without one of them does not hold that call. Not those of the
   * arguments: dialects spell `true` and escapes differently.
   */
  words: string[][]
  callWords: CallWords[]
  work: Work
  /** The answer in one spelling, with and without the brackets of a list of calls. */
  spellings: string[]
}

function soughtFor(answer: string, calls: RecoveredCall[], offered: OfferedTool[]): Sought {
  const trimmed = withoutTurnEnd(answer)
  const spelling = plain(fenced(trimmed)?.inside ?? trimmed)
  // Without arguments, the inside of the brackets is hardly more than a word.
  const isList = /^\[.*\]$/s.test(spelling) && calls.some(({ raw }) => !isEmpty(raw))
  return {
    offered,
    names: new Set(calls.map(({ name }) => name)),
    calls: new Set(calls.map(({ name, raw }) => keyOf(name, JSON.parse(raw)))),
    words: calls.map(({ name }) => wordsOf(name)),
    callWords: calls.map(({ name, raw }) => callWords(name, JSON.parse(raw))),
    work: { left: workMax },
    spellings: isList ? [spelling, spelling.slice(1, -1)] : [spelling],
  }
}

/** No numbers, because their spelling varies. */
function wordsOf(text: string): string[] {
  const words = plain(text.replaceAll('"', '|')).match(/[\p{L}\p{N}]+/gu) ?? []
  return [...new Set(words)].filter((word) => !/^\p{N}/u.test(word))
}

function isEmpty(raw: string): boolean {
  return Object.keys(JSON.parse(raw) as object).length === 0
}

/** Of one answer, in characters and words. About a second. */
const workMax = 20_000_000

/** Texts inside of JSON texts are searched too, to this depth. */
const depthMax = 2

function holds(text: string, sought: Sought, depth: number): boolean {
  const bare = text.replaceAll(gutters, '')
  const spelled = bare === text ? [plain(text)] : [plain(text), plain(bare)]
  if (!spelled.some((one) => hasWords(one, sought))) return false
  if (spelled.some((one) => isSpelled(one, sought))) return true
  if (segmentsOf(text, sought).some((segment) => isCallOf(segment, sought))) return true
  const objects = objectsIn(text, sought)
  if (objects === undefined || objects.some(({ value }) => isCallIn(value, sought, depth)))
    return true
  return (
    depth === 0 &&
    holdsWords(withoutOtherCalls(text, objects, sought), sought.callWords, sought.work)
  )
}

/** A quick first look, because most texts do not hold all words of a call. */
function hasWords(spelled: string, { words }: Sought): boolean {
  return words.some((ofCall) => ofCall.every((word) => spelled.includes(word)))
}

function isSpelled(spelled: string, { spellings }: Sought): boolean {
  return spellings.some((spelling) => spelled.includes(spelling))
}

/** Numbers and marks before the lines of a listing, a quote or a diff. */
const gutters = /^[ \t]{0,8}(?:\d{1,7}[ \t]{0,4}[:|→\t-]?|[>|+*#-]{1,3})[ \t]?/gm

// ── Calls in any dialect ──

/** The text, its fenced blocks, paragraphs and lines, if they name a tool. Each one once. */
function segmentsOf(text: string, { names }: Sought): string[] {
  const fences = text.matchAll(/(?<![^\n]) {0,3}(`{3,16}|~{3,16})[^\n]*\n(.*?)(?<![^\n]) {0,3}\1/gs)
  const segments = [
    ...[text, ...[...fences].map(([, , inside = '']) => inside)],
    ...[...text.split(/\n\s*\n/), ...text.split('\n')],
  ]
  return [...new Set(segments)].filter((segment) =>
    [...names].some((name) => segment.includes(name)),
  )
}

/** JSON is searched everywhere, so its dialect need not read the segments. */
const frames = dialects.filter(([name]) => name !== 'json')

function isCallOf(segment: string, sought: Sought): boolean {
  sought.work.left -= 4 * segment.length
  if (sought.work.left < 0) return true
  return ['', '<>', '[]'].some((brackets) => {
    const part = between(segment, brackets)
    const reading = part === '' ? undefined : readingIn(part, undefined, frames)?.reading
    return reading?.kind === 'calls' && reading.calls.some((call) => isSought(call, sought))
  })
}

/** From the first of these brackets to the last. Empty brackets: without code marks around it. */
function between(segment: string, [open, close]: string): string {
  if (open === undefined || close === undefined)
    return segment.trim().replaceAll(/^`{1,8}|`{1,8}$/g, '')
  const from = segment.indexOf(open)
  return from < 1 ? '' : segment.slice(from, segment.lastIndexOf(close) + 1)
}

function isSought(written: WrittenCall, { offered, names, calls }: Sought): boolean {
  if (!names.has(written.names[0])) return false
  const call = judgedCall(written, { offered }, new Set())
  return !('why' in call) && calls.has(keyOf(call.name, JSON.parse(call.raw)))
}

// ── Calls in JSON ──

type Found = { from: number; to: number; value: unknown }

/** The outermost objects of the text. Undefined: too much to search. */
function objectsIn(text: string, { work }: Sought): Found[] | undefined {
  const objects: Found[] = []
  const restMax = 7 * text.length + 1_000_000
  let rest = restMax
  for (let at = text.indexOf('{'); at !== -1; at = text.indexOf('{', at)) {
    const cursor = { text, at }
    const found = readJson(cursor, new Set<Repair>())
    rest -= cursor.at - at
    work.left -= cursor.at - at
    if (rest < 0 || work.left < 0) return undefined
    if (found !== undefined) objects.push({ from: at, to: cursor.at, value: JSON.parse(found) })
    at = found === undefined ? at + 1 : cursor.at
  }
  return objects
}

/** Other calls of the tools lose their names. */
function withoutOtherCalls(text: string, objects: Found[], { names }: Sought): string {
  const pieces: string[] = []
  let copied = 0
  for (const { from, to, value } of objects) {
    let hasOther = false
    const json = JSON.stringify(value, (_, inner: unknown) => {
      const key = isObject(inner) ? nameKeyOf(inner, names) : undefined
      if (!isObject(inner) || key === undefined) return inner
      hasOther = true
      return { ...inner, [key]: '' }
    })
    if (hasOther) pieces.push(text.slice(copied, from), json)
    if (hasOther) copied = to
  }
  return [...pieces, text.slice(copied)].join('')
}

function nameKeyOf(value: Record<string, unknown>, names: Set<string>): string | undefined {
  const hasArguments = argumentKeys.some((key) => objectOf(value[key]) !== undefined)
  if (!hasArguments) return undefined
  return nameKeys.find((key) => typeof value[key] === 'string' && names.has(value[key]))
}

function isCallIn(value: unknown, sought: Sought, depth: number): boolean {
  if (typeof value === 'string')
    return (
      depth < depthMax &&
      [...sought.names].some((name) => value.includes(name)) &&
      holds(value, sought, depth + 1)
    )
  if (Array.isArray(value)) return value.some((item) => isCallIn(item, sought, depth))
  if (!isObject(value)) return false
  return isCall(value, sought) || Object.values(value).some((item) => isCallIn(item, sought, depth))
}

function isCall(value: Record<string, unknown>, { names, calls }: Sought): boolean {
  return nameKeys.some((nameKey) => {
    const name = value[nameKey]
    if (typeof name !== 'string' || !names.has(name)) return false
    const inside = argumentKeys.flatMap((key) => objectOf(value[key]) ?? [])
    const beside = Object.fromEntries(Object.entries(value).filter(([key]) => key !== nameKey))
    // The flat form without arguments would be any object with a name.
    const flat = Object.keys(beside).length === 0 ? [] : [beside]
    return [...inside, ...flat].some((args) => calls.has(keyOf(name, args)))
  })
}

function keyOf(name: string, args: unknown): string {
  return JSON.stringify([name, canonical(args)])
}
