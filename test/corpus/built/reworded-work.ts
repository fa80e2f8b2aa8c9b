// Honest work next to the loops of reworded-loops.ts: tests after new edits, windows of large files,
// searches with a new link, waits, pages that go on, deployments, interviews. The expectations were
// written before the rules.

import type { Scenario, Step } from '../../../apps/replay/judge/scenario.ts'
import { failed, honest, ok, rounds, turnOf, word } from './trace.ts'

const work = (id: string, steps: (Step | Step[])[]) =>
  honest(`reworded-${id}`, 'Each round brings the work forward.', steps.flat())

const edit = (file: string, from: string, to: string) =>
  ok(
    'Edit',
    { file_path: file, old_string: from, new_string: to },
    `The file ${file} has been updated.`,
  )
const passed = (count: number, n: number) => `${count} passed in 0.${10 + n}s`
const lines = (seed: number, count: number) =>
  Array.from({ length: count }, (_, k) => `${word(seed * 100 + k, 9)} = ${word(seed * 90 + k, 5)}`)
const window = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, k) => `${from + k}\t${word(from + k, 11)}`).join('\n')

/** Edits and tests. */
const testing: Scenario[] = [
  work(
    'tdd',
    rounds(8, (n) => [
      edit('/r/test_a.py', `# case ${n}`, `def test_${word(n, 5)}(): assert f(${n}) == ${n * n}`),
      failed('Bash', { command: 'pytest test_a.py' }, `E assert f(${n}) == ${n * n}\n1 failed`),
      edit('/r/a.py', `# rule ${n}`, `if x == ${n}: return ${n * n}`),
      ok('Bash', { command: 'python -m pytest test_a.py' }, passed(n, n)),
    ]),
  ),
  work(
    'mutants-by-hand',
    rounds(7, (n) => [
      edit('/r/a.py', `limit = ${n}`, `limit = ${n + 1}`),
      failed('Bash', { command: 'pytest -x -q' }, `FAILED test_a.py::test_${word(n, 6)}`),
      edit('/r/a.py', `limit = ${n + 1}`, `limit = ${n}`),
    ]),
  ),
  work(
    'mutants-by-git',
    rounds(7, (n) => [
      edit('/r/a.py', word(n, 8), word(n + 40, 8)),
      failed('Bash', { command: 'pytest -x -q' }, `FAILED test_a.py::test_${word(n, 6)}`),
      ok('Bash', { command: 'git checkout a.py' }, 'Updated 1 path from the index'),
    ]),
  ),
  work('toggle-twice', [
    ...rounds(2, (n) => [
      edit('/r/a.ts', 'debug = false', 'debug = true'),
      failed(
        'Bash',
        { command: 'npx jest a' },
        `step ${word(n, 7)} saw ${word(n + 9, 5)}\n1 failed`,
      ),
      edit('/r/a.ts', 'debug = true', 'debug = false'),
      edit('/r/a.ts', `case ${word(n, 4)}`, `case ${word(n + 5, 4)}`),
    ]),
    ok('Bash', { command: 'npm test -- a' }, passed(8, 1)),
  ]),
  work(
    'one-file-after-another',
    rounds(14, (n) =>
      ok('Bash', { command: `pytest tests/test_${word(n, 6)}.py` }, `.....\n${passed(5, n)}`),
    ),
  ),
  work(
    'matrix-of-versions',
    rounds(9, (n) =>
      ok('Bash', { command: `tox -e py3${n + 4} -- tests` }, `.....\n${passed(5, n)}`),
    ),
  ),
  work(
    'flaky-test',
    rounds(9, (n) =>
      n % 3 === 0
        ? failed(
            'Bash',
            { command: 'npx jest race' },
            `● race › ${word(n, 8)} came first\n1 failed`,
          )
        : ok(
            'Bash',
            { command: 'npx jest race' },
            `PASS race.test.ts\nSeed: ${word(n, 6)}\n3 passed`,
          ),
    ),
  ),
  work(
    'benchmark-before-and-after',
    rounds(6, (n) => [
      edit('/r/hot.rs', n % 2 === 1 ? 'fold' : 'sum', n % 2 === 1 ? 'sum' : 'fold'),
      ok(
        'Bash',
        { command: 'cargo bench --bench hot' },
        `hot  ${410 + n * 13} iterations ${word(n, 5)}`,
      ),
    ]),
  ),
]

/** Reads of windows. */
const reading: Scenario[] = [
  work(
    'large-file',
    rounds(20, (n) =>
      ok(
        'Read',
        { file_path: '/r/big.ts', offset: n * 80 - 79, limit: 100 },
        window(n * 80 - 79, n * 80 + 20),
      ),
    ),
  ),
  work(
    'growing-log',
    rounds(16, (n) =>
      ok('Bash', { command: `tail -n ${4 + (n % 3)} app.log` }, window(n, n + 4 + (n % 3))),
    ),
  ),
  work(
    'reads-after-edits',
    rounds(8, (n) => [
      ok('read_file', { path: 'a.ts', start_line: 1, end_line: 30 + n }, lines(1, 20).join('\n')),
      edit('a.ts', `v${word(n, 4)}`, `w${word(n, 4)}`),
    ]),
  ),
  work(
    'many-small-files',
    rounds(16, (n) => ok('read_file', { path: `mod/${word(n, 6)}.ts` }, lines(n, 6).join('\n'))),
  ),
  work(
    'numbers-of-zeros',
    rounds(14, (n) =>
      ok(
        'Read',
        { file_path: '/r/grid.csv', offset: n * 40, limit: 40 },
        Array.from({ length: 40 }, (_, k) => `${n * 40 + k}\t0,0,0,0`).join('\n'),
      ),
    ),
  ),
  work('review-of-a-known-file', [
    ok('Read', { file_path: '/r/a.ts', offset: 1, limit: 200 }, window(1, 200)),
    ...rounds(5, (n) =>
      ok('Read', { file_path: '/r/a.ts', offset: n * 30, limit: 20 }, window(n * 30, n * 30 + 19)),
    ),
    edit('/r/a.ts', 'one', 'two'),
    ...rounds(5, (n) =>
      ok('Read', { file_path: '/r/a.ts', offset: n * 25, limit: 20 }, window(n * 25, n * 25 + 19)),
    ),
    edit('/r/a.ts', 'three', 'four'),
  ]),
  work(
    'json-windows',
    rounds(14, (n) =>
      ok(
        'read_text',
        { path: 'b.txt', offset: n * 50, limit: 60 },
        JSON.stringify({ from: n * 50, content: window(n * 50, n * 50 + 59) }),
      ),
    ),
  ),
]

const link = (n: number) => ({
  title: `Page ${word(n, 5)}`,
  url: `https://x.example/${word(n, 7)}`,
})

/** Searches. */
const searching: Scenario[] = [
  work(
    'a-new-link-each',
    rounds(12, (n) =>
      ok(
        'WebSearch',
        { query: `rebalance lag ${word(n, 4)}` },
        `Links: ${JSON.stringify([link(n), link(1), link(2), link(3)])}`,
      ),
    ),
  ),
  work(
    'search-and-fetch',
    rounds(9, (n) => [
      ok(
        'web_search',
        { query: `lag ${turnOf(['fix', 'cause', 'tuning'], n)} ${n}` },
        [1, 2, 3].map((k) => `${k}. ${link(((k + n) % 3) + 1).url}`).join('\n'),
      ),
      ok('web_fetch', { url: link(n + 3).url }, lines(n, 5).join('\n')),
    ]),
  ),
  work(
    'prices-by-filter',
    rounds(12, (n) =>
      ok(
        'search_products',
        { text: 'laptop', max_price: 500 + n * 100 },
        JSON.stringify(
          [1, 2, 3].map((k) => ({ id: k, name: `Laptop ${k}`, price: 400 + n * 31 * k })),
        ),
      ),
    ),
  ),
  work(
    'symbols-of-one-folder',
    rounds(14, (n) =>
      ok(
        'Grep',
        { pattern: `fn ${word(n, 6)}`, path: 'src' },
        `src/a.rs:${n * 11}: fn ${word(n, 6)}()\nsrc/b.rs:${n * 7}: ${word(n, 6)}();`,
      ),
    ),
  ),
  work(
    'flights-by-day',
    rounds(12, (n) =>
      ok(
        'search_flights',
        { from: 'BER', to: 'LIS', day: `2026-12-${10 + n}` },
        JSON.stringify([
          { flight: 'TP 531', seats: 40 - n * 2 },
          { flight: 'FR 1144', seats: 9 + n },
        ]),
      ),
    ),
  ),
  work(
    'pages-of-results',
    rounds(14, (n) =>
      ok(
        'search_issues',
        { query: 'lag', page: n },
        [1, 2, 3].map((k) => `${k}. #${n * 30 + k} ${word(n * 3 + k, 8)}`).join('\n'),
      ),
    ),
  ),
  work(
    'scores-of-models',
    rounds(10, (n) =>
      ok(
        'get_leaderboard',
        { task: `t${n}` },
        `1. model-a score: 0.${50 + n}\n2. model-b score: 0.${40 + n}`,
      ),
    ),
  ),
]

/** Waits. */
const waiting: Scenario[] = [
  work('silent-build', [
    ok(
      'bash',
      { command: 'cargo build --release', mode: 'async', shellId: 'b' },
      '<command started in background with shellId: b>',
    ),
    ...rounds(10, (n) =>
      ok(
        'read_bash',
        { shellId: 'b', delay: 10 * n },
        `   Compiling shop v0.1.0 (/r/shop)\n<command with shellId: b is still running after ${10 * n} seconds.>`,
      ),
    ),
    ok(
      'read_bash',
      { shellId: 'b', delay: 120 },
      '    Finished release\n<shellId: b completed with exit code 0>',
    ),
  ]),
  work(
    'poll-with-progress',
    rounds(14, (n) =>
      ok(
        'write_stdin',
        { session_id: 3, chars: '', yield_time_ms: 5000 + n },
        `Process running with session ID 3\nOutput:\nstep ${n} of 15`,
      ),
    ),
  ),
  work(
    'watcher-that-compiles',
    rounds(9, (n) => [
      edit('/r/a.ts', word(n, 5), word(n + 1, 5)),
      ok(
        'BashOutput',
        { bash_id: 'b7', wait_up_to: 5 + n },
        n % 2 === 0
          ? 'Found 0 errors. Watching for file changes.'
          : `a.ts(${n},3): error TS2304: ${word(n, 4)}\nFound 1 error. Watching for file changes.`,
      ),
    ]),
  ),
  work(
    'requests-of-a-server',
    rounds(12, (n) => [
      ok('Bash', { command: `curl -s localhost:8000/${word(n, 4)}` }, `{"page":"${word(n, 9)}"}`),
      ok(
        'read_background_output',
        { pid: 8, delay_ms: 1000 },
        `Serving HTTP on 0.0.0.0 port 8000\nGET /${word(n, 4)} 200`,
      ),
    ]),
  ),
  work('prompt-is-answered', [
    ...rounds(4, (n) => [
      ok(
        'write_stdin',
        { session_id: 5, chars: '', yield_time_ms: 2000 },
        `Process running with session ID 5\nOutput:\nQuestion ${n}: ${word(n, 6)} (y/N)`,
      ),
      ok(
        'write_stdin',
        { session_id: 5, chars: 'y\n', yield_time_ms: 2000 },
        `Process running with session ID 5\nOutput:\nyes\nQuestion ${n + 1}`,
      ),
    ]),
  ]),
  work('server-that-starts', [
    ok(
      'bash',
      { command: 'npm start', mode: 'async', shellId: 's' },
      '<command started in background with shellId: s>',
    ),
    ...rounds(6, (n) =>
      ok(
        'read_bash',
        { shellId: 's', delay: 5 * n },
        '> shop@1.0.0 start\n> node server.js\n<command with shellId: s is still running>',
      ),
    ),
    ok('read_bash', { shellId: 's', delay: 30 }, 'Server listening on port 3000'),
    ok('http_get', { url: 'http://localhost:3000' }, '<h1>Shop</h1>'),
  ]),
  work(
    'queue-that-drains',
    rounds(14, (n) =>
      ok(
        'Bash',
        { command: `sleep ${10 + n}; kafka-consumer-groups --describe` },
        `orders 0 lag ${900 - n * 50}`,
      ),
    ),
  ),
]

/** Pages and games. */
const scrolling: Scenario[] = [
  work(
    'endless-feed',
    rounds(16, (n) =>
      ok('browser_scroll', { direction: 'down', amount: 500 + n }, lines(n, 8).join('\n')),
    ),
  ),
  work(
    'scroll-and-look',
    rounds(12, (n) => [
      ok('scroll_page', { direction: 'down', pixels: 700 }, 'Scrolled down by 700 pixels'),
      ok('browser_snapshot', {}, lines(n, 8).join('\n')),
    ]),
  ),
  work('stops-at-the-end', [
    ...rounds(6, (n) =>
      ok('browser_scroll', { direction: 'down', amount: 400 * n }, lines(n, 6).join('\n')),
    ),
    ...rounds(3, (n) =>
      ok('browser_scroll', { direction: 'down', amount: 300 * n }, 'Reached the end of the page.'),
    ),
    ok('browser_click', { element: 'Next page' }, lines(30, 6).join('\n')),
  ]),
  work(
    'pages-of-a-document',
    rounds(14, (n) => ok('browser_press_key', { key: 'PageDown' }, lines(n, 5).join('\n'))),
  ),
  work(
    'lists-of-a-form',
    rounds(10, (n) => [
      ok('browser_scroll', { direction: 'down', amount: 200 }, 'Scrolled down by 200 pixels'),
      ok('browser_type', { ref: `e${n}`, text: word(n, 7) }, 'Typed.'),
    ]),
  ),
  work(
    'snake',
    rounds(20, (n) =>
      ok(
        'press_key',
        { key: turnOf(['ArrowUp', 'ArrowLeft', 'ArrowDown'], n) },
        `score ${n}\n${word(n, 10)}\n${word(n + 50, 10)}`,
      ),
    ),
  ),
  work(
    'two-columns',
    rounds(8, (n) => [
      ok(
        'computer',
        { action: 'scroll', coordinate: [300, 400], scroll_direction: 'down', scroll_amount: 5 },
        'Scrolled',
      ),
      ok('get_page_text', { frame: n % 2 }, lines(n, 5).join('\n')),
    ]),
  ),
]

const pod = (name: string, ready: string, state: string, restarts: number, age: string) =>
  `NAME READY STATUS RESTARTS AGE\n${name}   ${ready}   ${state}   ${restarts}   ${age}`

/** Deployments and services. */
const deploying: Scenario[] = [
  work(
    'rollout-that-progresses',
    rounds(10, (n) => [
      ok('Bash', { command: 'kubectl get deploy web' }, `web   ${n}/10   10   ${n}   ${n * 2}m`),
      ok('Bash', { command: 'kubectl logs deploy/web --tail=1' }, `replica ${word(n, 5)} is up`),
    ]),
  ),
  work(
    'crash-with-new-fixes',
    rounds(6, (n) => [
      ok(
        'Bash',
        { command: 'kubectl get pods' },
        pod('shop-0', '0/1', 'CrashLoopBackOff', n, `${n}m`),
      ),
      ok('Bash', { command: 'kubectl logs shop-0' }, `Error: ${word(n, 9)} is not set`),
      edit('/r/shop.yaml', `# ${word(n, 9)}`, `${word(n, 9)}: "1"`),
      ok('Bash', { command: 'kubectl apply -f shop.yaml' }, 'deployment.apps/shop configured'),
    ]),
  ),
  work('waits-for-its-database', [
    ...rounds(4, (n) => [
      ok(
        'Bash',
        { command: `sleep ${20 * n}; kubectl get pods` },
        pod('shop-0', '0/1', 'CrashLoopBackOff', n, `${n}m`),
      ),
      ok(
        'Bash',
        { command: 'kubectl get pod db-0' },
        pod('db-0', '0/1', `Init:${n}/5`, 0, `${n}m`),
      ),
    ]),
    ok('Bash', { command: 'kubectl get pods' }, pod('shop-0', '1/1', 'Running', 4, '9m')),
  ]),
  work(
    'audit-of-crashed-services',
    rounds(8, (n) => [
      ok(
        'Bash',
        { command: `systemctl status ${word(n, 5)}` },
        `Active: failed (Result: exit-code)\nMain PID: ${4000 + n}`,
      ),
      ok(
        'Bash',
        { command: `journalctl -u ${word(n, 5)} -n 1` },
        `${word(n, 5)}: cannot read ${word(n, 8)}`,
      ),
    ]),
  ),
  work(
    'restarts-one-by-one',
    rounds(9, (n) => [
      ok('Bash', { command: `docker restart web-${word(n, 4)}` }, `web-${word(n, 4)}`),
      ok(
        'Bash',
        { command: 'docker ps --format {{.Names}}:{{.Status}}' },
        `web-${word(n, 4)}: Up 2 seconds\ndb: Up ${n} hours`,
      ),
    ]),
  ),
  work(
    'canary',
    rounds(10, (n) => [
      ok('set_weight', { service: 'web', percent: n * 10 }, `weight ${n * 10}`),
      ok('get_errors', { service: 'web' }, `errors 0.${n}1 percent of ${1000 * n}`),
    ]),
  ),
  work(
    'restart-count-of-a-soak-test',
    rounds(10, (n) => [
      ok('Bash', { command: `./soak.sh --load ${n * 100}` }, `load ${n * 100}: p99 ${word(n, 4)}`),
      ok(
        'Bash',
        { command: 'kubectl get pods' },
        pod('shop-0', '1/1', 'Running', n % 3, `${n * 6}m`),
      ),
    ]),
  ),
]

const topicsOf = [
  'name',
  'region',
  'budget',
  'language',
  'colour',
  'deadline',
  'owner',
  'licence',
  'runtime',
  'license key',
  'logo',
  'domain',
]

/** Questions. */
const asking: Scenario[] = [
  work(
    'interview',
    rounds(12, (n) =>
      ok(
        'ask_user',
        { question: `What is the ${turnOf(topicsOf, n)} of the project?` },
        `It is ${word(n, 7)}.`,
      ),
    ),
  ),
  work(
    'checklist',
    rounds(12, (n) =>
      ok(
        'ask_user',
        { question: `Is the ${turnOf(topicsOf, n)} final?`, options: ['yes', 'no'] },
        'yes',
      ),
    ),
  ),
  work(
    'approvals',
    rounds(12, (n) =>
      ok('ask_user', { question: `May I delete /srv/old/${word(n, 6)}.tar?` }, 'Approved.'),
    ),
  ),
  work(
    'agents-with-tasks',
    rounds(12, (n) =>
      ok(
        'Task',
        {
          description: `Part ${n}`,
          prompt: `Write the module ${word(n, 7)} with its tests.`,
          subagent_type: 'general',
        },
        `Done. The module and its tests are written, and all of them pass.\n\nagentId: ${word(n, 8)}`,
      ),
    ),
  ),
  work(
    'reviews-of-files',
    rounds(12, (n) =>
      ok(
        'Task',
        {
          description: 'Review',
          prompt: `Review src/${word(n, 7)}.ts for errors.`,
          subagent_type: 'reviewer',
        },
        'I have read the whole file and its callers. There are no errors to report in it.',
      ),
    ),
  ),
  work(
    'form-with-options',
    rounds(8, (n) =>
      ok(
        'AskUserQuestion',
        {
          questions: [
            { question: `Which ${turnOf(topicsOf, n)}?`, header: turnOf(topicsOf, n), options: [] },
          ],
        },
        `User has answered your questions: "Which ${turnOf(topicsOf, n)}?"="${word(n, 6)}". You can now continue with the user's answers in mind.`,
      ),
    ),
  ),
  work(
    'twenty-questions',
    rounds(16, (n) =>
      ok('ask_player', { question: `Is it ${word(n, 6)}?` }, n % 5 === 0 ? 'Yes.' : 'No.'),
    ),
  ),
]

export const rewordedWork: Scenario[] = [
  ...testing,
  ...reading,
  ...searching,
  ...waiting,
  ...scrolling,
  ...deploying,
  ...asking,
]
