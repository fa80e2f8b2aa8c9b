// Loops that differ in the spelling of a command, the range of a read, the order of links, a pause, an
// amount, an age or the words of a question. The expectations were written before the rules.

import type { Scenario, Step } from '../../../apps/replay/judge/scenario.ts'
import { failed, loop, ok, rounds, turnOf, word } from './trace.ts'

const undone = 'two edits undo each other, and the same tests fail in the same way'
const overlap = 'each range shows lines that were read before, and nothing changes'
const links = 'each search finds the same links in another order'
const steady = 'the process waits for a request, a change or an answer, and no wait ends that'
const bottom = 'the page has ended, and each scroll shows the same'
const crashes = 'one thing crashes again and again: only its restarts and ages grow'
const asked = 'each question asks the same thing and gets the same answer'

const seen = (id: string, reason: string, count: number, stepsOf: (n: number) => Step | Step[]) =>
  loop(id, reason, rounds(count, stepsOf), 14)

// ── Edits that undo each other ──

const [plus, minus] = ['total = a + b', 'total = a - b']
const swapped = (n: number) => (n % 2 === 1 ? [plus, minus] : [minus, plus]) as [string, string]
const pytest = (n: number) =>
  `============================= test session starts ==============================\ncollected 4 items\n\ntests/test_sum.py ..F.                                                   [100%]\n\nE       assert ${n % 2 === 1 ? '-1 == 3' : '3 == -1'}\n\ntests/test_sum.py:${n % 2 === 1 ? 9 : 14}: AssertionError\n========================= 1 failed, 3 passed in 0.${10 + n}s =========================`
const pytests = [
  'pytest tests/test_sum.py',
  'python -m pytest tests/test_sum.py',
  'python3 -m pytest tests/test_sum.py -q',
  'poetry run pytest tests/test_sum.py',
  'cd /repo && pytest tests/test_sum.py',
]
const jests = ['npx jest cart', 'npm test -- cart', 'yarn jest cart', 'npm run test -- cart']
const jest = (n: number) =>
  `${turnOf(['', '\n> shop@1.0.0 test\n> jest cart\n\n', 'yarn run v1.22.22\n$ jest cart\n', '\n> shop@1.0.0 test\n> jest cart\n\n'], n)}FAIL test/cart.test.ts\n  ● cart › ${n % 2 === 1 ? 'adds a discount' : 'keeps the price'}\n\n    expect(received).toBe(expected)\n\nTests:       1 failed, 6 passed, 7 total\nTime:        1.${100 + n} s`
const patch = (n: number) => {
  const [from, to] = n % 2 === 1 ? ['<', '<='] : ['<=', '<']
  return `*** Begin Patch\n*** Update File: src/range.rs\n@@ fn contains\n-    self.from <= at && at ${from} self.to\n+    self.from <= at && at ${to} self.to\n*** End Patch`
}
const cargo = ['cargo test', 'cargo test --quiet', 'cargo test -q --lib', 'cargo test --lib']
const gotest = ['go test ./...', 'go test ./... -count=1', 'go test -v ./...']
const makes = ['make test', 'make -s test', 'make test 2>&1 | tail -20']

const undoing: Scenario[] = [
  seen('undo-edit-pytest', undone, 10, (n) => [
    ok(
      'Edit',
      { file_path: '/repo/sum.py', old_string: swapped(n)[0], new_string: swapped(n)[1] },
      'The file /repo/sum.py has been updated.',
    ),
    failed('Bash', { command: turnOf(pytests, n) }, `Exit code 1\n${pytest(n)}`),
  ]),
  seen('undo-edit-jest', undone, 10, (n) => [
    ok(
      'str_replace_based_edit_tool',
      {
        command: 'str_replace',
        path: 'src/cart.ts',
        old_str: swapped(n)[0],
        new_str: swapped(n)[1],
      },
      'The file src/cart.ts has been edited.',
    ),
    failed('bash', { command: turnOf(jests, n) }, jest(n)),
  ]),
  seen('undo-patch-cargo', undone, 10, (n) => [
    ok('apply_patch', { input: patch(n) }, 'Success. Updated the following files:\nM src/range.rs'),
    ok(
      'exec_command',
      { cmd: turnOf(cargo, n) },
      `Chunk ID: ${word(n, 6)}\nWall time: 1.${n} seconds\nProcess exited with code 101\nOutput:\ntest range::${n % 2 === 1 ? 'excludes_end' : 'includes_end'} ... FAILED\ntest result: FAILED. 5 passed; 1 failed; finished in 0.0${n}s`,
    ),
  ]),
  seen('undo-write-go', undone, 10, (n) => [
    ok(
      'write_file',
      { path: 'limit.go', content: `package limit\n\nconst Max = ${n % 2 === 1 ? 10 : 20}\n` },
      'Wrote 31 bytes to limit.go',
    ),
    failed(
      'run_shell_command',
      { command: turnOf(gotest, n) },
      `--- FAIL: Test${n % 2 === 1 ? 'Small' : 'Large'} (0.00s)\n    limit_test.go:${n % 2 === 1 ? 12 : 21}: the limit is wrong\nFAIL\tshop/limit\t0.00${n}s\nFAIL`,
    ),
  ]),
  seen('undo-sed-make', undone, 10, (n) => [
    ok('shell', { command: `sed -i 's/${n % 2 === 1 ? 'on/off' : 'off/on'}/' config.ini` }, ''),
    failed(
      'shell',
      { command: turnOf(makes, n) },
      `test_${n % 2 === 1 ? 'cache' : 'direct'}: wrong mode\nmake: *** [Makefile:4: test] Error 1`,
    ),
  ]),
]

// ── Reads that overlap ──

const source = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, k) => `  step_${word(from + k, 6)}(${from + k})`)
const numbered = (from: number, to: number) =>
  source(from, to)
    .map((line, k) => `${String(from + k).padStart(6)}\t${line}`)
    .join('\n')
const ranges: [number, number][] = [
  [1, 80],
  [20, 100],
  [1, 100],
  [40, 90],
  [20, 100],
  [1, 80],
  [10, 60],
  [1, 100],
  [40, 90],
  [60, 100],
  [1, 80],
  [30, 70],
  [1, 100],
  [20, 100],
]
const rangeOf = (n: number) => turnOf(ranges, n)
const partOf = (n: number) => source(...rangeOf(n)).join('\n')

const overlapping: Scenario[] = [
  seen('overlap-read', overlap, 14, (n) => {
    const [from, to] = rangeOf(n)
    return ok(
      'Read',
      { file_path: '/repo/steps.py', offset: from, limit: to - from + 1 },
      numbered(from, to),
    )
  }),
  seen('overlap-sed', overlap, 14, (n) => {
    const [from, to] = rangeOf(n)
    return ok('exec_command', { cmd: `sed -n '${from},${to}p' steps.py` }, partOf(n))
  }),
  seen('overlap-header', overlap, 14, (n) => {
    const [from, to] = rangeOf(n)
    return ok(
      'read_file',
      { path: 'steps.py', start_line: from, end_line: to },
      `[File: steps.py, lines ${from}-${to} of 100]\n${partOf(n)}`,
    )
  }),
  seen('overlap-json', overlap, 14, (n) => {
    const [from, to] = rangeOf(n)
    return ok(
      'mcp__fs__read_text_file',
      { path: 'steps.py', offset: from, limit: to - from + 1 },
      JSON.stringify({ path: 'steps.py', startLine: from, endLine: to, content: partOf(n) }),
    )
  }),
  seen('overlap-truncated', overlap, 14, (n) => {
    const [from, to] = rangeOf(n)
    return ok(
      'read_file',
      { absolute_path: '/repo/steps.py', offset: from - 1, limit: to - from + 1 },
      `\nIMPORTANT: The file content has been truncated.\nStatus: Showing lines ${from}-${to} of 100 total lines.\nAction: To read more of the file, you can use the 'offset' and 'limit' parameters in a subsequent 'read_file' call. For example, to read the next section of the file, use offset: ${to}.\n\n--- FILE CONTENT (truncated) ---\n${partOf(n)}`,
    )
  }),
  seen('overlap-two-files', overlap, 14, (n) => {
    const [from, to] = rangeOf(n)
    return n % 3 === 0
      ? ok('Bash', { command: 'cat readme.txt' }, 'Steps of the import.\nRead steps.py.')
      : ok('Bash', { command: `head -n ${to} steps.py | tail -n +${from}` }, partOf(n))
  }),
]

// ── Links in another order ──

const questions = [
  'kafka consumer lag grows after rebalance',
  'why does kafka lag increase when a group rebalances',
  'rebalance causes consumer lag kafka',
  'consumer group lag spike rebalancing fix',
  'kafka lag rebalance root cause',
  'how to stop lag after kafka rebalance',
  'kafka rebalance lag cooperative sticky',
  'fix growing consumer lag kafka rebalance',
  'kafka consumers fall behind at rebalance',
  'lag after rebalance kafka solution',
  'reduce kafka rebalance lag',
  'kafka rebalance delay lag',
  'lag spike at kafka group rebalance',
  'kafka lag growing rebalance troubleshooting',
]
const pages = [
  ['Understanding rebalances', 'https://kafka.example.org/docs/rebalance'],
  ['Lag in consumer groups', 'https://blog.example.com/lag'],
  ['Cooperative sticky assignor', 'https://wiki.example.net/KIP-429'],
  ['Why is my consumer slow?', 'https://ask.example.com/q/58123'],
  ['Tuning max.poll.interval', 'https://docs.example.io/poll'],
] as const
/** The pages in an order that depends on the round. */
const ordered = (n: number) =>
  pages
    .map((page, k) => ({ page, at: (k * 7 + n * (n + 3)) % 11 }))
    .sort((a, b) => a.at - b.at)
    .map(({ page }) => page)
const questionOf = (n: number) => turnOf(questions, n)

const reordered: Scenario[] = [
  seen('links-claude', links, 12, (n) =>
    ok(
      'WebSearch',
      { query: questionOf(n) },
      `Web search results for query: "${questionOf(n)}"\n\nLinks: ${JSON.stringify(ordered(n).map(([title, url]) => ({ title, url })))}\n\nREMINDER: You MUST include the sources above in your response.`,
    ),
  ),
  seen('links-numbered', links, 12, (n) =>
    ok(
      'google_web_search',
      { query: questionOf(n) },
      ordered(n)
        .map(([title, url], k) => `${k + 1}. ${title}\n   URL: ${url}\n   The page about ${title}.`)
        .join('\n\n'),
    ),
  ),
  seen('links-scores', links, 12, (n) =>
    ok(
      'mcp__tavily__tavily_search',
      { query: questionOf(n), max_results: 5 },
      JSON.stringify({
        query: questionOf(n),
        results: ordered(n).map(([title, url], k) => ({
          title,
          url,
          content: `The page about ${title}.`,
          score: 0.9 - k / 10 - n / 1000,
        })),
        response_time: 1 + n / 10,
      }),
    ),
  ),
  seen('links-snippets', links, 12, (n) =>
    ok(
      'brave_web_search',
      { query: questionOf(n) },
      ordered(n)
        .map(
          ([title, url]) =>
            `Title: ${title}\nDescription: … ${questionOf(n).split(' ').slice(0, 3).join(' ')} … ${title}\nURL: ${url}`,
        )
        .join('\n\n'),
    ),
  ),
  seen('links-code', links, 12, (n) =>
    ok(
      'codebase_search',
      { query: questionOf(n), target_directories: [] },
      ordered(n)
        .map(
          ([title, url]) =>
            `src/${url.split('/').at(-1)}.ts:${title.length}\n  // ${title}\n  run()`,
        )
        .join('\n---\n'),
    ),
  ),
  seen('links-documents', links, 12, (n) =>
    ok(
      'search_documents',
      { query: questionOf(n) },
      JSON.stringify(
        ordered(n).map(([title], k) => ({
          id: `doc-${title.length}`,
          title,
          rank: k + 1,
          relevance: 0.8 - k / 20 - n / 500,
        })),
      ),
    ),
  ),
]

// ── A process that is up ──

const pauses = [5, 10, 3, 20, 15, 8, 30, 12, 7, 25, 4, 18, 9, 11]
const pauseOf = (n: number) => turnOf(pauses, n)

const waiting: Scenario[] = [
  loop(
    'steady-vite',
    steady,
    [
      ok(
        'bash',
        { command: 'npm run dev', mode: 'async', shellId: 'dev' },
        '<command started in background with shellId: dev>',
      ),
      ...rounds(13, (n) =>
        ok(
          'read_bash',
          { shellId: 'dev', delay: pauseOf(n) },
          `  VITE v5.4.2  ready in 312 ms\n\n  ➜  Local:   http://localhost:5173/\n  ➜  press h + enter to show help\n<command with shellId: dev is still running after ${pauseOf(n)} seconds.>`,
        ),
      ),
    ],
    14,
  ),
  loop(
    'steady-prompt',
    steady,
    [
      ok(
        'exec_command',
        { cmd: 'npx create-app shop', yield_time_ms: 1000 },
        'Process running with session ID 31\nOutput:\nOk to proceed? (y)',
      ),
      ...rounds(13, (n) =>
        ok(
          'write_stdin',
          { session_id: 31, chars: '', yield_time_ms: pauseOf(n) * 1000 },
          `Chunk ID: ${word(n, 6)}\nWall time: ${pauseOf(n)}.0012 seconds\nProcess running with session ID 31\nOutput:\nOk to proceed? (y) `,
        ),
      ),
    ],
    14,
  ),
  loop(
    'steady-watcher',
    steady,
    [
      ok(
        'Bash',
        { command: 'tsc --watch', run_in_background: true },
        'Command running in background with ID: b7',
      ),
      ...rounds(13, (n) =>
        ok(
          'BashOutput',
          { bash_id: 'b7', wait_up_to: pauseOf(n) },
          '<status>running</status>\n<stdout>\nFound 0 errors. Watching for file changes.\n</stdout>',
        ),
      ),
    ],
    14,
  ),
  loop(
    'steady-password',
    steady,
    [
      ok(
        'process_start',
        { command: 'ssh deploy@web-1' },
        '{"session_id":"s-4","status":"running"}',
      ),
      ...rounds(13, (n) =>
        ok(
          'process_poll',
          { session_id: 's-4', timeout_ms: pauseOf(n) * 1000 },
          JSON.stringify({
            session_id: 's-4',
            status: 'running',
            output: "deploy@web-1's password: ",
          }),
        ),
      ),
    ],
    14,
  ),
  loop(
    'steady-server',
    steady,
    [
      ok(
        'run_shell_command',
        { command: 'python3 -m http.server 8000', is_background: true },
        'Command is running in background. PID: 812. Initial output:\n',
      ),
      ...rounds(13, (n) =>
        ok(
          'read_background_output',
          { pid: 812, delay_ms: pauseOf(n) * 1000 },
          'Serving HTTP on 0.0.0.0 port 8000 (http://0.0.0.0:8000/) ...',
        ),
      ),
    ],
    14,
  ),
]

// ── The end of a page ──

const page = `Orders of November\n${source(1, 12).join('\n')}\n© Example Shop`
const amounts = [500, 800, 300, 1000, 600, 400, 1200, 700, 900, 350]
const amountOf = (n: number) => turnOf(amounts, n)

const scrolling: Scenario[] = [
  seen('bottom-view', bottom, 14, (n) =>
    ok('browser_scroll', { direction: 'down', amount: amountOf(n) }, page),
  ),
  seen('bottom-snapshot', bottom, 8, (n) => [
    ok(
      'scroll_page',
      { direction: 'down', pixels: amountOf(n) },
      `Scrolled down by ${amountOf(n)} pixels`,
    ),
    ok('browser_snapshot', {}, page),
  ]),
  seen('bottom-no-more', bottom, 14, (n) =>
    ok(
      'browser_scroll',
      { direction: 'down', amount: amountOf(n) },
      'Reached the end of the page. No more content.',
    ),
  ),
  seen('bottom-computer', bottom, 8, (n) => [
    ok(
      'computer',
      {
        action: 'scroll',
        coordinate: [640 + n * 31, 400],
        scroll_direction: 'down',
        scroll_amount: 3 + n,
      },
      `Scrolled down by ${3 + n} ticks at (${640 + n * 31}, 400)`,
    ),
    ok('get_page_text', {}, page),
  ]),
  seen('bottom-keys', bottom, 8, (n) => [
    ok(
      'browser_press_key',
      { key: turnOf(['PageDown', 'End', 'ArrowDown'], n) },
      `Pressed key ${turnOf(['PageDown', 'End', 'ArrowDown'], n)}`,
    ),
    ok('browser_snapshot', {}, page),
  ]),
  seen('bottom-pages', bottom, 14, (n) =>
    ok('list_orders', { page: 40 + n, per_page: 20 }, `No more results (page ${40 + n}).`),
  ),
]

// ── A thing that crashes ──

const table = (n: number) =>
  `NAME                     READY   STATUS             RESTARTS      AGE\nshop-6c4f9d7b8-x2kqp     0/1     CrashLoopBackOff   ${3 + n} (${12 + n * 7}s ago)   ${4 + n * 3}m\nweb-7d9f8b6c5d-lq2vw     1/1     Running            0             ${20 + n * 3}m`
const config = 'Error: DATABASE_URL is not set\n    at load (/app/config.js:14:11)'

const crashing: Scenario[] = [
  seen('crash-pods', crashes, 5, (n) => [
    ok('Bash', { command: 'kubectl get pods' }, table(n)),
    ok('Bash', { command: 'kubectl logs deploy/shop --tail=5' }, config),
    ok(
      'Bash',
      { command: 'kubectl rollout restart deploy/shop' },
      'deployment.apps/shop restarted',
    ),
  ]),
  seen('crash-docker', crashes, 5, (n) => [
    ok(
      'shell',
      { command: 'docker ps -a' },
      `CONTAINER ID   IMAGE      COMMAND       CREATED          STATUS                          NAMES\n${word(4, 12)}   shop:1.4   "node app"    ${5 + n} minutes ago    Restarting (1) ${3 + ((n * 5) % 9)} seconds ago   shop`,
    ),
    ok('shell', { command: 'docker logs --tail 3 shop' }, config),
    ok('shell', { command: 'docker restart shop' }, 'shop'),
  ]),
  seen('crash-systemd', crashes, 5, (n) => [
    ok(
      'Bash',
      { command: 'systemctl status shop' },
      `● shop.service - Shop\n     Loaded: loaded (/etc/systemd/system/shop.service; enabled)\n     Active: activating (auto-restart) (Result: exit-code) since Mon 2026-11-30 10:0${n}:11 UTC; ${n}s ago\n    Process: ${4100 + n * 17} ExecStart=/usr/bin/shop (code=exited, status=1/FAILURE)\n   Main PID: ${4100 + n * 17} (code=exited, status=1/FAILURE)`,
    ),
    ok(
      'Bash',
      { command: 'journalctl -u shop -n 2 --no-pager' },
      `Nov 30 10:0${n}:11 host systemd[1]: shop.service: Scheduled restart job, restart counter is at ${n + 4}.\nNov 30 10:0${n}:11 host shop[${4100 + n * 17}]: DATABASE_URL is not set`,
    ),
    ok('Bash', { command: 'sudo systemctl restart shop' }, ''),
  ]),
  seen('crash-describe', crashes, 5, (n) => [
    ok(
      'run_command',
      { command: 'kubectl describe pod shop-0' },
      `Name: shop-0\nState: Waiting\n  Reason: CrashLoopBackOff\nLast State: Terminated\n  Exit Code: 1\nReady: False\nRestart Count: ${3 + n}\nEvents:\n  Warning  BackOff  ${n}m${10 + n}s (x${4 + n * 3} over ${6 + n}m)  kubelet  Back-off restarting failed container`,
    ),
    ok('run_command', { command: 'kubectl logs shop-0 --previous' }, config),
    ok('run_command', { command: 'kubectl delete pod shop-0' }, 'pod "shop-0" deleted'),
  ]),
  seen('crash-pm2', crashes, 5, (n) => [
    ok(
      'terminal',
      { command: 'pm2 list' },
      `│ id │ name │ mode │ ↺   │ status  │ cpu │ memory │\n│ 0  │ shop │ fork │ ${15 + n * 4}  │ errored │ 0%  │ 0b     │`,
    ),
    ok('terminal', { command: 'pm2 logs shop --lines 2 --nostream' }, config),
    ok(
      'terminal',
      { command: 'pm2 restart shop' },
      '[PM2] Applying action restartProcessId on app [shop]\n[PM2] [shop](0) ✓',
    ),
  ]),
  seen('crash-mcp', crashes, 5, (n) => [
    ok(
      'pods_list',
      { namespace: 'shop' },
      JSON.stringify([
        {
          name: 'shop-0',
          ready: false,
          state: 'CrashLoopBackOff',
          restartCount: 3 + n,
          age: `${4 + n * 3}m`,
        },
      ]),
    ),
    ok('pods_log', { namespace: 'shop', name: 'shop-0' }, config),
    ok('pods_delete', { namespace: 'shop', name: 'shop-0' }, 'Pod deleted successfully'),
  ]),
]

// ── One question in other words ──

const wordings = [
  'Which database should I use for the orders?',
  'What database do you want for the orders?',
  'Please tell me the database for orders.',
  'Should the orders go to Postgres or another database?',
  'Do you have a preferred database for orders?',
  'Before I go on: which database for the orders?',
  'Can you confirm the database of the orders?',
  'I need the database for orders to continue. Which one?',
  'Which orders database is right?',
  'Once more: what database do the orders need?',
  'For the orders, which database?',
  'Orders: the database, please?',
]
const wordingOf = (n: number) => turnOf(wordings, n)
const tasks = [
  'Find where the retry limit of the client is set.',
  'Locate the definition of the retry limit in the client.',
  'Search the client for the place that sets its retry limit.',
  'Which file sets the retry limit of the client?',
  'Look for the retry limit and report the file of the client.',
  'Trace the retry limit of the client to its source.',
  'Investigate where the client reads its retry limit.',
  'Determine the origin of the client retry limit.',
  'Explore the client: where is the retry limit?',
  'Check the client for the retry limit setting.',
  'Report the file with the client retry limit.',
  'Identify the retry limit in the client sources.',
]
const report =
  'I searched the whole repository. The retry limit is not set in any file: the client takes the default of its library.'

const asking: Scenario[] = [
  seen('ask-user', asked, 12, (n) =>
    ok('ask_user', { question: wordingOf(n) }, 'I do not know. Decide it yourself.'),
  ),
  seen('ask-claude', asked, 12, (n) =>
    ok(
      'AskUserQuestion',
      {
        questions: [
          {
            question: wordingOf(n),
            header: 'Database',
            multiSelect: false,
            options: [{ label: 'Postgres' }, { label: 'MySQL' }],
          },
        ],
      },
      `User has answered your questions: "${wordingOf(n)}"="You decide". You can now continue with the user's answers in mind.`,
    ),
  ),
  seen('ask-agent', asked, 12, (n) =>
    ok(
      'Task',
      { description: `Retry limit ${n}`, prompt: turnOf(tasks, n), subagent_type: 'Explore' },
      `${report}\n\nagentId: ${word(n, 8)} (for resuming)\n<usage>total_tokens: ${20_000 + n * 731}\ntool_uses: ${7 + (n % 4)}\nduration_ms: ${41_000 + n * 977}</usage>`,
    ),
  ),
  seen('ask-codex', asked, 12, (n) =>
    ok(
      'request_user_input',
      { questions: [{ id: 'db', header: 'Database', question: wordingOf(n) }] },
      '{"answers":{"db":{"answers":["skip this question"]}}}',
    ),
  ),
  seen('ask-followup', asked, 12, (n) =>
    ok(
      'ask_followup_question',
      { question: wordingOf(n), follow_up: [] },
      '<answer>\nnot yet\n</answer>',
    ),
  ),
  seen('ask-oracle', asked, 12, (n) => ok('consult_expert', { prompt: turnOf(tasks, n) }, report)),
]

export const rewordedLoops: Scenario[] = [
  ...undoing,
  ...overlapping,
  ...reordered,
  ...waiting,
  ...scrolling,
  ...crashing,
  ...asking,
]
