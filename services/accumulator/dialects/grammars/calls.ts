// Calls in sequence until the text ends, inside sections or without them. Each call has a head with
// its name, arguments in one of the grammars, and an end.
// Text next to the calls means that the whole is not calls. An unreadable call, or a
// section without an end, is a broken frame. Nothing of either runs.

import type { Grammar, Reading, WrittenArguments, WrittenCall } from '../dialect.ts'
import { type Cursor, type Mark, skip, skipBlanks, skipMatch, upTo } from '../readers/cursor.ts'
import type { Repair } from '../readers/written-json.ts'
import { jsonHere } from './json-arguments.ts'

/** Reads arguments and moves after them. Undefined: they cannot be read. */
export type ReadArguments = (cursor: Cursor, repairs: Set<Repair>) => WrittenArguments | undefined

/**
 * `head`: follows `begin`. Their groups `name` and `id` are the tool and the call's id. `args`: by
 * default one JSON object. `isEscaped`: the name is an escaped attribute.
 */
type CallMarks = { head?: RegExp; args?: ReadArguments; end?: Mark; isEscaped?: true }

export type Frame = CallMarks & {
  /** The marks of a section around the calls. `closeText`: for the model. */
  open?: RegExp
  close?: Mark
  closeText?: string
  /**
   * Calls may stand without a section. `marked`: only calls use their tags. `plain`: other texts
   * use them too.
   */
  bare?: 'marked' | 'plain'
  /** Ends of sections that may follow bare calls, because the beginning is often missing. */
  strayEnd?: Mark
  /** A text that begins like this and goes on otherwise is a broken call. */
  begin: RegExp
  /** In place of one call: the first whose head fits reads a call. */
  forms?: CallMarks[]
  /** A clause for the model: the form of a call. */
  why: string
  /**
   * Messages to nobody, before the calls or `isAnywhere`. They are words for the user unless the
   * group `hidden` of `open` is there. `never`: marks of a message that has lost its end.
   */
  notes?: { open: RegExp; close: string; never: RegExp; isAnywhere?: true }
  /** The beginning of a call in which the text ends. It is one only if the text was cut. */
  begun?: RegExp
}

export function calls(frame: Frame): Grammar {
  const { open, bare, begin, notes, begun } = frame
  const beginnings = [open, bare && begin, notes?.open, begun].flatMap((mark) => mark?.source ?? [])
  const first = new RegExp(beginnings.join('|'), 'y')
  return (text) =>
    skip({ text, at: 0 }, first) ? () => readAll({ text, at: 0 }, frame) : undefined
}

function readAll(cursor: Cursor, frame: Frame): Reading | undefined {
  const { open, close = '', closeText, bare, strayEnd, begun, notes, why } = frame
  const repairs = new Set<Repair>()
  const read: WrittenCall[] = []
  const words: string[] = []
  let marked = bare !== 'plain'
  const broken = (reason: string, name?: string): Extract<Reading, { kind: 'broken' }> => ({
    kind: 'broken',
    names: [...read.flatMap(({ names }) => names), ...(name === undefined ? [] : [name])],
    why: reason,
    marked,
  })

  for (; cursor.at < cursor.text.length; skipBlanks(cursor)) {
    const before = read.length
    const isInside = open !== undefined && skip(cursor, open)
    marked ||= isInside
    if (isInside) skipBlanks(cursor)
    for (; isInside || bare !== undefined; skipBlanks(cursor)) {
      const call = callHere(cursor, frame, repairs)
      if (call === undefined) break
      if ('fault' in call) return broken(why, call.fault)
      read.push(call)
    }
    if (isInside && !skip(cursor, close))
      return broken(closeText === undefined ? why : `'${closeText}' is missing after the calls`)
    if (read.length > before) continue
    if (isInside)
      return broken(closeText === undefined ? why : 'there is no call between the marks')
    // A note without its end may hold the beginning of a call.
    const mayBeNote = notes?.isAnywhere || (words.length === 0 && before === 0)
    const note = notes && mayBeNote ? noteHere(cursor, notes) : undefined
    if (note !== undefined) {
      words.push(...note)
      continue
    }
    if (begun !== undefined && skip({ ...cursor }, begun)) return { ...broken(why), isOpen: true }
    // text follows the calls.
    const isStray = before > 0 && strayEnd !== undefined && skip(cursor, strayEnd)
    if (!isStray || cursor.at < cursor.text.length) return undefined
  }
  return read.length === 0
    ? undefined
    : { kind: 'calls', calls: read, repairs, marked, preamble: words.join('\n\n') }
}

const noHead = /(?:)/y

/** `fault`: the name that a broken call shows. Undefined: no call begins here. */
function callHere(
  cursor: Cursor,
  frame: Frame,
  repairs: Set<Repair>,
): WrittenCall | { fault: string | undefined } | undefined {
  const begun = skipMatch(cursor, frame.begin)
  if (begun === undefined) return undefined
  for (const { head = noHead, args = jsonHere, end = '', isEscaped } of frame.forms ?? [frame]) {
    const more = skipMatch(cursor, head)
    if (more === undefined) continue
    const { name, id = '' } = { ...begun.groups, ...more.groups }
    const read = args(cursor, repairs)
    if (name === undefined || read === undefined || !skip(cursor, end)) break
    return { names: [isEscaped ? unescaped(name) : name], id, arguments: read }
  }
  return { fault: begun.groups?.name }
}

/** The words for the user in a whole message to nobody. Undefined: there is no whole one. */
function noteHere(
  cursor: Cursor,
  { open, close, never }: NonNullable<Frame['notes']>,
): string[] | undefined {
  const head = skipMatch(cursor, open)
  const text = head && upTo(cursor, close, never)
  if (text === undefined) return undefined
  return head?.groups?.hidden === undefined ? [text.trim()] : []
}

/** The text of an attribute whose quotes are escaped. */
export function unescaped(attribute: string): string {
  return attribute.replaceAll('&quot;', '"').replaceAll('&amp;', '&')
}
