// Loops in which names, ports, references or places change with each call by their nature. The
// expectations were written before the rules.

import type { Scenario, Step } from '../../../apps/replay/judge/scenario.ts'
import { failed, loop, ok, rounds, turnOf, word } from './trace.ts'

/** The end of the name of a pod, in the letters of Kubernetes. */
export function podOf(n: number, name = 'api'): string {
  const letters = 'bcdfghjklmnpqrstvwxz2456789'
  const part = (seed: number, length: number) =>
    Array.from({ length }, (_, k) => letters.charAt((seed * 7 + k * k * 5 + seed * k) % 27)).join(
      '',
    )
  return `${name}-${part(n + 3, 9)}b-${part(n + 11, 4)}x`
}

const columns = [
  'o.total_amount',
  'ord.amount_total',
  'orders.sum',
  'o.order_total',
  'x.grand_total',
  'ord.total_price',
  'o.gross',
  't.net_total',
]
const words = [
  'retry_limit',
  'retryLimit',
  'RETRY_LIMIT',
  'max_retry',
  'retry_max',
  'retry_count',
  'retryCount',
  'retries_retry',
  'retry.limit',
  'retry-limit',
  'retry limit',
  'limit_retry',
]

const oauth = 'the port of the redirect is new in each lap by its nature'
const sql = 'the error only names another invented column or alias'
const browser = 'the page only has new references'
const pods = 'the name of the pod is new in each lap by its nature'
const reads = 'the look-ups change nothing, so the failing call is no new experiment'
const same = 'the change only has another process or random name'
const pixels = 'the click is some pixels away, and the screen stays the same'
const empty = 'each search comes back with nothing'
const exits = 'a success with an exit code that reports the same error'
const unchanged = 'the statement changed no row'

const lap = (id: string, reason: string, lapOf: (n: number) => Step[], laps = 6) =>
  loop(id, reason, rounds(laps, lapOf))

export const renamedLoops: Scenario[] = [
  lap('oauth-chosen-port', oauth, (n) => [
    ok(
      'oauth_start',
      { provider: 'git', redirect_uri: `http://localhost:${8100 + n}/callback` },
      `{"authorize_url":"https://id.example.com/authorize?client_id=cli&redirect_uri=http%3A%2F%2Flocalhost%3A${8100 + n}%2Fcallback&state=${word(n, 20)}"}`,
    ),
    failed(
      'oauth_finish',
      { redirect_uri: `http://localhost:${8100 + n}/callback` },
      'The provider sent no code.',
    ),
  ]),
  lap('oauth-encoded-port', oauth, (n) => [
    ok(
      'Bash',
      {
        command: `curl -si 'https://id.example.com/authorize?client_id=cli&redirect_uri=http%3A%2F%2F127.0.0.1%3A${50000 + n * 37}%2Fcb&state%3D${word(n, 16)}' | head -3`,
      },
      'HTTP/2 302\nlocation: https://id.example.com/login?error=invalid_client',
    ),
    ok('Bash', { command: 'cat ~/.config/cli/token.json' }, '{"token":null}'),
  ]),
  lap('oauth-login-command', oauth, (n) => [
    ok(
      'shell',
      { command: `cli auth login --port ${9000 + n}` },
      `Opening https://id.example.com/authorize?state=${word(n, 18)}&redirect_uri=http%3A%2F%2Flocalhost%3A${9000 + n}\nWaiting... no answer.`,
    ),
    ok('shell', { command: 'cli whoami' }, 'You are not logged in.'),
  ]),
  loop(
    'sql-psql-columns',
    sql,
    rounds(8, (n) =>
      failed(
        'Bash',
        { command: `psql shop -c "SELECT ${turnOf(columns, n)} FROM orders o LIMIT 5"` },
        `ERROR:  column ${turnOf(columns, n)} does not exist\nLINE 1: SELECT ${turnOf(columns, n)} FROM orders o LIMIT 5\n               ^`,
      ),
    ),
  ),
  loop(
    'sql-unknown-column',
    sql,
    rounds(8, (n) =>
      failed(
        'execute_sql',
        { query: `SELECT ${turnOf(columns, n)} FROM orders` },
        `ERROR 1054 (42S22) at line 1: Unknown column '${turnOf(columns, n)}' in 'field list'`,
      ),
    ),
  ),
  loop(
    'sql-alias',
    sql,
    rounds(8, (n) =>
      failed(
        'mcp__db__query',
        {
          sql: `SELECT ${'abcdefgh'.charAt(n - 1)}x.id FROM orders o JOIN users u ON o.uid = u.id`,
        },
        `missing FROM-clause entry for table "${'abcdefgh'.charAt(n - 1)}x"`,
      ),
    ),
  ),
  loop(
    'sql-bigquery',
    sql,
    rounds(8, (n) =>
      failed(
        'run_query',
        { query: `SELECT ${(columns[n - 1] ?? '').split('.')[1]} FROM shop.orders` },
        `400 Unrecognized name: ${(columns[n - 1] ?? '').split('.')[1]} at [1:8]`,
      ),
    ),
  ),
  lap('browser-snapshot-generation', browser, (n) => [
    ok(
      'browser_snapshot',
      {},
      `- Page URL: https://shop.example.com/cart\n- button "Pay" [ref=s${n}e12]\n- link "Back" [ref=s${n}e14]`,
    ),
    ok(
      'browser_click',
      { element: 'Pay button', ref: `s${n}e12` },
      `- Page URL: https://shop.example.com/cart\n- button "Pay" [ref=s${n}e12]\n- link "Back" [ref=s${n}e14]`,
    ),
  ]),
  lap('browser-devtools-uid', browser, (n) => [
    ok(
      'take_snapshot',
      {},
      `uid=${n}_0 RootWebArea "Cart"\n  uid=${n}_12 button "Pay"\n  uid=${n}_13 link "Back"`,
    ),
    ok('click', { uid: `${n}_12` }, 'Successfully clicked on the element'),
  ]),
  loop(
    'browser-click-ref',
    browser,
    rounds(12, (n) =>
      ok(
        'browser_click',
        { element: 'Submit button', ref: `e${17 + n * 6}` },
        `### Page state\n- Page URL: https://app.example.com/form\n- textbox "Name" [ref=e${15 + n * 6}]\n- button "Submit" [ref=e${17 + n * 6}]`,
      ),
    ),
  ),
  lap('browser-lap-ref', browser, (n) => [
    ok(
      'browser_snapshot',
      {},
      `- Page URL: https://app.example.com/form\n- textbox "Name" [ref=e${15 + n * 6}]\n- button "Submit" [ref=e${17 + n * 6}]`,
    ),
    ok('browser_click', { ref: `e${17 + n * 6}` }, 'Clicked. The page did not change.'),
  ]),
  lap('pod-crash', pods, (n) => [
    ok(
      'Bash',
      { command: 'kubectl get pods -l app=api' },
      `NAME   READY   STATUS   RESTARTS   AGE\n${podOf(n)}   0/1   CrashLoopBackOff   2   41s`,
    ),
    ok('Bash', { command: `kubectl logs ${podOf(n)}` }, 'panic: no config\n'),
    ok('Bash', { command: `kubectl delete pod ${podOf(n)}` }, `pod "${podOf(n)}" deleted`),
  ]),
  lap('container-names', pods, (n) => [
    ok('docker_run', { image: 'api:dev' }, `Started container api-run-${word(n, 12)}`),
    ok('docker_logs', { container: `api-run-${word(n, 12)}` }, 'panic: no config'),
    ok('docker_rm', { container: `api-run-${word(n, 12)}` }, `api-run-${word(n, 12)}`),
  ]),
  loop(
    'look-ups-between',
    reads,
    rounds(8, (n) => [
      failed('Bash', { command: 'python3 train.py' }, 'ImportError: libcudnn.so.9: cannot open'),
      ok(
        'Bash',
        {
          command: turnOf(
            [
              'pip show torch',
              'pip3 list | grep -i cudnn',
              'which python3',
              'ls /usr/lib/cudnn',
              'cat requirements.txt',
              'python3 -m pip show nvidia-cudnn',
              'python3 --version',
              'command -v nvcc',
            ],
            n,
          ),
        },
        `look-up ${turnOf(columns, n)}`,
      ),
    ]),
  ),
  loop(
    'queries-between',
    reads,
    rounds(8, (n) => [
      failed('apply_migration', { name: '0042_totals' }, 'table orders is owned by another role'),
      ok(
        'execute_sql',
        { query: `SELECT count(*) FROM orders WHERE id > ${n}` },
        `[{"count":${100 - n}}]`,
      ),
    ]),
  ),
  loop(
    'psql-between',
    reads,
    rounds(8, (n) => [
      failed('apply_migration', { name: '0042_totals' }, 'cannot drop column total: view depends'),
      ok(
        'Bash',
        { command: `psql shop -tc "SELECT count(*) FROM orders WHERE id > ${n};"` },
        `${100 - n}`,
      ),
    ]),
  ),
  loop(
    'kill-and-start',
    same,
    rounds(6, (n) => [
      ok('Bash', { command: `kill -9 ${4100 + n * 13}` }, ''),
      failed('Bash', { command: 'npm start' }, 'Error: listen EADDRINUSE: address in use :::3000'),
    ]),
    12,
  ),
  loop(
    'random-name-between',
    same,
    rounds(6, (n) => [
      ok('create_bucket', { name: `backup-${word(n, 10)}` }, 'created'),
      failed('start_backup', { target: 'db' }, 'The plan has no backups left.'),
    ]),
  ),
  loop(
    'pixel-jitter',
    pixels,
    rounds(12, (n) =>
      ok(
        'computer',
        { action: 'left_click', coordinate: [512 + (n % 5) - 2, 384 + ((n * 3) % 7) - 3] },
        'Screen: Login. Button: Continue (disabled).',
      ),
    ),
  ),
  lap('pixel-lap', pixels, (n) => [
    ok('click_at', { x: 200 + (n % 4), y: 90 - (n % 3) }, 'clicked'),
    ok('screen_text', {}, 'Settings. Wi-Fi off. Press to enable.'),
  ]),
  loop(
    'grep-tool-nothing',
    empty,
    rounds(12, (n) => ok('Grep', { pattern: words[n - 1], path: 'src' }, 'Found 0 files')),
  ),
  loop(
    'exit-code-first',
    exits,
    rounds(10, (n) =>
      ok(
        'run_terminal_cmd',
        { command: `deploy push --tag v1.${n}` },
        'Exit code: 1\nregistry refuses the manifest of this account',
      ),
    ),
  ),
  loop(
    'exit-status-last',
    exits,
    rounds(10, (n) =>
      ok(
        'shell',
        { command: `make image TAG=${n}` },
        'layer 4 is larger than the device\nmake: *** [image] exit status 1',
      ),
    ),
  ),
  loop(
    'insert-nothing',
    unchanged,
    rounds(8, (n) => [
      ok(
        'execute_sql',
        { query: `INSERT INTO roles SELECT * FROM seed WHERE n = ${n} ON CONFLICT DO NOTHING` },
        'INSERT 0 0',
      ),
      failed('login', { user: 'admin' }, 'role admin is missing'),
    ]),
  ),
  loop(
    'update-nothing',
    unchanged,
    rounds(8, (n) => [
      ok(
        'Bash',
        { command: `mysql shop -e "UPDATE roles SET active=1 WHERE name='admin${n}'"` },
        'Query OK, 0 rows affected (0.00 sec)\nRows matched: 0  Changed: 0  Warnings: 0',
      ),
      failed('login', { user: 'admin' }, 'role admin is missing'),
    ]),
  ),
]
