// Honest work in which names, ports, references or places differ and mean something. None of it may
// be nudged.

import type { Scenario } from '../../../apps/replay/judge/scenario.ts'
import { podOf } from './renamed-loops.ts'
import { failed, honest, ok, rounds, turnOf, word } from './trace.ts'

const other = 'each call is about another thing'
const progress = 'the results go on'

const audits = [
  'eval\\(',
  'exec\\(',
  'pickle.loads',
  'yaml.load\\(',
  'shell=True',
  'md5\\(',
  'verify=False',
  'os.system',
  'marshal',
  'tempfile.mktemp',
  'assert ',
  'innerHTML',
]
const cities = 'Oslo Rome Lima Cairo Paris Quito Delhi Osaka Perth Accra Minsk Tunis'.split(' ')
const files = 'cart user order price stock tax mail auth login pay'.split(' ')

const surveys = [
  { name: 'survey-pytest', command: 'pytest tests/', text: '1 failed, 3 passed' },
  { name: 'survey-eslint', command: 'npx eslint src/', text: 'error: 2 problems' },
]

export const renamedWork: Scenario[] = [
  honest(
    'calendar-days',
    other,
    rounds(12, (n) =>
      ok(
        'calendar_list_events',
        { date: `2026-12-${String(n).padStart(2, '0')}` },
        'No events found.',
      ),
    ),
  ),
  honest(
    'calendar-range',
    other,
    rounds(12, (n) =>
      ok(
        'get_availability',
        { from: `2026-12-${10 + n}T09:00:00Z`, to: `2026-12-${10 + n}T17:00:00Z` },
        '{"slots":[]}',
      ),
    ),
  ),
  honest(
    'flights',
    other,
    rounds(12, (n) =>
      ok(
        'search_flights',
        { origin: 'BER', destination: turnOf(cities, n), date: '2026-12-24' },
        'No flights found.',
      ),
    ),
  ),
  honest(
    'flights-days',
    other,
    rounds(12, (n) =>
      ok('search_flights', { origin: 'BER', destination: 'LIM', date: `2026-12-${9 + n}` }, '[]'),
    ),
  ),
  honest(
    'audit-greps',
    other,
    rounds(12, (n) => ok('Grep', { pattern: turnOf(audits, n), path: 'src' }, 'No matches found')),
  ),
  honest(
    'audit-greps-shell',
    other,
    rounds(12, (n) => ok('Bash', { command: `grep -rnE "${turnOf(audits, n)}" src` }, '')),
  ),
  honest(
    'find-each',
    other,
    rounds(10, (n) =>
      ok('Bash', { command: `find services/${turnOf(files, n)} -name '*.bak'` }, ''),
    ),
  ),
  honest(
    'port-health',
    other,
    rounds(8, (n) => [
      ok('Bash', { command: `curl -s localhost:${8000 + n}/health` }, '{"ok":true}'),
      ok('Bash', { command: `curl -s localhost:${8000 + n}/version` }, '1.4.2'),
    ]),
  ),
  honest(
    'port-free',
    other,
    rounds(4, (n) => [
      failed('Bash', { command: `PORT=${3000 + n} npm start` }, `EADDRINUSE: port ${3000 + n}`),
      ok('Bash', { command: `lsof -i :${3000 + n}` }, `node ${3100 + n * 7} LISTEN`),
    ]),
  ),
  honest(
    'numbered-nodes',
    other,
    rounds(8, (n) => [
      ok('add_node', { name: `node-${n}` }, 'added'),
      failed('check_quorum', {}, 'no quorum yet'),
    ]),
  ),
  honest(
    'numbered-records',
    other,
    rounds(8, (n) => [
      ok('delete_record', { name: `rec${n}` }, 'deleted'),
      failed('check_import', {}, 'The import has broken records.'),
    ]),
  ),
  honest(
    'numbered-modules',
    other,
    rounds(8, (n) => [
      ok('Bash', { command: `gen --name module${n}` }, ''),
      failed('Bash', { command: 'make types' }, 'error: modules are missing'),
    ]),
  ),
  honest(
    'orders-with-short-ids',
    other,
    rounds(10, (n) => [
      ok('update_order', { id: `order-${n % 10}b2c9`, state: 'done' }, 'updated'),
      failed('check_batch', {}, 'The batch has open orders.'),
    ]),
  ),
  honest(
    'charges-by-id',
    other,
    rounds(10, (n) => [
      ok('update_charge', { id: `ch_3Mm${n}Lr7kd${n}wH4ix0` }, 'updated'),
      failed('check_batch', {}, 'The batch has open charges.'),
    ]),
  ),
  ...surveys.map(({ name, command, text }) =>
    honest(
      name,
      other,
      rounds(10, (n) =>
        ok('Bash', { command: `${command}${turnOf(files, n)}` }, `${text}\nexit code: 1`),
      ),
    ),
  ),
  honest(
    'sql-guess-then-find',
    progress,
    rounds(3, (n) => [
      failed(
        'execute_sql',
        { query: `SELECT total${n} FROM orders` },
        `column "total${n}" does not exist`,
      ),
      ok(
        'execute_sql',
        {
          query: `SELECT column_name FROM information_schema.columns WHERE table_name = 't${n}'`,
        },
        `[{"column_name":"c${word(n)}"}]`,
      ),
    ]),
  ),
  honest(
    'sql-reports',
    other,
    rounds(14, (n) =>
      ok(
        'execute_sql',
        { query: `SELECT sum(total) FROM orders WHERE month = ${n}` },
        `[{"sum":${n * 917}}]`,
      ),
    ),
  ),
  honest(
    'sql-cleanup',
    other,
    rounds(7, (n) =>
      ok('execute_sql', { query: `DELETE FROM ${turnOf(files, n)} WHERE stale` }, 'DELETE 0'),
    ),
  ),
  honest(
    'sql-migrate',
    progress,
    rounds(8, (n) =>
      ok(
        'Bash',
        { command: `mysql shop -e "CREATE TABLE ${turnOf(files, n)} (id INT)"` },
        'Query OK, 0 rows affected (0.01 sec)',
      ),
    ),
  ),
  honest(
    'browser-buttons',
    other,
    rounds(9, (n) =>
      ok('browser_click', { element: 'Delete button', ref: `e${17 + n * 4}` }, 'Clicked'),
    ),
  ),
  honest(
    'browser-rows',
    progress,
    rounds(9, (n) =>
      ok(
        'browser_click',
        { element: 'Delete button', ref: 'e17' },
        `### Page state\n- Page URL: https://app.example.com/list\n- text: ${20 - n} rows [ref=e3]\n- button "Delete" [ref=e17]`,
      ),
    ),
  ),
  honest(
    'browser-form',
    other,
    rounds(8, (n) => [
      ok(
        'take_snapshot',
        {},
        `uid=${n}_0 RootWebArea "Survey"\n  uid=${n}_12 radio "a"\n  uid=${n}_13 radio "b"`,
      ),
      ok('click', { uid: `${n}_${11 + n}` }, 'Successfully clicked on the element'),
    ]),
  ),
  honest(
    'browser-try-each-button',
    other,
    rounds(5, (n) => [
      ok(
        'browser_snapshot',
        {},
        `- button "1" [ref=e11]\n- button "2" [ref=e12]\n- button "3" [ref=e13]\n- button "4" [ref=e14]\n- button "5" [ref=e15]`,
      ),
      ok('browser_click', { ref: `e${10 + n}` }, 'Clicked.'),
    ]).slice(0, 8),
  ),
  honest(
    'pods-logs',
    other,
    rounds(8, (n) => ok('Bash', { command: `kubectl logs ${podOf(n)}` }, `started ${word(n)}`)),
  ),
  honest(
    'pods-restart-each',
    other,
    rounds(8, (n) => [
      ok(
        'Bash',
        { command: `kubectl rollout restart deploy/${turnOf(files, n)}` },
        `deployment.apps/${turnOf(files, n)} restarted`,
      ),
      ok(
        'Bash',
        { command: `kubectl rollout status deploy/${turnOf(files, n)}` },
        `deployment "${turnOf(files, n)}" successfully rolled out`,
      ),
    ]),
  ),
  honest(
    'edit-test',
    progress,
    rounds(8, (n) => [
      ok(
        'Edit',
        { file_path: 'a.py', old_string: `timeout = ${n}`, new_string: `timeout = ${n + 1}` },
        'The file a.py has been updated.',
      ),
      failed('Bash', { command: 'pytest -q' }, `1 failed, ${n} passed`),
    ]),
  ),
  honest(
    'edit-test-exit-code',
    progress,
    rounds(8, (n) => [
      ok(
        'edit_file',
        { path: 'a.py', new_text: `x = ${word(n)}` },
        'The file a.py has been updated.',
      ),
      ok('run_terminal_cmd', { command: 'pytest -q' }, 'E   assert 1 == 2\nExit code: 1'),
    ]),
  ),
  honest(
    'exit-code-checks',
    other,
    rounds(9, (n) =>
      ok('Bash', { command: `test -f config/${turnOf(files, n)}.yml` }, 'Exit code: 1'),
    ),
  ),
  honest(
    'pixel-grid',
    other,
    rounds(12, (n) =>
      ok(
        'computer',
        { action: 'left_click', coordinate: [40 + 32 * (n % 4), 40 + 32 * Math.floor(n / 4)] },
        'Screen: calendar. Click taken.',
      ),
    ),
  ),
  honest(
    'kill-each-and-go',
    progress,
    rounds(6, (n) => [
      ok('Bash', { command: `kill ${4100 + n * 13}` }, ''),
      ok('Bash', { command: 'pgrep -c worker' }, `${9 - n}`),
    ]),
  ),
  honest(
    'grep-narrowing',
    progress,
    rounds(6, (n) => [
      ok('Grep', { pattern: `${turnOf(files, n)}Handler` }, 'No matches found'),
      ok('Read', { file_path: `src/${turnOf(files, n)}.ts` }, `export const ${word(n)} = 1`),
    ]),
  ),
  honest(
    'silent-greps-of-pods',
    other,
    rounds(14, (n) => ok('Bash', { command: `kubectl logs api-${n} | grep ERROR` }, '')),
  ),
  honest(
    'silent-search-for-unused-exports',
    other,
    rounds(14, (n) => ok('Bash', { command: `rg "import ${word(n)}" src` }, '')),
  ),
  honest(
    'audit-of-tables-without-bad-rows',
    other,
    rounds(14, (n) =>
      ok('run_sql', { query: `select * from t_${word(n)} where is_bad = 1` }, 'No rows found'),
    ),
  ),
]
