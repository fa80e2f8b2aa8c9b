import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { nearestNames } from '../../../../shared/contract/arguments/tool-name.ts'

const offered = ['exec', 'read_file', 'write_file', 'read_files', 'list_directory']

describe('the nearest offered names', () => {
  it.each([
    ['Exec', ['exec']],
    ['exce', []],
    ['exek', ['exec']],
    ['readFile', ['read_file', 'read_files']],
    ['read-fil', ['read_file', 'read_files']],
    ['list', ['list_directory']],
    ['functions.exec', ['exec']],
    ['weather', []],
    ['', []],
    ['x', []],
  ])('of %j are %j', (name, near) => expect(nearestNames(name, offered)).toEqual(near))

  it('hold a name with up to three letters added, dropped or changed, if it is long enough', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[a-z]{9,20}$/), fc.nat(), fc.nat(2), (name, place, kind) => {
        const at = place % name.length
        const typed = name.slice(0, at) + ['', '1', '12'][kind] + name.slice(at + 1)
        expect(nearestNames(typed, ['another', name])).toContain(name)
      }),
    )
  })
})
