// Whether a file is lines or one value.

import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { openValues } from '../../../apps/transcripts/file-values.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'weir-values-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

/** A sparse file above the limit: after its first bytes, it uses no disk space. */
function largeFile(beginning: string): string {
  const file = join(folder, 'log.jsonl')
  writeFileSync(file, beginning)
  truncateSync(file, 300 * 1024 * 1024)
  return file
}

describe('openValues', () => {
  it('reads a large file line by line, even if its first line is broken', async () => {
    const values = await openValues(largeFile('"messages":[]}\n{"messages":[]}\n'))
    try {
      for await (const found of values.each(() => {})) {
        expect(found).toMatchObject([
          { where: expect.stringMatching(/:1$/), fault: expect.any(String) },
          { value: { messages: [] } },
        ])
        break
      }
      expect(values.areSeveral).toBe(true)
    } finally {
      values.close()
    }
  })

  it('refuses a single value that exceeds the limit', async () => {
    await expect(openValues(largeFile('{\n"messages":\n[]'))).rejects.toMatchObject({
      code: 'transcript.invalid',
      message: expect.stringContaining('is one value of 314572800 bytes'),
    })
  })
})
