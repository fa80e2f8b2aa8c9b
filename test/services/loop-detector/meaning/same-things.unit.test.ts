// Calls that differ without being new, at the exact round of the first intervention, and the honest
// calls that look like them.

import { describe, expect, it } from '@jest/globals'
import { crashIn } from '../../../../services/loop-detector/meaning/lap-state.ts'
import { withoutOwnAddress } from '../../../../services/loop-detector/meaning/page-reference.ts'
import { ok, one, played, type Step } from '../rounds.ts'

const each = (count: number, steps: (n: number) => Step | Step[]) =>
  Array.from({ length: count }, (_, index) => steps(index + 1)).flat()
const letters = (n: number) => 'abcdefghijklmnopqrstuvwxyz'.charAt(n).repeat(4)
/** The round and the rule of the first intervention. */
const first = (steps: Step[]) => {
  const all = played(...steps)
  const at = all.findIndex((one) => one !== null)
  return at < 0 ? 'none' : `${at + 1} ${all[at]?.rule}`
}

describe('a search without hits', () => {
  const search = (pattern: string) => one('Grep', { pattern }, ok('No files found'))

  it('may have the next word in the same place sixteen times', () => {
    expect(first(each(16, (n) => search(`\\b${letters(n)}Legacy\\b`)))).toBe('16 same-answer')
    expect(first(each(15, (n) => search(`\\b${letters(n)}Legacy\\b`)))).toBe('none')
  })

  it('is reworded the eighth time if a word comes back or another place differs', () => {
    const reworded = (n: number) =>
      search(n % 2 === 0 ? `${letters(n)}Legacy` : `legacy_${letters(n)}`)
    expect(first(each(16, reworded))).toBe('8 same-answer')
    const again = (n: number) => search(`${letters(n % 3)}Legacy${'s'.repeat(n)}`)
    expect(first(each(16, again))).toBe('10 same-answer')
  })

  it('of a statement counts by its texts, about the same tables', () => {
    const rows = (sql: string) => one('query', { sql }, ok('[]'))
    const columns = (n: number) =>
      rows(`SELECT * FROM users WHERE ${letters(n)} = 'ada ${letters(n)}'`)
    expect(first(each(24, (n) => rows(`SELECT * FROM ${letters(n)} WHERE state = 'lost'`)))).toBe(
      'none',
    )
    expect(first(each(24, (n) => rows(`SELECT * FROM users WHERE ${letters(n)} IS NULL`)))).toBe(
      'none',
    )
    expect(first(each(24, columns))).toBe('none')
    const name = (n: number) => (n % 2 === 0 ? 'ada lee' : 'lee, ada')
    const reworded = (n: number) =>
      rows(`SELECT ${letters(n)} FROM users WHERE name = '${name(n)}'`)
    expect(first(each(9, reworded))).toBe('8 same-answer')
  })

  it('of a statement for one key after another is a batch, although the keys share words', () => {
    const mail = (n: number) =>
      one(
        'query',
        {
          sql: `SELECT id FROM users WHERE email = '${letters(n)}.${letters(25 - n)}x@example.com'`,
        },
        ok('[]'),
      )
    expect(first(each(12, mail))).toBe('none')
  })
})

describe('a page', () => {
  const page = (url: string) => one('fetch_page', { url }, ok('the same text of a page '.repeat(3)))

  it('is the same sixteen times with other values of a parameter, which may be a batch', () => {
    expect(first(each(17, (n) => page(`https://a.example.com/b?c=${letters(n)}`)))).toBe(
      '16 same-answer',
    )
  })

  it('is the same eight times with other parameters or places, and sixteen times at other addresses', () => {
    expect(first(each(9, (n) => page(`https://a.example.com/b?${letters(n)}=1`)))).toBe(
      '8 same-answer',
    )
    expect(first(each(9, (n) => page(`https://a.example.com/b?d=x&page=${n}`)))).toBe(
      '8 same-answer',
    )
    expect(first(each(8, (n) => page(`https://a.example.com/b/#${letters(n)}`)))).toBe(
      '8 same-answer',
    )
    expect(first(each(16, (n) => page(`https://a.example.com/${letters(n)}`)))).toBe(
      '16 same-answer',
    )
  })

  it('may state its own address', () => {
    expect(
      withoutOwnAddress('- Page URL: https://a.example.com/b?c=1\n- Link: https://b.example.com/'),
    ).toBe('- Page URL: \n- Link: https://b.example.com/')
    expect(withoutOwnAddress('{"url": "https://a.example.com/b","n":1}')).toBe('{"url": "","n":1}')
  })

  it('has references that count as places, several in one call, in frames too', () => {
    const lap = (n: number) => [
      one(
        'open',
        { url: 'https://a.example.com/' },
        ok(`- textbox [ref=f1e${n}]\n- button [ref=e${n + 1}]`),
      ),
      one('fill', { fields: [{ ref: `f1e${n}` }, { ref: `e${n + 1}` }] }, ok('filled')),
    ]
    expect(first(each(4, (n) => lap(10 * n)))).toBe('6 cycle')
    const other = (n: number) => [
      one(
        'open',
        { url: 'https://a.example.com/' },
        ok(`- textbox [ref=f1e${n}]\n- button [ref=e${n + 1}]`),
      ),
      one('fill', { fields: [{ ref: `f1e${n}` }, { ref: `e${n + 7}` }] }, ok('filled')),
    ]
    expect(first(each(4, (n) => other(10 * n)))).toBe('none')
  })
})

describe('a thing that crashes', () => {
  const lap = (restart: string, state: string) => (n: number) => [
    one('bash', { command: restart }, ok('done')),
    one('bash', { command: 'sleep 9 && docker ps' }, ok(`web  ${state}`)),
    one(
      'bash',
      { command: `docker logs web --tail ${n}` },
      ok(`{"level":"fatal","msg":"no table"}\nline ${n}`),
    ),
  ]

  it('is in a circle although the agent pauses', () => {
    expect(first(each(4, lap('docker restart web', 'Restarting (1) 2 seconds ago')))).toBe(
      '9 cycle',
    )
  })

  it.each([
    ['nothing starts it again', 'docker inspect web', 'Restarting (1) 2 seconds ago'],
    ['it is up', 'docker restart web', 'Up 2 seconds'],
  ])('is waited for if %s', (_, restart, state) => {
    expect(first(each(4, lap(restart, state)))).toBe('none')
  })
})

describe('the line of a crash', () => {
  it.each(['{"level":"fatal","msg":"no table"}', 'severity=ERROR no table', 'Error: no table'])(
    'is %s',
    (line) => expect(crashIn(`starting\n${line}`)).toBe(line),
  )

  it('is none in a log without an error', () =>
    expect(crashIn('{"level":"info","msg":"no errors"}')).toBeUndefined())
})

describe('other calls that are known', () => {
  it('are near-equal ones, repeated or not', () => {
    const run = (n: number) =>
      one('term', { command: 'npm run build', explanation: letters(n % 3) }, ok('built'))
    expect(first(each(9, run))).toBe('8 near-equal')
  })

  it('are windows under a header of the host', () => {
    const lines = Array.from({ length: 30 }, (_, at) => `line ${letters(at % 26)} ${at}`)
    const print = (n: number) =>
      one(
        'exec_command',
        { cmd: `sed -n '${n},30p' a.txt` },
        ok(
          `Chunk ID: a1b2c${n}\nWall time: 0.1${n} seconds\nProcess exited with code 0\nOriginal token count: ${100 - n}\nOutput:\n${lines.slice(n - 1).join('\n')}`,
        ),
      )
    expect(first(each(9, print))).toBe('9 sweep')
  })
})
