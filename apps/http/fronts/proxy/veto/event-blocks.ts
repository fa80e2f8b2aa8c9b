// Splits a stream of server-sent events into its events, with the unchanged bytes of each.
// EVENT-BLOCKS-1. A block that a client could read in another way than this file has no data, so
//     nothing lets it pass before the verdict.

import { limits } from '../../../../../shared/contract/limits.ts'
import { boundedJson } from '../../../../../shared/lib/json/bounded-json.ts'
import { isObject } from '../../../../../shared/lib/json/json-object.ts'
import type { Json } from '../../../../../shared/wire/format.ts'

/**
 * One event with the blank line behind it. `text`: its data. `data`: undefined if that is no JSON
 * object. `isComment`: it has no event.
 */
export type EventBlock = {
  bytes: Buffer
  text: string
  data: Json | undefined
  isComment: boolean
}

/** `end` returns a last event that no blank line ends. */
export function eventBlocks(): { take(piece: Buffer): EventBlock[]; end(): EventBlock[] } {
  let rest: Buffer = Buffer.alloc(0)

  return {
    take(piece) {
      const searchFrom = Math.max(rest.length - 2, 0)
      rest = rest.length === 0 ? piece : Buffer.concat([rest, piece])
      const tail = rest.toString('latin1', searchFrom)
      const blocks: EventBlock[] = []
      let from = 0
      for (const { 0: blank, index } of tail.matchAll(/\n\r?\n|\r\r/g)) {
        const to = searchFrom + index + blank.length
        blocks.push(blockOf(rest.subarray(from, to)))
        from = to
      }
      rest = rest.subarray(from)
      return blocks
    },
    end() {
      const last = rest
      rest = Buffer.alloc(0)
      return last.length === 0 ? [] : [blockOf(last)]
    },
  }
}

/** The bytes of an event with this data. */
export function eventOf(text: string, isNamed: boolean): Buffer {
  const type = isNamed ? objectIn(text)?.type : undefined
  return Buffer.from(`${typeof type === 'string' ? `event: ${type}\n` : ''}data: ${text}\n\n`)
}

function blockOf(bytes: Buffer): EventBlock {
  const lines = bytes
    .toString('utf8')
    .trim()
    .split(/\r\n|\n|\r/)
  const text = valuesOf(lines, 'data').join('\n')
  const isPlain = lines.every((line) => /^(data|event|id|retry)?:/.test(line))
  const isComment = isPlain && lines.every((line) => !/^(data|event):/.test(line))
  return { bytes, text, data: isPlain ? dataOf(lines, text) : undefined, isComment }
}

/** Keeps EVENT-BLOCKS-1. */
function dataOf(lines: readonly string[], text: string): Json | undefined {
  const data = objectIn(text)
  const names = valuesOf(lines, 'event')
  const isNamed = names.length === 0 || (names.length === 1 && names[0] === data?.type)
  return isNamed ? data : undefined
}

function valuesOf(lines: readonly string[], field: string): string[] {
  return lines
    .filter((line) => line.startsWith(`${field}:`))
    .map((line) => line.slice(field.length + 1).replace(/^ /, ''))
}

function objectIn(text: string): Json | undefined {
  const value = boundedJson(text, limits.jsonDepthMax)
  return isObject(value) ? value : undefined
}
