// Loops of real hosts: pages that refuse, reworded mails, plans and reports, a commit that a hook
// refuses, silent shells, crashes. The expectations were written before the first run, in which 14 of
// the 30 were right. Four traces are changed since: two had an earlier bound than the documented one,
// and two contradicted their reason.

import type { Scenario, Step } from '../../../apps/replay/judge/scenario.ts'
import { failed, loop, ok, rounds, turnOf, word } from './trace.ts'

const refuses = 'the page refuses each address with the same text'
const mails = 'one person gets the same message in other words'
const plan = 'only the words of the plan change, and nothing else happens'
const hook = 'staging changes nothing, and the commit fails in the same way'
const reports = 'the agents get the same task and report the same in other words'
const silent = 'the process shows nothing, and no wait has ended that'
const crash = 'the same crash ends each lap, and only the lines next to it differ'
const echoes = 'the result has only the words of the call'
const states = 'only states that are new in each lap differ'
const reported = 'each success reports the same failure'
const again = 'the same change is made again'
const masked = 'only a line number differs'

const seen = (
  id: string,
  reason: string,
  count: number,
  stepsOf: (n: number) => Step | Step[],
  by = 14,
) => loop(`unseen-${id}`, reason, rounds(count, stepsOf), by)

const shops = [
  'https://www.shoes.example.com/running',
  'https://shop.run.example/men/trail',
  'https://outlet.example.org/sale/shoes',
  'https://sports.example.net/p/trail-9',
  'https://www.fit.example.com/catalog?q=trail',
  'https://store.peak.example/footwear',
  'https://m.shoes.example.com/trail',
  'https://www.sole.example/brands/peak',
  'https://deals.example.com/shoes/trail',
  'https://www.outside.example/collections/trail',
  'https://compare.example.org/trail-shoes',
  'https://www.hike.example/shop/all',
  'https://best.example.com/top-10-trail-shoes',
  'https://forum.run.example/t/trail-shoes',
  'https://news.run.example/reviews',
  'https://www.pace.example/trail',
  'https://cdn.pace.example/list',
  'https://eu.pace.example/list',
]

const refusing: Scenario[] = [
  seen(
    'navigate-cloudflare',
    refuses,
    18,
    (n) =>
      ok(
        'mcp__playwright__browser_navigate',
        { url: turnOf(shops, n) },
        `### Page state\n- Page URL: ${turnOf(shops, n)}\n- Page Title: Just a moment...\n- Page Snapshot:\n\`\`\`yaml\n- heading "Verify you are human by completing the action below." [level=2]\n- text: ${new URL(turnOf(shops, n)).host} needs to review the security of your connection before proceeding.\n\`\`\``,
      ),
    16,
  ),
  seen(
    'navigate-denied-reference',
    refuses,
    18,
    (n) =>
      ok(
        'browser_navigate',
        { url: turnOf(shops, n) },
        `Access Denied\nYou don't have permission to access "${turnOf(shops, n)}" on this server.\nReference #18.${word(n, 8)}.17643${1000 + n * 37}.${word(n + 3, 7)}`,
      ),
    16,
  ),
  seen(
    'fetch-status-403',
    refuses,
    14,
    (n) =>
      failed(
        'WebFetch',
        { url: turnOf(shops, n), prompt: `List the prices of shoes on page ${n}` },
        'Request failed with status code 403',
      ),
    12,
  ),
  seen(
    'open-and-look-captcha',
    refuses,
    17,
    (n) => [
      ok(
        'browser_action',
        { action: 'launch', url: turnOf(shops, n) },
        'The browser was launched.',
      ),
      ok(
        'browser_get_text',
        {},
        'Our systems have detected unusual traffic from your network. Solve the puzzle to continue. This check protects the shop from automated requests.',
      ),
    ],
    32,
  ),
]

const bodies = [
  'Hi Ann, could you please send me the signed contract?',
  'Hello Ann, just following up on the contract. Could you sign it?',
  'Dear Ann, a gentle reminder: we still need your signature on the contract.',
  'Ann, any news on the contract? We need the signature today.',
  'Hi Ann, I am writing again about the contract that needs your signature.',
  'Hello again Ann, did you have a chance to sign the contract?',
  'Dear Ann, please sign the contract at your earliest convenience.',
  'Hi Ann, checking in once more about the signature on the contract.',
  'Ann, the contract is still unsigned. Can you take care of it?',
  'Good day Ann, we are waiting for the signed contract. Thank you!',
  'Hi Ann, friendly nudge about signing the contract.',
  'Dear Ann, this is another reminder about the contract signature.',
  'Hey Ann, please do not forget the contract.',
  'Hi Ann, sorry to bother you again about that contract.',
]

const mailing: Scenario[] = [
  seen('mail-gmail', mails, 14, (n) =>
    ok(
      'gmail_send_email',
      {
        to: 'ann@example.com',
        subject: n % 2 ? 'Contract' : 'Re: Contract',
        body: turnOf(bodies, n),
      },
      `Email sent successfully with ID: 19ac${word(n, 12)}`,
    ),
  ),
  seen('mail-slack-direct', mails, 14, (n) =>
    ok(
      'slack_send_message',
      { channel: 'D04ANN', text: turnOf(bodies, n) },
      `{"ok":true,"channel":"D04ANN","ts":"17645${10000 + n * 61}.${100000 + n * 977}"}`,
    ),
  ),
  seen('mail-openclaw-message', mails, 14, (n) =>
    ok(
      'message',
      { action: 'send', channel: 'whatsapp', target: '+491700000', message: turnOf(bodies, n) },
      `{"ok":true,"messageId":"3EB0${word(n, 14).toUpperCase()}","toJid":"491700000@s.whatsapp.net"}`,
    ),
  ),
]

const goals = [
  ['Analyze the repository', 'Find the bug', 'Fix the bug', 'Run the tests'],
  ['Understand the code base', 'Locate the defect', 'Repair it', 'Verify with tests'],
  ['Study the project structure', 'Identify the issue', 'Implement a fix', 'Test the change'],
  ['Explore the code', 'Track down the problem', 'Apply the fix', 'Execute the test suite'],
  ['Review the source', 'Pinpoint the fault', 'Correct the fault', 'Check that tests pass'],
  ['Read through the repository', 'Diagnose the bug', 'Patch the bug', 'Run all tests'],
  ['Inspect the repository', 'Search for the bug', 'Write the fix', 'Confirm with tests'],
]
const todos = (n: number, done: string) =>
  turnOf(goals, n).map((content, k) => ({
    content: n > goals.length ? `${content} first` : content,
    status: k === 0 ? done : 'pending',
    id: `${k + 1}`,
  }))

const planning: Scenario[] = [
  seen('plan-todowrite', plan, 14, (n) =>
    ok(
      'TodoWrite',
      {
        todos: todos(n, 'in_progress').map(({ content, status }) => ({
          content,
          status,
          activeForm: `${content} now`,
        })),
      },
      'Todos have been modified successfully. Ensure that you continue to use the todo list to track your progress. Please proceed with the current tasks if applicable',
    ),
  ),
  seen('plan-codex', plan, 14, (n) =>
    ok(
      'update_plan',
      {
        explanation: `Refining the plan: ${turnOf(goals, n)[1]}`,
        plan: todos(n, 'in_progress').map(({ content, status }) => ({ step: content, status })),
      },
      'Plan updated',
    ),
  ),
  seen('plan-opencode', plan, 14, (n) =>
    ok('todowrite', { todos: todos(n, 'pending') }, JSON.stringify(todos(n, 'pending'), null, 2)),
  ),
]

const messages = [
  'fix: handle empty carts',
  'fix(cart): handle empty carts',
  'Fix handling of empty carts',
  'cart: fix empty carts',
  'Handle empty carts',
  'fix: empty cart handling',
  'chore: commit the cart fix',
]
const lint =
  "husky - pre-commit hook exited with code 1 (error)\n\n/repo/src/cart.ts\n  14:7  error  'total' is assigned a value but never used  no-unused-vars\n\n1 problem (1 error, 0 warnings)"

const committing: Scenario[] = [
  seen('commit-add-all', hook, 7, (n) => [
    ok('Bash', { command: 'git add -A' }, ''),
    failed('Bash', { command: `git commit -m "${turnOf(messages, n)}"` }, `Exit code 1\n${lint}`),
  ]),
  seen('commit-add-named', hook, 7, (n) => [
    ok('execute_command', { command: `git add ${n % 2 ? 'src/cart.ts' : '.'}` }, ''),
    ok('execute_command', { command: 'git status --short' }, 'M  src/cart.ts'),
    failed(
      'execute_command',
      { command: `git commit -m '${turnOf(messages, n)}'` },
      "Author identity unknown\n\n*** Please tell me who you are.\n\nfatal: unable to auto-detect email address (got 'dev@box.(none)')",
    ),
  ]),
  seen('commit-stage-tool', hook, 7, (n) => [
    ok('git_add', { repo_path: '/repo', files: ['src/cart.ts'] }, 'Files staged successfully'),
    failed('git_commit', { repo_path: '/repo', message: turnOf(messages, n) }, lint),
  ]),
]

const found = [
  'I could not find where the token is refreshed. The code seems to delegate it.',
  'After a thorough search, no place refreshes the token. It may be delegated.',
  'No refresh of the token exists in this code base, as far as I can see.',
  'The search for a token refresh came back without a result.',
  'There appears to be no code that refreshes the token.',
  'I looked at every module, and the token is refreshed nowhere.',
  'Nothing in the repository refreshes the token.',
  'The token refresh is not implemented in the files that I read.',
]
const tasks = [
  'Find where the token is refreshed',
  'Search the code for the place where the token is refreshed',
  'Locate the code that refreshes the token',
  'Find the place that refreshes the token',
]

const delegating: Scenario[] = [
  seen(
    'agents-same-task',
    reports,
    14,
    (n) =>
      ok(
        'Task',
        {
          subagent_type: 'Explore',
          description: 'Find token refresh',
          prompt: 'Find where the token is refreshed.',
        },
        `${turnOf(found, n)}\n\nagentId: ${word(n, 8)}`,
      ),
    14,
  ),
  seen(
    'agents-near-task',
    reports,
    14,
    (n) =>
      ok(
        'Agent',
        { subagent_type: 'general-purpose', description: 'Token', prompt: `${turnOf(tasks, n)}.` },
        turnOf(found, n),
      ),
    14,
  ),
]

const waiting: Scenario[] = [
  seen(
    'shell-silent-claude',
    silent,
    24,
    (n) =>
      ok(
        'BashOutput',
        { bash_id: 'b1f2' },
        `<status>running</status>\n\n<timestamp>2026-12-01T02:${10 + n}:11.${100 + n * 7}Z</timestamp>`,
      ),
    20,
  ),
  seen(
    'shell-silent-codex',
    silent,
    26,
    (n) =>
      ok(
        'write_stdin',
        { session_id: 7, chars: '', yield_time_ms: 1000 + (n % 3) * 500 },
        `Chunk ID: ${word(n, 6)}\nWall time: 1.00${n % 10} seconds\nProcess running with session ID 7\nOriginal token count: 0\nOutput:\n`,
      ),
    25,
  ),
  seen(
    'shell-silent-openclaw',
    silent,
    24,
    () =>
      ok(
        'process',
        { action: 'poll', sessionId: 'calm-fox' },
        '(no new output)\n\nProcess still running.',
      ),
    20,
  ),
]

const requests = ['GET /health', 'GET /', 'GET /favicon.ico', 'POST /login', 'GET /metrics']
const crashing: Scenario[] = [
  seen('crash-compose-logs', crash, 6, (n) => [
    ok('Bash', { command: 'docker compose up -d api' }, ' Container shop-api-1  Started'),
    ok(
      'Bash',
      { command: 'docker compose logs --tail 5 api' },
      `api-1  | Error: Cannot find module './config.json'\napi-1  |     at Module._load (node:internal/modules/cjs/loader:1104:3)\napi-1  | Node.js v22.${n}.0\nproxy-1  | 10.0.0.${n * 3} ${turnOf(requests, n)} 502 ${n * 17}ms`,
    ),
    ok(
      'Bash',
      { command: 'docker compose ps api' },
      `shop-api-1   Restarting (1) ${n * 7} seconds ago`,
    ),
  ]),
  seen('crash-server-tail', crash, 7, (n) => [
    failed(
      'shell',
      { command: ['bash', '-lc', 'npm run dev'] },
      `> shop@1.0.0 dev\n> vite\n\nError: ENOSPC: System limit for number of file watchers reached, watch '/repo/src/${word(n, 5)}.ts'\n    at FSWatcher.<computed> (node:internal/fs/watchers:247:19)\n${[1, 2, 3].map((k) => `    at ${word(n * 5 + k, 6)} (/repo/src/${word(n + k, 5)}.ts:${n * k + 3}:7)`).join('\n')}`,
    ),
    ok('shell', { command: ['bash', '-lc', 'sleep 1'] }, ''),
  ]),
]

const varied: Scenario[] = [
  seen('echo-announcement', echoes, 13, (n) =>
    ok(
      'execute_command',
      { command: `echo "Step ${n} done, moving on to step ${n + 1}"` },
      `Command executed.\nOutput:\nStep ${n} done, moving on to step ${n + 1}`,
    ),
  ),
  seen('lap-device-code', states, 6, (n) => [
    ok(
      'github_device_start',
      { client_id: 'cli' },
      `{"device_code":"${word(n, 30)}","user_code":"${word(n, 4).toUpperCase()}-${word(n + 9, 4).toUpperCase()}","verification_uri":"https://git.example.com/device","expires_in":899}`,
    ),
    ok(
      'github_device_poll',
      { device_code: word(n, 30) },
      '{"error":"access_denied","error_description":"The authorization request was denied."}',
    ),
  ]),
  seen('lap-tunnel-host', states, 6, (n) => [
    ok(
      'Bash',
      { command: 'npx localtunnel --port 3000 --print-requests & sleep 3' },
      `your url is: https://${word(n, 5)}-${word(n + 4, 6)}.loca.example`,
    ),
    failed(
      'register_webhook',
      { url: `https://${word(n, 5)}-${word(n + 4, 6)}.loca.example/hook` },
      'The endpoint did not answer the verification request.',
    ),
  ]),
  seen('reported-linear', reported, 14, (n) =>
    ok(
      'mcp__linear__create_issue',
      { title: turnOf(messages, n), team: 'SHOP', priority: (n % 4) + 1 },
      '{"success":false,"errors":[{"message":"The workspace is read-only until the invoice is paid"}]}',
    ),
  ),
  seen('reported-mail-domain', reported, 14, (n) =>
    ok(
      'send_email',
      { to: `user${n}@example.org`, subject: 'Welcome', html: `<p>Hello ${word(n, 6)}</p>` },
      `{"statusCode":403,"name":"validation_error","message":"The example.com domain is not verified. Please, add and verify your domain."}`,
    ),
  ),
  seen('again-cron-job', again, 14, (n) =>
    ok(
      'cron',
      {
        action: 'add',
        job: { name: 'daily report', schedule: '0 9 * * *', text: 'Write the report' },
      },
      `{"id":"${word(n, 8)}-${word(n + 2, 4)}","name":"daily report","enabled":true,"createdAtMs":17645${10 + n}123000,"nextRunAtMs":17646${10 + n}000000}`,
    ),
  ),
  seen('again-write-formatted', again, 14, (n) =>
    ok(
      'write_to_file',
      { path: 'src/app.tsx', content: 'export const App = () => <main />\n' },
      `The content was successfully saved to src/app.tsx.\n\nThe user's editor applied auto-formatting (revision ${word(n, 7)}).\n\nNew problems detected: ${3 + n} hints in the workspace`,
    ),
  ),
  seen('mask-python-stdin', masked, 14, (n) =>
    failed(
      'Bash',
      { command: `python3 - <<'PY'\n${'# another attempt\n'.repeat(n)}import psycopg\nPY` },
      `Exit code 1\nTraceback (most recent call last):\n  File "<stdin>", line ${n + 1}, in <module>\nModuleNotFoundError: No module named 'psycopg'`,
    ),
  ),
  seen(
    'counter-frames',
    'the calls have the same words and another number',
    20,
    (n) => ok('advance_simulation', { step: n, mode: 'run' }, 'The simulation advanced.'),
    17,
  ),
  seen(
    'replay-kernel',
    'a set-up is replayed after each restart',
    5,
    () => [
      ok('jupyter_restart_kernel', { notebook: 'eda.ipynb' }, 'Kernel restarted'),
      ok('jupyter_run_cell', { notebook: 'eda.ipynb', cell: 1 }, ''),
      ok('jupyter_run_cell', { notebook: 'eda.ipynb', cell: 2 }, 'df: 1200 rows'),
    ],
    12,
  ),
]

export const unseenLoops: Scenario[] = [
  ...refusing,
  ...mailing,
  ...planning,
  ...committing,
  ...delegating,
  ...waiting,
  ...crashing,
  ...varied,
]
