import { describe, expect, it } from '@jest/globals'
import { limits } from '../../../../shared/contract/limits.ts'
import { bodyLine } from '../../../../shared/tools/http/body-line.ts'

describe('the error line of a body', () => {
  it.each([
    [
      'the message of a JSON error',
      '{\n  "error": { "code": 17, "message": "no such\\n town" }\n}',
      'no such town',
    ],
    ['an error that is a text', '{"error":"quota exceeded"}', 'quota exceeded'],
    [
      'the detail of a problem, rather than its title',
      '{"type":"about:blank","title":"Bad Request","detail":"town is blank"}',
      'town is blank',
    ],
    [
      'the first of several errors',
      '{"errors":[{"message":"first"},{"message":"second"}]}',
      'first',
    ],
    ['JSON without a message, in one line', '{\n "code": 17\n}', '{"code":17}'],
    ['a JSON text', '"just this"', 'just this'],
    [
      'the title of a page',
      '<!DOCTYPE html>\n<html><head>\n<title>502 Bad\n Gateway</title></head>',
      '502 Bad Gateway',
    ],
    [
      'the line that names an error',
      'Traceback (most recent call last):\n  File "x.py"\nValueError: town\n',
      'ValueError: town',
    ],
    ['the first line of a text', '\n  \nno such town\nmore', 'no such town'],
    ['JSON that was cut, as text', '{"error":"quo', '{"error":"quo'],
  ])('is %s', (_, body, line) => expect(bodyLine(body)).toBe(line))

  it('is undefined for a blank body', () => expect(bodyLine(' \n\t')).toBeUndefined())

  it('is searched in JSON to a limited depth, and is bounded', () => {
    const deep = `${'['.repeat(50_000)}"far away"${']'.repeat(50_000)}`
    expect(Buffer.byteLength(bodyLine(deep) ?? '')).toBeLessThanOrEqual(limits.reasonBytesMax)
  })
})
