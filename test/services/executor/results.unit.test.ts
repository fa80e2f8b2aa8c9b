import { describe, expect, it } from '@jest/globals'
import { cutWithNote } from '../../../services/executor/results.ts'

describe('a text above its bound', () => {
  it('ends with the number of its bytes', () => {
    expect(cutWithNote('x'.repeat(100), 60)).toBe(
      `${'x'.repeat(18)}\n[cut: this is the beginning of 100 bytes]`,
    )
  })

  it('keeps the number of a text that was cut before', () => {
    for (const more of ['', '\n[some bytes were not UTF-8 and are shown as \uFFFD]']) {
      const cut = `${'x'.repeat(100)}\n[cut: this is the beginning of 50000000 bytes]${more}`
      expect(cutWithNote(cut, 60)).toMatch(/^x+\n\[cut: this is the beginning of 50000000 bytes\]$/)
    }
  })

  it('names at least the bytes that it has, also if a tool writes such a note', () => {
    const text = `${'x'.repeat(100)}\n[cut: this is the beginning of 1 bytes]`
    expect(cutWithNote(text, 60)).toContain('beginning of 140 bytes')
  })
})
