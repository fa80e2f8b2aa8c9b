// The binary stream of Converse, read strictly and printed: FRAMING-1, FRAMES-1, FRAMES-2 and CONVERSE-1.

import { describe, expect, it, jest } from '@jest/globals'
import { converseFraming } from '../../../../shared/wire/bedrock/converse-stream.ts'
import { bedrockModel } from '../../../../shared/wire/bedrock/model.ts'
import { jsonLines } from '../../../../shared/wire/framing/text-framings.ts'
import { StrictFault } from '../../../../shared/wire/strict/strict.ts'
import {
  converseCall,
  conversePieces,
  frameOf,
} from '../../../apps/http/fronts/proxy/bedrock/model.ts'

const { strict } = bedrockModel
const start = frameOf('messageStart', { role: 'assistant' })
const stop = frameOf('messageStop', { stopReason: 'tool_use' })
const begin = (start: object, contentBlockIndex = 0) =>
  frameOf('contentBlockStart', { start, contentBlockIndex })
const piece = (delta: object, contentBlockIndex = 0) =>
  frameOf('contentBlockDelta', { delta, contentBlockIndex })
const end = (contentBlockIndex = 0) => frameOf('contentBlockStop', { contentBlockIndex })
const toolUse = { toolUseId: 'c', name: 'rm' }

function read(bytes: Buffer, cut = bytes.length) {
  const frames = converseFraming.read()
  const reader = strict.stream()
  const events = [...frames.take(bytes.subarray(0, cut)), ...frames.take(bytes.subarray(cut))]
  const shown = [...events, ...frames.end()].flatMap((event) => reader.read(event))
  return { shown, answer: reader.end() }
}

describe('a stream of Converse', () => {
  const bytes = Buffer.concat(conversePieces([{ text: 'Hé.' }, converseCall('c1', { a: 1 })], true))

  it('is one answer wherever the network cuts it', () => {
    const whole = read(bytes)
    expect(whole.answer.items).toMatchObject([
      { kind: 'text', text: 'Hé.' },
      { kind: 'call', id: 'c1', name: 'exec', arguments: '{"a":1}' },
    ])
    for (let cut = 0; cut < bytes.length; cut += 7) expect(read(bytes, cut)).toEqual(whole)
  })

  it('copies the bytes of a large frame once, and those of a long line too', () => {
    const text = 'x'.repeat(200_000)
    const line = Buffer.from(`${JSON.stringify({ text })}\n`)
    for (const [framing, whole] of [
      [converseFraming, Buffer.concat([start, piece({ text })])],
      [jsonLines, line],
    ] as const) {
      const reader = framing.read()
      const spy = jest.spyOn(Buffer, 'concat')
      let events = 0
      for (let at = 0; at < whole.length; at += 100)
        events += reader.take(whole.subarray(at, at + 100)).length
      const copied = spy.mock.calls.flatMap(([list]) => [...list])
      spy.mockRestore()
      expect(events).toBeGreaterThan(0)
      expect(copied.reduce((sum, { length }) => sum + length, 0)).toBeLessThan(2 * whole.length)
    }
  })

  it('ends without its counts too', () => {
    const events = [start, begin({ toolUse }), piece({ toolUse: { input: '{}' } }), end(), stop]
    expect(read(Buffer.concat(events)).answer).toMatchObject({
      stop: 'calls',
      usage: { outputTokens: 0 },
    })
  })

  it.each<[string, Buffer[]]>([
    [
      'a damaged frame',
      [start, Buffer.from(stop.map((byte, at) => (at === 20 ? byte ^ 1 : byte)))],
    ],
    ['a frame of no length', [start, Buffer.alloc(16)]],
    ['half a frame', [start, stop.subarray(0, 20)]],
    ['no end', [start, begin({ toolUse }), end()]],
    ['two ends', [start, stop, stop]],
    ['no beginning', [begin({ toolUse }), end(), stop]],
    ['a message of the user', [frameOf('messageStart', { role: 'user' }), stop]],
    ['a start of two kinds', [start, begin({ toolUse, text: '' }), end(), stop]],
    ['a piece of two kinds', [start, piece({ text: 'x', toolUse: { input: '' } }), end(), stop]],
    [
      'pieces of a call without its start',
      [start, piece({ toolUse: { input: '{}' } }), end(), stop],
    ],
    [
      'a call whose input is no text',
      [start, begin({ toolUse }), piece({ toolUse: { input: {} } }), end(), stop],
    ],
    ['an unknown kind of block', [start, piece({ run: { name: 'rm' } }), end(), stop]],
    ['a call after its end', [start, stop, frameOf('metadata', {}), begin({ toolUse }), end()]],
  ])('is refused with %s', (_, frames) => {
    expect(() => read(Buffer.concat(frames))).toThrow(StrictFault)
  })
})

describe('a whole answer of Converse', () => {
  it.each<[string, object]>([
    ['a block of two kinds', { text: 'x', ...converseCall('c', {}) }],
    ['an unknown block', { run: { name: 'rm' } }],
    ['a call beside its members', { toolUse: { toolUseId: 'c', name: 7, input: {} } }],
  ])('is refused with %s', (_, block) => {
    const output = { message: { role: 'assistant', content: [block] } }
    expect(() => strict.whole({ output, stopReason: 'end_turn' })).toThrow(StrictFault)
  })
})
