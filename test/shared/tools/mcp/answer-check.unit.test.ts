import { describe, expect, it } from '@jest/globals'
import { limits } from '../../../../shared/contract/limits.ts'
import { answerCheck } from '../../../../shared/tools/mcp/bounded-fetch.ts'

const depth = limits.jsonDepthMax
const most = limits.mcpMessageBytesMax

/** Whether the check accepts the text, in pieces of this size. */
function isAccepted(text: string, { isStream = true, size = 4096 } = {}): boolean {
  const check = answerCheck(isStream)
  const bytes = Buffer.from(text)
  try {
    for (let at = 0; at < bytes.length; at += size) check(bytes.subarray(at, at + size))
    return true
  } catch {
    return false
  }
}

describe('the check of an answer', () => {
  it.each([
    ['brackets up to the limit', '['.repeat(depth), true],
    ['one bracket more', '['.repeat(depth + 1), false],
    ['brackets that are closed', '[]'.repeat(depth + 1), true],
    ['brackets in a text', `"${'['.repeat(depth + 1)}"`, true],
    ['brackets behind an escaped quote in a text', `"\\"${'['.repeat(depth + 1)}"`, true],
    ['brackets behind a text that ends with a backslash', `"\\\\"${'['.repeat(depth + 1)}`, false],
    ['brackets behind an open text of another line', `event: "\ndata: ${'['.repeat(600)}`, false],
    [
      'brackets behind others that close nothing',
      `: ${']'.repeat(600)}\n${'['.repeat(600)}`,
      false,
    ],
    ['brackets of several lines of an event', `data: ${'['.repeat(300)}\n`.repeat(2), false],
    ['brackets of lines that end in two characters', `${'['.repeat(300)}\r\n`.repeat(2), false],
    ['brackets of several events', `data: ${'['.repeat(300)}\n\n`.repeat(3), true],
    ['events whose lines end in two characters', `${'['.repeat(300)}\r\n\r\n`.repeat(3), true],
  ])('judges %s', (_title, text, accepted) => {
    expect(isAccepted(text)).toBe(accepted)
    expect(isAccepted(text, { size: 1 })).toBe(accepted)
  })

  it('counts the bytes of each event of a stream', () => {
    const half = `data: ${'x'.repeat(most / 2)}\n\n`
    expect(isAccepted(half.repeat(3), { size: 65_536 })).toBe(true)
    expect(isAccepted(`data: ${'x'.repeat(most)}`, { size: 65_536 })).toBe(false)
  })

  it('counts all bytes of an answer that is no stream', () => {
    const half = `${' '.repeat(most / 2)}\n\n`
    expect(isAccepted(half.repeat(2), { isStream: false, size: 65_536 })).toBe(false)
  })
})
