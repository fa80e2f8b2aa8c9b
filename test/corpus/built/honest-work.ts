// Honest work that looks like the loops of varied-loops.ts. The expectations were written before the
// rules. A family has one kind of work on several hosts and in several sizes.

import type { Scenario, Step } from '../../../apps/replay/judge/scenario.ts'
import { failed, honest, ok, rounds, turnOf, word } from './trace.ts'

/** A trace for each variant. `stepsOf` has its number from 1. */
function family<Variant>(
  id: string,
  reason: string,
  variants: readonly Variant[],
  stepsOf: (variant: Variant, n: number) => Step[],
): Scenario[] {
  return variants.map((variant, index) =>
    honest(`${id}-${index + 1}`, reason, stepsOf(variant, index + 1)),
  )
}

const queries = [
  'lag',
  'offset',
  'fence',
  'join',
  'epoch',
  'range',
  'quota',
  'rack',
  'poll',
  'commit',
  'leader',
  'replica',
  'retry',
  'batch',
  'codec',
  'index',
  'segment',
]
const topics = ['a late commit', 'a full disk', 'two clocks', 'a slow broker', 'a lost lease']

const shells = ['Bash', 'shell', 'run_terminal_cmd', 'exec_command', 'execute_command']

const retries = [
  ...family(
    'retry-growing-waits',
    'The waits grow, and the service recovers.',
    [3, 5, 7, 8, 9] as const,
    (count, n) => [
      ...rounds(count, (at) => [
        failed(
          'http_get',
          { url: `https://api.example.com/v1/items/${n}` },
          '503 Service Unavailable',
        ),
        ok('Bash', { command: `sleep ${2 ** Math.min(at, 6)}` }, ''),
      ]),
      ok('http_get', { url: `https://api.example.com/v1/items/${n}` }, '{"items":[1,2,3]}'),
    ],
  ),
  ...family(
    'retry-reported-503',
    'A success reports a failure that clears after some tries.',
    [
      ['fetch_page', 'HTTP 503 Service Unavailable'],
      ['query_api', '{"status":429,"message":"Too Many Requests"}'],
      ['call_service', '{"error":"overloaded, try again later"}'],
      ['load_feed', 'Error: upstream timed out'],
      ['push_metrics', '{"success":false,"error":"temporarily unavailable"}'],
      ['sync_calendar', '{"ok":false,"error":"rate limited"}'],
    ] as const,
    ([tool, text], n) => [
      ...rounds(3 + n, (at) => [
        ok(tool, { target: 'main' }, text),
        ok('wait', { seconds: 2 ** at }, `waited ${2 ** at} s`),
      ]),
      ok(tool, { target: 'main' }, '{"status":"ok","rows":12}'),
    ],
  ),
  ...family(
    'retry-each-item',
    'Each item fails once and then works.',
    ['upload_photo', 'send_event', 'convert_file', 'index_page'] as const,
    (tool) =>
      rounds(8, (n) => [
        ok(tool, { item: `item-${n}` }, '{"status":"error","message":"busy"}'),
        ok(tool, { item: `item-${n}` }, `{"status":"ok","id":"${word(n)}"}`),
      ]),
  ),
]

const pagination = [
  ...family(
    'pages-number',
    'Each page has other rows.',
    ['list_orders', 'search_issues', 'get_rows', 'browse', 'api'] as const,
    (tool, v) =>
      rounds(14 + v, (n) =>
        ok(
          tool,
          { page: n, per_page: 2 },
          `{"page":${n},"rows":["${word(n * v)}","${word(n * v + 99)}"]}`,
        ),
      ),
  ),
  ...family(
    'pages-cursor',
    'Each cursor brings other rows.',
    ['list_users', 'slack_history', 'scan_table', 'query'] as const,
    (tool, v) =>
      rounds(12, (n) =>
        ok(
          tool,
          { cursor: n === 1 ? null : word(n - 1, 20) },
          `{"items":["user ${word(n + v, 5)}"],"next_cursor":"${word(n, 20)}"}`,
        ),
      ),
  ),
  ...family(
    'pages-offset',
    'Each window has other numbers.',
    ['read_log', 'sql', 'read_memory', 'dump'] as const,
    (tool, v) =>
      rounds(18, (n) =>
        ok(
          tool,
          { offset: n * 100, limit: 100 },
          `rows ${n * 100}: sum ${n * n * 7 * v}, max ${n * 31}`,
        ),
      ),
  ),
  ...family(
    'pages-signed',
    'Each part has a signed address, and the parts differ.',
    ['upload_part', 'put_chunk', 'download_part'] as const,
    (tool) =>
      rounds(8, (n) => [
        ok(
          'sign_part',
          { part: n },
          `https://b.s3.amazonaws.com/f?partNumber=${n}&X-Amz-Signature=${word(n, 40)}`,
        ),
        ok(
          tool,
          {
            part: n,
            url: `https://b.s3.amazonaws.com/f?partNumber=${n}&X-Amz-Signature=${word(n, 40)}`,
          },
          '200 OK',
        ),
      ]),
  ),
]

const bodies = [
  'return a',
  'return a + 1',
  'return a - b',
  'return b',
  'return a * b',
  'return -a',
  'return a or b',
  'return max(a, b)',
  'return abs(a)',
  'return a + b',
]

const tests = [
  ...family('tdd-same-first-line', 'The code changes between the runs.', shells, (tool) =>
    rounds(10, (n) => [
      ok('edit_file', { path: 'calc.py', new_string: turnOf(bodies, n) }, 'ok'),
      n === 10
        ? ok(tool, { command: 'pytest -q' }, '12 passed in 0.31s')
        : failed(
            tool,
            { command: 'pytest -q' },
            `FAILED test_calc.py::test_add\n${12 - n} passed, ${n} failed`,
          ),
    ]),
  ),
  ...family(
    'tdd-reported',
    'The runner succeeds and reports failed tests, and the code changes.',
    ['run_tests', 'test', 'jest', 'check', 'verify_build'] as const,
    (tool) =>
      rounds(9, (n) => [
        ok('write_file', { path: 'src/calc.ts', content: turnOf(bodies, n) }, 'written'),
        ok(tool, {}, n === 9 ? 'PASS' : 'FAILED: 1 of 12 tests\n  add is wrong'),
      ]),
  ),
  ...family(
    'compile-cycle',
    'Each fix shows the next error.',
    ['cargo', 'tsc', 'go_build', 'gcc'] as const,
    (tool) =>
      rounds(12, (n) => [
        failed(
          tool,
          { target: 'app' },
          `ERRORS:\n  src/part${n}.rs: cannot find value \`x${word(n, 3)}\``,
        ),
        ok('edit_file', { path: `src/part${n}.rs`, new_string: `let x = ${n};` }, 'ok'),
      ]),
  ),
  ...family(
    'heading-before-the-reason',
    'The errors have one heading and other reasons.',
    ['ERRORS:', 'Errors found:', '=== ERRORS ===', 'Error:', 'Build errors:'] as const,
    (heading) =>
      rounds(5, (n) =>
        failed(
          'lint',
          { file: `a${n}.ts` },
          `${heading}\n  ${turnOf(['unused import', 'missing return', 'bad cast', 'dead branch', 'shadowed name'], n)} near ${word(n, 4)}`,
        ),
      ),
  ),
]

const games = [
  ...family(
    'game-guess',
    'Each guess narrows the range.',
    ['guess', 'guess_number', 'submit_guess', 'play'] as const,
    (tool, v) =>
      rounds(9, (n) =>
        ok(
          tool,
          { value: 512 + (n % 2 ? 1 : -1) * (256 >> n) + v },
          n % 2 ? 'Too low.' : 'Too high.',
        ),
      ),
  ),
  ...family(
    'game-adventure',
    'Some moves fail, and the story goes on.',
    ['game_command', 'act', 'do_action', 'zork'] as const,
    (tool) =>
      rounds(14, (n) =>
        ok(
          tool,
          { action: turnOf(['open door', 'take lamp', 'hit troll', 'go north', 'read sign'], n) },
          n % 3 === 0
            ? `You failed to hit the troll. It has ${40 - n} life left.`
            : `You see room ${word(n, 4)}.`,
        ),
      ),
  ),
  ...family(
    'game-board',
    'Each move leads to another board.',
    ['move', 'make_move', 'step', 'press_key'] as const,
    (tool) =>
      rounds(18, (n) =>
        ok(tool, { direction: turnOf(['left', 'down'], n) }, `score ${4 * n * n}\n${word(n, 16)}`),
      ),
  ),
  ...family(
    'game-lockpick',
    'A try by chance succeeds soon.',
    ['pick_lock', 'roll_dice', 'cast_line'] as const,
    (tool) => [
      ...rounds(4, () => ok(tool, { target: 'chest' }, 'Failed: the pin slipped.')),
      ok(tool, { target: 'chest' }, 'The chest opens.'),
    ],
  ),
]

const debuggers = [
  ...family(
    'debugger-step',
    'Each step is at another place.',
    ['gdb', 'lldb_command', 'dap_next', 'pdb'] as const,
    (tool, v) =>
      rounds(20, (n) => ok(tool, { cmd: 'next' }, `${30 * v + n}\t    total += item[${n}]`)),
  ),
  ...family(
    'debugger-memory',
    'Each word of memory is another one.',
    ['x', 'read_word', 'peek_memory'] as const,
    (tool, v) => rounds(18, (n) => ok(tool, { address: 4096 + 8 * n }, `${n * n * 977 * v}`)),
  ),
  ...family(
    'repl',
    'Each line has another value.',
    ['python_repl', 'irb', 'eval_js', 'psql'] as const,
    (tool, v) =>
      rounds(14, (n) =>
        ok(
          tool,
          { input: n % 4 === 0 ? `${n}` : `f(${n})` },
          n % 4 === 0 ? `${n}` : `${n * n + v}`,
        ),
      ),
  ),
  ...family(
    'repl-literals',
    'A few literals come back between real questions.',
    ['python_repl', 'node_repl', 'calc'] as const,
    (tool) =>
      rounds(8, (n) => [
        ok(tool, { code: `"part ${n}"` }, `'part ${n}'`),
        ok(tool, { code: `total(${n})` }, `${n * 17}`),
      ]),
  ),
]

const builds = [
  ...family(
    'poll-build',
    'The build goes on.',
    ['get_build', 'build_status', 'ci_run', 'job'] as const,
    (tool) => [
      ...rounds(12, (n) =>
        ok(
          tool,
          { id: 7 },
          `{"status":"running","step":"${turnOf(['fetch', 'compile', 'link', 'test'], Math.ceil(n / 3))}","percent":${8 * n}}`,
        ),
      ),
      ok(tool, { id: 7 }, '{"status":"failed","step":"test"}'),
    ],
  ),
  ...family(
    'failed-jobs',
    'Each look is at another job, and all of them failed.',
    ['get_job', 'run_status', 'describe_pipeline', 'show_task'] as const,
    (tool) => rounds(9, (n) => ok(tool, { id: 100 + n }, '{"status":"failed"}')),
  ),
  ...family(
    'failed-builds-shell',
    'Each look is at another run, and all of them failed.',
    shells,
    (tool) =>
      rounds(9, (n) =>
        ok(tool, { command: `gh run view ${9000 + n}` }, `failed\n  job ${n}: build`),
      ),
  ),
  ...family(
    'tail-log',
    'The log has new lines that begin with ERROR.',
    ['tail_log', 'Bash', 'read_file'] as const,
    (tool) =>
      rounds(9, (n) =>
        ok(
          tool,
          { path: 'app.log', command: 'tail -1 app.log' },
          `ERROR: ${turnOf(topics, n)} broke the ${turnOf(queries, n)}`,
        ),
      ),
  ),
  ...family(
    'read-documents',
    'Documents begin with words of failure.',
    ['read_file', 'cat', 'Read', 'open_note'] as const,
    (tool) =>
      rounds(9, (n) =>
        ok(tool, { file_path: `docs/errors/${n}.md` }, 'Error: see the page of codes'),
      ),
  ),
]

const edits = [
  ...family(
    'edit-one-file',
    'Each text is another one.',
    ['edit_file', 'write_file', 'str_replace_editor', 'Write'] as const,
    (tool) =>
      rounds(16, (n) =>
        ok(
          tool,
          { path: 'notes.md', content: `# Part ${word(n, 4)}\n${turnOf(bodies, n)}` },
          'The file has been updated.',
        ),
      ),
  ),
  ...family(
    'same-text-many-files',
    'One text goes into many files.',
    ['edit_file', 'write_file', 'append_to_file', 'insert_header'] as const,
    (tool) =>
      rounds(14, (n) =>
        ok(
          tool,
          { path: `src/${word(n, 5)}.ts`, content: '// SPDX-License-Identifier: MIT' },
          `edited, ${10 + n} lines`,
        ),
      ),
  ),
  ...family(
    'separator-between-parts',
    'The separator comes between parts that are new.',
    ['append_to_file', 'insert_text', 'write_line'] as const,
    (tool) =>
      rounds(10, (n) => [
        ok(tool, { path: 'report.md', text: `## Part ${n}\n${word(n, 30)}` }, `${4 * n} lines`),
        ok(tool, { path: 'report.md', text: '---' }, `${4 * n + 1} lines`),
      ]),
  ),
  ...family(
    'toggle-setting',
    'The setting is changed between measurements.',
    ['write_config', 'set_option', 'edit_file'] as const,
    (tool) =>
      rounds(6, (n) => [
        ok(tool, { path: 'app.toml', content: n % 2 ? 'cache = true' : 'cache = false' }, 'ok'),
        ok(
          'bench',
          {},
          `${900 + 7 * n} requests a second, p99 ${20 + 3 * n} ms in run ${word(n, 4)}`,
        ),
      ]),
  ),
  ...family(
    'indentation',
    'Each try has another indentation of the same lines.',
    ['edit_file', 'Edit', 'replace_lines', 'apply_edit'] as const,
    (tool) => [
      ...rounds(3, (n) =>
        failed(
          tool,
          { path: 'a.py', old_string: `${' '.repeat(4 * n)}if x:\n        return y` },
          'The text was found at another indentation only.',
        ),
      ),
      ok(tool, { path: 'a.py', old_string: '\tif x:\n        return y' }, 'edited'),
    ],
  ),
]

const flows = [
  ...family(
    'oauth-proceeds',
    'Each provider is logged in.',
    ['login', 'oauth', 'connect'] as const,
    (tool) =>
      rounds(5, (n) => {
        const provider = turnOf(['github', 'google', 'slack', 'jira', 'notion'], n)
        return [
          ok(
            `${tool}_start`,
            { provider },
            `https://${provider}.example.com/authorize?state=${word(n)}`,
          ),
          ok(
            `${tool}_finish`,
            { provider, code: word(n + 7, 20), state: word(n) },
            '{"connected":true}',
          ),
        ]
      }),
  ),
  ...family(
    'oauth-second-try',
    'The second login succeeds, and the work goes on.',
    ['login', 'oauth', 'sso'] as const,
    (tool) => [
      ...rounds(2, (n) => [
        ok(`${tool}_start`, {}, `https://id.example.com/authorize?state=${word(n)}`),
        ok(`${tool}_finish`, { state: word(n) }, n === 1 ? 'access_denied' : 'logged in as ann'),
      ]),
      ...rounds(6, (n) => ok('list_mail', { folder: `f${n}` }, `mail ${word(n)}`)),
    ],
  ),
  ...family('port-scan', 'Each port is a question.', shells, (tool) =>
    rounds(12, (n) => [ok(tool, { command: `nc -z 10.0.0.5 ${8000 + n}; echo $?` }, '1')]),
  ),
  ...family(
    'services-of-ports',
    'Each pair of looks is about another service.',
    ['check', 'probe', 'inspect'] as const,
    (tool) =>
      rounds(6, (n) => [
        ok(`${tool}_port`, { host: 'db', port: 5000 + n }, 'open'),
        ok(`${tool}_banner`, { host: 'db', port: 5000 + n }, `service ${word(n, 6)}`),
      ]),
  ),
  ...family(
    'product-codes',
    'Each product of the list is looked up and reserved.',
    ['lookup', 'get_stock', 'find_item', 'price'] as const,
    (tool) => [
      ok(
        'list_products',
        {},
        `[${Array.from({ length: 6 }, (_, n) => `{"code":"${word(n + 1, 8)}"}`).join(',')}]`,
      ),
      ...rounds(6, (n) => [
        ok(tool, { code: word(n, 8) }, 'in stock'),
        ok('reserve', { code: word(n, 8) }, 'reserved'),
      ]),
    ],
  ),
  ...family('bisect', 'Each step halves the range.', shells, (tool) =>
    rounds(9, (n) => [
      n % 2
        ? failed(tool, { command: 'make test' }, 'FAILED: 1 test')
        : ok(tool, { command: 'make test' }, 'PASS'),
      ok(
        tool,
        { command: n % 2 ? 'git bisect bad' : 'git bisect good' },
        `Bisecting: ${512 >> n} revisions left to test after this\n[${word(n, 10)}] change ${word(n, 5)}`,
      ),
    ]),
  ),
  ...family(
    'restart-and-replay',
    'After the restart the set-up is played once again, and the work goes on.',
    ['kernel', 'session', 'sandbox', 'browser'] as const,
    (name) => [
      ...rounds(10, (n) => ok('run_cell', { code: `setup_${'abcdefghij'.charAt(n - 1)}` }, 'ok')),
      failed('run_cell', { code: 'train()' }, `the ${name} died`),
      ok(`restart_${name}`, {}, 'restarted'),
      ...rounds(10, (n) => ok('run_cell', { code: `setup_${'abcdefghij'.charAt(n - 1)}` }, 'ok')),
      ...rounds(3, (n) => ok('run_cell', { code: `train(${n})` }, `loss 0.${word(n, 3)}`)),
    ],
  ),
]

const batches = [
  ...family(
    'numbered-creation',
    'Each call makes another object.',
    ['create_user', 'add_task', 'create_branch', 'new_ticket'] as const,
    (tool) => rounds(15, (n) => ok(tool, { name: `item ${n}` }, `created item ${n}`)),
  ),
  ...family(
    'numbered-looks',
    'Each object has another value.',
    ['get_price', 'read_sensor', 'get_score', 'weigh'] as const,
    (tool, v) => rounds(20, (n) => ok(tool, { id: n }, `{"id":${n},"value":${n * 13 + v}}`)),
  ),
  ...family(
    'links',
    'Each link is another page.',
    ['check_link', 'fetch_head', 'get_status_code'] as const,
    (tool) =>
      rounds(12, (n) =>
        ok(
          tool,
          { url: `https://example.com/${word(n, 6)}` },
          n % 3 === 0 ? '{"status":200}' : '{"status":404}',
        ),
      ),
  ),
  ...family(
    'some-fail',
    'Some items of the batch fail, and the others work.',
    ['generate_image', 'render', 'transcribe', 'send_sms'] as const,
    (tool) =>
      rounds(14, (n) =>
        ok(
          tool,
          { item: word(n, 6) },
          n % 2
            ? '{"status":"error","message":"rejected by the filter"}'
            : `{"status":"ok","url":"https://cdn.example.com/${word(n)}"}`,
        ),
      ),
  ),
  ...family('echo-as-separator', 'An echo stands between commands with results.', shells, (tool) =>
    rounds(9, (n) => [
      ok(tool, { command: `echo "== ${n} =="` }, `== ${n} ==`),
      ok(tool, { command: `wc -l src/${word(n, 4)}.ts` }, `${n * 41} src/${word(n, 4)}.ts`),
    ]),
  ),
  ...family('echo-a-few', 'A few messages to the user are no loop.', shells, (tool) =>
    rounds(4, (n) => ok(tool, { command: `echo "Step ${n} of 4"` }, `Step ${n} of 4`)),
  ),
  ...family('echo-of-a-variable', 'The echo reads the machine.', shells, (tool) =>
    rounds(10, (n) =>
      ok(
        tool,
        {
          command: `echo $${turnOf(['HOME', 'PATH', 'SHELL', 'LANG', 'TERM', 'EDITOR', 'PWD', 'USER', 'HOST', 'TZ'], n)}`,
        },
        `/${word(n, 7)}`,
      ),
    ),
  ),
  ...family(
    'thoughts',
    'Each thought is another one.',
    ['think', 'sequentialthinking', 'note_thought'] as const,
    (tool) =>
      rounds(12, (n) =>
        ok(
          tool,
          { thought: `The ${turnOf(queries, n)} may be the cause because of ${turnOf(topics, n)}` },
          tool === 'think'
            ? ''
            : `{"thoughtNumber":${n},"totalThoughts":12,"nextThoughtNeeded":true}`,
        ),
      ),
  ),
  ...family(
    'searches',
    'Each query has other results.',
    ['serp', 'web', 'browser', 'tavily'] as const,
    (tool, v) =>
      rounds(17, (n) =>
        ok(
          tool,
          { q: `${turnOf(queries, n)} ${n}` },
          `1. ${word(n * v, 9)} explains how the ${turnOf(queries, n)} of a consumer group is found\n2. ${word(n + v, 9)}`,
        ),
      ),
  ),
  ...family(
    'answers-of-a-linter',
    'Each file is another one, and all of them are fine.',
    ['ruff', 'eslint_file', 'shellcheck'] as const,
    (tool) =>
      rounds(15, (n) =>
        ok(
          tool,
          { path: `src/${word(n, 6)}.py` },
          'All checks passed! The file has no finding of any enabled rule in this project.',
        ),
      ),
  ),
]

export const honestWork: Scenario[] = [
  ...retries,
  ...pagination,
  ...tests,
  ...games,
  ...debuggers,
  ...builds,
  ...edits,
  ...flows,
  ...batches,
]
