// OpenAI's open models, if a server leaves their channels in the text: <|channel|>commentary
// to=functions.name <|constrain|>json<|message|>{…}<|call|>, one call per message. The recipient
// may also precede the channel.

import { isOver, skipBlanks, skipMark, skipMatch } from './cursor.ts'
import type { Dialect } from './dialect.ts'
import { argumentsHere } from './written-arguments.ts'
import type { Repair } from './written-json.ts'

const heads: [RegExp, RegExp] = [
  /(?:<\|start\|>assistant)?<\|channel\|>(?:commentary|analysis) {0,8}to=(?:functions\.)?([A-Za-z0-9_.-]{1,256}) {0,8}/y,
  /<\|start\|>assistant {0,8}to=(?:functions\.)?([A-Za-z0-9_.-]{1,256}) {0,8}<\|channel\|>(?:commentary|analysis) {0,8}/y,
]
const constrained = /(?:<\|constrain\|>)?(?:json|code)? {0,8}/y

export const harmony: Dialect = {
  name: 'harmony',
  read(text) {
    const cursor = { text, at: 0 }
    const [, name] = skipMatch(cursor, heads[0]) ?? skipMatch(cursor, heads[1]) ?? []
    if (name === undefined) return undefined
    skipMatch(cursor, constrained)
    const repairs = new Set<Repair>()
    const hasMessage = skipMark(cursor, '<|message|>')
    skipBlanks(cursor)
    const args = hasMessage ? argumentsHere(cursor, repairs) : undefined
    skipBlanks(cursor)
    skipMark(cursor, '<|call|>')
    if (args === undefined)
      return {
        kind: 'broken',
        names: [name],
        why: "after '<|message|>' there must be its arguments as one JSON object",
        marked: true,
      }
    if (!isOver(cursor)) return undefined // text follows the call, so the whole is not calls
    return {
      kind: 'calls',
      calls: [{ names: [name], id: '', arguments: args }],
      repairs,
      marked: true,
    }
  },
}
