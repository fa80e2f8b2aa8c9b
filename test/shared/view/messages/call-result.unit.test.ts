import { expect, it } from '@jest/globals'
import { resultOf } from '../../../../shared/view/messages/call-result.ts'

it.each([
  ['{"degrees":18}', { degrees: 18 }],
  [' [1,2]', [1, 2]],
  ['18 degrees', '18 degrees'],
  ['18', '18'],
  ['"text"', '"text"'],
  ['{"degrees":1', '{"degrees":1'],
  ['', ''],
])(
  'the result %j of a call is a value only if its text is JSON of an object or a list',
  (text, result) => expect(resultOf('ok', text)).toEqual({ result, rawResult: text }),
)

it('the result of a failed call is its text', () => {
  expect(resultOf('error', '{"a":1}')).toEqual({ result: '{"a":1}', rawResult: '{"a":1}' })
})
