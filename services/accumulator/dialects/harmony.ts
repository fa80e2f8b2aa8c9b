// OpenAI's open models, if a server leaves their channels in the text: <|channel|>commentary
// to=functions.name <|constrain|>json<|message|>{…}<|call|>, one call per message. The recipient
// may also precede the channel. Messages to nobody may stand between calls: thinking, and a
// preamble for the user (the guide to the harmony format in OpenAI's cookbook). The last
// mark of a call is a stop token, so servers may remove it.

import { type Cursor, isOver, skipBlanks, skipMark, skipMatch, upTo } from './cursor.ts'
import type { Dialect, Reading, WrittenArguments, WrittenCall } from './dialect.ts'
import { argumentsHere } from './written-arguments.ts'
import type { Repair } from './written-json.ts'

const heads: [RegExp, RegExp] = [
  /(?:<\|start\|>assistant)?<\|channel\|>(?:commentary|analysis) {0,8}to=(?:functions\.)?([A-Za-z0-9_.-]{1,256}) {0,8}/y,
  /<\|start\|>assistant {0,8}to=(?:functions\.)?([A-Za-z0-9_.-]{1,256}) {0,8}<\|channel\|>(?:commentary|analysis) {0,8}/y,
]
const constrained = /(?:<\|constrain\|>)?(?:json|code)? {0,8}/y
const noteHead = /(?:<\|start\|>assistant)?<\|channel\|>(commentary|analysis) {0,8}<\|message\|>/y

export const harmony: Dialect = {
  name: 'harmony',
  read(text) {
    const cursor = { text, at: 0 }
    const repairs = new Set<Repair>()
    const calls: WrittenCall[] = []
    const preamble: string[] = []
    for (; !isOver(cursor); skipBlanks(cursor)) {
      const [, name] = skipMatch(cursor, heads[0]) ?? skipMatch(cursor, heads[1]) ?? []
      if (name !== undefined) {
        const args = argumentsOf(cursor, repairs)
        if (args === undefined) return broken([...calls.flatMap((call) => call.names), name])
        calls.push({ names: [name], id: '', arguments: args })
        continue
      }
      const note = noteHere(cursor)
      if (note === undefined) return brokenOff(cursor, calls) // another text, or a part of a message
      if (note.isVisible) preamble.push(note.text)
    }
    return calls.length === 0
      ? undefined
      : { kind: 'calls', calls, repairs, marked: true, preamble: preamble.join('\n\n') }
  },
}

const why = "after '<|message|>' there must be its arguments as one JSON object"

function broken(names: string[]): Reading {
  return { kind: 'broken', names, why, marked: true }
}

const headBegun = /<\|(?:start|channel)\|>[^{}]{0,300}$/y

/** A text that ends before a message has begun is a call only if the text was cut. */
function brokenOff(cursor: Cursor, calls: WrittenCall[]): Reading | undefined {
  const names = calls.flatMap((call) => call.names)
  const [head] = skipMatch(cursor, headBegun) ?? []
  return head === undefined || head.includes('<|message|>')
    ? undefined
    : { kind: 'broken', names, why, marked: true, isOpen: true }
}

function argumentsOf(cursor: Cursor, repairs: Set<Repair>): WrittenArguments | undefined {
  skipMatch(cursor, constrained)
  const hasMessage = skipMark(cursor, '<|message|>')
  skipBlanks(cursor)
  const args = hasMessage ? argumentsHere(cursor, repairs) : undefined
  skipBlanks(cursor)
  if (!skipMark(cursor, '<|call|>')) skipMark(cursor, '<|end|>')
  return args
}

/** A whole message to nobody. Undefined: there is none, or its end is missing. */
function noteHere(cursor: Cursor): { text: string; isVisible: boolean } | undefined {
  const [, channel] = skipMatch(cursor, noteHead) ?? []
  const text = channel === undefined ? undefined : upTo(cursor, '<|end|>')?.trim()
  return text === undefined || /<\|(?:start|channel|message|call)\|>/.test(text)
    ? undefined
    : { text, isVisible: channel === 'commentary' }
}
