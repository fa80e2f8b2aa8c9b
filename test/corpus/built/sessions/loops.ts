// Loops of sessions with coding agents, browsers and services, as their hosts record them. The
// expectations were written before the first run, in which 26 of 40 were right. Three classes among the
// others are those of persistent-loops.ts.

import type { Scenario } from '../../../../apps/replay/judge/scenario.ts'
import { failed, ok, rounds, turnOf, word } from '../trace.ts'
import { bash, bashFailed, exec, execFailed, podName, snapshot, stuck } from './session.ts'

const updated = (path: string) => `The file ${path} has been updated successfully.`
const grepped = [
  'handleLogin',
  'handle_login',
  'HandleLogin',
  'onLogin',
  'loginHandler',
  'login_handler',
  'doLogin',
  'processLogin',
  'function.*[lL]ogin',
  'login\\(',
  'performLogin',
  'userLogin',
  'LoginHandler',
  'signIn|login',
  'submitLogin',
  'login',
]
const runTest = [
  'npm test -- cart',
  'npm test -- cart --verbose',
  'npx jest cart',
  'npx jest src/cart.test.ts --no-cache',
  'npm test -- --bail cart',
  'npx jest cart --runInBand',
  'npm run test -- cart 2>&1',
  'npx jest --testPathPattern cart',
  'npm test -- cart --silent=false',
  'npx jest cart -t total',
  'CI=1 npm test -- cart',
  'npx jest src/cart.test.ts',
  'npm test -- cart | tail -40',
  'npx jest cart --coverage=false',
]
const reports = [
  'I looked through the session code and found no place where the token is dropped. The refresh path seems right.',
  'The code for sessions was examined. Nothing there drops the token, and refreshing looks correct.',
  'After reading the session code I see no reason why a token would be dropped; refresh appears fine.',
  'Nothing in the session code drops the token as far as I can see. Refreshing is correct.',
  'No place drops the token. I read all of the session code, and the refresh path seems right too.',
  'I examined the session code again without a finding: the token is not dropped, refresh looks right.',
  'The session code was read. I found nothing which drops the token, and the refresh seems correct.',
  'Session code examined, no dropped token found, the refresh path appears to be fine.',
  'As far as I can see, the token is dropped nowhere in the session code. The refresh is right.',
]
const engines = [
  'google.com/search?q=',
  'www.google.com/search?hl=en&q=',
  'google.de/search?q=',
  'google.co.uk/search?q=',
]
const wanted = [
  'hotel+prague+cheap',
  'prague+hotels+under+80',
  'budget+hotel+old+town',
  'prague+accommodation',
  'cheap+stay+prague+centre',
  'hotel+deals+prague',
  'prague+hotel+december',
  'best+budget+hotels+prague',
  'prague+hostel+private+room',
  'where+to+stay+prague',
  'prague+city+hotel+offers',
  'low+cost+hotel+prague',
  'prague+pension',
  'prague+hotel+breakfast+included',
  'hotel+near+charles+bridge',
  'hotel+prague+2+nights',
  'prague+rooms',
  'prague+inn',
  'hotel+prague+booking',
  'affordable+prague+hotel',
]
const semantic = [
  'where is the retry policy configured',
  'retry policy configuration',
  'configuration of retries',
  'how are retries set up',
  'retry settings',
  'retry backoff options',
  'setting for number of retries',
  'max retries configuration',
  'code that configures retry',
  'retry policy definition',
  'where do we define retries',
  'options for retry behaviour',
  'retry count setting',
  'retry configuration file',
  'policy for retrying requests',
  'retry config',
]
const todoWords = [
  ['Analyse the failing import', 'Fix the import', 'Run the tests'],
  ['Investigate import failure', 'Repair the import', 'Execute the tests'],
  ['Look into the broken import', 'Correct the import', 'Verify with tests'],
  ['Understand why import fails', 'Apply a fix', 'Test it'],
  ['Examine import problem', 'Implement the fix', 'Run test suite'],
  ['Check the import', 'Mend the import', 'Confirm by tests'],
]
const mails = [
  'Hello Ms Ito, could you send us the signed contract?',
  'Dear Ms Ito, we are still missing the signed contract. Could you send it?',
  'Hi Ms Ito, a short reminder about the signed contract.',
  'Dear Ms Ito, please send the signed contract when you can.',
  'Hello Ms Ito, we kindly ask for the signed contract.',
  'Ms Ito, the contract is not here yet. Could you send the signed copy?',
  'Dear Ms Ito, may I remind you about the signed contract?',
  'Hello again, we need the signed contract, please.',
]
const prompts = [
  'a red fox in snow',
  'a fox in a winter wood',
  'fox, snow, soft light',
  'a red fox, watercolour',
  'fox portrait in winter',
  'a young fox playing in snow',
  'fox under pine trees',
  'a fox at dusk, snow falling',
  'minimal red fox',
  'fox, photo, 85mm',
  'a fox curled up in the snow',
  'vector art of a fox',
  'a fox with a scarf',
  'oil painting of a fox',
  'fox in a blizzard',
]

const claudeCode: Scenario[] = [
  stuck(
    'import-that-a-hook-removes',
    16,
    rounds(10, () => [
      ok(
        'Edit',
        {
          file_path: '/app/src/user.ts',
          old_string: "import { a } from './a.ts'",
          new_string: "import { a } from './a.ts'\nimport { z } from 'zod'",
        },
        `${updated('/app/src/user.ts')} The linter has changed the file.`,
      ),
      bashFailed('npx tsc --noEmit', "src/user.ts(14,9): error TS2304: Cannot find name 'z'."),
    ]),
  ),
  stuck(
    'there-and-back',
    18,
    rounds(6, () => [
      ok(
        'Edit',
        { file_path: '/app/src/tax.ts', old_string: 'Math.floor(x)', new_string: 'Math.ceil(x)' },
        updated('/app/src/tax.ts'),
      ),
      bashFailed(
        'npm test -- tax',
        '● tax › rounds down\n\n    expect(received).toBe(expected)\n\n    Expected: 11\n    Received: 12',
      ),
      ok(
        'Edit',
        { file_path: '/app/src/tax.ts', old_string: 'Math.ceil(x)', new_string: 'Math.floor(x)' },
        updated('/app/src/tax.ts'),
      ),
      bashFailed(
        'npm test -- tax',
        '● tax › rounds up at the end of the year\n\n    expect(received).toBe(expected)\n\n    Expected: 21\n    Received: 20',
      ),
    ]),
  ),
  stuck(
    'windows-of-a-file',
    14,
    rounds(14, (n) => {
      const from = [1, 20, 1, 10, 30, 5, 15, 1, 25, 12, 3, 40, 8, 18][n - 1] ?? 1
      const to = Math.min(
        120,
        from + ([119, 80, 100, 60, 90, 70, 105, 60, 95, 50, 100, 80, 90, 70][n - 1] ?? 50),
      )
      const lines = Array.from(
        { length: to - from + 1 },
        (_, at) =>
          `${String(from + at).padStart(6)}\tconst part${from + at} = read(${(from + at) * 7})`,
      )
      return ok(
        'Read',
        { file_path: '/app/src/parts.ts', offset: from, limit: to - from + 1 },
        lines.join('\n'),
      )
    }),
  ),
  stuck(
    'spellings-of-a-name',
    16,
    rounds(16, (n) =>
      ok(
        'Grep',
        { pattern: turnOf(grepped, n), path: '/app/src', output_mode: 'files_with_matches' },
        'No files found',
      ),
    ),
  ),
  stuck(
    'spellings-of-a-test',
    12,
    rounds(14, (n) =>
      bashFailed(
        turnOf(runTest, n),
        `FAIL src/cart.test.ts\n  ● cart › adds up the total\n\n    TypeError: Cannot read properties of undefined (reading 'price')\n\n      at total (src/cart.ts:12:31)\n\nTests:       1 failed, 4 passed, 5 total\nTime:        ${(0.8 + n * 0.137).toFixed(3)} s`,
        `Try ${n}`,
      ),
    ),
  ),
  stuck(
    'speaks-of-progress',
    10,
    rounds(12, (n) =>
      bash(
        `echo "Step ${n}: ${turnOf(['analysing', 'checking', 'validating', 'preparing'], n)} the module"`,
        `Step ${n}: ${turnOf(['analysing', 'checking', 'validating', 'preparing'], n)} the module`,
        `Report step ${n}`,
      ),
    ),
  ),
  stuck(
    'login-that-expires',
    16,
    rounds(6, (n) => [
      ok(
        'mcp__playwright__browser_navigate',
        { url: 'https://shop.example.com/account' },
        snapshot(
          `https://shop.example.com/login?state=${word(n, 24)}`,
          'Sign in',
          ['textbox "Email"', 'textbox "Password"', 'button "Sign in"'],
          n * 40,
        ),
      ),
      ok(
        'mcp__playwright__browser_fill_form',
        {
          fields: [
            { name: 'Email', type: 'textbox', ref: `e${n * 40}`, value: 'a@example.com' },
            { name: 'Password', type: 'textbox', ref: `e${n * 40 + 1}`, value: 'x' },
          ],
        },
        "### Ran Playwright code\n```js\nawait page.getByRole('textbox').fill('a@example.com');\n```",
      ),
      ok(
        'mcp__playwright__browser_click',
        { element: 'Sign in button', ref: `e${n * 40 + 2}` },
        snapshot(
          `https://shop.example.com/login?error=session_expired&state=${word(n + 50, 24)}`,
          'Sign in',
          [
            'alert "Your session has expired. Please try again."',
            'textbox "Email"',
            'textbox "Password"',
            'button "Sign in"',
          ],
          n * 40 + 10,
        ),
      ),
    ]),
  ),
  stuck(
    'task-for-an-agent',
    8,
    rounds(9, (n) =>
      ok(
        'Task',
        {
          description: 'Find token loss',
          subagent_type: 'Explore',
          prompt: 'Find out where the session token is dropped.',
        },
        `${turnOf(reports, n)}\nagentId: ${word(n, 8)} (for resuming)\n<usage>total_tokens: ${9000 + n * 411}</usage>`,
      ),
    ),
    90,
  ),
  stuck(
    'pages-that-forbid',
    16,
    rounds(18, (n) =>
      failed(
        'WebFetch',
        {
          url: `https://${turnOf(['news', 'www', 'm', 'blog', 'api', 'data'], n)}.site${n}.example.com/report-${n * 3}`,
          prompt: 'Extract the figures',
        },
        'Request failed with status code 403',
      ),
    ),
  ),
  stuck(
    'ports-in-use',
    12,
    rounds(12, (n) =>
      bashFailed(
        `PORT=${3000 + n} npm run dev`,
        `> app@1.0.0 dev\n> vite --port 5173 --strictPort\n\nerror when starting dev server:\nError: Port 5173 is already in use\n    at Server.onError (file:///app/node_modules/vite/dist/node/chunks/dep-${word(n, 8)}.js:${45000 + n}:18)`,
      ),
    ),
  ),
  stuck(
    'compose-restarts',
    18,
    rounds(6, (n) => [
      bash(
        'docker compose up -d',
        ' Container app-db-1  Running\n Container app-web-1  Starting\n Container app-web-1  Started',
      ),
      bash(
        'sleep 5 && docker compose ps',
        `NAME        IMAGE     COMMAND        SERVICE   CREATED         STATUS                          PORTS\napp-db-1    postgres  "docker-ent…"  db        ${n + 2} hours ago   Up ${n + 2} hours                      5432/tcp\napp-web-1   web       "node main"    web       ${n * 2} minutes ago   Restarting (1) ${(n % 7) + 1} seconds ago`,
      ),
      bash(
        'docker compose logs web --tail 4',
        `web-1  | 2026-11-03T10:${String(10 + n).padStart(2, '0')}:07Z starting\nweb-1  | 2026-11-03T10:${String(10 + n).padStart(2, '0')}:08Z Error: relation "users" does not exist\nweb-1  |     at Parser.parseErrorMessage (/app/node_modules/pg-protocol/dist/parser.js:283:98)\nweb-1 exited with code 1`,
      ),
    ]),
  ),
  stuck(
    'todos-in-other-words',
    12,
    rounds(13, (n) =>
      ok(
        'TodoWrite',
        {
          todos: turnOf(todoWords, n).map((content, at) => ({
            content:
              n > 6 ? `${content}${turnOf(['', ' now', ' first', ' carefully'], n)}` : content,
            status: at === 0 ? 'in_progress' : 'pending',
            activeForm: `${content}…`,
          })),
        },
        'Todos have been modified successfully. Ensure that you continue to use the todo list to track your progress. Please proceed with the current tasks if applicable',
      ),
    ),
  ),
]

const codex: Scenario[] = [
  stuck(
    'patch-without-its-lines',
    10,
    rounds(11, (n) =>
      failed(
        'apply_patch',
        {
          input: `*** Begin Patch\n*** Update File: src/app.py\n@@ def main():\n-    run(${n % 2 === 0 ? 'args' : ' args '})${' '.repeat(n)}\n+    run(args, debug=${n % 3 === 0})\n*** End Patch`,
        },
        `apply_patch verification failed: Failed to find expected lines in /repo/src/app.py:\n    run(${n % 2 === 0 ? 'args' : ' args '})${' '.repeat(n)}`,
      ),
    ),
  ),
  stuck(
    'keys-at-a-password',
    14,
    rounds(14, (n) =>
      ok(
        'write_stdin',
        {
          session_id: 4411,
          chars: turnOf(['\n', 'y\n', 'yes\n', '\u0003', 'admin\n', 'q\n'], n),
          yield_time_ms: 1000,
        },
        `Chunk ID: ${word(n, 6)}\nWall time: 1.00${n} seconds\nProcess running with session ID 4411\nOriginal token count: 8\nOutput:\nSorry, try again.\n[sudo] password for dev: `,
      ),
    ),
    4,
  ),
  stuck(
    'package-that-is-not-there',
    12,
    rounds(12, (n) =>
      execFailed(
        turnOf(
          [
            'pip install fastgraph==9.1',
            'pip install fastgraph==9.1 --no-cache-dir',
            'python -m pip install fastgraph==9.1',
            'pip3 install fastgraph==9.1',
            'pip install --upgrade fastgraph==9.1',
            'pip install fastgraph==9.1 -v',
            'pip install --pre fastgraph==9.1',
            'pip install -U --user fastgraph==9.1',
            'uv pip install fastgraph==9.1',
            'pip install fastgraph==9.1 --index-url https://pypi.example.org/simple',
            'pip install "fastgraph==9.1"',
            'python3 -m pip install --user fastgraph==9.1',
          ],
          n,
        ),
        'ERROR: Could not find a version that satisfies the requirement fastgraph==9.1 (from versions: none)\nERROR: No matching distribution found for fastgraph==9.1',
        1.1 + n / 9,
      ),
    ),
  ),
  stuck(
    'prints-of-a-file',
    14,
    rounds(14, (n) => {
      const lines = Array.from({ length: 60 }, (_, at) => `def part_${at}(x): return x * ${at * 3}`)
      const [cmd, from, to] = turnOf(
        [
          ["sed -n '1,60p' a.py", 0, 60],
          ['cat a.py', 0, 60],
          ['head -n 50 a.py', 0, 50],
          ["sed -n '1,40p' a.py", 0, 40],
          ['tail -n 30 a.py', 30, 60],
          ["sed -n '10,60p' a.py", 10, 60],
          ['head -n 55 a.py', 0, 55],
        ] as const,
        n,
      )
      return exec(
        n > 7 ? `cd /repo && ${cmd}` : cmd,
        lines.slice(from, to).join('\n'),
        0.05 + n / 100,
      )
    }),
  ),
  stuck(
    'plan-in-other-words',
    12,
    rounds(12, (n) =>
      ok(
        'update_plan',
        {
          explanation: turnOf(
            ['Starting.', 'Refining the plan.', 'Clarified the steps.', 'A better order.'],
            n,
          ),
          plan: turnOf(todoWords, n).map((step, at) => ({
            step: `${step}${n > 6 ? '.' : ''}`,
            status: at === 0 ? 'in_progress' : 'pending',
          })),
        },
        'Plan updated',
      ),
    ),
  ),
  stuck(
    'looks-at-a-clean-tree',
    16,
    rounds(16, (n) =>
      exec(
        turnOf(
          [
            'git status --short',
            'git diff',
            'git diff --stat',
            'git diff HEAD',
            'git status -s',
            'git diff --cached',
            'git diff --name-only',
            'git stash list',
            'git status --porcelain',
            'git diff HEAD --stat',
          ],
          n,
        ),
        '',
        0.02 + n / 100,
      ),
    ),
  ),
]

const editors: Scenario[] = [
  stuck(
    'text-that-is-not-in-the-file',
    10,
    rounds(11, (n) =>
      failed(
        'edit',
        {
          filePath: '/repo/src/view.tsx',
          oldString: `<Button${' '.repeat(n % 4)} onClick={save${n % 3}}>${turnOf(['Save', 'Save it', 'save', 'SAVE'], n)}</Button>`,
          newString: '<Button onClick={save} disabled={busy}>Save</Button>',
        },
        'Error: oldString not found in content',
      ),
    ),
  ),
  stuck(
    'service-with-an-error',
    12,
    rounds(12, (n) =>
      ok(
        'bash',
        {
          command: `curl -s -X POST https://api.example.com/v2/jobs -H 'Content-Type: application/json' -d '{"name":"${turnOf(['build', 'nightly', 'test', 'job'], n)}-${n}","retries":${n % 3}}'`,
          description: 'Create the job',
        },
        `{"error":{"code":500,"message":"Internal Server Error","requestId":"${word(n, 20)}"}}`,
      ),
    ),
  ),
  stuck(
    'page-with-other-parameters',
    10,
    rounds(11, (n) =>
      ok(
        'webfetch',
        {
          url: `https://docs.example.com/api/webhooks${turnOf(['', '?v=1', '#retries', '?lang=en', '?utm_source=chat', '#signing', '/', '?view=full', '?print=1', '?ref=nav', '#events'], n)}`,
          format: 'markdown',
        },
        '# Webhooks\n\nWe send an event for each payment. Your endpoint answers with a status of 2xx within ten seconds.\n\n## Retries\n\nWe retry for three days.\n\n## Signing\n\nThe header `Signature` has a HMAC of the body.',
      ),
    ),
  ),
  stuck(
    'problems-and-the-file',
    16,
    rounds(8, () => [
      ok('get_errors', { filePaths: ['/ws/src/index.ts'] }, 'No errors found.'),
      ok(
        'read_file',
        { filePath: '/ws/src/index.ts', startLine: 1, endLine: 40 },
        "```typescript\n// filepath: /ws/src/index.ts\nimport { start } from './start'\n\nstart()\n```",
      ),
    ]),
  ),
  stuck(
    'terminal-with-other-reasons',
    8,
    rounds(9, (n) =>
      ok(
        'run_in_terminal',
        {
          command: 'cd /ws && npm run build',
          explanation: turnOf(
            [
              'Build the project',
              'Building again to check',
              'Let me verify the build',
              'Check whether the build works now',
              'Run the build once more',
            ],
            n,
          ),
          isBackground: false,
        },
        '> ws@1.0.0 build\n> tsc -p .\n',
      ),
    ),
  ),
  stuck(
    'search-in-other-words',
    16,
    rounds(16, (n) =>
      ok(
        'semantic_search',
        { query: turnOf(semantic, n) },
        'Here are some potentially relevant excerpts:\n```typescript\n// /ws/src/http/client.ts\nexport class Client {\n  constructor(private base: string) {}\n  get(path: string) { return fetch(this.base + path) }\n}\n```',
      ),
    ),
  ),
  stuck(
    'replacement-again',
    16,
    rounds(9, () => [
      ok(
        'replace_string_in_file',
        { filePath: '/ws/src/index.ts', oldString: 'start()', newString: 'start()\nlisten()' },
        'The following files were successfully edited:\n/ws/src/index.ts',
      ),
      ok(
        'get_errors',
        { filePaths: ['/ws/src/index.ts'] },
        "/ws/src/index.ts\n3:1 Cannot find name 'listen'.",
      ),
    ]),
  ),
  stuck(
    'a-pattern-in-other-folders',
    16,
    rounds(16, (n) =>
      ok(
        'grep',
        {
          pattern: 'featureFlags?',
          path: `/repo/${turnOf(['src', 'lib', 'packages', 'apps', 'test', '.', 'server', 'client'], n)}`,
          include: turnOf(['*.ts', '*.tsx', '*.js', '*.{ts,tsx}', '*'], n),
        },
        'No files found',
      ),
    ),
  ),
]

const servers: Scenario[] = [
  stuck(
    'unusual-traffic',
    16,
    rounds(18, (n) =>
      ok(
        'browser_navigate',
        { url: `https://${turnOf(engines, n)}${turnOf(wanted, n)}` },
        `### Page state\n- Page URL: https://www.google.com/sorry/index?continue=https://${turnOf(engines, n)}${turnOf(wanted, n)}&q=${word(n, 40)}\n- Page Title: https://${turnOf(engines, n)}${turnOf(wanted, n)}\n- Page Snapshot:\n\`\`\`yaml\n- generic [ref=e2]: Our systems have detected unusual traffic from your computer network. Please solve the challenge.\n- iframe [ref=f${n}e5]\n\`\`\``,
      ),
    ),
  ),
  stuck(
    'button-without-effect',
    14,
    rounds(14, (n) =>
      ok(
        'browser_click',
        {
          element: turnOf(
            ['Submit button', 'Blue submit button', 'Submit order', 'Button to submit'],
            n,
          ),
          ref: `e${20 + n * 9}`,
        },
        snapshot(
          'https://shop.example.com/checkout',
          'Checkout',
          [
            'heading "Checkout"',
            'textbox "Card number"',
            'checkbox "I accept the terms"',
            'button "Submit order"',
          ],
          26 + n * 9,
        ),
      ),
    ),
  ),
  stuck(
    'ticket-again',
    10,
    rounds(11, (n) =>
      ok(
        'mcp__jira__create_issue',
        {
          project: 'OPS',
          summary: 'Disk of db-2 is full',
          description: 'The disk of db-2 is at 98 percent. Please extend it.',
          issuetype: 'Bug',
        },
        `{"id":"${10400 + n}","key":"OPS-${870 + n}","self":"https://jira.example.com/rest/api/3/issue/${10400 + n}"}`,
      ),
    ),
  ),
  stuck(
    'mail-in-other-words',
    12,
    rounds(13, (n) =>
      ok(
        'gmail_send',
        {
          to: 'ito@example.jp',
          subject: turnOf(['Contract', 'Signed contract', 'Reminder: contract', 'Re: contract'], n),
          body: `${turnOf(mails, n)}${n > 8 ? ' Thank you.' : ''}`,
        },
        `{"id":"${word(n, 16)}","threadId":"${word(n + 100, 16)}","labelIds":["SENT"]}`,
      ),
    ),
    20,
  ),
  stuck(
    'rollout-that-crashes',
    18,
    rounds(7, (n) => [
      bash('kubectl rollout restart deployment/orders -n prod', 'deployment.apps/orders restarted'),
      bash(
        'kubectl get pods -n prod -l app=orders',
        `NAME                      READY   STATUS             RESTARTS      AGE\n${podName('orders', n)}   0/1     CrashLoopBackOff   ${1 + (n % 3)} (${5 + n}s ago)   ${20 + n * 3}s`,
      ),
      bash(
        `kubectl logs -n prod deployment/orders --tail=${turnOf([5, 10, 20, 5, 10], n)}`,
        `{"level":"info","ts":"2026-11-20T08:${String(n * 2).padStart(2, '0')}:11.${100 + n}Z","msg":"starting orders","pid":${40 + n}}\n{"level":"fatal","ts":"2026-11-20T08:${String(n * 2).padStart(2, '0')}:12.${204 + n}Z","msg":"open /etc/orders/config.yaml: no such file or directory"}`,
      ),
    ]),
    2,
  ),
  stuck(
    'bucket-that-is-denied',
    10,
    rounds(10, (n) =>
      bashFailed(
        `terraform apply -auto-approve${turnOf(['', ' -refresh=false', ' -target=aws_s3_bucket.logs', ' -parallelism=1', ' -lock=false'], n)}`,
        `aws_s3_bucket.logs: Creating...\n╷\n│ Error: creating S3 Bucket (acme-logs): operation error S3: CreateBucket, https response error StatusCode: 403, RequestID: ${word(n, 16).toUpperCase()}, HostID: ${word(n + 3, 50)}, api error AccessDenied: Access Denied\n│ \n│   with aws_s3_bucket.logs,\n│   on main.tf line ${10 + (n % 2)}, in resource "aws_s3_bucket" "logs":\n╵`,
      ),
    ),
    20,
  ),
  stuck(
    'host-that-refuses',
    12,
    rounds(12, (n) =>
      bashFailed(
        turnOf(
          [
            'ssh deploy@10.0.4.7 uptime',
            'ssh -i ~/.ssh/id_ed25519 deploy@10.0.4.7 uptime',
            'ssh -v deploy@10.0.4.7 uptime 2>&1 | tail -1',
            'ssh -o StrictHostKeyChecking=no deploy@10.0.4.7 ls',
            'ssh -o ConnectTimeout=5 deploy@10.0.4.7 true',
            'ssh -A deploy@10.0.4.7 hostname',
            'ssh -o BatchMode=yes deploy@10.0.4.7 id',
            'ssh -i ~/.ssh/id_rsa deploy@10.0.4.7 uptime',
            'ssh -4 deploy@10.0.4.7 uptime',
            'ssh -o IdentitiesOnly=yes deploy@10.0.4.7 uptime',
            'ssh -T deploy@10.0.4.7',
            'ssh deploy@10.0.4.7 "echo ok"',
          ],
          n,
        ),
        'deploy@10.0.4.7: Permission denied (publickey).',
      ),
    ),
  ),
  stuck(
    'rows-that-are-not-there',
    16,
    rounds(16, (n) =>
      ok(
        'mcp__postgres__query',
        {
          sql: `SELECT * FROM customers WHERE ${turnOf(["name ILIKE '%acme corp%'", "name = 'Acme Corp'", "lower(name) LIKE '%acme%corp%'", "company ILIKE '%acme%'", "email LIKE '%@acmecorp.com'", "name ~* 'acme'", "notes ILIKE '%acme corp%'", "company = 'Acme Corp'"], n)}${n > 8 ? ' ORDER BY id' : ''} LIMIT ${n}`,
        },
        '[]',
      ),
    ),
  ),
  stuck(
    'grant-that-is-invalid',
    16,
    rounds(6, (n) => [
      ok(
        'oauth_begin',
        { provider: 'crm', scopes: ['read'] },
        `{"authorize_url":"https://crm.example.com/oauth/authorize?client_id=app&redirect_uri=http%3A%2F%2Flocalhost%3A${51000 + n * 37}%2Fcb&state=${word(n, 32)}&code_challenge=${word(n + 40, 43)}","expires_in":600}`,
      ),
      ok(
        'browser_open',
        {
          url: `https://crm.example.com/oauth/authorize?client_id=app&redirect_uri=http%3A%2F%2Flocalhost%3A${51000 + n * 37}%2Fcb&state=${word(n, 32)}&code_challenge=${word(n + 40, 43)}`,
        },
        `Redirected to http://localhost:${51000 + n * 37}/cb?code=${word(n + 80, 40)}&state=${word(n, 32)}`,
      ),
      failed(
        'oauth_finish',
        { provider: 'crm', code: word(n + 80, 40), state: word(n, 32) },
        '{"error":"invalid_grant","error_description":"The redirect URI does not match the registration."}',
      ),
    ]),
  ),
  stuck(
    'balance-that-is-empty',
    12,
    rounds(12, (n) =>
      ok(
        'generate_image',
        { prompt: turnOf(prompts, n), size: turnOf(['1024x1024', '512x512', '768x768'], n) },
        '{"status":"error","message":"Exhausted balance. Top up your balance at example.ai/billing."}',
      ),
    ),
  ),
  stuck(
    'memory-again',
    10,
    rounds(11, (n) =>
      ok(
        'memory_store',
        { content: 'The user prefers short answers in English.', tags: ['style'] },
        `{"ok":true,"id":"mem_${word(n, 10)}","created_at":"2026-11-20T10:${String(n).padStart(2, '0')}:02Z"}`,
      ),
    ),
  ),
]

export const sessionLoops: Scenario[] = [...claudeCode, ...codex, ...editors, ...servers]
