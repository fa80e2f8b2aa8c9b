// Numbers with their nouns.

import { expect, it } from '@jest/globals'
import { count, number } from '../../../../apps/terminal/text/quantities.ts'

it.each([
  [1, 'process', '1 process'],
  [2_000, 'process', '2,000 processes'],
  [2, 'patch', '2 patches'],
  [3, 'entry', '3 entries'],
  [0, 'key', '0 keys'],
])('%p of the noun %s is %s', (value, noun, text) => {
  expect(count(value, noun)).toBe(text)
})

it.each([0, 999, 1_000, -1_234, 716_900, 1_234_567.891_4, 0.1 + 0.2, 123_456_789_012])(
  'the number %p is printed as Intl prints it',
  (value) => {
    expect(number(value)).toBe(value.toLocaleString('en'))
  },
)
