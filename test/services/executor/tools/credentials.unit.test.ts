import { describe, expect, it } from '@jest/globals'
import {
  credentialsOf,
  withoutCredentials,
} from '../../../../services/executor/tools/credentials.ts'

function hide(
  text: string,
  { url = 'http://localhost/', headers = {} }: { url?: string; headers?: Record<string, string> },
): string {
  return withoutCredentials(
    { status: 'ok', text, reason: '' },
    credentialsOf({ kind: 'http', url, headers }),
  ).text
}

describe('credentials in a result', () => {
  it.each<[string, string, Parameters<typeof hide>[1], string]>([
    [
      'a whole header',
      'got Bearer abcdefgh',
      { headers: { Authorization: 'Bearer abcdefgh' } },
      'got [secret]',
    ],
    [
      'the word of a header that is one',
      'token abcdefgh is bad',
      { headers: { authorization: 'Bearer abcdefgh' } },
      'token [secret] is bad',
    ],
    [
      'the value of a cookie',
      'sid abcdefgh',
      { headers: { Cookie: 'sid=abcdefgh; theme=dark' } },
      'sid [secret]',
    ],
    [
      'a long word of any other header',
      'x-y: abcdefghijklmnop',
      { headers: { 'x-y': 'abcdefghijklmnop' } },
      'x-y: [secret]',
    ],
    [
      'a parameter of the URL',
      'key abc def/gh',
      { url: 'http://localhost/?api_key=abc%20def%2Fgh' },
      'key [secret]',
    ],
    [
      'the longer of two, whole',
      'abcdefgh-ijkl',
      { headers: { key1: 'abcdefgh', key2: 'abcdefgh-ijkl' } },
      '[secret]',
    ],
  ])('%s', (_, text, options, shown) => expect(hide(text, options)).toBe(shown))

  it.each<[string, string, Parameters<typeof hide>[1]]>([
    [
      'the name of a scheme',
      'a Bearer is missing',
      { headers: { authorization: 'Bearer abcdefgh' } },
    ],
    ['what is too short to be a credential', 'x of y', { headers: { authorization: 'of' } }],
    ['a short word of any other header', 'research', { headers: { 'X-Team': 'research' } }],
    [
      'what no header hides',
      'application/vnd.weir+json',
      { headers: { Accept: 'application/vnd.weir+json' } },
    ],
  ])('but %s', (_, text, options) => expect(hide(text, options)).toBe(text))
})
