// Options of programs and fields of requests that do not exist.

import { expect, it } from '@jest/globals'
import { refuseUnknownKeys } from '../../client/known-keys.ts'

it('an object with very many unknown keys is refused with the first of them, each cut', () => {
  const given = Object.fromEntries(
    Array.from({ length: 1_000 }, (_, n) => [`agnt${n}${'x'.repeat(1_000)}`, 1]),
  )
  let message = ''
  try {
    refuseUnknownKeys(given, ['agent'], { code: 'usage', subject: 'the body' })
  } catch (error) {
    message = (error as Error).message
  }
  expect(message.split('\n')).toHaveLength(9)
  expect(message).toContain('992 more unknown options of the body')
  expect(message.length).toBeLessThan(2_000)
})
