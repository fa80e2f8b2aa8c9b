// Honest work of real hosts that looks like the loops of unseen-loops.ts. The expectations were
// written before the first run, in which 28 of the 30 were right. One trace is changed since: its sixth
// failed look-up was the documented limit.

import type { Scenario, Step } from '../../../apps/replay/judge/scenario.ts'
import { failed, honest, ok, rounds, turnOf, word } from './trace.ts'

const work = (id: string, steps: (Step | Step[])[]) =>
  honest(`unseen-work-${id}`, 'Each round brings the work forward.', steps.flat())

const people = 'ann bob cid dee eve fay gus hal ida jon kim lea'.split(' ')
const modules = 'cart user order stock price coupon refund invoice mail search login audit'.split(
  ' ',
)
const moduleOf = (n: number) => turnOf(modules, n)

const todoList = (done: number) => ({
  todos: modules.slice(0, 8).map((name, k) => ({
    content: `Migrate ${name}`,
    status: k < done ? 'completed' : k === done ? 'in_progress' : 'pending',
    activeForm: `Migrating ${name}`,
  })),
})
const modified =
  'Todos have been modified successfully. Ensure that you continue to use the todo list to track your progress. Please proceed with the current tasks if applicable'

export const unseenWork: Scenario[] = [
  // many pages, many persons
  work(
    'links-of-a-site',
    rounds(20, (n) =>
      ok(
        'Bash',
        {
          command: `curl -s -o /dev/null -w '%{http_code}' https://docs.example.com/p/${word(n, 6)}`,
        },
        '200',
      ),
    ),
  ),
  work(
    'navigate-behind-a-banner',
    rounds(14, (n) =>
      ok(
        'browser_navigate',
        { url: `https://shop.example.com/${moduleOf(n)}/${n}` },
        `### Page state\n- Page URL: https://shop.example.com/${moduleOf(n)}/${n}\n- Page Title: Shop\n- dialog "We value your privacy" [ref=e4]\n- heading "${moduleOf(n)} number ${word(n, 5)}"\n- text: ${n * 13} EUR`,
      ),
    ),
  ),
  work('guessed-addresses', [
    ...['docs', 'api', 'reference', 'help', 'guide'].map((path) =>
      failed(
        'WebFetch',
        { url: `https://vendor.example.com/${path}`, prompt: 'Find the limits' },
        'Request failed with status code 404',
      ),
    ),
    ok(
      'WebSearch',
      { query: 'vendor api limits' },
      'Links: [{"title":"Limits","url":"https://developer.vendor.example.com/limits"}]',
    ),
    ok(
      'WebFetch',
      { url: 'https://developer.vendor.example.com/limits', prompt: 'Find the limits' },
      '100 requests a minute.',
    ),
  ]),
  work('refused-then-other-sources', [
    ...rounds(5, (n) =>
      failed(
        'WebFetch',
        { url: `https://news${n}.example.com/a`, prompt: 'Summarise' },
        'Request failed with status code 403',
      ),
    ),
    ...rounds(5, (n) =>
      ok(
        'WebFetch',
        { url: `https://mirror${n}.example.org/a`, prompt: 'Summarise' },
        `The article ${word(n, 7)} is about ${moduleOf(n)}.`,
      ),
    ),
  ]),
  work(
    'newsletter',
    people.map((name, k) =>
      ok(
        'gmail_send_email',
        {
          to: `${name}@example.com`,
          subject: 'Release 4',
          body: `Hi ${name}, release 4 is out. Try it!`,
        },
        `Email sent successfully with ID: 19ac${word(k, 12)}`,
      ),
    ),
  ),
  work(
    'reports-to-a-channel',
    rounds(10, (n) => [
      ok(
        'Bash',
        { command: `make bench SUITE=${moduleOf(n)}` },
        `${moduleOf(n)}: ${n * 41 + 300} ops/s`,
      ),
      ok(
        'slack_send_message',
        { channel: 'C01', text: `Benchmark of ${moduleOf(n)}: ${n * 41 + 300} ops/s` },
        `{"ok":true,"ts":"17645${10000 + n * 61}.1"}`,
      ),
    ]),
  ),
  work(
    'chat-with-answers',
    rounds(9, (n) => [
      ok(
        'message',
        {
          action: 'send',
          channel: 'telegram',
          target: '@kim',
          message: `Question ${n}: which ${moduleOf(n)} do you want?`,
        },
        `{"ok":true,"messageId":"${800 + n}"}`,
      ),
      ok(
        'message',
        { action: 'read', channel: 'telegram', target: '@kim', limit: 1 },
        `{"from":"kim","text":"the ${word(n, 6)} one"}`,
      ),
    ]),
  ),
  // plans
  work(
    'plan-with-work',
    rounds(8, (n) => [
      ok('TodoWrite', todoList(n - 1), modified),
      ok(
        'Edit',
        {
          file_path: `/repo/src/${moduleOf(n)}.ts`,
          old_string: "from 'moment'",
          new_string: "from 'dayjs'",
        },
        `The file /repo/src/${moduleOf(n)}.ts has been updated.`,
      ),
    ]),
  ),
  work(
    'plan-ticked-off-at-the-end',
    rounds(8, (n) => ok('TodoWrite', todoList(n), modified)),
  ),
  work(
    'plan-codex-and-reads',
    rounds(8, (n) => [
      ok(
        'shell',
        { command: ['bash', '-lc', `sed -n '${n * 80 - 79},${n * 80}p' src/main.rs`] },
        `fn ${word(n, 7)}() -> ${word(n + 5, 4)} {`,
      ),
      ok(
        'update_plan',
        {
          plan: modules
            .slice(0, 4)
            .map((step, k) => ({ step, status: k < n / 2 ? 'completed' : 'pending' })),
        },
        'Plan updated',
      ),
    ]),
  ),
  // commits
  work(
    'commit-each-module',
    rounds(12, (n) => [
      ok('Bash', { command: `git add src/${moduleOf(n)}.ts` }, ''),
      ok(
        'Bash',
        { command: `git commit -m "Rename ids in ${moduleOf(n)}"` },
        `[main ${word(n, 7)}] Rename ids in ${moduleOf(n)}\n 1 file changed, ${n} insertions(+), ${n} deletions(-)`,
      ),
    ]),
  ),
  work(
    'commit-hook-fixed-step-by-step',
    rounds(6, (n) => [
      failed(
        'Bash',
        { command: 'git commit -m "Add carts"' },
        `Exit code 1\n/repo/src/${moduleOf(n)}.ts\n  ${n * 9}:7  error  '${word(n, 5)}' is never used  no-unused-vars\n\n${7 - n} problems`,
      ),
      ok(
        'Edit',
        {
          file_path: `/repo/src/${moduleOf(n)}.ts`,
          old_string: `let ${word(n, 5)}`,
          new_string: '',
        },
        'The file has been updated.',
      ),
      ok('Bash', { command: 'git add -A' }, ''),
    ]),
  ),
  work('commit-type-errors-one-by-one', [
    ...rounds(5, (n) => [
      ok(
        'replace_in_file',
        {
          path: 'src/cart.ts',
          diff: `<<<<<<< SEARCH\n  a${n}: any\n=======\n  a${n}: number\n>>>>>>> REPLACE`,
        },
        'The content was successfully saved to src/cart.ts.',
      ),
      ok('execute_command', { command: 'git add src/cart.ts' }, ''),
      failed(
        'execute_command',
        { command: 'git commit -m "Type the cart"' },
        `pre-commit: tsc failed\nsrc/cart.ts(${12 + n * 3},5): error TS2322: Type 'string' is not assignable to type 'number'.`,
      ),
    ]),
    ok(
      'execute_command',
      { command: 'git commit -m "Type the cart"' },
      '[main 3fe11d0] Type the cart',
    ),
  ]),
  // agents
  work(
    'agents-for-folders',
    rounds(10, (n) =>
      ok(
        'Task',
        {
          subagent_type: 'reviewer',
          description: `Review ${moduleOf(n)}`,
          prompt: `Review src/${moduleOf(n)} for injection. Report findings.`,
        },
        'No findings.',
      ),
    ),
  ),
  work(
    'agents-for-topics',
    rounds(8, (n) =>
      ok(
        'Agent',
        {
          subagent_type: 'Explore',
          description: 'Explore',
          prompt: `Explain how ${moduleOf(n)} is stored.`,
        },
        `The ${moduleOf(n)} is in table ${word(n, 6)}, written by ${word(n + 2, 8)}.`,
      ),
    ),
  ),
  // waits
  work('shell-compiles', [
    ok(
      'Bash',
      { command: 'cargo build --release', run_in_background: true },
      'Command running in background with ID: b3',
    ),
    ...rounds(8, (n) => [
      ok('Bash', { command: `sleep ${10 * n}` }, ''),
      ok(
        'BashOutput',
        { bash_id: 'b3' },
        n < 8
          ? '<status>running</status>'
          : '<status>completed</status>\n<stdout>Finished release</stdout>',
      ),
    ]),
  ]),
  work('shell-silent-then-speaks', [
    ...rounds(6, (n) =>
      ok(
        'process',
        { action: 'poll', sessionId: 'calm-fox', timeout: 5000 * n },
        '(no new output)\n\nProcess still running.',
      ),
    ),
    ok(
      'process',
      { action: 'poll', sessionId: 'calm-fox', timeout: 60000 },
      'Compiled 812 crates.\n\nProcess exited with code 0.',
    ),
  ]),
  work(
    'codex-test-dots',
    rounds(14, (n) =>
      ok(
        'write_stdin',
        { session_id: 7, chars: '', yield_time_ms: 10000 },
        `Chunk ID: ${word(n, 6)}\nWall time: 10.0 seconds\nProcess running with session ID 7\nOutput:\ntests/test_${moduleOf(n)}.py ${'.'.repeat(n)}`,
      ),
    ),
  ),
  work(
    'ci-checks',
    rounds(10, (n) =>
      ok(
        'Bash',
        { command: `sleep ${20 + 10 * n} && gh pr checks 41` },
        `build\t${n > 3 ? 'pass' : 'pending'}\t${n * 30}s\ntest\t${n > 7 ? 'pass' : 'pending'}\t0\nlint\tpass\t12s`,
      ),
    ),
  ),
  work('service-503-with-waits', [
    ...rounds(7, (n) => [
      failed(
        'http_request',
        { method: 'GET', url: 'https://api.example.com/v1/stock' },
        'HTTP 503 Service Unavailable',
      ),
      ok('wait', { seconds: 2 ** n }, `Waited ${2 ** n} seconds`),
    ]),
    ok('http_request', { method: 'GET', url: 'https://api.example.com/v1/stock' }, '{"stock":4}'),
  ]),
  // crashes that change
  work(
    'crash-after-crash',
    rounds(7, (n) => [
      ok(
        'Edit',
        {
          file_path: '/repo/config.json',
          old_string: `"k${n}": null`,
          new_string: `"k${n}": "${word(n, 5)}"`,
        },
        'The file has been updated.',
      ),
      ok(
        'Bash',
        { command: 'docker compose up -d --force-recreate api' },
        ' Container shop-api-1  Started',
      ),
      ok(
        'Bash',
        { command: 'docker compose logs --tail 4 api' },
        `api-1  | Error: setting ${moduleOf(n + 1)} is missing\napi-1  |     at load (/app/config.js:${10 + n}:3)\nproxy-1  | 10.0.0.${n} GET / 502`,
      ),
    ]),
  ),
  // debuggers, games, bisection, TDD, refactors, pages
  work(
    'pdb-next',
    rounds(16, (n) =>
      ok(
        'debugger',
        { command: 'next' },
        `> /repo/sum.py(${20 + n})total()\n-> ${word(n, 6)} = ${word(n + 1, 4)}(${n})`,
      ),
    ),
  ),
  work(
    'bisect-run-by-hand',
    rounds(9, (n) => [
      ok('Bash', { command: 'make -s test-cart; echo $?' }, n % 3 === 0 ? '1' : '0'),
      ok(
        'Bash',
        { command: n % 3 === 0 ? 'git bisect bad' : 'git bisect good' },
        `Bisecting: ${2 ** (9 - n)} revisions left to test after this (roughly ${9 - n} steps)\n[${word(n, 40)}] Change ${moduleOf(n)}`,
      ),
    ]),
  ),
  work(
    'game-2048',
    rounds(18, (n) =>
      ok(
        'press_key',
        { key: ['Left', 'Down', 'Left', 'Right'][n % 4] },
        `score ${n * 12}\n${word(n, 4)} ${word(n + 1, 4)}\n${word(n + 2, 4)} ${word(n + 3, 4)}`,
      ),
    ),
  ),
  work('tab-through-a-form', [
    ...rounds(6, () => ok('computer', { action: 'key', text: 'Tab' }, 'Pressed Tab')).slice(0, 4),
    ok('computer', { action: 'screenshot' }, 'Screen: form, focus on the field City'),
    ok('computer', { action: 'type', text: 'Bern' }, 'Typed Bern'),
    ...rounds(3, () => ok('computer', { action: 'key', text: 'Tab' }, 'Pressed Tab')),
    ok('computer', { action: 'type', text: '3011' }, 'Typed 3011'),
    ok('computer', { action: 'screenshot' }, 'Screen: form, City Bern, code 3011'),
  ]),
  work(
    'tdd-red-green',
    rounds(7, (n) => [
      ok(
        'Edit',
        {
          file_path: '/repo/test/cart.test.ts',
          old_string: '// next',
          new_string: `it('does ${moduleOf(n)}')\n// next`,
        },
        'The file has been updated.',
      ),
      failed(
        'Bash',
        { command: 'npm test' },
        `Exit code 1\n● cart › does ${moduleOf(n)}\nTests: 1 failed, ${n} passed`,
      ),
      ok(
        'Edit',
        {
          file_path: '/repo/src/cart.ts',
          old_string: '// more',
          new_string: `export function ${moduleOf(n)}() {}\n// more`,
        },
        'The file has been updated.',
      ),
      ok('Bash', { command: 'npm test' }, `Tests: ${n + 1} passed`),
    ]),
  ),
  work(
    'many-equal-edits',
    rounds(16, (n) =>
      ok(
        'Edit',
        {
          file_path: `/repo/src/${moduleOf(n)}/${n}.ts`,
          old_string: 'getUser(',
          new_string: 'fetchUser(',
          replace_all: true,
        },
        `The file /repo/src/${moduleOf(n)}/${n}.ts has been updated. All occurrences were replaced.`,
      ),
    ),
  ),
  work(
    'pages-with-offset',
    rounds(16, (n) =>
      ok(
        'search_issues',
        { query: 'is:open label:bug', page: n, per_page: 2 },
        JSON.stringify({
          total_count: 31,
          items: [
            { number: 900 - n * 2, title: word(n, 9) },
            { number: 899 - n * 2, title: word(n + 40, 9) },
          ],
        }),
      ),
    ),
  ),
  work(
    'terraform-imports',
    rounds(12, (n) =>
      ok(
        'run_shell_command',
        { command: `terraform import aws_s3_bucket.${moduleOf(n)} shop-${moduleOf(n)}` },
        'Import successful!\n\nThe resources that were imported are shown above. These resources are now in\nyour Terraform state and will henceforth be managed by Terraform.',
      ),
    ),
  ),
  work(
    'build-after-each-edit',
    rounds(9, (n) => [
      ok(
        'apply_patch',
        {
          input: `*** Begin Patch\n*** Update File: src/${moduleOf(n)}.css\n+.${moduleOf(n)} { gap: ${n}px }\n*** End Patch`,
        },
        `Success. Updated the following files:\nM src/${moduleOf(n)}.css`,
      ),
      ok(
        'exec_command',
        { cmd: 'npm run build' },
        'vite v7 building for production...\n✓ built in 1.2s',
      ),
      ok('exec_command', { cmd: 'git push' }, 'Everything up-to-date'),
    ]),
  ),
]
