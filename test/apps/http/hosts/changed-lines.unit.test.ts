// The lines of a change.

import { expect, it } from '@jest/globals'
import { changedLines } from '../../../../apps/http/hosts/changed-lines.ts'

it('shows removed and added lines with two lines of context', () => {
  expect(changedLines('a\nb\nc\nd\ne\nf\n', 'a\nb\nc\nX\ne\nf\n')).toEqual([
    '  b',
    '  c',
    '- d',
    '+ X',
    '  e',
    '  f',
  ])
})

it('shows a new file as added lines only, and a removed one as removed lines', () => {
  expect(changedLines('', '{}\n')).toEqual(['+ {}'])
  expect(changedLines('{}\n', '')).toEqual(['- {}'])
})

it('shows a repeated line once', () => {
  expect(changedLines('a\na\n', 'a\na\na\n')).toEqual(['  a', '  a', '+ a'])
})
