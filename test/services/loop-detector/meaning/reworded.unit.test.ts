// The edges of the rules for loops whose spelling, range, order, pause or age varies: the exact round,
// and the calls that look alike and are honest work.

import { describe, expect, it } from '@jest/globals'
import { targetsIn } from '../../../../services/loop-detector/meaning/check.ts'
import { mayCrash, withoutStates } from '../../../../services/loop-detector/meaning/lap-state.ts'
import { isSteady } from '../../../../services/loop-detector/waiting/steady.ts'
import { cpuMsOf } from '../../../support/cpu-time.ts'
import { actions, failing, ok, one, type Step } from '../rounds.ts'

const due = (...steps: Step[]) =>
  actions(...steps).flatMap((action, at) => (action === '-' ? [] : [[at + 1, action]]))
const each = (count: number, step: (n: number) => Step) =>
  Array.from({ length: count }, (_, index) => step(index + 1))

describe('a check', () => {
  it.each([
    ['pytest a.py', ' a.py'],
    ['cd /r && python3 -m pytest -q a.py', ' a.py'],
    ['poetry run pytest a.py 2>&1 | tail -5', ' a.py'],
    ['npx jest cart', ' cart'],
    ['npm run test -- cart', ' cart'],
    ['node_modules/.bin/jest cart', ' cart'],
    ['cargo test --quiet', ''],
    ['make -s test', ''],
    ['./gradlew check', ''],
  ])('has the targets of its command in any spelling: %s', (command, targets) =>
    expect(targetsIn(command)).toBe(targets),
  )

  it.each([
    'rm -r build',
    'git commit -m test',
    'mkdir test',
    'cat test',
    'sed -i s/a/b/ a.py; pytest a.py',
    'docker build .',
    '',
  ])('is no command that does more than check: %s', (command) =>
    expect(targetsIn(command)).toBeUndefined(),
  )

  it.each(
    'test tests jest vitest mocha pytest tox rspec phpunit check verify validate lint eslint tsc ruff mypy build compile ci'.split(
      ' ',
    ),
  )('is a run of %s', (word) => expect(targetsIn(`npm run ${word}`)).toBe(''))
})

describe('a process that is up', () => {
  it.each([
    'Server listening on port 3000',
    'Serving HTTP on 0.0.0.0 port 8000 (http://0.0.0.0:8000/) ...',
    '  ➜  Local:   http://localhost:5173/',
    'Press CTRL+C to quit',
    'Found 0 errors. Watching for file changes.',
    'Ok to proceed? (y)',
    'Overwrite? [y/N] ',
    "deploy@web-1's password: ",
    'Press any key to continue',
    '>>> ',
    '(Pdb) ',
    '{"status":"running","output":"Overwrite? [y/N] "}',
    'Server listening on port 3000\n<command with shellId: 0 is still running after 5 seconds.>',
  ])('ends its output with such a line: %s', (text) => expect(isSteady(text)).toBe(true))

  it.each([
    'Compiling shop v0.1.0',
    'Server listening on port 3000\nRunning the migration',
    'The password was changed.',
    'running 3 tests',
    '',
  ])('is not stated by %s', (text) => expect(isSteady(text)).toBe(false))
})

describe('the restarts of a thing that crashes', () => {
  const plain = (text: string) => withoutStates(text).text
  it.each([
    [
      'shop-0  0/1  CrashLoopBackOff  4 (12s ago)  7m',
      'shop-0  0/1  CrashLoopBackOff  5 (12s ago)  9m',
    ],
    ['│ 0 │ shop │ 15 │ errored │', '│ 0 │ shop │ 19 │ errored │'],
    ['"restartCount":4,"age":"4m"', '"restartCount":5,"age":"7m"'],
    ['restart counter is at 5.', 'restart counter is at 6.'],
    ['BackOff (x4 over 6m) kubelet', 'BackOff (x7 over 9m) kubelet'],
    ['restart job\nhost shop[4117]: no url', 'restart job\nhost shop[4134]: no url'],
  ])('make no lap new: %s', (one, other) => {
    expect(mayCrash(one)).toBe(true)
    expect(plain(one)).toBe(plain(other))
  })

  it('leave the exit code and the ready parts as they are', () => {
    expect(plain('Restarting (137)  0/2')).not.toBe(plain('Restarting (1)  0/2'))
    expect(plain('Restarting (1)  1/2')).not.toBe(plain('Restarting (1)  0/2'))
  })
})

describe('a view', () => {
  const lines = (from: number, to: number) =>
    Array.from({ length: to - from + 1 }, (_, k) => `the line ${from + k} of the file`).join('\n')
  const read = (from: number, to: number) =>
    one('read_file', { path: 'a.ts', offset: from, limit: to - from + 1 }, ok(lines(from, to)))

  it('counts at the eighth read of known lines', () =>
    expect(due(read(1, 90), ...each(8, (n) => read(n, n + 40)))).toEqual([[9, 'nudge']]))

  it('does not count while one line is new', () =>
    expect(due(...each(20, (n) => read(n, n + 40)))).toEqual([]))

  it('does not count for another subject with the same answer', () => {
    const state = 'the host is up and all of its disks have room\nno alert is open'
    expect(due(...each(12, (n) => one('check_host', { host: `web-${n}` }, ok(state))))).toEqual([])
  })

  it('does not count for the states of a board, which one call returns', () => {
    const rows = ['. . x . .', 'x . . . .', '. . . . x', '. x . . .']
    const board = (n: number) =>
      [0, 1, 2, 3].map((k) => rows[(n * (k + 2) + k + Math.floor(n / 4)) % 4]).join('\n')
    const look = (n: number) => one('look_at_board', {}, ok(board(n)))
    expect(due(...each(12, look))).toEqual([])
  })

  it('counts links of a search only, with any words around them', () => {
    const links = ['https://a.test/1', 'https://b.test/2', 'https://c.test/3']
    const search = (n: number) =>
      one(
        'web_search',
        { query: `lag ${'abcdefghijkl'.charAt(n)}` },
        ok([0, 1, 2].map((k) => `${k + 1}. words ${n} ${links[(n + k) % 3]}`).join('\n')),
      )
    expect(due(...each(9, search))).toEqual([[9, 'nudge']])
  })
})

describe('a question in other words', () => {
  const answer = 'I looked through every file of the tree, and nothing there sets a limit.'
  const task = (prompt: string) => one('Task', { prompt }, ok(answer))

  it('counts at the eighth, although the agent may change something', () => {
    const prompts = [
      'Find the retry limit of the client.',
      'Where does the client set its retry limit?',
      'Search all files for a limit to the retries: client retry limit.',
      'In which file does somebody write down how often the client may retry: its limit?',
      'Please trace how the retry limit reaches the client.',
      'Determine the origin: client retry limit.',
      'Explore whether the client even knows a retry limit.',
      'Report back with the place where the retry limit of the client stands.',
    ]
    expect(due(...prompts.map(task))).toEqual([[8, 'nudge']])
    const human = (prompt: string) => one('human_input', { prompt }, ok(answer))
    expect(due(...prompts.map(human))).toEqual([[8, 'nudge']])
  })

  it('is a batch if only a name differs', () => {
    const names = 'cart user order price stock login mail news search page'.split(' ')
    const prompts = names.map((name) => `Review the module ${name} for errors and missing tests.`)
    expect(due(...prompts.map(task))).toEqual([])
  })
})

describe('the same failing check between commands of git', () => {
  const revision = (n: number) => (n * 0x9e3779b1).toString(16).padStart(40, '7d6')
  const walk = (command: string, text: (n: number) => string) =>
    [1, 2, 3, 4, 5, 6, 7, 8].flatMap((n) => [
      one('Bash', { command: 'make -s test' }, failing('make: *** [test] Error 1')),
      one('Bash', { command }, ok(text(n))),
    ])

  it.each([
    [
      'git bisect bad',
      (n) => `Bisecting: ${512 >> n} revisions left\n[${revision(n)}] change ${n}`,
    ],
    ['cd /repo && git bisect bad | head -1', (n) => `Bisecting: ${512 >> n} revisions left`],
    ['git -C /repo reset --hard HEAD~1', (n) => `HEAD is now at ${revision(n)} change ${n}`],
    ['git --no-pager checkout HEAD~1', (n) => `HEAD is now at ${revision(n)} change ${n}`],
  ] as [string, (n: number) => string][])(
    'is no loop if each moves the tree: %s',
    (command, text) => expect(due(...walk(command, text))).toEqual([]),
  )

  it.each([
    ['git checkout main', () => "Already on 'main'"],
    ['git bisect log', () => 'git bisect start'],
    ['git stash pop', (n) => `Dropped refs/stash@{0} (${revision(n)})`],
    ['git commit --amend --no-edit', (n) => `[main ${revision(n)}] change 7`],
    ['npm run merge', (n) => `merged in ${n}.2 s`],
  ] as [string, (n: number) => string][])('is a loop if none does: %s', (command, text) =>
    expect(due(...walk(command, text)).length).toBeGreaterThan(0),
  )
})

describe('a click on an element of a page', () => {
  const names = ['Submit button', 'Submit', 'the submit button', 'Submit (bottom)', 'Send', 'Save']
  const page = (n: number) =>
    `- form [ref=e${10 * n}]\n- button [ref=e${10 * n + 1}]\n- alert: empty`
  const laps = (place: (n: number) => number) =>
    [1, 2, 3, 4, 5, 6].flatMap((n) => [
      one('browser_snapshot', {}, ok(page(n))),
      one('browser_click', { element: names[n - 1], ref: `e${10 * n + place(n)}` }, ok(page(n))),
    ])

  it('is the same in other words for people', () =>
    expect(due(...laps(() => 1))[0]).toEqual([6, 'nudge']))

  it('is another one at another place', () => expect(due(...laps((n) => n + 2))).toEqual([]))
})

describe('a path that a command does not find', () => {
  const missing = (n: number) =>
    one(
      'bash',
      { command: `cat /etc/x${n}/app.conf` },
      failing(`cat: /etc/x${n}/app.conf: No such file or directory`),
    )

  it('counts as the sixth of one failure', () =>
    expect(due(...each(6, missing))).toEqual([[6, 'nudge']]))

  it('is new after a file that the command finds', () => {
    const found = one('bash', { command: 'cat /etc/app.conf' }, ok('listen 80'))
    expect(due(...each(5, missing), found, ...each(5, (n) => missing(n + 5)))).toEqual([])
  })

  it('is new where the errors differ in more than the path', () => {
    const reasons = [
      'No such file',
      'not found: is a mount',
      'no match, see docs',
      'file not found',
      'missing file',
      'cannot find it',
    ]
    const other = (n: number) =>
      one('bash', { command: `cat /etc/x${n}` }, failing(`cat: /etc/x${n}: ${reasons[n - 1]}`))
    expect(due(...each(6, other))).toEqual([])
  })
})

describe('words for a reader', () => {
  const pages = ['boiler', 'filter', 'heater', 'engine', 'window', 'ladder', 'garden', 'bridge']
  const verbs = ['installs', 'cleans', 'repairs', 'paints', 'moves', 'checks', 'sells', 'opens']
  const task = (prompt: string, n: number) =>
    one('Task', { prompt }, ok(`Translated the page. It ${verbs[n % 8]} the ${pages[n % 8]}.`))

  it('are a batch where the task names another number', () => {
    expect(due(...each(14, (n) => task(`Translate page ${n} of the manual`, n)))).toEqual([])
    // The rule same-task sees the same task.
    expect(due(...each(8, (n) => task('Translate page 1 of the manual', n)))[0]).toEqual([
      5,
      'nudge',
    ])
  })

  it('are no plan where the list has no statuses', () => {
    const route = (n: number) =>
      one(
        'plan_route',
        { stops: [`${pages[n % 8]} ${n}`, 'home'] },
        ok(`${n * 7} km by ${verbs[n % 8]}`),
      )
    expect(due(...each(14, route))).toEqual([])
  })

  it.each([
    ['letters', 'a'.repeat(16_384)],
    ['line ends', `${'\n'.repeat(100_000)}a`],
  ])('are searched for names and ends in linear time in many %s', (_, long) => {
    const cpuMs = cpuMsOf(() =>
      due(
        ...each(8, (n) =>
          one('Task', { prompt: `Describe the ${pages[n % 8]}` }, ok(`${long} ${n}`)),
        ),
      ),
    )
    expect(cpuMs).toBeLessThan(1_500)
  })

  it('are a question also to a planner', () =>
    expect(
      due(
        ...each(8, (n) =>
          one(
            'ask_planner',
            { question: `Which step ${verbs[n % 8]} the house, ${pages[n % 8]}` },
            ok(
              'Nobody knows this step of the house, and nobody ever has, because the books were lost.',
            ),
          ),
        ),
      ),
    ).toEqual([[8, 'nudge']]))
})
