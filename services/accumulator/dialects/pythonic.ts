// Calls as Llama 3.2 and 4, LFM2 and Olmo write them in Python's words: [weather(city="Paris",
// days=3), now()]. Arguments have names, and values are literals.

import { type Cursor, isOver, skipBlanks, took, tookMatch } from './cursor.ts'
import type { Dialect, Reading, WrittenCall } from './dialect.ts'
import { readJson } from './written-json.ts'

const open = '<|tool_call_start|>'
const close = '<|tool_call_end|>'
const nameHere = /[A-Za-z_][A-Za-z0-9_.-]{0,255}/y
const beginning = /\[\s{0,64}[A-Za-z_][A-Za-z0-9_.-]{0,255}\(/y

export const pythonic: Dialect = {
  name: 'pythonic',
  read(text) {
    const cursor = { text, at: 0 }
    const marked = took(cursor, open)
    skipBlanks(cursor)
    if (!marked && tookMatch({ ...cursor }, beginning) === undefined) return undefined
    const calls: WrittenCall[] = []
    if (!readCalls(cursor, calls) || (marked && !took(cursor, close)))
      return broken(text, calls, marked)
    return isOver(cursor) ? { kind: 'calls', calls, repairs: new Set(), marked } : undefined
  },
}

/**
 * Without a mark around it, a list that goes on as no call does is something else, unless it was
 * cut.
 */
function broken(text: string, calls: WrittenCall[], marked: boolean): Reading {
  const isOpen = !marked && !text.endsWith(')]')
  const [first] = tookMatch({ text, at: marked ? open.length + 1 : 1 }, nameHere) ?? []
  const names = [...(first === undefined ? [] : [first]), ...calls.flatMap((call) => call.names)]
  return {
    kind: 'broken',
    names,
    why: 'a call in this form must have a name for each argument and literals as values',
    marked,
    isOpen,
  }
}

function readCalls(cursor: Cursor, calls: WrittenCall[]): boolean {
  if (!took(cursor, '[')) return false
  do {
    skipBlanks(cursor)
    const call = readCall(cursor)
    if (call === undefined) return false
    calls.push(call)
    skipBlanks(cursor)
  } while (took(cursor, ','))
  const isEnded = took(cursor, ']')
  skipBlanks(cursor)
  return isEnded
}

function readCall(cursor: Cursor): WrittenCall | undefined {
  const [name] = tookMatch(cursor, nameHere) ?? []
  if (name === undefined || !took(cursor, '(')) return undefined
  const members: string[] = []
  const names = new Set<string>()
  for (skipBlanks(cursor); !took(cursor, ')'); skipBlanks(cursor)) {
    if (members.length > 0 && !took(cursor, ',')) return undefined
    skipBlanks(cursor)
    const [key] = tookMatch(cursor, nameHere) ?? []
    skipBlanks(cursor)
    const value = key !== undefined && took(cursor, '=') ? valueAfterBlanks(cursor) : undefined
    if (key === undefined || value === undefined || names.has(key)) return undefined
    names.add(key)
    members.push(`${JSON.stringify(key)}:${value}`)
  }
  return { names: [name], id: '', arguments: { kind: 'json', json: `{${members.join(',')}}` } }
}

/** Python's words and quotes are the dialect's own here, so they are no repairs. */
function valueAfterBlanks(cursor: Cursor): string | undefined {
  skipBlanks(cursor)
  return readJson(cursor, new Set())
}
