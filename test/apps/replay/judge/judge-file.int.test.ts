// The output of `weir judge` at a terminal.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it, jest } from '@jest/globals'
import { judgeFile } from '../../../../apps/replay/judge/judge.ts'
import { systemClock } from '../../../../shared/lib/clock.ts'
import { output } from '../../../support/output.ts'

const folder = mkdtempSync(join(tmpdir(), 'weir-judge-'))
const { isTTY } = process.stderr
const { TERM = '' } = process.env

/**
 * The output on a terminal. A second passes at each reading of the clock. No known scenario makes
 * judging fail, so the clock does here.
 */
function terminal(looksMax: number): () => string {
  let looks = 0
  let shown = ''
  process.stderr.isTTY = true
  process.env.TERM = 'xterm'
  jest.spyOn(systemClock, 'monotonic').mockImplementation(() => {
    looks += 1
    if (looks > looksMax) throw new Error('the clock stands still')
    return looks * 1_000
  })
  jest.spyOn(process.stderr, 'write').mockImplementation((text) => {
    shown += text
    return true
  })
  return () => shown
}

afterEach(() => {
  jest.restoreAllMocks()
  process.stderr.isTTY = isTTY
  process.env.TERM = TERM
  rmSync(folder, { recursive: true })
})

describe('weir judge of a file', () => {
  it('removes its progress line even if judging fails', async () => {
    const file = join(folder, 'scenarios.jsonl')
    const steps = [{ kind: 'text', text: 'done' }]
    writeFileSync(file, ['a', 'b', 'c'].map((id) => JSON.stringify({ id, steps })).join('\n'))
    const shown = terminal(3)
    await expect(judgeFile(file, {}, output().stream)).rejects.toThrow('the clock stands still')
    expect(shown()).toContain('judging: 2 of 3 scenarios')
    expect(shown().endsWith('\r\u001b[K')).toBe(true)
  })
})
