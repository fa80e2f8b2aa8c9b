// Numbers with their nouns.

import { expect, it } from '@jest/globals'
import { count } from '../../../../apps/terminal/text/quantities.ts'

it.each([
  [1, 'process', '1 process'],
  [2_000, 'process', '2,000 processes'],
  [2, 'patch', '2 patches'],
  [3, 'entry', '3 entries'],
  [0, 'key', '0 keys'],
])('%p of the noun %s is %s', (value, noun, text) => {
  expect(count(value, noun)).toBe(text)
})
