import { describe, expect, it } from '@jest/globals'
import { retryHint, waitIn } from '../../../../shared/wire/faults/retry-hint.ts'
import { cpuMsOf } from '../../../support/cpu-time.ts'

const date = 'Wed, 01 Jan 2020 00:00:00 GMT'
const nineLater = 'Wed, 01 Jan 2020 00:00:09 GMT'
const epoch = Date.parse(date) / 1000
const hint = (headers: Record<string, string>, { status = 429, statement = '' } = {}) =>
  retryHint({ status, headers: new Headers({ date, ...headers }), statement })

describe('the retry hint of a provider', () => {
  it.each<[string, Record<string, string>, number | null]>([
    ['retry-after in seconds', { 'retry-after': '7' }, 7000],
    [
      'retry-after-ms, which is the finer one',
      { 'retry-after-ms': '1500.2', 'retry-after': '7' },
      1501,
    ],
    ["retry-after as a date, read against the server's own", { 'retry-after': nineLater }, 9000],
    ['a date without a clock to read it by', { 'retry-after': nineLater, date: '' }, null],
    [
      'OpenAI: the limit that is used up',
      { 'x-ratelimit-remaining-requests': '0', 'x-ratelimit-reset-requests': '6m0s' },
      360_000,
    ],
    [
      'OpenAI: milliseconds',
      { 'x-ratelimit-remaining-tokens': '0', 'x-ratelimit-reset-tokens': '20ms' },
      20,
    ],
    [
      'Groq: fractions',
      { 'x-ratelimit-remaining-tokens': '0', 'x-ratelimit-reset-tokens': '1m7.66s' },
      67_660,
    ],
    [
      'Azure: seconds',
      { 'x-ratelimit-remaining-tokens': '0', 'x-ratelimit-reset-tokens': '12' },
      12_000,
    ],
    [
      'Anthropic: a date of another form',
      {
        'anthropic-ratelimit-input-tokens-remaining': '0',
        'anthropic-ratelimit-input-tokens-reset': '2020-01-01T00:00:09Z',
      },
      9000,
    ],
    [
      'OpenRouter: milliseconds since 1970',
      { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': `${epoch + 9}000` },
      9000,
    ],
    ['others: seconds since 1970', { 'x-ratelimit-reset': `${epoch + 9}` }, 9000],
    [
      'the draft of a standard: seconds',
      { 'ratelimit-remaining': '0', 'ratelimit-reset': '9' },
      9000,
    ],
    [
      'of two limits that are used up, the longer wait',
      {
        'x-ratelimit-remaining-requests': '0',
        'x-ratelimit-reset-requests': '2s',
        'x-ratelimit-remaining-tokens': '0',
        'x-ratelimit-reset-tokens': '5s',
      },
      5000,
    ],
    [
      'a limit of which something is left',
      { 'x-ratelimit-remaining-requests': '3', 'x-ratelimit-reset-requests': '24h' },
      null,
    ],
    [
      'retry-after before any limit',
      { 'retry-after': '1', 'x-ratelimit-remaining-tokens': '0', 'x-ratelimit-reset-tokens': '5s' },
      1000,
    ],
    ['a point in time that is past', { 'retry-after': 'Tue, 31 Dec 2019 00:00:00 GMT' }, 0],
    ['words', { 'retry-after': 'soon', 'x-ratelimit-reset': 'banana' }, null],
    ['less than nothing', { 'retry-after': '-5', 'retry-after-ms': '-1' }, null],
    ['a number with an exponent', { 'retry-after': '1e999' }, null],
    ['nothing', {}, null],
  ])('%s', (_, headers, wait) => expect(hint(headers)).toBe(wait))

  it.each(['99999999999', '9'.repeat(400)])(
    'never exceeds the bound of a record (%s s)',
    (seconds) => {
      for (const name of ['retry-after', 'retry-after-ms', 'x-ratelimit-reset']) {
        const wait = hint({ [name]: seconds })
        expect(wait === null || (Number.isSafeInteger(wait) && wait >= 0)).toBe(true)
      }
      expect(hint({ 'retry-after': seconds })).toBeGreaterThan(24 * 3600 * 1000)
    },
  )

  it('is not when a limit is full again, where it was not a limit that refused', () => {
    expect(
      hint(
        { 'x-ratelimit-remaining-tokens': '0', 'x-ratelimit-reset-tokens': '5s' },
        { status: 503 },
      ),
    ).toBeNull()
    expect(hint({ 'retry-after': '5' }, { status: 503 })).toBe(5000)
  })

  it('may stand in the message only', () => {
    expect(
      hint(
        {},
        {
          statement:
            'Rate limit reached for gpt-x. Please try again in 1.242s. Visit the page for more.',
        },
      ),
    ).toBe(1242)
    expect(hint({ 'retry-after': '3' }, { statement: 'Please try again in 9s.' })).toBe(3000)
  })
})

describe('a wait in a message', () => {
  it.each([
    ['Please try again in 6m0s.', 360_000],
    ['Please retry in 37.5s.', 37_500],
    ['Please retry after 20 seconds.', 20_000],
    ['try again in 1 hour, 2 minutes', 3_720_000],
    ['try again in 800ms', 800],
    ['try again in a moment', null],
    ['retry after 3 attempts', null],
    ['we retry in vain', null],
  ])('%s', (said, wait) => expect(waitIn(said)).toBe(wait))

  it('is looked for in linear time', () => {
    const text = `${'try again in '.repeat(20_000)}${'1s '.repeat(100_000)}`
    expect(cpuMsOf(() => waitIn(text))).toBeLessThan(5_000)
  })
})
