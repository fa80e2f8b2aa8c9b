// What a guard is called on the command line, and what is said of a name that is none.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { namedGuard } from '../../client/guard-file.ts'

const folder = mkdtempSync(join(tmpdir(), 'weir-guard-file-'))
beforeAll(() => {
  for (const file of ['strict.ts', 'loose.mjs', 'strict.md', 'options.json'])
    writeFileSync(join(folder, file), '{}')
  mkdirSync(join(folder, 'more'))
})
afterAll(() => rmSync(folder, { recursive: true }))

describe('a guard on the command line', () => {
  it('is a file, with its options behind =, or one that ships', () => {
    expect(namedGuard(join(folder, 'strict.ts'))).toEqual({
      file: join(folder, 'strict.ts'),
      options: undefined,
    })
    expect(
      namedGuard(`${join(folder, 'strict.ts')}=${join(folder, 'options.json')}`).options,
    ).toEqual({})
    expect(namedGuard('spend').file).toMatch(/spend\/guard\.ts$/)
  })

  it.each([
    ['strict', 'there is no file', 'did you mean', 'strict.ts?'],
    ['strict.js', 'there is no file', 'did you mean', 'strict.ts?'],
    ['lose.mjs', 'there is no file', 'did you mean', 'loose.mjs?'],
    ['more', 'is a folder, and a guard is a file'],
  ])(
    'that is no file (%s) is refused with where it was looked for, and the nearest there is',
    (name, ...words) => {
      const given = join(folder, name)
      const refused = () => namedGuard(given)
      expect(refused).toThrow(
        expect.objectContaining({ code: 'usage', message: expect.stringContaining(given) }),
      )
      for (const word of words) expect(refused).toThrow(word)
    },
  )

  it('that nothing is near is refused without a guess', () => {
    expect(() => namedGuard(join(folder, 'nowhere', 'x.ts'))).toThrow(
      /there is no file [^;]*x\.ts$/,
    )
  })

  it('that is a name is looked for among those that ship, too', () => {
    expect(() => namedGuard('spent')).toThrow(
      /there is no file \S+spent, and no guard of that name ships with Weir \(.*\); did you mean spend\?/,
    )
  })
})
