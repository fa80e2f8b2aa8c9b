// Calls that differ only in a stamp: a time, an attempt number, a nonce.

import { describe, expect, it } from '@jest/globals'
import { withoutStamps } from '../../../services/loop-detector/evidence/stamp.ts'
import { actions, declared, ok, one, played, type Step, toolCall } from './rounds.ts'

const silence = (count: number) => new Array<string>(count).fill('-')
const callOf = (args: object, result = 'idle') => one('get_state', args, ok(result))
const each = (count: number, step: (n: number) => Step) =>
  Array.from({ length: count }, (_, n) => step(n))

describe('near-equal calls with one result', () => {
  it.each([
    ['the seconds since the epoch', (n: number) => ({ id: 7, at: 1_700_000_001 + 7 * n })],
    ['a time of day', (n: number) => ({ id: 7, at: `2026-03-01T10:${10 + n}:13.5Z` })],
    ['a cache buster', (n: number) => ({ url: `https://a.test/state?_=${n}&id=7` })],
    ['the number of the attempt', (n: number) => ({ id: 7, options: { retryCount: n } })],
    ['the number of the attempt in a text', (n: number) => ({ note: `attempt ${n} of id seven` })],
    [
      'a remark on a command',
      (n: number) => ({ command: 'date +%Y', description: `look ${'abcdefghi'[n]}` }),
    ],
    ['an id of the request', (n: number) => ({ id: 7, request_id: `r${n * 7919}` })],
  ])('are a loop at the eighth round if they differ in %s', (_, sent) => {
    const interventions = played(...each(9, (n) => callOf(sent(n))))
    expect(interventions.map((intervention) => intervention?.action ?? '-')).toEqual([
      ...silence(7),
      'nudge',
      'text_only',
    ])
    expect(interventions[7]).toMatchObject({ rule: 'near-equal', class: null })
    expect(interventions[7]?.text).toContain('differ only in a time')
  })

  it.each([
    ['ids', (n: number) => ({ id: 4100 + n })],
    [
      'descriptions without a command',
      (n: number) => ({ list: 'a', description: `task ${'abcdefghijklmnopqrst'[n]}` }),
    ],
    ['pages', (n: number) => ({ page: n })],
    ['days', (n: number) => ({ day: `2026-03-${10 + n}` })],
    ['slots of time', (n: number) => ({ at: `2026-03-01T${10 + n}:30:00Z` })],
    ['full minutes since the epoch', (n: number) => ({ at: 1_700_000_040 + 60 * n })],
    [
      'windows counted back from now',
      (n: number) => ({ from: 1_700_000_001 + 3600 * n, to: 1_700_003_601 + 3600 * n }),
    ],
    [
      'windows of clock times',
      (n: number) => ({
        start_time: `2026-03-01T${10 + n}:10:13Z`,
        end_time: `2026-03-01T${11 + n}:10:13Z`,
      }),
    ],
    ['readings with their times', (n: number) => ({ at: 1_700_000_001 + 7 * n, value: n })],
  ])('are not a loop if they are a batch over %s', (_, sent) => {
    expect(actions(...each(20, (n) => callOf(sent(n))))).toEqual(silence(20))
  })

  const comment = (n: number, body = 'Could you rebase this, please?') =>
    one(
      'create_issue_comment',
      { issue: 7, body },
      ok(
        `{"id": ${51_200 + 37 * n}, "url": "https://git.test/o/r/issues/7#issuecomment-${51_200 + 37 * n}", "created_at": "2026-03-01T10:${10 + n}:13Z"}`,
      ),
    )

  it('are a loop at the eighth round if one message gets a new id and a new address each time', () => {
    expect(actions(...each(8, (n) => comment(n)))).toEqual([...silence(7), 'nudge'])
  })

  it('are not a loop if each message has another text, another call comes between, or no text is sent', () => {
    expect(actions(...each(20, (n) => comment(n, `Finding ${n}: see the log.`)))).toEqual(
      silence(20),
    )
    const step = (n: number) => one('edit_file', { path: `f${n}`, line: n }, ok(`done ${n}`))
    const both = Array.from({ length: 20 }, (_, n) => [comment(n), step(n)])
    expect(actions(...both.flat())).toEqual(silence(40))
    const row = (n: number) => one('add_row', { table: 'rooms' }, ok(`{"id": ${70 + n}}`))
    expect(actions(...each(20, row))).toEqual(silence(20))
  })

  it('are not a loop while results are new, and count again after a new one', () => {
    expect(actions(...each(20, (n) => callOf({ nonce: n }, `row ${n}`)))).toEqual(silence(20))
    const steps = [
      ...each(7, (n) => callOf({ nonce: n })),
      callOf({ nonce: 'x' }, 'busy'),
      ...each(8, (n) => callOf({ nonce: -n })),
    ]
    expect(actions(...steps)).toEqual([...silence(15), 'nudge'])
  })

  it('are not a loop while the model also makes new calls', () => {
    expect(
      actions(
        ...each(12, (n) => callOf({ nonce: n })).flatMap((step, n) => [
          step,
          one('read_file', { path: `f${n}` }, ok('idle')),
        ]),
      ),
    ).toEqual(silence(24))
  })

  it('have the limit of polling if the tool is a poller', () => {
    const polled = (n: number): Step => ({
      calls: [[toolCall('job_state', { id: 1, nonce: n }), ok('running')]],
      fields: { declarations: [declared('job_state', { poll: true })] },
    })
    expect(actions(...each(25, polled))).toEqual([...silence(24), 'nudge'])
  })
})

describe('arguments without their stamps', () => {
  it('are undefined if there is no stamp', () => {
    expect(
      withoutStamps({ a: [1, 'x', null, { b: true }], seconds: 1_700_000_040, count: 12 }),
    ).toBeUndefined()
    expect(withoutStamps(undefined)).toBeUndefined()
  })

  it('are equal for any order of members, with ids of any length', () => {
    const plain = withoutStamps({ nonce: 1, b: { c: 1n, d: [2] }, a: 'x' })
    expect(plain).toBe(withoutStamps({ a: 'x', b: { d: [2], c: 1n }, nonce: 2 }))
    expect(plain).not.toBe(withoutStamps({ a: 'x', b: { d: [2], c: 2n }, nonce: 2 }))
  })
})
