import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { isBelowFolder } from '../../../../shared/lib/files/below-folder.ts'

let place: string
beforeEach(() => {
  place = mkdtempSync(join(tmpdir(), 'weir-below-'))
  mkdirSync(join(place, 'checkout/data'), { recursive: true })
  mkdirSync(join(place, 'theirs'))
  symlinkSync('../theirs', join(place, 'checkout/link'))
  symlinkSync('data', join(place, 'checkout/inner'))
})
afterEach(() => rmSync(place, { recursive: true }))

describe('a path', () => {
  it.each([
    ['data', true],
    ['data/new/folder', true],
    ['inner/new', true],
    ['new', true],
    ['.', false],
    ['..', false],
    ['../theirs', false],
    ['data/../../theirs', false],
    ['link', false],
    ['link/new', false],
    ['../checkout-2', false],
  ])('%s stays below its folder: %j', (path, expected) => {
    const folder = join(place, 'checkout')
    expect(isBelowFolder(`${folder}/${path}`, folder)).toBe(expected)
  })
})
