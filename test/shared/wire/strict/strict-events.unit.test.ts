// Server-sent events that every client reads alike, and those that are refused.

import { describe, expect, it } from '@jest/globals'
import { printedEvents } from '../../../../shared/wire/framing/printed-events.ts'
import type { EventData } from '../../../../shared/wire/strict/strict.ts'
import { strictEvents } from '../../../../shared/wire/strict/strict-events.ts'

function eventsOf(text: string, pieceBytes: number): EventData[] {
  const bytes = Buffer.from(text)
  const reader = strictEvents()
  const events: EventData[] = []
  for (let at = 0; at < bytes.length; at += pieceBytes)
    events.push(...reader.take(bytes.subarray(at, at + pieceBytes)))
  return [...events, ...reader.end()]
}

const stream = [
  ...['event: a\ndata: {"type":"a","text":"ä €"}\n\n', ': ping\n\n', 'event: nothing\n\n'],
  ...['data: {"b":\ndata: 1}\n\n', 'id: 7\rdata: {"c":2}\r\r', 'data: [DONE]\r\n\r\n'],
  'data: {"last":true}',
]

describe('the events of a stream', () => {
  it.each([1, 2, 3, 7, 1000])('are the same in pieces of %i bytes, without comments', (bytes) => {
    expect(eventsOf(stream.join(''), bytes)).toEqual([
      ...[{ type: 'a', text: 'ä €' }, { b: 1 }, { c: 2 }, '[DONE]', { last: true }],
    ])
  })

  it.each([
    ['whose name is not the type of its data', 'event: a\ndata: {"type":"b"}\n\n'],
    ['with two names', 'event: a\nevent: a\ndata: {"type":"a"}\n\n'],
    ['without the name of its field', '{"type":"a"}\n\n'],
    ['that ends inside for some clients', 'data: {"type":"a"}\r\n\rdata: {"type":"b"}\n\n'],
    ['that is a list', 'data: [{"type":"a"}]\n\n'],
    ['that is not JSON', 'data: {"type"\n\n'],
    ['that has a name twice', 'data: {"a":1,"a":2}\n\n'],
  ])('are refused with an event %s', (_, text) => {
    expect(() => eventsOf(text, 1000)).toThrow()
  })

  it('are refused with bytes that are not UTF-8', () => {
    const bytes = Buffer.concat([Buffer.from('data: {"a":"'), Buffer.from([0xff])])
    const reader = strictEvents()
    reader.take(bytes)
    expect(() => reader.take(Buffer.from('"}\n\n'))).toThrow('UTF-8')
  })

  it('have one line each when they are printed, for clients that split at any separator', () => {
    const data = { type: 'a', text: '\u2028event: b\u2029\u0085\u000b\n' }
    const printed = printedEvents({ isNamed: true }, [data, '[DONE]'])
    expect(printed).toBe(
      `event: a\ndata: {"type":"a","text":"\\u2028event: b\\u2029\\u0085\\u000b\\n"}\n\ndata: [DONE]\n\n`,
    )
    expect(eventsOf(printed, 1000)).toEqual([data, '[DONE]'])
  })
})
