// The progress of a long read as a text.

import { describe, expect, it } from '@jest/globals'
import { progressText } from '../../../apps/terminal/progress.ts'

describe('progress', () => {
  it('shows the finished part, the rate and the remaining time', () => {
    expect(progressText({ done: 120_000, expected: 1_000_000, ms: 3_000 })).toBe(
      'reading the log: 120,000 of 1,000,000 records, 40,000 a second, 22 s left',
    )
  })

  it('shows bytes in a fitting unit', () => {
    const words = { doing: 'reading a.jsonl', what: 'byte' }
    const MiB = 1024 * 1024
    expect(progressText({ done: 120 * MiB, expected: 1536 * MiB, ms: 4_000 }, words)).toBe(
      'reading a.jsonl: 120.0 MiB of 1.5 GiB, 30.0 MiB a second, 47 s left',
    )
  })
})
