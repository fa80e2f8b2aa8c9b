// The bytes of server-sent events, and the events that may mean something else to a client.

import { describe, expect, it } from '@jest/globals'
import {
  type EventBlock,
  eventBlocks,
  eventOf,
} from '../../../../../../apps/http/fronts/proxy/veto/event-blocks.ts'

function blocksOf(text: string, pieceBytes: number): EventBlock[] {
  const bytes = Buffer.from(text)
  const reader = eventBlocks()
  const blocks: EventBlock[] = []
  for (let at = 0; at < bytes.length; at += pieceBytes)
    blocks.push(...reader.take(bytes.subarray(at, at + pieceBytes)))
  return [...blocks, ...reader.end()]
}

const stream = [
  ...['event: a\ndata: {"type":"a","text":"ä €"}\n\n', ': ping\n\n', 'data: [DONE]\r\n\r\n'],
  ...['data: {"b":\ndata: 1}\n\n', 'id: 7\rdata: {"c":2}\r\r', 'data: {"last":true}'],
]

describe('the events of a stream', () => {
  it.each([1, 2, 3, 7, 1000])('are the same in pieces of %i bytes', (pieceBytes) => {
    const blocks = blocksOf(stream.join(''), pieceBytes)
    expect(blocks.map(({ bytes }) => bytes.toString())).toEqual(stream)
    expect(blocks.map(({ data }) => data)).toEqual([
      ...[{ type: 'a', text: 'ä €' }, undefined, undefined, { b: 1 }, { c: 2 }, { last: true }],
    ])
    expect(blocks.map(({ isComment }) => isComment).indexOf(true)).toBe(1)
    expect(blocks[2]?.text).toBe('[DONE]')
  })

  it.each([
    ['whose name is not the type of its data', 'event: a\ndata: {"type":"b"}\n\n'],
    ['with two names', 'event: a\nevent: a\ndata: {"type":"a"}\n\n'],
    ['without the name of its field', '{"type":"a"}\n\n'],
    ['that ends inside for some clients', 'data: {"type":"a"}\r\n\rdata: {"type":"b"}\n\n'],
    ['that is a list', 'data: [{"type":"a"}]\n\n'],
  ])('have no data in an event %s', (_, text) => {
    for (const { data, isComment } of blocksOf(text, 1000))
      expect([data, isComment]).toEqual([undefined, false])
  })

  it('are written with their type if the API names them', () => {
    expect(eventOf('{"type":"a"}', true).toString()).toBe('event: a\ndata: {"type":"a"}\n\n')
    expect(eventOf('[DONE]', true).toString()).toBe('data: [DONE]\n\n')
    expect(eventOf('{"type":"a"}', false).toString()).toBe('data: {"type":"a"}\n\n')
  })
})
