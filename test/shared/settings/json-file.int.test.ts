// The JSON file of a setting.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { readJson } from '../../../shared/settings/json-file.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'weir-json-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

function fileWith(text: string): string {
  const file = join(folder, 'prices.json')
  writeFileSync(file, text)
  return file
}

describe('the JSON file of a setting', () => {
  it('is read as its value', () => {
    expect(readJson(fileWith('{"a": [1]}'), 100)).toEqual({ a: [1] })
  })

  it.each([
    ['no JSON', '{', /^the prices is not JSON: /],
    [
      'more bytes than allowed',
      ' '.repeat(101),
      /^the prices has 101 bytes; must have at most 100$/,
    ],
  ])('is refused as bad usage with %s', (_, text, message) => {
    const refused = { code: 'usage', message: expect.stringMatching(message) }
    expect(() => readJson(fileWith(text), 100, 'the prices')).toThrow(
      expect.objectContaining(refused) as never,
    )
  })

  it('is refused as bad usage if it does not exist', () => {
    expect(() => readJson(join(folder, 'none.json'), 100)).toThrow(/none\.json does not exist$/)
  })
})
