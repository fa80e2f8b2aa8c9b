import { describe, expect, it } from '@jest/globals'
import { limits } from '../../../shared/contract/limits.ts'
import { messageLines } from '../../../shared/tools/message-lines.ts'

function reader(bytesMax: number) {
  const lines: string[] = []
  let tooLong = 0
  const read = messageLines(bytesMax, {
    onLine: (line) => void lines.push(line),
    onTooLong() {
      tooLong += 1
    },
  })
  return { read, lines, tooLong: () => tooLong }
}

describe('the lines of a server', () => {
  it('are whole in any pieces, without the empty ones', () => {
    for (let size = 1; size < 12; size += 1) {
      const { read, lines, tooLong } = reader(100)
      const text = Buffer.from('one\n\n  \ntwo 🌊 three\nfour\nopen')
      for (let at = 0; at < text.length; at += size) read(text.subarray(at, at + size))
      expect(lines).toEqual(['one', 'two 🌊 three', 'four'])
      expect(tooLong()).toBe(0)
    }
  })

  it('are bounded in bytes, not in characters, in one piece or many', () => {
    for (const size of [1, 7, 100]) {
      const { read, lines, tooLong } = reader(8)
      const text = Buffer.from('é'.repeat(4).concat('\n', 'é'.repeat(5), '\n'))
      for (let at = 0; at < text.length; at += size) read(text.subarray(at, at + size))
      expect(lines[0]).toBe('éééé')
      expect(lines).not.toContain('ééééé')
      expect(tooLong()).toBe(1)
    }
  })

  it('take time in proportion to their length: a quadratic search does not end in this test', () => {
    const { read, lines, tooLong } = reader(limits.mcpMessageBytesMax)
    const piece = Buffer.alloc(64, 'x')
    const pieces = limits.mcpMessageBytesMax / piece.length
    for (let n = 0; n < pieces; n += 1) read(piece)
    read(Buffer.from('\n'))
    expect(lines.map(({ length }) => length)).toEqual([limits.mcpMessageBytesMax])
    for (let n = 0; n <= pieces; n += 1) read(piece)
    expect(tooLong()).toBe(1)
  })
})
