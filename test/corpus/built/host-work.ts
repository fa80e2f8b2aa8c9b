// Honest work in the tools and results of real hosts. The expectations were written before the first
// run, in which 59 of the 61 were right. Two traces are changed since: a board was a random word,
// and a log was read again without a pause.

import type { Scenario, Step } from '../../../apps/replay/judge/scenario.ts'
import { failed, honest, ok, rounds, turnOf, word } from './trace.ts'

const work = (id: string, steps: (Step | Step[])[]) =>
  honest(`host-work-${id}`, 'Each round brings the work forward.', steps.flat())
const names = [
  'alpha',
  'bravo',
  'carol',
  'delta',
  'eagle',
  'fjord',
  'gamma',
  'hotel',
  'india',
  'julia',
  'kilos',
  'lemon',
  'mango',
  'nylon',
  'oscar',
  'papal',
  'quart',
  'radar',
  'sigma',
  'tango',
]
const nameOf = (n: number) => names[n % names.length] ?? ''

export const hostWork: Scenario[] = [
  // waits with growing pauses and 503
  work('wait-sleep-grow', [
    ...rounds(6, (n) => [
      ok(
        'Bash',
        { command: `sleep ${5 * 2 ** n}; kubectl rollout status deploy/web --timeout=1s` },
        `Waiting for deployment "web" rollout to finish: ${n} of 8 updated replicas are available...`,
      ),
    ]),
    ok('Bash', { command: 'kubectl get pods' }, 'web-1 Running'),
  ]),
  work('wait-503', [
    ...rounds(8, (n) => [
      ok(
        'Bash',
        { command: `sleep ${2 ** n} && curl -s -o /dev/null -w '%{http_code}' http://svc/health` },
        n < 8 ? '503' : '200',
      ),
    ]),
  ]),
  work(
    'wait-gh-run',
    rounds(9, (n) => [
      ok(
        'Bash',
        { command: `sleep ${30 * n}; gh run view 812 --json status -q .status` },
        n < 9 ? 'in_progress' : 'completed',
      ),
    ]),
  ),
  work(
    'wait-terraform',
    rounds(7, (n) => [
      ok(
        'run_shell_command',
        { command: 'sleep 60; tail -n 2 apply.log' },
        `aws_db_instance.main: Still creating... [${n}m0s elapsed]`,
      ),
    ]),
  ),
  work(
    'wait-job-json',
    rounds(9, (n) => [
      ok(
        'get_job',
        { id: 'j-81' },
        JSON.stringify({ id: 'j-81', state: n < 9 ? 'running' : 'done', progress: n * 11 }),
      ),
    ]),
  ),
  work('retry-429', [
    ...rounds(6, (n) => [
      failed(
        'http_get',
        { url: 'https://api.example.com/a' },
        `429 Too Many Requests. Retry after ${2 ** n} seconds`,
      ),
      ok('Bash', { command: `sleep ${2 ** n}` }, ''),
    ]),
    ok('http_get', { url: 'https://api.example.com/a' }, '{"a":1}'),
  ]),
  work('retry-reported-503', [
    ...rounds(6, (n) => [
      ok(
        'http_get',
        { url: 'https://api.example.com/a' },
        '{"status":503,"error":"Service Unavailable"}',
      ),
      ok('Bash', { command: `sleep ${3 * n}` }, ''),
    ]),
    ok('http_get', { url: 'https://api.example.com/a' }, '{"a":1}'),
  ]),
  // pagination
  work(
    'page-cursor',
    rounds(20, (n) =>
      ok(
        'list_orders',
        { cursor: n === 1 ? null : word(n - 1, 10), limit: 2 },
        JSON.stringify({
          orders: [{ id: word(n * 3, 8) }, { id: word(n * 3 + 1, 8) }],
          next: word(n, 10),
        }),
      ),
    ),
  ),
  work(
    'page-number',
    rounds(25, (n) => ok('fetch_page', { page: n }, `${nameOf(n % 20)} ${word(n, 8)}`)),
  ),
  work(
    'page-offset-sql',
    rounds(18, (n) =>
      ok(
        'query_database',
        { sql: `SELECT name FROM users ORDER BY id LIMIT 1 OFFSET ${n}` },
        nameOf(n % 20),
      ),
    ),
  ),
  work(
    'page-read-file',
    rounds(18, (n) =>
      ok(
        'Read',
        { file_path: '/repo/big.log', offset: n * 100, limit: 100 },
        [0, 1, 2].map((k) => `${n * 100 + k} ${word(n * 7 + k, 14)}`).join('\n'),
      ),
    ),
  ),
  work('page-empty-tail', [
    ...rounds(8, (n) => ok('list_events', { after: word(n, 8) }, `[{"id":"${word(n + 1, 8)}"}]`)),
    ok('list_events', { after: word(9, 8) }, '[]'),
  ]),
  // TDD
  work(
    'tdd-red-green',
    rounds(10, (n) => [
      ok(
        'Edit',
        { file_path: '/repo/a.ts', old_string: nameOf(n), new_string: nameOf(n + 1) },
        'updated',
      ),
      n % 2
        ? failed('Bash', { command: 'npm test' }, `FAIL a.test.ts\n  expected ${n} to be ${n + 1}`)
        : ok('Bash', { command: 'npm test' }, `Tests: ${n} passed`),
    ]),
  ),
  work(
    'tdd-same-failure',
    rounds(5, (n) => [
      ok(
        'Edit',
        { file_path: `/repo/${nameOf(n)}.py`, old_string: 'a', new_string: `b${n}` },
        'updated',
      ),
      failed('Bash', { command: 'pytest -q' }, '1 failed: test_parse - AssertionError'),
    ]),
  ),
  work(
    'tdd-cargo',
    rounds(12, (n) => [
      ok(
        'edit',
        { filePath: '/repo/src/lib.rs', oldString: `v${n}`, newString: `v${n + 1}` },
        'ok',
      ),
      failed(
        'bash',
        { command: 'cargo build' },
        `error[E0${300 + n}]: mismatched types\n --> src/lib.rs:${n * 3}:9`,
      ),
    ]),
  ),
  work(
    'tdd-lint-fix',
    rounds(14, (n) => [
      failed(
        'Bash',
        { command: 'npx tsc --noEmit' },
        `src/${nameOf(n)}.ts(${n},3): error TS2322: Type 'string' is not assignable.\nFound ${20 - n} errors.`,
      ),
      ok(
        'Edit',
        { file_path: `/repo/src/${nameOf(n)}.ts`, old_string: 'string', new_string: 'number' },
        'updated',
      ),
    ]),
  ),
  // games
  work(
    'game-step',
    rounds(20, (n) =>
      ok(
        'game_move',
        { direction: turnOf(['north', 'east', 'south', 'west'], n * n + n) },
        `You are in the ${nameOf(n % 20)} room. Exits: ${word(n, 5)}.`,
      ),
    ),
  ),
  work(
    'game-zork',
    rounds(15, (n) =>
      ok(
        'send_command',
        { command: turnOf(['look', 'take lamp', 'go north', 'open door', 'go east'], n) },
        `${nameOf(n)}: ${word(n, 20)}`,
      ),
    ),
  ),
  work(
    'game-chess',
    rounds(20, (n) =>
      ok(
        'chess_move',
        { move: `${'abcdefgh'[n % 8]}${1 + (n % 8)}` },
        `You moved. Black plays ${'abcdefgh'[(n * 3) % 8]}${1 + ((n * 5) % 8)}, ${nameOf(n % 20)} line.`,
      ),
    ),
  ),
  work(
    'game-2048',
    rounds(20, (n) =>
      ok('press_key', { key: turnOf(['Left', 'Down'], n) }, `score ${n * 4} board ${word(n, 16)}`),
    ),
  ),
  work(
    'game-pick-again',
    rounds(8, (n) => ok('press_key', { key: 'a' }, `Frame ${n}: enemy hp ${40 - n * 5}`)),
  ),
  // debuggers and REPLs
  work(
    'gdb-next',
    rounds(15, (n) => ok('gdb', { command: 'next' }, `${40 + n}\t  ${nameOf(n)}(${word(n, 4)});`)),
  ),
  work(
    'gdb-mixed',
    rounds(10, (n) => [
      ok('gdb_command', { command: 'step' }, `${n + 4}\t ${word(n, 9)}`),
      ok('gdb_command', { command: 'print i' }, `$${n} = ${n}`),
    ]),
  ),
  work(
    'pdb-n',
    rounds(15, (n) =>
      ok(
        'write_stdin',
        { session_id: 3, chars: 'n\n' },
        `> /repo/a.py(${10 + n})f()\n-> ${word(n, 8)} = ${n}`,
      ),
    ),
  ),
  work(
    'node-repl',
    rounds(16, (n) => ok('repl', { code: `f(${n})` }, `${n * n + 3}`)),
  ),
  work(
    'python-repl',
    rounds(18, (n) =>
      ok('python', { code: `df.iloc[${n}]` }, `name ${nameOf(n % 20)}\nvalue ${(n * 17) % 23}`),
    ),
  ),
  work(
    'psql-repl',
    rounds(12, (n) =>
      ok(
        'exec_command',
        { cmd: `psql -c '\\d t_${nameOf(n)}'` },
        `Table t_${nameOf(n)}\n id | integer\n ${word(n, 6)} | text`,
      ),
    ),
  ),
  work(
    'lldb-frames',
    rounds(16, (n) =>
      ok(
        'lldb',
        { command: `frame select ${n}` },
        `frame #${n}: 0x${word(n, 8)} app\`${nameOf(n)} at ${nameOf(n)}.c:${n * 11}`,
      ),
    ),
  ),
  // migrations
  work(
    'migrate-up',
    rounds(16, (n) =>
      ok(
        'Bash',
        { command: 'npx knex migrate:up' },
        `Batch ${n} ran the following migrations:\n20260${100 + n}_${nameOf(n % 20)}.js`,
      ),
    ),
  ),
  work(
    'migrate-tables',
    rounds(18, (n) =>
      ok('run_sql', { sql: `ALTER TABLE t_${nameOf(n)} ADD COLUMN tenant uuid` }, 'ALTER TABLE'),
    ),
  ),
  work(
    'migrate-batches',
    rounds(15, (n) =>
      ok(
        'run_sql',
        { sql: `UPDATE big SET v = 2 WHERE id BETWEEN ${n * 1000} AND ${n * 1000 + 999}` },
        `UPDATE ${1000 - n}`,
      ),
    ),
  ),
  work(
    'migrate-backfill-same',
    rounds(12, (n) =>
      ok(
        'Bash',
        { command: './backfill.sh --limit 500' },
        `backfilled 500 rows, ${12 * 500 - n * 500} left`,
      ),
    ),
  ),
  work(
    'migrate-alembic',
    rounds(8, (n) => [
      ok(
        'write_file',
        { file_path: `/repo/alembic/${nameOf(n)}.py`, content: `rev ${n}` },
        'written',
      ),
      ok(
        'run_shell_command',
        { command: 'alembic upgrade head' },
        `Running upgrade ${word(n, 8)} -> ${word(n + 1, 8)}`,
      ),
    ]),
  ),
  // batches
  work(
    'batch-mkdir',
    rounds(20, (n) => ok('Bash', { command: `mkdir -p data/${nameOf(n - 1)}` }, '')),
  ),
  work(
    'batch-rename',
    rounds(14, (n) =>
      ok('Bash', { command: `git mv src/${nameOf(n)}.js src/${nameOf(n)}.ts` }, ''),
    ),
  ),
  work(
    'batch-delete',
    rounds(14, (n) => ok('delete_record', { id: word(n, 9) }, '{"deleted":true}')),
  ),
  work(
    'batch-email',
    rounds(14, (n) =>
      ok(
        'send_email',
        { to: `${nameOf(n)}@example.com`, subject: 'Invoice' },
        '{"status":"queued"}',
      ),
    ),
  ),
  work(
    'batch-tickets',
    rounds(14, (n) => ok('close_ticket', { id: 100 + n }, 'closed')),
  ),
  work(
    'batch-license-header',
    rounds(12, (n) =>
      ok(
        'Edit',
        {
          file_path: `/repo/${nameOf(n)}.go`,
          old_string: 'package main',
          new_string: '// SPDX\npackage main',
        },
        'updated',
      ),
    ),
  ),
  work(
    'batch-upload',
    rounds(12, (n) => ok('upload_part', { part: n, upload_id: 'u1' }, `{"etag":"${word(n, 20)}"}`)),
  ),
  // search
  work(
    'search-not-found',
    rounds(7, (n) => ok('Grep', { pattern: nameOf(n), path: '/repo' }, 'No matches found')),
  ),
  work(
    'search-mixed',
    rounds(16, (n) =>
      ok(
        'Grep',
        { pattern: nameOf(n), path: '/repo' },
        n % 3 ? `src/${nameOf(n)}.ts:4: ${word(n, 8)}` : 'No matches found',
      ),
    ),
  ),
  work(
    'search-web',
    rounds(14, (n) =>
      ok(
        'google_web_search',
        { query: `${nameOf(n)} release notes` },
        `Web search results for "${nameOf(n)}": ${word(n, 30)}`,
      ),
    ),
  ),
  work(
    'search-glob',
    rounds(10, (n) => ok('Glob', { pattern: `**/${nameOf(n)}*.ts` }, `/repo/src/${nameOf(n)}.ts`)),
  ),
  // status of failed things
  work(
    'look-failed-jobs',
    rounds(14, (n) => ok('get_build', { id: 700 + n }, '{"status":"failed","stage":"deploy"}')),
  ),
  work(
    'look-logs',
    rounds(14, (n) =>
      ok('read_log', { service: nameOf(n) }, `ERROR: connection refused ${word(n, 6)}`),
    ),
  ),
  work(
    'look-payments',
    rounds(12, (n) => ok('lookup_payment', { id: word(n, 8) }, '{"status":"denied","amount":12}')),
  ),
  work(
    'look-tests',
    rounds(10, (n) => ok('run_tests', { file: `${nameOf(n)}.test.ts` }, `Failed: 1, passed ${n}`)),
  ),
  work(
    'look-lint',
    rounds(12, (n) => ok('lint_file', { path: `/repo/${nameOf(n)}.ts` }, 'error: unused variable')),
  ),
  // files written again with growth
  work(
    'write-growing',
    rounds(12, (n) =>
      ok(
        'write_file',
        { file_path: '/repo/notes.md', content: names.slice(0, n).join('\n') },
        'written',
      ),
    ),
  ),
  work(
    'write-toggle',
    rounds(8, (n) => [
      ok('write_file', { file_path: '/repo/.env', content: `MODE=${n % 2}` }, 'written'),
      ok('Bash', { command: 'make bench' }, `mode ${n % 2}: ${100 + n * 7} ops`),
    ]),
  ),
  work(
    'todo',
    rounds(12, (n) =>
      ok(
        'TodoWrite',
        {
          todos: names
            .slice(0, 12)
            .map((c, i) => ({ content: c, status: i < n ? 'completed' : 'pending' })),
        },
        'Todos have been modified successfully.',
      ),
    ),
  ),
  work(
    'plan',
    rounds(10, (n) =>
      ok(
        'update_plan',
        {
          plan: names
            .slice(0, 10)
            .map((c, i) => ({ step: c, status: i < n ? 'completed' : 'pending' })),
        },
        'Plan updated',
      ),
    ),
  ),
  work(
    'append-log',
    rounds(12, (n) => ok('Bash', { command: `echo "run ${n}: ${word(n, 5)}" >> runs.log` }, '')),
  ),
  work(
    'notebook',
    rounds(14, (n) =>
      ok(
        'NotebookEdit',
        { notebook_path: '/a.ipynb', cell_id: `c${n}`, new_source: `x${n} = load('${nameOf(n)}')` },
        `Updated cell c${n}`,
      ),
    ),
  ),
  // auth flows that end
  work('oauth-twice', [
    ...rounds(2, (n) => [
      ok(
        'http_get',
        { url: 'https://id.example.com/authorize' },
        `Location: /cb?code=${word(n, 12)}&state=${word(n + 9, 12)}`,
      ),
      n < 2
        ? failed(
            'http_post',
            { url: 'https://id.example.com/token', body: `code=${word(n, 12)}` },
            '400 invalid_grant',
          )
        : ok(
            'http_post',
            { url: 'https://id.example.com/token', body: `code=${word(n, 12)}` },
            '{"access_token":"x"}',
          ),
    ]),
  ]),
  work(
    'browse-shop',
    rounds(10, (n) => [
      ok(
        'browser_navigate',
        { url: `https://shop.example.com/p/${nameOf(n)}` },
        `Page ${nameOf(n)} price ${n * 3}`,
      ),
      ok('browser_click', { ref: `e${n}` }, `Added ${nameOf(n)} to the cart (${n} items)`),
    ]),
  ),
  work(
    'form-fill',
    rounds(14, (n) => ok('browser_type', { ref: `f${n}`, text: nameOf(n) }, 'Typed text')),
  ),
  work(
    'scroll',
    rounds(10, (n) => ok('scroll', { direction: 'down' }, `viewport ${n}: ${word(n, 30)}`)),
  ),
  work(
    'git-bisect',
    rounds(12, (n) => [
      ok(
        'Bash',
        { command: `git bisect ${n % 2 ? 'good' : 'bad'}` },
        `Bisecting: ${2000 >> n} revisions left to test after this\n[${word(n, 12)}] ${nameOf(n)}`,
      ),
      ok('Bash', { command: 'make && ./run' }, n % 2 ? 'ok' : 'crash'),
    ]),
  ),
  work(
    'ping-many',
    rounds(14, (n) =>
      ok(
        'Bash',
        { command: `ping -c1 10.0.0.${n}` },
        n % 4
          ? `1 packets transmitted, 1 received, time ${n}ms`
          : '1 packets transmitted, 0 received',
      ),
    ),
  ),
]
