// Reads server-sent events strictly. A client that reads lines in another way finds the same events.
// Lines have fields of the standard only. A name is the type of its data. Comments and
// empty events are dropped, because no client may get their bytes.

import { isUtf8 } from 'node:buffer'
import { isWord } from '../framing/printed-events.ts'
import { type EventData, fault } from './strict.ts'
import { strictObject } from './strict-json.ts'

/** Both throw a StrictFault. `end` returns a last event that no blank line ends. */
export function strictEvents(): { take(piece: Buffer): EventData[]; end(): EventData[] } {
  let rest: Buffer = Buffer.alloc(0)

  return {
    take(piece) {
      const searchFrom = Math.max(rest.length - 2, 0)
      rest = rest.length === 0 ? piece : Buffer.concat([rest, piece])
      const tail = rest.toString('latin1', searchFrom)
      const events: EventData[] = []
      let from = 0
      for (const { 0: blank, index } of tail.matchAll(/\n\r?\n|\r\r/g)) {
        const to = searchFrom + index + blank.length
        events.push(...dataOf(rest.subarray(from, to)))
        from = to
      }
      rest = rest.subarray(from)
      return events
    },
    end() {
      const last = rest
      rest = Buffer.alloc(0)
      return last.length === 0 ? [] : dataOf(last)
    },
  }
}

function dataOf(bytes: Buffer): EventData[] {
  if (!isUtf8(bytes)) throw fault('it is not UTF-8')
  const lines = bytes
    .toString('utf8')
    .trim()
    .split(/\r\n|\n|\r/)
  if (!lines.every((line) => line === '' || /^(data|event|id|retry)?:/.test(line)))
    throw fault('a line of it is no field of an event')
  const text = valuesOf(lines, 'data').join('\n')
  if (text.trim() === '') return []
  if (text.trim() === '[DONE]') return ['[DONE]']
  const data = strictObject(text)
  if (typeof data.type === 'string' && !isWord(data.type))
    throw fault('the type of an event is no word')
  const names = valuesOf(lines, 'event')
  const isNamed = names.length === 0 || (names.length === 1 && names[0] === data.type)
  if (!isNamed) throw fault('the name of an event is not the type of its data')
  if (lines.includes('')) throw fault('an event ends inside for some clients')
  return [data]
}

function valuesOf(lines: readonly string[], field: string): string[] {
  return lines
    .filter((line) => line.startsWith(`${field}:`))
    .map((line) => line.slice(field.length + 1).replace(/^ /, ''))
}
