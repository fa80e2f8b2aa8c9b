// Loops that vary, in the tools and results of Claude Code, Codex, OpenCode, Cursor and Gemini CLI. The
// expectations were written before the first run, which found 24 of the 30.

import type { Scenario, Step } from '../../../apps/replay/judge/scenario.ts'
import { failed, loop, ok, rounds, word } from './trace.ts'

const remarks = [
  'Now I verify the deployment',
  'The deployment is being verified',
  'Continuing the verification',
  'Verification goes on',
  'I check the deployment next',
  'Next the deployment is checked',
  'Proceeding with the check',
  'The check proceeds',
  'Almost there',
  'Finishing the check',
  'One more look',
  'Done with the look',
]
const topics = [
  'kafka lag spike',
  'consumer rebalance storm',
  'broker disk full',
  'isr shrink',
  'leader epoch',
  'log compaction',
  'quota throttle',
  'rack awareness',
  'fetch latency',
  'producer fence',
  'txn timeout',
  'acl deny',
  'kraft quorum',
  'tiered storage',
  'mirror maker',
  'schema drift',
  'dead letter',
]
const laps: [id: string, lapOf: (n: number) => Step[]][] = [
  [
    'device',
    (n: number) => [
      ok(
        'http_post',
        { url: 'https://id.example.com/device/code', body: 'client_id=cli' },
        JSON.stringify({
          device_code: word(n, 32),
          user_code: word(n, 8).toUpperCase(),
          verification_uri: 'https://id.example.com/device',
          interval: 5,
        }),
      ),
      failed(
        'http_post',
        {
          url: 'https://id.example.com/token',
          body: `grant_type=device&device_code=${word(n, 32)}`,
        },
        '400 {"error":"expired_token"}',
      ),
    ],
  ],
  [
    'presigned',
    (n: number) => [
      ok(
        'storage_sign',
        { bucket: 'logs', key: 'a.gz' },
        `https://s3.example.com/logs/a.gz?X-Amz-Date=20261130T0${n % 10}0000Z&X-Amz-Signature=${word(n, 64)}&X-Amz-Expires=300`,
      ),
      ok(
        'http_get',
        {
          url: `https://s3.example.com/logs/a.gz?X-Amz-Date=20261130T0${n % 10}0000Z&X-Amz-Signature=${word(n, 64)}&X-Amz-Expires=300`,
        },
        '<Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>',
      ),
    ],
  ],
  [
    'csrf',
    (n: number) => [
      ok(
        'WebFetch',
        { url: 'https://app.example.com/login', prompt: 'the form' },
        `<form action="/login"><input name="csrf_token" value="${word(n, 24)}"><input name="user"></form>`,
      ),
      ok(
        'Bash',
        {
          command: `curl -s -X POST https://app.example.com/login -d 'user=a&csrf_token=${word(n, 24)}'`,
        },
        '<p>Login failed. Try again.</p>',
      ),
    ],
  ],
  [
    'devserver',
    (n: number) => [
      ok(
        'run_terminal_cmd',
        { command: 'npm run dev', is_background: true },
        `> vite\n  Local:   http://localhost:${5173 + n}/\n  ready in 312 ms`,
      ),
      ok('browser_navigate', { url: `http://localhost:${5173 + n}/` }, 'Blank page. No elements.'),
    ],
  ],
  [
    'tunnel',
    (n: number) => [
      ok(
        'Bash',
        { command: 'ngrok http 3000 --log stdout &' },
        `started tunnel url=https://${word(n, 12)}.ngrok-free.app`,
      ),
      ok(
        'WebFetch',
        { url: `https://${word(n, 12)}.ngrok-free.app/health`, prompt: 'status' },
        'ERR_NGROK_3200: The endpoint is offline.',
      ),
    ],
  ],
  [
    'nonce',
    (n: number) => [
      ok('mcp__wallet__get_nonce', { address: '0xabc' }, `{"nonce":"${word(n, 16)}"}`),
      ok('mcp__wallet__sign_in', { nonce: word(n, 16) }, '{"ok":true,"session":null}'),
    ],
  ],
]

export const hostLoops: Scenario[] = [
  // the echo of itself
  loop(
    'host-echo-codex-array',
    'the result has only the words of the call',
    rounds(12, (n) =>
      ok(
        'shell',
        { command: ['bash', '-lc', `echo "${remarks[n - 1] ?? ''}"`], workdir: '/repo' },
        JSON.stringify({
          output: `${remarks[n - 1] ?? ''}\n`,
          metadata: { exit_code: 0, duration_seconds: 0.1 },
        }),
      ),
    ),
  ),
  loop(
    'host-echo-codex-exec',
    'the result has only the words of the call',
    rounds(12, (n) =>
      ok(
        'exec_command',
        { cmd: `echo 'progress ${n}/12'`, yield_time_ms: 1000 },
        `Chunk ID: ${word(n, 6)}\nWall time: 0.05${n} seconds\nProcess exited with code 0\nOutput:\nprogress ${n}/12\n`,
      ),
    ),
  ),
  loop(
    'host-echo-gemini',
    'the result has only the words of the call',
    rounds(12, (n) =>
      ok(
        'run_shell_command',
        { command: `echo "${remarks[n - 1] ?? ''}"`, description: `Print note ${n}` },
        `Command: echo "${remarks[n - 1] ?? ''}"\nDirectory: (root)\nStdout: ${remarks[n - 1] ?? ''}\nStderr: (empty)\nError: (none)\nExit Code: 0\nSignal: (none)\nBackground PIDs: (none)\nProcess Group PGID: ${4000 + n * 7}`,
      ),
    ),
  ),
  loop(
    'host-echo-opencode',
    'the result has only the words of the call',
    rounds(12, (n) =>
      ok(
        'bash',
        { command: `echo "=== ${remarks[n - 1] ?? ''} ==="`, description: 'Print separator' },
        `=== ${remarks[n - 1] ?? ''} ===\n`,
      ),
    ),
  ),
  loop(
    'host-echo-true-comment',
    'the result has only the words of the call',
    rounds(12, (n) =>
      ok('Bash', { command: `true # ${remarks[n - 1] ?? ''}`, description: 'noop' }, ''),
    ),
  ),
  loop(
    'host-echo-cat-heredoc',
    'the result has only the words of the call',
    rounds(12, (n) =>
      ok(
        'Bash',
        {
          command: `cat <<'EOF'\nStep ${n}: ${remarks[n - 1] ?? ''}\nEOF`,
          description: 'Show summary',
        },
        `Step ${n}: ${remarks[n - 1] ?? ''}`,
      ),
    ),
  ),
  loop(
    'host-echo-semicolon',
    'the result has only the words of the call',
    rounds(12, (n) =>
      ok(
        'run_terminal_cmd',
        {
          command: `echo "part ${n}"; echo "done ${n}"`,
          is_background: false,
          explanation: 'mark',
        },
        `part ${n}\ndone ${n}\n`,
      ),
    ),
  ),
  // the lap with new states
  ...laps.map(([id, lapOf]) =>
    loop(
      `host-lap-${id}`,
      'only states, ports and hosts that are new in each lap differ',
      rounds(6, lapOf),
    ),
  ),
  // the success that reports a failure
  loop(
    'host-rep-openai-image',
    'each success reports the same failure of the operation',
    rounds(12, (n) =>
      ok(
        'generate_image',
        { prompt: topics[n] ?? '', size: '1024x1024' },
        '{"error":{"code":"billing_hard_limit_reached","message":"Billing hard limit has been reached"}}',
      ),
    ),
  ),
  loop(
    'host-rep-http200',
    'each success reports the same failure of the operation',
    rounds(12, (n) =>
      ok(
        'mcp__crm__create_contact',
        { name: topics[n] ?? '', email: `${word(n, 5)}@example.com` },
        '{"success":false,"message":"License expired for this workspace"}',
      ),
    ),
  ),
  loop(
    'host-rep-curl-401',
    'each success reports the same failure of the operation',
    rounds(12, (n) =>
      ok(
        'Bash',
        {
          command: `curl -s https://api.example.com/v2/search?q=${encodeURIComponent(topics[n] ?? '')}`,
        },
        '{"status":401,"error":"Unauthorized","message":"Token has been revoked"}',
      ),
    ),
  ),
  loop(
    'host-rep-slack',
    'each success reports the same failure of the operation',
    rounds(12, (n) =>
      ok(
        'slack_post_message',
        { channel: '#ops', text: topics[n] ?? '' },
        '{"ok":false,"error":"channel_not_found"}',
      ),
    ),
  ),
  loop(
    'host-rep-sql-denied',
    'each success reports the same failure of the operation',
    rounds(12, (n) =>
      ok(
        'query_database',
        { sql: `INSERT INTO notes VALUES ('${topics[n] ?? ''}')` },
        'ERROR: permission denied for table notes',
      ),
    ),
  ),
  loop(
    'host-rep-quota-line',
    'each success reports the same failure of the operation',
    rounds(12, (n) =>
      ok(
        'translate_text',
        { text: topics[n] ?? '', target: 'de' },
        'Quota exceeded: 0 of 500000 characters left this month',
      ),
    ),
  ),
  loop(
    'host-rep-mcp-iserror-text',
    'each success reports the same failure of the operation',
    rounds(12, (n) =>
      ok(
        'mcp__jira__create_issue',
        { summary: topics[n] ?? '', project: 'OPS' },
        'Error: You do not have permission to create issues in this project.',
      ),
    ),
  ),
  // the same change again
  loop(
    'host-same-claude-edit',
    'the same text is written into the same place again',
    rounds(12, (n) =>
      ok(
        'Edit',
        { file_path: '/repo/a.ts', old_string: 'let x = 1', new_string: 'let x = 2' },
        `The file /repo/a.ts has been updated. ${n % 2 ? 'Here is the snippet' : 'Snippet'} ${n}`,
      ),
    ),
  ),
  loop(
    'host-same-opencode-write',
    'the same text is written into the same place again',
    rounds(12, (n) =>
      ok(
        'write',
        { filePath: '/repo/b.md', content: '# Title\n' },
        `Wrote file successfully. version ${n}`,
      ),
    ),
  ),
  loop(
    'host-same-gemini-replace',
    'the same text is written into the same place again',
    rounds(12, (n) =>
      ok(
        'replace',
        {
          file_path: '/repo/c.py',
          instruction: 'Fix import',
          old_string: 'import a',
          new_string: 'import b',
        },
        `Successfully modified file: /repo/c.py (${n} replacements).`,
      ),
    ),
  ),
  loop(
    'host-same-cursor',
    'the same text is written into the same place again',
    rounds(12, (n) =>
      ok(
        'edit_file',
        {
          target_file: 'src/d.ts',
          instructions: 'Add the null check',
          code_edit: '// ...\nif (x == null) return\n// ...',
        },
        `The apply model made the following changes:\n@@ -${n},1 +${n},2 @@`,
      ),
    ),
  ),
  loop(
    'host-same-codex-patch',
    'the same text is written into the same place again',
    rounds(12, (n) =>
      ok(
        'apply_patch',
        { input: '*** Begin Patch\n*** Update File: e.txt\n@@\n+line\n*** End Patch' },
        `Success. Updated the following files:\nM e.txt\n(${n})`,
      ),
    ),
  ),
  loop(
    'host-same-append',
    'the same text is written into the same place again',
    rounds(12, (n) =>
      ok(
        'Bash',
        { command: "echo 'export PATH=$HOME/bin:$PATH' >> ~/.bashrc && tail -3 ~/.bashrc" },
        `line ${n}\nexport PATH=$HOME/bin:$PATH\nexport PATH=$HOME/bin:$PATH`,
      ),
    ),
  ),
  // the page that refuses
  loop(
    'host-page-cloudflare',
    'each query has the same long answer',
    rounds(16, (n) =>
      ok(
        'browser_search',
        { query: topics[n % topics.length] ?? '' },
        'Just a moment... Enable JavaScript and cookies to continue. Verifying you are human. This may take a few seconds.',
      ),
    ),
    16,
  ),
  loop(
    'host-page-ddg',
    'each query has the same long answer',
    rounds(16, (n) =>
      ok(
        'serp_lookup',
        { q: topics[n % topics.length] ?? '', num: 10 },
        'Unfortunately, bots use DuckDuckGo too. Please complete the following challenge to confirm this search was made by a human.',
      ),
    ),
    16,
  ),
  loop(
    'host-page-mcp',
    'each query has the same long answer',
    rounds(16, (n) =>
      ok(
        'mcp__docs__ask',
        { question: topics[n % topics.length] ?? '' },
        'I am unable to answer this at the moment. Please rephrase the question and try again with more details.',
      ),
    ),
    16,
  ),
  loop(
    'host-page-firecrawl',
    'each query has the same long answer',
    rounds(16, (n) =>
      ok(
        'firecrawl_scrape',
        {
          url: `https://news.example.com/${(topics[n % topics.length] ?? '').replaceAll(' ', '-')}`,
        },
        'Access to this page has been denied because we believe you are using automation tools to browse the website. Reference ID: #abc',
      ),
    ),
    16,
  ),
]
