// Failing calls: identical failures (I1) and the schema breaker of one tool (I5.2).

import { serialize } from 'node:v8'
import { describe, expect, it } from '@jest/globals'
import { interventionQuoteBytesMax } from '../../../services/loop-detector/evidence/evidence.ts'
import { loopDetector, type Turn } from '../../../services/loop-detector/reducer.ts'
import type { RoundChecked, RoundExecuted } from '../../../shared/contract/messages.ts'
import {
  actions,
  checked,
  declared,
  executed,
  failing,
  missing,
  ok,
  one,
  outcomes,
  played,
  policyWith,
  rejectedRound,
  type Step,
  says,
  siblings,
  times,
  toolCall,
} from './rounds.ts'

const empty = one('exec', {}, failing("missing 'command' parameter"))

describe('the same failing call', () => {
  it('leads to the text of I1 at the third time, then to a round without tools, then to the end of the turn', () => {
    const interventions = played(...times(5, rejectedRound('exec', {}, 'command')))
    expect(interventions.map((intervention) => intervention?.action)).toEqual([
      undefined,
      undefined,
      'nudge',
      'text_only',
      'end',
    ])
    expect(interventions[2]).toMatchObject({
      rule: 'identical-failure',
      ruleVersion: 5,
      ordinary: false,
      key: 'exec({})',
      class: null,
    })
    expect(interventions[2]?.text).toBe(
      [
        'SYSTEM INTERVENTION — LOOP DETECTED',
        'Your last 3 tool calls were:',
        "1. exec({}) → error: missing required field 'command'",
        "2. exec({}) → error: missing required field 'command'",
        "3. exec({}) → error: missing required field 'command'",
        'These are identical failed invocations. Retrying with the same arguments',
        'will fail again.',
        'On your next turn:',
        '1. Do NOT call exec or any other tool.',
        '2. Do NOT repeat this call pattern.',
        '3. Respond to the user in plain text.',
        '4. Explain what you were trying to accomplish.',
        '5. If you do not know what arguments to use, ask the user for clarification.',
        'The user is waiting for a text response.',
      ].join('\n'),
    )
    expect(interventions[2]?.evidence).toEqual([1, 2, 3].map((round) => ({ round, ordinal: 0 })))
    expect(interventions[4]).toMatchObject({ action: 'end', text: '', class: 'no_progress' })
    expect(interventions[4]?.reason).toContain(
      "exec({}) failed in 5 rounds, last with: missing required field 'command'",
    )
  })

  it('is also the same if the tool itself returns the error', () => {
    expect(actions(...times(5, empty))).toEqual(['-', '-', 'nudge', 'text_only', 'end'])
  })

  it('is shown as sent, on one line and bounded', () => {
    const raw = `{ "command" :\n "${'x'.repeat(10_000)}" }`
    const [, , third] = played(...times(3, one('exec', raw, failing('boom'))))
    expect(third?.text).toContain('1. exec({ "command" : "xxx')
    expect(Buffer.byteLength(third?.text ?? '')).toBeLessThan(
      3 * 2 * interventionQuoteBytesMax + 1_000,
    )
    expect(third?.text.split('\n')).toHaveLength(14)
  })

  it('is recognised in any spelling of empty arguments', () => {
    const spellings = [
      '{}',
      '{"command":""}',
      '{"command":" "}',
      '{"command":null}',
      '{"options":{}}',
      '',
    ]
    const steps = spellings.map((raw, index) =>
      one('exec', raw, failing(`complaint ${'abcdef'[index]}`)),
    )
    expect(actions(...steps.slice(0, 3))).toEqual(['-', '-', 'nudge'])
    expect(actions(...steps.slice(3))).toEqual(['-', '-', 'nudge'])
  })

  it('is recognised if the argument text does not parse', () => {
    expect(actions(...times(3, one('exec', '{"command": "l', failing('not valid JSON'))))).toEqual([
      '-',
      '-',
      'nudge',
    ])
  })

  it('has the threshold of the policy', () => {
    const policy = policyWith({ loop: { identicalFailures: 2 } })
    const steps = times(3, empty).map((step) => ({ ...step, fields: { policy } }))
    expect(actions(...steps)).toEqual(['-', 'nudge', 'text_only'])
    expect(played(...steps)[1]?.text).toContain('Your last 2 tool calls were:')
  })

  it('counts once a round, because identical siblings are one piece of evidence', () => {
    const three = siblings(
      ...times(3, empty).map((): [string, unknown, ReturnType<typeof failing>] => [
        'exec',
        {},
        failing('e'),
      ]),
    )
    expect(actions(three, three, three)).toEqual(['-', '-', 'nudge'])
  })

  it('may fail ten times with a transient error', () => {
    const busy = one('fetch', { url: 'u' }, failing('503 service unavailable'))
    expect(actions(...times(11, busy))).toEqual([
      ...new Array<string>(9).fill('-'),
      'nudge',
      'text_only',
    ])
    const mixed = [
      busy,
      busy,
      busy,
      ...times(3, one('fetch', { url: 'u' }, failing('bad certificate chain'))),
    ]
    expect(actions(...mixed)).toEqual(['-', '-', '-', '-', '-', 'nudge'])
  })

  it('counts with a veto or a time-out like with any failure', () => {
    expect(
      actions(...times(3, one('pay', { to: 'x' }, failing('a person said no', 'denied')))),
    ).toEqual(['-', '-', 'nudge'])
    expect(
      actions(
        ...times(3, one('scan', { at: 'x' }, failing('timed out after 60000 ms', 'timed_out'))),
      ),
    ).toEqual(['-', '-', 'nudge'])
  })

  it('does not count if it was skipped for lack of budget', () => {
    const skipped = {
      fields: { calls: [toolCall('exec', {})], callsLeft: 0, response: { text: 'Hm.' } },
    }
    expect(actions(empty, empty, skipped, empty)).toEqual(['-', '-', '-', 'nudge'])
  })
})

describe('different calls failing in the same way', () => {
  const reworded = (error: string, count: number) =>
    times(count, empty).map((_, index) =>
      one('ask', { q: `words ${'abcdefghijkl'[index]}` }, failing(error)),
    )
  const firstAt = (error: string, count = 12) =>
    actions(...reworded(error, count)).indexOf('nudge') + 1

  it.each([
    [3, '401 unauthorized: token expired'],
    [3, "missing required field 'id'"],
    [3, 'declined by user'],
    [4, 'the parser is confused'],
    [6, 'no such record'],
    [4, "Error: Cannot find module 'left-pad'"],
    [4, 'bash: jq: command not found'],
    [10, 'connect ECONNREFUSED'],
    [0, 'exit code 2'],
    [0, 'The tool failed with exit code 2. It wrote nothing.'],
  ])('is a loop at round %i: %s', (round, error) => expect(firstAt(error)).toBe(round))

  it('is one failure if only clocks, ids and durations differ, but not if meaningful numbers differ', () => {
    const stamped = ['10:00:01', '10:00:09', '10:01:17', '11:00:20'].map((time, index) =>
      one(
        'ask',
        { q: 'abcd'[index] },
        failing(
          `2026-01-03T${time}Z [req-8f2a1c0${index}] the parser is confused after ${index}.5 s`,
        ),
      ),
    )
    expect(actions(...stamped)).toEqual(['-', '-', '-', 'nudge'])
    const coded = [111, 113, 2, 5, 17].map((code) =>
      one('ask', { q: `${code}` }, failing(`the parser stopped with errno ${code}`)),
    )
    expect(actions(...coded)).toEqual(new Array(5).fill('-'))
  })

  it('has a higher limit if the error repeats the values of the call, because other values may help', () => {
    const days = [
      '2026-01-03',
      '2026-01-04',
      '2026-01-05',
      '2026-01-06',
      '2026-01-07',
      '2026-01-08',
    ]
    expect(actions(...days.map((day) => one('book', { day }, failing(`${day} is full`))))).toEqual([
      ...new Array(5).fill('-'),
      'nudge',
    ])
  })

  it('has the usual limit if the error repeats the same value each time', () => {
    const windows = (error: string) =>
      [0, 100, 200, 300].map((offset) => one('ask', { path: 'a.log', offset }, failing(error)))
    expect(actions(...windows('EACCES: permission denied, open a.log'))).toEqual([
      '-',
      '-',
      'nudge',
      'text_only',
    ])
    expect(actions(...windows('a.log is in no state to be read'))).toEqual(['-', '-', '-', 'nudge'])
    const files = ['a.log', 'b.log', 'c.log', 'd.log'].map((path) =>
      one('ask', { path }, failing(`EACCES: permission denied, open ${path}`)),
    )
    expect(actions(...files)).toEqual(['-', '-', '-', 'nudge'])
  })

  it('has the usual limit with a clock or an id next to such a value, and for any order of values', () => {
    const pages = [1, 2, 3, 4].map((page) =>
      one(
        'ask',
        { service: 'web-front', page },
        failing(
          `2026-01-03T14:00:0${page}Z [req-8f2a1c0${page}] web-front is in no state to be reworded`,
        ),
      ),
    )
    expect(actions(...pages)).toEqual(['-', '-', '-', 'nudge'])
    const turned = [1, 2, 3, 4].map((page) => {
      const sent = page % 2 ? { from: 'abc', to: 'xyz', page } : { to: 'xyz', page, from: 'abc' }
      return one('ask', sent, failing('there is no way between abc and xyz'))
    })
    expect(actions(...turned)).toEqual(['-', '-', '-', 'nudge'])
    const days = ['2026-01-03', '2026-01-04', '2026-01-05', '2026-01-06', '2026-01-07'].map(
      (day, n) => one('book', { day }, failing(`2026-01-01T14:00:0${n}Z ${day} is full`)),
    )
    expect(actions(...days)).toEqual(new Array(5).fill('-'))
  })

  it('is one loop for invented tools with any names', () => {
    const rejected = (name: string) => ({
      fields: {
        calls: [toolCall(name, { path: 'a' })],
        denials: [
          {
            ...missing('x'),
            code: 'unknown_tool' as const,
            reason: `unknown tool '${name}'`,
            requiredFields: [],
          },
        ],
      },
    })
    expect(actions(rejected('catFile'), rejected('file_cat'), rejected('showFile'))).toEqual([
      '-',
      '-',
      'nudge',
    ])
  })

  it('counts siblings with different arguments once', () => {
    const both = (a: string, b: string) =>
      siblings(['ask', { q: a }, failing('odd')], ['ask', { q: b }, failing('odd')])
    expect(actions(both('a', 'b'), both('c', 'd'), both('e', 'f'))).toEqual(['-', '-', '-'])
  })
})

describe('a failure streak', () => {
  it('goes on through text, reads and successes of other calls', () => {
    const steps = [
      empty,
      says('Let me see.'),
      one('read_file', { path: 'a' }, ok('1')),
      empty,
      siblings(['search', { q: 'w' }, ok('hit')]),
      empty,
    ]
    expect(actions(...steps)).toEqual(['-', '-', '-', '-', '-', 'nudge'])
  })

  it('ends with a success of the same call', () => {
    const fails = one('run_job', { id: 1 }, failing('crashed'))
    expect(actions(fails, fails, one('run_job', { id: 1 }, ok('fine')), fails, fails)).toEqual(
      new Array(5).fill('-'),
    )
  })

  it('of missing arguments ends with any success of that tool', () => {
    expect(actions(empty, empty, one('exec', { command: 'ls' }, ok('a b')), empty, empty)).toEqual(
      new Array(5).fill('-'),
    )
  })

  it('by error ends with a success of the same program, not of another one or another subcommand', () => {
    const git = (command: string) => one('shell', { command }, failing('fatal: bad object'))
    const other = one('shell', { command: 'ls' }, ok('a b'))
    const status = one('shell', { command: 'git status' }, ok('clean'))
    const good = one('shell', { command: 'git log -1' }, ok('one commit'))
    for (const success of [other, status])
      expect(
        actions(git('git log a'), git('git log b'), success, git('git log c'), git('git log d')),
      ).toEqual(['-', '-', '-', '-', 'nudge'])
    expect(
      actions(git('git log a'), git('git log b'), good, git('git log c'), git('git log d')),
    ).toEqual(new Array(5).fill('-'))
  })

  it('ends with a new change, not with a repeated one', () => {
    const test = one('run_tests', { target: 'x' }, failing('1 failed'))
    const edit = (text: string) => one('edit_file', { path: 'x', text }, ok('ok'))
    expect(actions(edit('a'), test, edit('b'), test, edit('c'), test, edit('d'), test)).toEqual(
      new Array(8).fill('-'),
    )
    expect(actions(edit('a'), test, edit('a'), test, edit('a'), test)).toEqual([
      ...new Array(5).fill('-'),
      'nudge',
    ])
  })

  it('ends with a repeated change if its result differs in words', () => {
    const test = one('run_tests', { target: 'x' }, failing('1 failed'))
    const next = (result: string) => one('apply_next', { plan: 'p' }, ok(result))
    const names = ['cache', 'money', 'round', 'types']
    expect(actions(...names.flatMap((name, n) => [next(`step ${n}: ${name}`), test]))).toEqual(
      new Array(8).fill('-'),
    )
    const read = (result: string) => one('browser_snapshot', {}, ok(result))
    expect(actions(...names.flatMap((name) => [read(`news of ${name}`), test]))).toEqual([
      ...new Array(5).fill('-'),
      'nudge',
      '-',
      'text_only',
    ])
    expect(
      actions(...names.flatMap((_, n) => [next(`started as process ${4100 + n}`), test]))[5],
    ).toBe('nudge')
    const ids = ['dpl_8Fk2Qx', 'dpl_x03Lmq', 'dpl_Zk9pRt', 'dpl_q77aBc']
    expect(actions(...ids.flatMap((id) => [next(`done: ${id}, 3f2b-9c1e`), test]))[5]).toBe('nudge')
  })

  it('ends with eight repeated changes in other words, and with eight more after a new one', () => {
    const test = one('run_tests', { target: 'x' }, failing('1 failed'))
    const words = 'brave quiet young green early plain merry sharp windy happy eager dusty'.split(
      ' ',
    )
    const deploy = (count: number) =>
      words
        .slice(0, count)
        .flatMap((name) => [one('deploy', { app: 'web' }, ok(`preview ${name} otter`)), test])
    expect(actions(...deploy(10)).includes('nudge')).toBe(false)
    expect(actions(...deploy(11))).toEqual([...new Array(21).fill('-'), 'nudge'])
    const edit = one('edit_file', { path: 'x', text: 'a' }, ok('ok'))
    const again = words.map((name) => one('deploy', { app: 'web' }, ok(`preview ${name} newt`)))
    const steps = [...deploy(9), edit, ...again.flatMap((step) => [step, test])]
    // The test after the tenth edit: the eighth is the last change.
    expect(actions(...steps).indexOf('nudge')).toBe(deploy(9).length + 1 + 2 * 10 - 1)
  })

  it.each([
    'No changes: old and new are equal',
    'nothing to commit, working tree clean',
    'Already up to date.',
    '0 replacements made',
    'No changes to v2.1/a1.ts since 2026-01-03 (in 12 ms)\n',
  ])('goes on through a change with the result: %s', (result) => {
    const test = one('run_tests', { target: 'x' }, failing('1 failed'))
    const edits = ['a', 'b', 'c'].map((text) => one('edit_file', { path: 'x', text }, ok(result)))
    expect(actions(...edits.flatMap((edit) => [edit, test]))).toEqual([
      '-',
      '-',
      '-',
      '-',
      '-',
      'nudge',
    ])
  })

  it.each([
    '0 files changed in docs, 3 files changed in src',
    '0 rows affected by delete, 4 rows inserted',
    'No changes in docs (+3 -0 in src)',
    'Nothing to do for docs.\nWrote src/a.ts',
  ])('ends with a change that reports another count after a zero: %s', (result) => {
    const test = one('run_tests', { target: 'x' }, failing('1 failed'))
    const edits = ['a', 'b', 'c', 'd', 'e'].map((text) =>
      one('edit_file', { path: 'x', text }, ok(`${result}: ${text}`)),
    )
    expect(actions(...edits.flatMap((edit) => [edit, test]))).toEqual(new Array(10).fill('-'))
  })

  it.each([
    [
      'ends with a success of a tool that is declared to change something',
      'peek',
      true,
      ['-', '-', '-', '-', '-', 'nudge'],
    ],
    [
      'does not end with a success of a tool that is declared to change nothing',
      'edit',
      false,
      ['-', '-', '-', 'nudge', 'text_only', 'end'],
    ],
  ])('%s', (_, name, mutates, expected) => {
    const hints = {
      mutates,
      ignoreFields: [],
      loopKey: [],
      denial: null,
      labels: [],
      client: false,
      once: null,
    }
    const seen: Step = {
      ...one(name, { path: 'a' }, ok('seen')),
      fields: { declarations: [declared(name, { hints })] },
    }
    const fails = one('test', {}, failing('1 test failed'))
    expect(actions(fails, fails, seen, fails, fails, fails)).toEqual(expected)
  })

  it('does not end with a failed change or a veto', () => {
    const edit = (text: string) =>
      one('edit_file', { path: 'x', text }, failing(`cannot apply ${text}`))
    const veto = (text: string) =>
      one('edit_file', { path: 'x', text }, failing(`no: ${text}`, 'denied'))
    expect(actions(empty, edit('a b c'), empty, veto('d e f'), empty)).toEqual([
      '-',
      '-',
      '-',
      '-',
      'nudge',
    ])
  })

  it('climbs independently, and another loop starts at the bottom of its ladder', () => {
    const other = one('fetch', { url: 'u' }, failing('weird'))
    expect(actions(...times(4, empty), ...times(3, other))).toEqual([
      '-',
      '-',
      'nudge',
      'text_only',
      '-',
      '-',
      'nudge',
    ])
  })

  it('does not step down after other rounds', () => {
    const read = (n: number) => one('read_file', { path: `f${n}` }, ok(`text ${n}`))
    expect(actions(...times(3, empty), read(1), read(2), empty, read(3), empty)).toEqual([
      '-',
      '-',
      'nudge',
      '-',
      '-',
      'text_only',
      '-',
      'end',
    ])
  })
})

describe('the breaker of one tool (I5.2)', () => {
  const words = (count: number) =>
    `Tool 'exec' has failed schema validation ${count} times consecutively. The required fields are: command. Do NOT call this tool again without providing all required fields.`
  const texts = (...steps: Parameters<typeof outcomes>) =>
    outcomes(...steps).map(({ results }) => results[0]?.text)
  const args = (n: number) => ({ wrong: n })

  it('replaces the text from the third schema failure in a row on, and keeps the short reason', () => {
    const all = outcomes(...[1, 2, 3, 4].map((n) => rejectedRound('exec', args(n), 'command')))
    expect(all.map(({ results }) => results[0]?.text)).toEqual([
      'the directive',
      'the directive',
      words(3),
      words(4),
    ])
    expect(all[2]?.results[0]?.reason).toBe("missing required field 'command'")
  })

  it.each([
    ['long', 'x'.repeat(2 * interventionQuoteBytesMax)],
    ['one that shows otherwise on a line', 'exec  it'],
  ])('replaces the text for a tool with the name %s', (_, name) => {
    const all = texts(...[1, 2, 3].map((n) => rejectedRound(name, args(n), 'command')))
    expect(all.slice(0, 2)).toEqual(['the directive', 'the directive'])
    expect(all[2]).toContain(`Tool '${name}' has failed schema validation 3 times consecutively.`)
  })

  it('lists all required fields, or none', () => {
    const denial = (requiredFields: string[]) => ({
      fields: {
        calls: [toolCall('exec', 'x')],
        denials: [{ ...missing('command'), code: 'bad_arguments' as const, requiredFields }],
      },
    })
    expect(texts(...times(3, denial(['command', 'cwd'])))[2]).toContain(
      'The required fields are: command, cwd. Do NOT',
    )
    expect(texts(...times(3, denial([])))[2]).toContain('The required fields are: none. Do NOT')
  })

  it('replaces the text in a round whose other calls run', () => {
    const mixed = (n: number) => ({
      calls: [
        [
          toolCall('exec', args(n)),
          { ...failing("missing required field 'command'", 'denied'), text: 'as decided' },
        ],
        [toolCall('read', { path: 'a' }), ok('1')],
      ] as NonNullable<Parameters<typeof outcomes>[0]>['calls'],
      fields: { denials: [missing('command')] },
    })
    expect(outcomes(mixed(1), mixed(2), mixed(3)).at(-1)?.intervention?.rule).toBe(
      'identical-failure',
    )
  })

  it('is reset by a call of that tool that ran, not by another tool or a veto', () => {
    const bad = rejectedRound('exec', args(1), 'command')
    const ran = one('exec', { command: 'ls' }, ok('a'))
    const crashed = one('exec', { command: 'ls' }, failing('crashed'))
    const vetoed = one('exec', { command: 'ls' }, failing('no', 'denied'))
    const other = one('read', { path: 'a' }, ok('a'))
    expect(texts(bad, bad, ran, bad)[3]).toBe('the directive')
    expect(texts(bad, bad, crashed, bad)[3]).toBe('the directive')
    expect(texts(bad, bad, vetoed, bad)[3]).toBe(words(3))
    expect(texts(bad, bad, other, bad)[3]).toBe(words(3))
  })

  it('counts rounds, separately for each tool', () => {
    const twice = {
      fields: {
        calls: [toolCall('exec', args(1)), toolCall('exec', args(2))],
        denials: [missing('command', 0), missing('command', 1)],
      },
    }
    expect(texts(twice, twice, twice)).toEqual(['the directive', 'the directive', words(3)])
    expect(
      texts(rejectedRound('a', {}, 'x'), rejectedRound('b', {}, 'x'), rejectedRound('c', {}, 'x')),
    ).toEqual(new Array(3).fill('the directive'))
  })

  it('ignores unknown tools, unusable schemas and errors of the provider', () => {
    for (const code of ['unknown_tool', 'unusable_schema'] as const) {
      const step = {
        fields: { calls: [toolCall('exec', {})], denials: [{ ...missing('command'), code }] },
      }
      expect(texts(...times(4, step))).toEqual(new Array(4).fill('the directive'))
    }
    const broken = toolCall('exec', '', { problem: 'stream_error' })
    const step = {
      fields: {
        calls: [broken],
        denials: [{ ...missing('command'), code: 'bad_arguments' as const }],
      },
    }
    expect(texts(...times(4, step))).toEqual(new Array(4).fill('the directive'))
    expect(actions(...times(4, step))).toEqual(new Array(4).fill('-'))
  })

  const mistake = (n: number) => rejectedRound('exec', args(n), `field${n}`)
  const mistakes = (count: number) => Array.from({ length: count }, (_, n) => mistake(n))
  const read = one('read', { path: 'a' }, ok('a'))

  it('intervenes at the sixth mistake, and climbs only if a mistake comes again', () => {
    const interventions = played(...mistakes(8), mistake(3), mistake(4))
    expect(interventions.map((intervention) => intervention?.action ?? '-')).toEqual([
      ...new Array(5).fill('-'),
      ...['nudge', 'nudge', 'nudge', 'text_only', 'end'],
    ])
    expect(interventions[5]).toMatchObject({ rule: 'schema-failure', key: 'exec', class: null })
    expect(interventions[5]?.text).toContain('Read the schema of exec again.')
    expect(interventions[9]?.class).toBe('no_progress')
  })

  it('counts the mistakes from a call that ran or a new change on, and across other reads', () => {
    const ran = one('exec', { command: 'ls' }, ok('a'))
    const change = one('write_file', { path: 'b', text: 'c' }, ok('wrote b'))
    const silent = (count: number) => new Array(count).fill('-')
    expect(actions(...mistakes(5), ran, ...mistakes(6))).toEqual([...silent(11), 'nudge'])
    expect(actions(...mistakes(5), change, ...mistakes(6))).toEqual([...silent(11), 'nudge'])
    expect(actions(...mistakes(5), read, mistake(6))).toEqual([...silent(6), 'nudge'])
  })

  it('intervenes at twice the threshold, also if several tools reach it in one round', () => {
    const policy = policyWith({ loop: { schemaFailures: 1 } })
    const two = (n: number) => ({
      fields: {
        calls: [toolCall('exec', args(n)), toolCall('find', args(n), { ordinal: 1 })],
        denials: [missing(`a${n}`, 0), missing(`b${n}`, 1)],
        policy,
      },
    })
    expect(actions(two(1), two(2))).toEqual(['-', 'nudge'])
  })

  it('ends the turn as deterministic if the policy sets it', () => {
    const policy = policyWith({ loop: { schemaFailureEndsTurn: true } })
    const interventions = played(
      ...[1, 2, 3].map((n) => rejectedRound('exec', args(n), 'command', { policy })),
    )
    expect(interventions.slice(0, 2)).toEqual([null, null])
    expect(interventions[2]).toMatchObject({
      action: 'end',
      class: 'deterministic',
      rule: 'schema-failure',
      text: '',
      ordinary: false,
    })
    expect(interventions[2]?.reason).toContain(
      'exec was called against its schema in 3 consecutive rounds',
    )
  })
})

describe('the memory of a turn', () => {
  it('stays bounded after any number of rounds with new failures and results', () => {
    const round = (n: number) => [
      ['fetch', { url: `u${n}` }, failing(`odd ${n}`)] as const,
      ['read_file', { path: `f${n}` }, ok(`text ${n}`)] as const,
    ]
    const sizes: number[] = []
    let state: Turn | undefined
    const react = (message: RoundChecked | RoundExecuted, offset: number) => {
      state = loopDetector.react(state, { message, offset, previous: offset - 1, time: 1 }).state
    }
    for (let n = 1; n <= 1_200; n += 1) {
      react(checked(n, { calls: round(n).map(([name, args]) => toolCall(name, args)) }), 2 * n)
      react(
        executed(
          n,
          round(n).map(([, , result]) => result),
        ),
        2 * n + 1,
      )
      if (n === 600 || n === 1_200) sizes.push(serialize(state).length)
    }
    expect((sizes[1] ?? 0) / (sizes[0] ?? 0)).toBeLessThan(1.05)
    expect(sizes[1]).toBeLessThan(256 * 1024)
  })

  it('has no long titles of notes, and no long lists of files', () => {
    const notes = Array.from({ length: 64 }, (_, n) => {
      const title = `${n} ${'a'.repeat(20_000)}`
      const files = Array.from({ length: 1_000 }, (_, file) => `*** Add File: ${n}/${file}`)
      const input = ['*** Begin Patch', ...files].join('\n')
      return [toolCall('write_note', { title, content: 'x' }), toolCall('apply_patch', { input })]
    })
    let state: Turn | undefined
    for (const [n, calls] of notes.entries())
      for (const [at, message] of [
        checked(n + 1, { calls }),
        executed(n + 1, [ok('written'), ok('patched')]),
      ].entries()) {
        const offset = 2 * n + at + 2
        state = loopDetector.react(state, { message, offset, previous: offset - 1, time: 1 }).state
      }
    expect(serialize(state).length).toBeLessThan(256 * 1024)
  })

  it('survives malicious arguments, names and errors', () => {
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`
    const nasty = [
      deep,
      `{"a":${deep}}`,
      '{"__proto__":{"x":1}}',
      '{"constructor":1}',
      `{"n":${'9'.repeat(400)}}`,
      '"',
      '\u0000',
      `{"c":"${'a'.repeat(200_000)}"}`,
    ]
    for (const raw of nasty) {
      expect(actions(...times(3, one('', raw, failing(''))))).toHaveLength(3)
      expect(actions(...times(3, one('shell', raw, failing('x'.repeat(200_000)))))).toHaveLength(3)
    }
    const [, , third] = played(...times(3, one('n'.repeat(100_000), {}, failing('boom'))))
    expect(third?.action).toBe('nudge')
    expect(Buffer.byteLength(JSON.stringify(third))).toBeLessThan(8 * 1024)
    const hints = {
      mutates: null,
      ignoreFields: ['/__proto__/*', '/'],
      loopKey: ['constructor', '/*/*', ''],
      denial: null,
      labels: [],
      client: false,
      once: null,
    }
    const fields = { declarations: [declared('shell', { hints })] }
    expect(
      actions({
        ...one('shell', '{"command":"constructor __proto__; $(x) | toString"}', ok('$& $1')),
        fields,
      }),
    ).toEqual(['-'])
  })
})

describe('a call whose result nobody saw', () => {
  const unseen = one('Bash', { command: 'ls' }, failing('The agent went on.', 'unseen'))

  it('is no evidence of a failure, however often it comes', () => {
    expect(actions(...times(12, unseen))).toEqual(times(12, unseen).map(() => '-'))
  })

  it('leaves the failures around it as they are', () => {
    const failed = one('Bash', { command: 'ls' }, failing('no such file'))
    const between = actions(...times(4, failed).flatMap((step) => [unseen, step]))
    expect(between.filter((_, at) => at % 2 === 1)).toEqual(actions(...times(4, failed)))
  })
})
