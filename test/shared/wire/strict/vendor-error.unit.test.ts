import { describe, expect, it } from '@jest/globals'
import { vendorError } from '../../../../shared/wire/strict/vendor-error.ts'

const call = { tool_calls: [{ id: 'c1', function: { name: 'exec', arguments: '{}' } }] }

describe('the error of a vendor under the veto', () => {
  it.each<[string, object, string]>([
    ['a list of errors', { errors: [{ message: 'bad' }] }, 'bad'],
    ['a text in a member of its own', { error_msg: 'bad' }, 'bad'],
    ['an exception of Bedrock', { ValidationException: { message: 'bad' } }, 'bad'],
    ['a text as the error', { error: 'bad' }, 'bad'],
    ['the detail of a server', { detail: 'bad' }, 'bad'],
    [
      'the list of mistakes of a server',
      { detail: [{ loc: ['body'], msg: 'field required' }, { msg: 'too long' }] },
      'field required; too long',
    ],
  ])('has only its message: %s', (_, body, message) => {
    expect(vendorError(400, JSON.stringify({ ...body, x: call }))?.message).toBe(message)
  })
})
