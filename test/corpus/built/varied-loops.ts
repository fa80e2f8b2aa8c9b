// Loops that vary a word, a state or a port, or that a success reports. The expectations were
// written before the rules.

import type { Scenario } from '../../../apps/replay/judge/scenario.ts'
import { failed, loop, ok, rounds, turnOf, word } from './trace.ts'

const echoed = 'the result has only the words of the call'
const lap = 'only states, ports and hosts that are new in each lap differ'
const reported = 'each success reports the same failure of the operation'
const changed = 'the same text is written into the same place again'
const masked = 'only the line of the interpreter differs'
const refused = 'each query has the same long answer'
const counted = 'the calls have the same words and another number'
const replayed = 'a set-up is replayed again and again'

const remarks = [
  'Reading the build result now',
  'Let me look at the build result',
  'Checking what the build printed',
  'The build output should be here',
  'Going to read the log next',
  'Now reading the output of the build',
  'Looking at the compile step',
  'About to inspect the artifacts',
  'Fetching the result of the build',
  'Reviewing the build result',
]

/** One: the echo of itself. */
const echoes: Scenario[] = [
  loop(
    'echo-marker',
    echoed,
    rounds(12, (n) => ok('Bash', { command: `echo marker${n}` }, `marker${n}`)),
  ),
  loop(
    'echo-printf',
    echoed,
    rounds(12, (n) => ok('shell', { command: `printf 'step_%d\\n' ${n}` }, `step_${n}\n`)),
  ),
  loop(
    'echo-remarks',
    echoed,
    rounds(12, (n) =>
      ok('run_terminal_cmd', { command: `echo "${turnOf(remarks, n)}"` }, turnOf(remarks, n)),
    ),
  ),
  loop(
    'echo-python',
    echoed,
    rounds(12, (n) =>
      ok('exec_command', { cmd: `python3 -c "print('checkpoint ${n}')"` }, `checkpoint ${n}\n`),
    ),
  ),
  loop(
    'echo-node',
    echoed,
    rounds(12, (n) =>
      ok('bash', { command: `node -e 'console.log("tick ${n}")'`, timeout: 5000 }, `tick ${n}\n`),
    ),
  ),
  loop(
    'echo-mcp',
    echoed,
    rounds(12, (n) =>
      ok('mcp__everything__echo', { message: `ready for part ${n}` }, `Echo: ready for part ${n}`),
    ),
  ),
  loop(
    'echo-powershell',
    echoed,
    rounds(12, (n) =>
      ok('powershell', { command: `Write-Output "Phase ${n} done"` }, `Phase ${n} done\r\n`),
    ),
  ),
  loop(
    'echo-german',
    echoed,
    rounds(12, (n) =>
      ok(
        'Bash',
        { command: `echo "Schritt ${n}: Prüfe die Ausgabe"` },
        `Schritt ${n}: Prüfe die Ausgabe`,
      ),
    ),
  ),
  loop(
    'echo-japanese',
    echoed,
    rounds(12, (n) =>
      ok('execute_command', { command: `echo "手順${n}を確認"` }, `手順${n}を確認\n`),
    ),
  ),
  loop(
    'echo-heredoc',
    echoed,
    rounds(12, (n) =>
      ok('Bash', { command: `cat <<'EOF'\nprogress: item ${n}\nEOF` }, `progress: item ${n}\n`),
    ),
  ),
  loop(
    'echo-interpreter',
    echoed,
    rounds(12, (n) =>
      ok(
        'execute_python_code',
        { code: `print("iteration ${n} complete")` },
        `iteration ${n} complete\n`,
      ),
    ),
  ),
  loop(
    'echo-between-known-reads',
    'a known file and an echo take turns',
    rounds(6, (n) => [
      ok('read_file', { path: 'build.log' }, 'BUILD OK'),
      ok('bash', { command: `echo reading_${n}` }, `reading_${n}`),
    ]),
  ),
  loop(
    'echo-true',
    echoed,
    rounds(12, (n) => ok('Bash', { command: `true && echo ok-${n}` }, `ok-${n}`)),
  ),
  loop(
    'echo-note',
    echoed,
    rounds(12, (n) =>
      ok(
        'log_message',
        { text: `Working on part ${n} of the plan` },
        `Working on part ${n} of the plan`,
      ),
    ),
  ),
  loop(
    'echo-plain-counter',
    echoed,
    rounds(12, (n) => ok('Bash', { command: `printf "%s\\n" "probe_${n}" 2>&1` }, `probe_${n}\n`)),
  ),
]

const authorize = (n: number) =>
  `https://auth.example.com/authorize?client_id=cli&redirect_uri=http%3A%2F%2Flocalhost&state=${word(n)}&code_challenge=${word(n + 50, 43)}`

/** Two: the lap with new states. */
const laps: Scenario[] = [
  loop(
    'lap-oauth',
    lap,
    rounds(6, (n) => [
      ok('start_login', { provider: 'github' }, `Open ${authorize(n)}`),
      ok('finish_login', { state: word(n) }, 'access_denied: the user did not finish the login'),
    ]),
  ),
  loop(
    'lap-oauth-browser',
    lap,
    rounds(4, (n) => [
      ok('browser_navigate', { url: authorize(n) }, 'Page: Sign in'),
      ok(
        'browser_click',
        { element: 'Continue' },
        `Redirected to http://localhost/cb?error=login_required&state=${word(n)}`,
      ),
      failed('exchange_code', { code: '', state: word(n) }, 'no code in the callback'),
    ]),
  ),
  loop(
    'lap-device-code',
    lap,
    rounds(6, (n) => [
      ok(
        'device_login',
        {},
        `{"device_code":"${word(n, 30)}","user_code":"${word(n, 4).toUpperCase()}-${word(n + 9, 4).toUpperCase()}","verification_uri":"https://id.example.com/device"}`,
      ),
      ok('device_token', { device_code: word(n, 30) }, '{"error":"expired_token"}'),
    ]),
  ),
  loop(
    'lap-port',
    lap,
    rounds(4, (n) => [
      ok('start_server', { dir: 'web' }, `Listening on http://127.0.0.1:${53_000 + 37 * n}`),
      ok(
        'fetch_url',
        { url: `http://127.0.0.1:${53_000 + 37 * n}/health` },
        '500 Internal Server Error',
      ),
      ok('stop_server', { dir: 'web' }, 'stopped'),
    ]),
  ),
  loop(
    'lap-port-shell',
    lap,
    rounds(6, (n) => [
      ok('Bash', { command: 'npm run dev &' }, `ready on port ${41_000 + 113 * n}`),
      ok('Bash', { command: `curl -s localhost:${41_000 + 113 * n}` }, 'Cannot GET /'),
    ]),
  ),
  loop(
    'lap-tunnel',
    lap,
    rounds(6, (n) => [
      ok('open_tunnel', { port: 3000 }, `https://${word(n, 8)}.ngrok-free.app`),
      ok(
        'check_webhook',
        { url: `https://${word(n, 8)}.ngrok-free.app/hook` },
        'webhook not verified',
      ),
    ]),
  ),
  loop(
    'lap-random-host',
    lap,
    rounds(4, (n) => [
      ok(
        'create_preview',
        { branch: 'main' },
        `Preview: https://app-${word(n, 9)}.preview.example.dev`,
      ),
      ok(
        'open_page',
        { url: `https://app-${word(n, 9)}.preview.example.dev/` },
        'Application error: a client-side exception has occurred',
      ),
      ok('delete_preview', { branch: 'main' }, 'deleted'),
    ]),
  ),
  loop(
    'lap-signed-url',
    lap,
    rounds(6, (n) => [
      ok(
        'get_upload_url',
        { key: 'report.pdf' },
        `https://bucket.s3.amazonaws.com/report.pdf?X-Amz-Date=20261129T1011${10 + n}Z&X-Amz-Signature=${word(n, 40)}`,
      ),
      ok(
        'put_file',
        {
          url: `https://bucket.s3.amazonaws.com/report.pdf?X-Amz-Date=20261129T1011${10 + n}Z&X-Amz-Signature=${word(n, 40)}`,
          file: 'report.pdf',
        },
        '<Code>SignatureDoesNotMatch</Code>',
      ),
    ]),
  ),
  loop(
    'lap-azure-sas',
    lap,
    rounds(6, (n) => [
      ok(
        'make_sas',
        { blob: 'a.csv' },
        `{"url":"https://acc.blob.core.windows.net/c/a.csv?sv=2024&se=2026-11-29T1${n % 10}:00:00Z&sig=${word(n, 30)}%3D"}`,
      ),
      ok(
        'download_blob',
        {
          url: `https://acc.blob.core.windows.net/c/a.csv?sv=2024&se=2026-11-29T1${n % 10}:00:00Z&sig=${word(n, 30)}%3D`,
        },
        'AuthenticationFailed',
      ),
    ]),
  ),
  loop(
    'lap-csrf',
    lap,
    rounds(6, (n) => [
      ok(
        'get_form',
        { page: '/login' },
        `<input name="csrf_token" value="${word(n, 24)}"> <input name="user">`,
      ),
      ok(
        'submit_form',
        { page: '/login', user: 'ann', csrf_token: word(n, 24) },
        'The form has expired. Please try again.',
      ),
    ]),
  ),
  loop(
    'lap-nonce',
    lap,
    rounds(6, (n) => [
      ok('request_challenge', { account: 'acme' }, `{"nonce":"${word(n, 16)}"}`),
      ok(
        'answer_challenge',
        { account: 'acme', nonce: word(n, 16), signature: word(n + 7, 32) },
        '{"valid":false}',
      ),
    ]),
  ),
  loop(
    'lap-login-challenge',
    lap,
    rounds(4, (n) => [
      ok(
        'http_get',
        { url: 'https://hydra.example.com/oauth2/auth' },
        `302 https://idp.example.com/login?login_challenge=${word(n, 32)}`,
      ),
      ok(
        'http_get',
        { url: `https://idp.example.com/login?login_challenge=${word(n, 32)}` },
        '200 Sign in to continue',
      ),
      ok(
        'http_post',
        { url: 'https://idp.example.com/login', login_challenge: word(n, 32), user: 'bo' },
        '302 https://hydra.example.com/oauth2/auth',
      ),
    ]),
  ),
]

const queries = [
  'kafka',
  'rebalance',
  'group',
  'lag',
  'offset',
  'commit',
  'poll',
  'fence',
  'join',
  'sync',
  'epoch',
  'range',
  'sticky',
  'static',
  'member',
  'leave',
  'rack',
  'quota',
]
const topics = [
  'a red fox',
  'two boats',
  'the harbour at night',
  'an old map',
  'a tin robot',
  'snow on a hill',
  'a market',
  'three cats',
  'a lighthouse',
  'a green door',
  'the last train',
  'a paper crane',
  'a stone bridge',
  'a blue jar',
]
const each = (
  tool: string,
  arg: string,
  result: string | ((n: number) => string),
  words = topics,
) =>
  rounds(14, (n) =>
    ok(tool, { [arg]: turnOf(words, n) }, typeof result === 'string' ? result : result(n)),
  )

/** Three: the success that reports failure. */
const failures: Scenario[] = [
  loop(
    'reported-exhausted',
    reported,
    each(
      'generate_image',
      'prompt',
      '{"status":"error","message":"User is locked. Exhausted balance"}',
    ),
  ),
  loop(
    'reported-http-402',
    reported,
    each('create_video', 'prompt', 'HTTP 402 Payment Required: insufficient credits'),
  ),
  loop(
    'reported-success-false',
    reported,
    each('submit_order', 'item', '{"success":false,"error":"account suspended"}'),
  ),
  loop(
    'reported-slack',
    reported,
    each('slack_post', 'text', '{"ok":false,"error":"is_archived"}'),
  ),
  loop(
    'reported-first-line',
    reported,
    each('render_scene', 'scene', 'Error: GPU quota exhausted\nContact your administrator.'),
  ),
  loop(
    'reported-failed-line',
    reported,
    each('translate_document', 'text', 'FAILED: licence key is not valid for this product'),
  ),
  loop(
    'reported-denied',
    reported,
    each('grant_role', 'user', '{"result":"denied","reason":"caller is not an owner"}'),
  ),
  loop(
    'reported-status-500',
    reported,
    each(
      'call_endpoint',
      'payload',
      (n) => `{"statusCode":500,"body":"Internal Server Error","requestId":"req-${word(n, 10)}"}`,
    ),
  ),
  loop(
    'reported-transient-429',
    `${reported}, and ten rounds are no recovery`,
    each(
      'enrich_lead',
      'name',
      (n) => `{"status":429,"message":"Too Many Requests","retry_after":${n + 2}}`,
    ),
  ),
  loop(
    'reported-transient-503',
    `${reported}, and ten rounds are no recovery`,
    each('index_document', 'title', 'HTTP/1.1 503 Service Unavailable'),
  ),
  loop(
    'reported-graphql',
    reported,
    each(
      'graphql_mutation',
      'input',
      '{"errors":[{"message":"viewer may not write"}],"data":null}',
    ),
  ),
  loop(
    'reported-job-error',
    reported,
    each(
      'run_batch_item',
      'item',
      (n) => `{"job_id":"${word(n, 14)}","status":"error","detail":"balance exhausted"}`,
    ),
  ),
  loop(
    'reported-search-blocked',
    reported,
    each('web_search', 'query', '{"status":"blocked","error":"captcha required"}', queries),
  ),
  loop(
    'reported-mixed-case',
    reported,
    each('post_invoice', 'customer', 'Request failed: the ledger is closed for this period'),
  ),
]

/** Four: the same change again. */
const changes: Scenario[] = [
  loop(
    'again-write',
    changed,
    rounds(12, (n) =>
      ok(
        'write_file',
        { path: 'a.py', content: 'print(1)\n' },
        `wrote a.py, version ${n}, etag ${word(n)}`,
      ),
    ),
  ),
  loop(
    'again-append',
    changed,
    rounds(12, (n) =>
      ok(
        'append_to_file',
        { path: 'CHANGELOG.md', text: '- fix the parser\n' },
        `CHANGELOG.md now has ${40 + n} lines`,
      ),
    ),
  ),
  loop(
    'again-insert',
    changed,
    rounds(12, (n) =>
      ok(
        'str_replace_editor',
        { command: 'insert', path: '/repo/app.ts', insert_line: 1, new_str: "import x from 'x'" },
        `The file has been edited. Snippet of lines 1-${4 + n}: ${"import x from 'x' ".repeat(n)}`,
      ),
    ),
  ),
  loop(
    'again-patch',
    changed,
    rounds(12, (n) =>
      ok(
        'apply_patch',
        { file: 'src/main.rs', patch: '+use std::io;' },
        `applied at offset ${n}, ${100 + n} lines`,
      ),
    ),
  ),
  loop(
    'again-notebook',
    changed,
    rounds(12, (n) =>
      ok(
        'NotebookEdit',
        { notebook_path: 'eda.ipynb', edit_mode: 'insert', new_source: 'df.head()' },
        `Inserted cell ${word(n, 8)} at ${n}`,
      ),
    ),
  ),
  loop(
    'again-shell-append',
    changed,
    rounds(12, (n) =>
      ok(
        'Bash',
        { command: 'echo "export A=1" >> ~/.bashrc && wc -l ~/.bashrc' },
        `${120 + n} /home/u/.bashrc`,
      ),
    ),
  ),
  loop(
    'again-sed',
    changed,
    rounds(12, (n) =>
      ok(
        'shell',
        { command: "sed -i '1i # header' run.py && head -3 run.py" },
        `${'# header\n'.repeat(Math.min(n, 3))}import ${word(n, 6)}`,
      ),
    ),
  ),
  loop(
    'again-page',
    changed,
    rounds(12, (n) =>
      ok(
        'confluence_update_page',
        { page_path: '/docs/plan', body: '<p>Plan</p>' },
        `{"version":${n + 3},"when":"2026-11-29T10:0${n % 10}:11Z"}`,
      ),
    ),
  ),
  loop(
    'again-with-runs',
    'the same text is written again, each time with another test result',
    rounds(8, (n) => [
      ok(
        'edit_file',
        { path: 'calc.py', new_string: 'return a + b' },
        `edited calc.py at revision ${n}`,
      ),
      failed('run_tests', { seed: n }, `AssertionError: case ${word(n, 7)} is ${n * 3}`),
    ]),
    15,
  ),
]

const interpreters = ['bash', '/bin/sh', '/usr/bin/bash', 'sh', 'zsh', 'dash']

/** Six: masks. */
const masks: Scenario[] = [
  ...interpreters.map((shell, index) =>
    loop(
      `mask-${shell.replaceAll('/', '')}-${index}`,
      masked,
      rounds(12, (n) =>
        ok(
          'run_script',
          { script: `set -e\n${'# try\n'.repeat(n)}deploy-tool push` },
          `${shell}: line ${n + 2}: deploy-tool: command not found`,
        ),
      ),
    ),
  ),
  loop(
    'mask-script-error',
    masked,
    rounds(8, (n) =>
      failed(
        'run_script',
        { script: `${'# again\n'.repeat(n)}helm upgrade x` },
        `/tmp/run.sh: line ${n + 1}: helm: cannot execute: required file missing`,
      ),
    ),
    8,
  ),
  loop(
    'mask-c-prefix',
    masked,
    rounds(8, (n) =>
      failed(
        'Bash',
        { command: `for i in 1; do\n${'true\n'.repeat(n)}done)` },
        `bash: -c: line ${n + 2}: syntax error near unexpected token \`)'`,
      ),
    ),
    8,
  ),
]

/** Seven: the set-up that is replayed for ever. */
const replays: Scenario[] = [
  ['python', 'restart_kernel', 'run_cell'],
  ['node', 'restart_session', 'eval'],
  ['shell', 'reset_sandbox', 'exec'],
  ['browser', 'relaunch_browser', 'browser_step'],
].map(([id, restart, step]) =>
  loop(
    `replay-${id}`,
    replayed,
    rounds(4, () => [
      ok(restart ?? '', {}, 'restarted'),
      ok(step ?? '', { code: 'load' }, 'loaded'),
      ok(step ?? '', { code: 'prepare' }, 'prepared'),
    ]),
  ),
)

/** Loops in which an intervention is due within twelve calls. */
export const variedLoops: Scenario[] = [
  ...echoes,
  ...laps,
  ...failures,
  ...changes,
  ...masks,
  ...replays,
]

const captcha =
  'Our systems have detected unusual traffic from your computer network. Please solve the captcha.'
const pages: [string, string, string][] = [
  ['browser', 'url', captcha],
  [
    'serp',
    'q',
    'Before you continue: sign in to see the results. Your session has no access to this page.',
  ],
  [
    'web',
    'input',
    'Access to this page is limited to members of the organisation. Ask its owner for an invitation.',
  ],
  ['mcp__brave__web', 'q', `${captcha} Reference: 0.4f1c`],
  [
    'tavily',
    'query',
    'No plan is active for this key, so the engine returns this message instead of any result page.',
  ],
  [
    'navigator',
    'target',
    'Enable JavaScript and cookies to continue. This check takes a moment and then sends you on.',
  ],
]

/** Loops with the doubled patience: an intervention is due at the sixteenth call. */
export const slowLoops: Scenario[] = [
  ...pages.map(([tool, arg, page]) =>
    loop(
      `page-${tool}`,
      refused,
      rounds(18, (n) =>
        ok(tool, { [arg]: `${turnOf(queries, n)} ${n > 9 ? 'guide' : 'docs'}` }, page),
      ),
      17,
    ),
  ),
  ...(
    [
      ['seek', 'index', 'ok'],
      ['tool', 'n', 'done'],
      ['probe', 'step', 'nothing here'],
      ['advance', 'count', 'advanced'],
      ['visit', 'i', 'visited'],
      ['tick', 'seq', 'tick'],
    ] as const
  ).map(([tool, arg, result]) =>
    loop(
      `count-${tool}`,
      counted,
      rounds(18, (n) => ok(tool, { [arg]: n }, result)),
      16,
    ),
  ),
  loop(
    'count-words',
    counted,
    rounds(18, (n) => ok('planner', { request: `Continue with part ${n}` }, `Part ${n} is noted`)),
    16,
  ),
  loop(
    'count-command',
    counted,
    rounds(18, (n) => ok('Bash', { command: `./tick.sh run ${n}` }, `run ${n} accepted`)),
    16,
  ),
]
