// Names of guards on the command line, and the errors for unknown names.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { namedGuard } from '../../../client/guards/guard-file.ts'

const folder = mkdtempSync(join(tmpdir(), 'weir-guard-file-'))
beforeAll(() => {
  for (const file of ['strict.ts', 'loose.mjs', 'strict.md', 'options.json'])
    writeFileSync(join(folder, file), '{}')
  mkdirSync(join(folder, 'more'))
})
afterAll(() => rmSync(folder, { recursive: true }))

describe('a guard on the command line', () => {
  it('is a file with its options after =, or a guard that ships', () => {
    expect(namedGuard(join(folder, 'strict.ts'))).toEqual({
      file: join(folder, 'strict.ts'),
      options: undefined,
    })
    expect(
      namedGuard(`${join(folder, 'strict.ts')}=${join(folder, 'options.json')}`).options,
    ).toEqual({})
    expect(namedGuard('spend').file).toMatch(/spend\/guard\.ts$/)
  })

  it('is refused with a file of options that is missing, a folder or no JSON', () => {
    const optionsOf = (name: string) => () =>
      namedGuard(`${join(folder, 'strict.ts')}=${join(folder, name)}`)
    const faultOf = (fault: string) =>
      expect.objectContaining({ code: 'usage', message: expect.stringContaining(fault) })
    expect(optionsOf('nowhere.json')).toThrow(faultOf('nowhere.json does not exist'))
    expect(optionsOf('more')).toThrow(faultOf('is a folder; must be a file'))
    writeFileSync(join(folder, 'bad.json'), '{')
    expect(optionsOf('bad.json')).toThrow(faultOf('bad.json is not JSON: '))
  })

  it.each([
    ['strict', 'there is no file', 'did you mean', 'strict.ts?'],
    ['strict.js', 'there is no file', 'did you mean', 'strict.ts?'],
    ['lose.mjs', 'there is no file', 'did you mean', 'loose.mjs?'],
    ['more', 'is a folder; a guard is a file'],
  ])('is refused if it is no file (%s), with the path and the nearest name', (name, ...words) => {
    const given = join(folder, name)
    const refused = () => namedGuard(given)
    expect(refused).toThrow(
      expect.objectContaining({ code: 'usage', message: expect.stringContaining(given) }),
    )
    for (const word of words) expect(refused).toThrow(word)
  })

  it('is refused without a guess if no name is near', () => {
    expect(() => namedGuard(join(folder, 'nowhere', 'x.ts'))).toThrow(
      /there is no file [^;]*x\.ts$/,
    )
  })

  it('is compared with the guards that ship', () => {
    expect(() => namedGuard('spent')).toThrow(
      /there is no file \S+spent, and no guard of that name ships with Weir \(.*\); did you mean spend\?/,
    )
  })
})
