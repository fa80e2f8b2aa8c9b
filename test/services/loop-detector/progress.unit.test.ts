// Calls that succeed and bring nothing new (I3): identical successes, equal answers, cycles,
// repeated rounds.

import { describe, expect, it } from '@jest/globals'
import type { CallResult, ToolHints } from '../../../shared/contract/messages.ts'
import {
  actions,
  declared,
  failing,
  judgedBy,
  ok,
  one,
  played,
  policyWith,
  type Step,
  says,
  siblings,
  times,
  toolCall,
} from './rounds.ts'

const silence = (count: number) => new Array<string>(count).fill('-')
const read = one('read_file', { path: 'a' }, ok('text of a'))
const polled = (text: string): Step => ({
  calls: [[toolCall('job_status', { id: 1 }), ok(text)]],
  fields: { declarations: [declared('job_status', { poll: true })] },
})

describe('the same call with the same result', () => {
  it('leads to a nudge at the fifth time, then to a round without tools, then to the end', () => {
    const interventions = played(...times(7, read))
    expect(interventions.map((intervention) => intervention?.action ?? '-')).toEqual([
      ...silence(4),
      'nudge',
      'text_only',
      'end',
    ])
    expect(interventions[4]).toMatchObject({
      rule: 'identical-success',
      key: 'read_file({"path":"a"})',
      ordinary: false,
      class: null,
    })
    expect(interventions[4]?.text).toContain(
      'SYSTEM INTERVENTION — LOOP DETECTED\nYour last 3 tool calls were:\n1. read_file({"path":"a"}) → returned: text of a',
    )
    expect(interventions[4]?.text).toContain('returned the same result')
    expect(interventions[4]?.text).toContain('wait longer')
    expect(interventions[6]).toMatchObject({ action: 'end', class: 'no_progress', text: '' })
  })

  it('has the threshold of the policy', () => {
    const policy = policyWith({ loop: { identicalSuccesses: 2 } })
    expect(actions({ ...read, fields: { policy } }, { ...read, fields: { policy } })).toEqual([
      '-',
      'nudge',
    ])
  })

  it('is recognised if only clocks, ids and durations differ', () => {
    const steps = [1, 2, 3, 4, 5].map((n) =>
      one(
        'fetch',
        { url: 'u' },
        ok(`<<a${n}41afa7f>> page, ${n}.2 ms, at 2026-01-0${n}T10:00:00Z`),
      ),
    )
    expect(actions(...steps)).toEqual([...silence(4), 'nudge'])
  })

  it('is progress if the result differs, even in a number', () => {
    expect(
      actions(
        ...[10, 30, 42, 80, 95, 100].map((done) =>
          one('job_status', { id: 1 }, ok(`${done}% done`)),
        ),
      ),
    ).toEqual(silence(6))
  })

  it('goes on through text in between', () => {
    expect(actions(...times(5, read).flatMap((step) => [says('Once more.'), step]))).toEqual([
      ...silence(9),
      'nudge',
    ])
  })

  it('counts again after any new result, in the same round too', () => {
    const other = (n: number) => one('read_file', { path: `f${n}` }, ok(`text ${n}`))
    expect(actions(...times(4, read), other(1), ...times(4, read))).toEqual(silence(9))
    const both = (n: number) =>
      siblings(
        ['read_file', { path: 'a' }, ok('text of a')],
        ['read_file', { path: `f${n}` }, ok(`text ${n}`)],
      )
    expect(actions(...[1, 2, 3, 4, 5, 6, 7].map(both))).toEqual(silence(7))
  })

  it('counts again after a new error, which is news for the model', () => {
    expect(
      actions(
        ...times(4, read),
        one('write_file', { path: 'x' }, failing('disk full')),
        ...times(4, read),
      ),
    ).toEqual(silence(9))
  })

  it('counts rounds, not calls', () => {
    const six = siblings(
      ...times(6, read).map((): [string, unknown, CallResult] => [
        'read_file',
        { path: 'a' },
        ok('text of a'),
      ]),
    )
    expect(actions(six)).toEqual(['-'])
  })

  const hinted = (hints: Partial<ToolHints>, sent: (why: string) => object): Step[] =>
    ['to see', 'to check', 'to be sure', 'again', 'at last'].map((why) => ({
      calls: [[toolCall('read_file', sent(why)), ok('x')]],
      fields: {
        declarations: [
          declared('read_file', {
            hints: {
              mutates: null,
              ignoreFields: [],
              loopKey: [],
              denial: null,
              labels: [],
              client: false,
              once: null,
              ...hints,
            },
          }),
        ],
      },
    }))

  it.each([
    ['declared comments', { ignoreFields: ['why'] }, (why: string) => ({ path: 'a', why })],
    [
      'nested comments',
      { ignoreFields: ['/meta/why'] },
      (why: string) => ({ path: 'a', meta: { why, deep: true } }),
    ],
    [
      'comments in each item',
      { ignoreFields: ['/files/*/why'] },
      (why: string) => ({ files: [{ path: 'a', why }, { path: 'b' }] }),
    ],
    [
      'comments inside the declared key',
      { loopKey: ['/meta'], ignoreFields: ['/meta/why'] },
      (why: string) => ({ n: why.length, meta: { why, deep: true } }),
    ],
    [
      'arguments outside the declared key',
      { loopKey: ['path'] },
      (why: string) => ({ path: './a', why, n: why.length }),
    ],
  ])('is recognised without %s', (_, hints, sent) => {
    expect(actions(...hinted({}, sent))).toEqual(silence(5))
    expect(actions(...hinted(hints, sent))).toEqual([...silence(4), 'nudge'])
  })

  it('is recognised by all arguments if its key matches none', () => {
    expect(actions(...hinted({ loopKey: ['/path/~x'] }, (why) => ({ path: why })))).toEqual(
      silence(5),
    )
    expect(actions(...hinted({ loopKey: ['id'] }, (why) => ({ id: null, why })))).toEqual(
      silence(5),
    )
  })

  it('is another call if an argument of its key differs', () => {
    expect(actions(...hinted({ loopKey: ['path', 'why'] }, (why) => ({ path: 'a', why })))).toEqual(
      silence(5),
    )
  })
})

describe('polling', () => {
  it('by a declared poller may last twenty-five rounds', () => {
    expect(actions(...times(25, polled('pending')))).toEqual([...silence(24), 'nudge'])
    expect(actions(...times(8, polled('pending')), polled('done'))).toEqual(silence(9))
  })

  it('may last at least as long as the policy allows any success', () => {
    const policy = policyWith({ loop: { identicalSuccesses: 30 } })
    expect(actions(...judgedBy(policy, ...times(30, polled('pending'))))).toEqual([
      ...silence(29),
      'nudge',
    ])
    expect(actions(...judgedBy(policy, ...times(30, read)))).toEqual([...silence(29), 'nudge'])
  })

  it('is also a call after a wait, in two rounds or in one', () => {
    const wait = one('sleep', { seconds: 30 }, ok(''))
    const check = one('read_output', { handle: 1 }, ok('(no new output)'))
    expect(actions(...times(8, check).flatMap((step) => [step, wait]))).toEqual(silence(16))
    const both = siblings(
      ['sleep', { seconds: 30 }, ok('')],
      ['read_output', { handle: 1 }, ok('(no new output)')],
    )
    expect(actions(...times(10, both))).toEqual(silence(10))
    expect(
      actions(...times(10, one('shell', { command: 'sleep 30; tail log' }, ok('(no new output)')))),
    ).toEqual(silence(10))
  })
})

describe('the same answer to different calls', () => {
  const commands = [
    'ls',
    'ls .',
    'ls -1',
    'ls ./',
    'ls -1 .',
    'command ls',
    '/bin/ls',
    'ls --color=never',
    'ls --color=auto',
  ]

  it('is a loop at the eighth wording of a search that finds nothing, or of a command', () => {
    const searches = commands.map((_, n) =>
      one('web_search', { q: `manual ${n}` }, ok('No results found.')),
    )
    expect(actions(...searches)).toEqual([...silence(7), 'nudge', 'text_only'])
    const listings = commands.map((command) => one('shell', { command }, ok('a.txt\nb.txt')))
    const interventions = played(...listings)
    expect(interventions.map((intervention) => intervention?.action ?? '-')).toEqual([
      ...silence(7),
      'nudge',
      'text_only',
    ])
    expect(interventions[7]).toMatchObject({ rule: 'same-answer' })
    expect(interventions[7]?.text).toContain('differ only in their wording')
  })

  it('is not a loop for acknowledgements, changing tools, and facts that many subjects share', () => {
    const numbers = commands.map((_, n) => n)
    expect(
      actions(
        ...numbers.map((n) => one('write_file', { path: `f${n}` }, ok('file written to disk'))),
      ),
    ).toEqual(silence(9))
    expect(actions(...numbers.map((n) => one('grep', { pattern: `p${n}` }, ok('ok'))))).toEqual(
      silence(9),
    )
    expect(
      actions(...numbers.map((n) => one('get_status', { host: `h${n}` }, ok('status: healthy')))),
    ).toEqual(silence(9))
    expect(
      actions(
        ...numbers.map((n) => one('shell', { command: `touch f${n}` }, ok('created a file'))),
      ),
    ).toEqual(silence(9))
  })

  it('is a loop if different subjects have the same long text', () => {
    const page =
      'The page that you asked for could not be shown, so here is the front page instead of it. '
    expect(actions(...commands.map((_, n) => one('fetch_page', { page: n }, ok(page))))).toEqual([
      ...silence(7),
      'nudge',
      'text_only',
    ])
  })

  it.each([
    ['hosts', 'get_health', (n: number) => ({ host: `web-${n}` })],
    ['numbered orders', 'get_order', (n: number) => ({ orderId: n })],
    ['hosts in a command', 'shell', (n: number) => ({ command: `ping -c 1 web-${n}.prod` })],
    [
      'files in a command',
      'shell',
      (n: number) => ({ command: `jq -r .license pkg/p${n}/package.json` }),
    ],
    ['addresses that are looked up', 'lookup_ip', (n: number) => ({ ip: `192.0.2.${n}` })],
    ['addresses of the web', 'fetch_page', (n: number) => ({ url: `https://a.test/${n}?x=1` })],
  ])('may be a batch for twice as long if it is about new %s', (_, tool, sent) => {
    const answer =
      'The page that you asked for could not be shown, so here is the front page instead of it. '
    const steps = Array.from({ length: 17 }, (_, n) => one(tool, sent(n), ok(answer)))
    expect(actions(...steps)).toEqual([...silence(15), 'nudge', 'text_only'])
  })

  it.each([
    [
      'spellings of one address',
      'fetch_page',
      (n: number) => ({ url: `https://${n % 2 ? 'www.' : ''}a.test/x${n % 3 ? '/' : ''}?v${n}=1` }),
    ],
    ['windows of one file', 'read_lines', (n: number) => ({ path: 'src/a.ts', from: n })],
    ['readings of one file', 'shell', (n: number) => ({ command: `head -n ${n} src/a.ts | cat` })],
    [
      'wordings of a question',
      'ask_docs',
      (n: number) => ({ question: `${'very '.repeat(n)}late returns` }),
    ],
  ])('is a loop at the eighth time if it is about %s', (_, tool, sent) => {
    const answer =
      'The page that you asked for could not be shown, so here is the front page instead of it. '
    expect(actions(...Array.from({ length: 9 }, (_, n) => one(tool, sent(n), ok(answer))))).toEqual(
      [...silence(7), 'nudge', 'text_only'],
    )
  })

  it('is not a loop for log windows that differ in clocks only, unless lines come again', () => {
    const clock = (n: number) =>
      `10:${String(n).padStart(2, '0')}:00 INFO the agent is alive and has nothing to do`
    const page = (n: number, from: number) =>
      one('read_lines', { path: 'a.log', offset: n }, ok(`${clock(from)}\n${clock(from + 1)}`))
    expect(actions(...Array.from({ length: 12 }, (_, n) => page(n, 2 * n)))).toEqual(
      new Array(12).fill('-'),
    )
    expect(actions(...Array.from({ length: 10 }, (_, n) => page(n, n % 2))).includes('nudge')).toBe(
      true,
    )
  })

  it('goes on through results without a change, and so does the ladder of a chant', () => {
    const unchanged = (n: number) =>
      one('edit_file', { path: 'x', text: `v${n}` }, ok('Already up to date.'))
    const searches = commands.flatMap((_, n) => [
      one('web_search', { q: `manual ${n}` }, ok('no results')),
      unchanged(n),
    ])
    // The first edit is the first with that answer, so it is another answer.
    expect(actions(...searches).indexOf('nudge')).toBe(2 * 8)
    const chants = [1, 2, 3].flatMap((n) => [
      says('I will look at it now. '.repeat(20)),
      unchanged(n),
    ])
    expect(actions(...chants)).toEqual(['nudge', '-', 'nudge', '-', 'text_only', '-'])
  })

  it('counts again after another answer', () => {
    const nothing = commands.map((_, n) =>
      one('web_search', { q: `manual ${n}` }, ok('no results')),
    )
    const steps = [
      ...nothing.slice(0, 5),
      one('web_search', { q: 'x' }, ok('one hit')),
      ...nothing.slice(5),
    ]
    expect(actions(...steps)).toEqual(silence(10))
  })
})

describe('a cycle', () => {
  const lap = (length: number): Step[] =>
    Array.from('abcdefghijklm')
      .slice(0, length)
      .map((path) => one('stat', { path }, ok(`size of ${path}`)))

  it.each([2, 3, 4, 5, 6, 9, 11, 12])(
    'of %i rounds is a loop at the end of its third lap',
    (length) => {
      const laps = [...lap(length), ...lap(length), ...lap(length)]
      const alone = policyWith({ shadowed: ['nothing-new'] })
      expect(actions(...judgedBy(alone, ...laps))).toEqual([...silence(3 * length - 1), 'nudge'])
    },
  )

  it('of thirteen rounds is left to nothing-new', () => {
    const laps = [...lap(13), ...lap(13), ...lap(13)]
    const alone = policyWith({ shadowed: ['nothing-new'] })
    expect(actions(...judgedBy(alone, ...laps))).toEqual(silence(39))
    expect(actions(...laps).indexOf('nudge')).toBe(20)
  })

  it('climbs while it goes on, and lists its calls', () => {
    const interventions = played(...times(4, read).flatMap(() => lap(2)))
    expect(interventions.map((intervention) => intervention?.action ?? '-').slice(5)).toEqual([
      'nudge',
      'text_only',
      'end',
    ])
    expect(interventions[5]).toMatchObject({ rule: 'cycle', key: 'stat → stat' })
    expect(interventions[5]?.text).toContain(
      '1. stat({"path":"a"}) → returned: size of a\n2. stat({"path":"b"}) → returned: size of b',
    )
    expect(interventions[5]?.text).toContain('come back 3 times')
  })

  it('is not a loop while any result in it changes', () => {
    const steps = [1, 2, 3, 4, 5].flatMap((n) => [
      one('stat', { path: 'a' }, ok('1 KB')),
      one('read_log', {}, ok(`line ${n}`)),
    ])
    expect(actions(...steps)).toEqual(silence(10))
  })

  it('starts again after a different round', () => {
    const stray = one('head', { path: 'z' }, ok('zz'))
    expect(actions(...lap(2), ...lap(2), stray, ...lap(2), ...lap(2), ...lap(2))).toEqual([
      ...silence(10),
      'nudge',
    ])
  })

  it('is a loop with failures in it and text in between', () => {
    const steps = [
      read,
      one('edit', { path: 'a' }, failing('anchor text not found')),
      says('Hm.'),
      one('test', {}, failing('1 failed')),
    ]
    expect(actions(...steps, ...steps, ...steps).slice(0, 9)).toEqual(silence(9))
    expect(actions(...steps, ...steps, ...steps).slice(9)).not.toEqual(silence(3))
  })

  it('with polls, waits or transient errors has a higher limit', () => {
    expect(
      actions(
        ...times(6, read).flatMap(() => [polled('pending'), one('read_log', {}, ok('nothing'))]),
      ).slice(0, 8),
    ).toEqual(silence(8))
    const busy = (url: string) => one('fetch', { url }, failing('503 service unavailable'))
    expect(actions(...times(8, read).flatMap(() => [busy('a'), busy('b')])).slice(0, 9)).toEqual(
      silence(9),
    )
    const waits = times(8, read).flatMap(() => [
      one('check', {}, ok('not yet')),
      one('wait', {}, ok('')),
      one('check', {}, ok('not yet')),
    ])
    expect(actions(...waits).slice(0, 12)).toEqual(silence(12))
  })
})

describe('a fan-out', () => {
  const fanOut = (...paths: string[]) =>
    siblings(
      ...paths.map((path): [string, unknown, CallResult] => [
        'read_file',
        { path },
        ok(`text of ${path}`),
      ]),
    )

  it('that is repeated is a loop at its fourth time, in any order', () => {
    const interventions = played(
      fanOut('a', 'b', 'c'),
      fanOut('c', 'a', 'b'),
      fanOut('a', 'b', 'c'),
      fanOut('b', 'a', 'c'),
      fanOut('a', 'b', 'c'),
    )
    expect(interventions.map((intervention) => intervention?.action ?? '-')).toEqual([
      ...silence(3),
      'nudge',
      'text_only',
    ])
    expect(interventions[3]).toMatchObject({
      rule: 'repeated-round',
      evidence: [{ round: 4, ordinal: -1 }],
    })
  })

  it('with anything new in it is not a loop', () => {
    const grown = ['a', 'b', 'c', 'd', 'e', 'f']
    expect(actions(...grown.map((_, n) => fanOut(...grown.slice(0, n + 1))))).toEqual(silence(6))
  })

  it('of many different calls in one response is not a loop', () => {
    expect(actions(fanOut('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'))).toEqual(['-'])
  })
})
