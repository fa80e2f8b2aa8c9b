// Honest work of coding agents in Claude Code, Codex, OpenCode and Copilot: tests first, formatters,
// hooks, checks after each edit, debuggers, bisections. The expectations were written before the first
// run, in which 34 of 35 were right.

import type { Scenario } from '../../../../apps/replay/judge/scenario.ts'
import { failed, ok, rounds, turnOf, word } from '../trace.ts'
import { after, bash, bashFailed, codexResult, exec, execFailed, work } from './session.ts'

const areas =
  'auth cart mail search stock audit order coupon invoice report export import billing tax refund label'.split(
    ' ',
  )
const a = (n: number) => turnOf(areas, n)
const edited = (path: string) =>
  `The file ${path} has been updated. Here's the result of running \`cat -n\` on a snippet of the edited file:`
const edit = (path: string, from: string, to: string) =>
  ok(
    'Edit',
    { file_path: path, old_string: from, new_string: to },
    `${edited(path)}\n     1\t${to}`,
  )
const lines = (from: number, count: number) =>
  Array.from(
    { length: count },
    (_, at) => `${String(from + at).padStart(6)}\tconst ${word(from + at, 6)} = ${from + at}`,
  ).join('\n')

export const agentsWork: Scenario[] = [
  work(
    'tests-first',
    rounds(10, (n) => [
      edit(
        `/app/test/${a(n)}.test.ts`,
        '})',
        `it('handles ${a(n)}', () => expect(${a(n)}(${n})).toBe(${n * 2}))`,
      ),
      bashFailed(
        `npm test -- ${a(n)}`,
        `● handles ${a(n)}\n\n    TypeError: ${a(n)} is not a function\n\nTests: 1 failed, ${n} passed`,
      ),
      edit(`/app/src/${a(n)}.ts`, '', `export const ${a(n)} = (x: number) => x * 2`),
      bash(
        `npm test -- ${a(n)}`,
        `PASS test/${a(n)}.test.ts\nTests: ${n + 1} passed, ${n + 1} total`,
      ),
    ]),
  ),
  work(
    'one-test-file-that-grows',
    rounds(12, (n) => [
      edit(
        '/app/test/parse.test.ts',
        `// case ${n}`,
        `it('reads ${word(n, 6)}', () => expect(parse('${word(n, 4)}')).toEqual(${n}))\n// case ${n + 1}`,
      ),
      n % 2 === 0
        ? bashFailed(
            'npm test',
            `● parse › reads ${word(n, 6)}\n\n    Expected: ${n}\n    Received: undefined\n\nTests: 1 failed, ${n} passed`,
          )
        : bash('npm test', `Tests: ${n + 1} passed, ${n + 1} total\nTime: 0.${n}12 s`),
      edit(
        '/app/src/parse.ts',
        `// rule ${n}`,
        `if (text === '${word(n, 4)}') return ${n}\n// rule ${n + 1}`,
      ),
      bash('npm test', `Tests: ${n + 1} passed, ${n + 1} total\nTime: 0.${n}34 s`),
    ]),
  ),
  work(
    'hook-that-formats',
    rounds(14, (n) =>
      ok(
        'Edit',
        {
          file_path: '/app/src/view.ts',
          old_string: `const a${n} = old`,
          new_string: `const a${n}=fresh( ${n} )`,
        },
        'The file /app/src/view.ts has been updated successfully. Note: a PostToolUse hook (prettier) has changed the file.',
      ),
    ),
  ),
  work(
    'formatter-after-each-edit',
    rounds(12, (n) => [
      edit('/app/src/view.ts', `const b${n} = old`, `const b${n} = fresh(${n})`),
      bash('npx prettier --write src/view.ts', `src/view.ts ${40 + (n % 4)}ms`),
      bash('npx tsc --noEmit', ''),
    ]),
  ),
  work(
    'formatter-that-finds-nothing',
    rounds(9, (n) => [
      edit(`/app/src/${a(n)}.py`, `x${n}`, `y${n}`),
      bash(
        'ruff format . && ruff check .',
        `${turnOf(['1 file reformatted, 212 files left unchanged', '213 files left unchanged'], n)}\nAll checks passed!`,
      ),
    ]),
  ),
  work(
    'hook-that-reports',
    rounds(8, (n) => [
      edit('/app/src/model.ts', `field${n}: any`, `field${n}: string`),
      ok('Read', { file_path: '/app/src/model.ts' }, lines(n * 3, 12)),
      bash(
        'npx eslint src/model.ts',
        n < 8
          ? `/app/src/model.ts\n  ${n + 1}:12  error  Unexpected any. Specify a different type  @typescript-eslint/no-explicit-any\n\n✖ ${8 - n} problems`
          : '',
      ),
    ]),
  ),
  work('bug-with-three-tries', [
    bashFailed(
      'npm test -- date',
      '● formats the date\n\n    Expected: "2026-01-01"\n    Received: "2025-12-31"',
    ),
    ok('Read', { file_path: '/app/src/date.ts' }, lines(1, 20)),
    edit('/app/src/date.ts', 'getDate()', 'getUTCDate()'),
    bashFailed(
      'npm test -- date',
      '● formats the date\n\n    Expected: "2026-01-01"\n    Received: "2025-12-31"',
    ),
    edit('/app/src/date.ts', 'getMonth()', 'getUTCMonth()'),
    bashFailed(
      'npm test -- date',
      '● formats the date\n\n    Expected: "2026-01-01"\n    Received: "2025-01-01"',
    ),
    edit('/app/src/date.ts', 'getFullYear()', 'getUTCFullYear()'),
    bash('npm test -- date', 'Tests: 6 passed, 6 total'),
  ]),
  work(
    'a-long-file-in-parts',
    rounds(16, (n) =>
      ok(
        'Read',
        { file_path: '/app/src/generated.ts', offset: 1 + (n - 1) * 200, limit: 200 },
        lines(1 + (n - 1) * 200, 30),
      ),
    ),
  ),
  work(
    'names-that-nobody-uses',
    rounds(15, (n) =>
      ok(
        'Grep',
        { pattern: `\\b${a(n)}Legacy${n}\\b`, path: '/app/src', output_mode: 'files_with_matches' },
        'No files found',
      ),
    ),
  ),
  work('server-that-logs', [
    ok(
      'Bash',
      { command: 'npm run dev', run_in_background: true },
      'Command running in background with ID: b1',
    ),
    ...rounds(8, (n) =>
      after(
        15,
        ok(
          'BashOutput',
          { bash_id: 'b1' },
          `<status>running</status>\n\n<stdout>\nGET /${a(n)} 200 ${n * 7}ms\n</stdout>\n\n<timestamp>2026-11-20T10:0${n}:00.000Z</timestamp>`,
        ),
      ),
    ),
  ]),
  work('build-in-silence', [
    ok(
      'Bash',
      { command: 'make image', run_in_background: true },
      'Command running in background with ID: b7',
    ),
    ...rounds(14, (n) => [
      after(45, bash('sleep 45', '')),
      ok(
        'BashOutput',
        { bash_id: 'b7' },
        `<status>${n < 14 ? 'running' : 'completed'}</status>\n\n<timestamp>2026-11-20T10:${10 + n}:00.000Z</timestamp>${n < 14 ? '' : '\n<exit_code>0</exit_code>\n<stdout>\nbuilt image 8f3a\n</stdout>'}`,
      ),
    ]),
  ]),
  work(
    'tests-by-file',
    rounds(14, (n) =>
      bash(
        `npx jest src/${a(n)}.test.ts`,
        'Test Suites: 1 passed, 1 total\nTests:       4 passed, 4 total\nSnapshots:   0 total',
      ),
    ),
  ),
  work(
    'commits-one-by-one',
    rounds(10, (n) => [
      bash(`git add src/${a(n)}.ts`, ''),
      bash(
        `git commit -m "${a(n)}: check the input"`,
        `[main ${word(n, 7)}] ${a(n)}: check the input\n 1 file changed, ${n} insertions(+)`,
      ),
    ]),
  ),
  work('bisection', [
    bash('git bisect start HEAD v3.1', 'status: waiting for good commit(s), bad commit known'),
    ...rounds(9, (n) => [
      n % 3 === 0
        ? bashFailed('npm test -- login', '● logs in\n\n    Expected: 200\n    Received: 500')
        : bash('npm test -- login', 'Tests: 3 passed, 3 total'),
      bash(
        `git bisect ${n % 3 === 0 ? 'bad' : 'good'}`,
        `Bisecting: ${Math.floor(256 / 2 ** n)} revisions left to test after this (roughly ${9 - n} steps)\n[${word(n, 40)}] ${a(n)}: change ${n}`,
      ),
    ]),
  ]),
  work(
    'tasks-for-agents',
    rounds(9, (n) =>
      ok(
        'Task',
        {
          description: `Explore ${a(n)}`,
          subagent_type: 'Explore',
          prompt: `Describe how ${a(n)} reads its settings.`,
        },
        `The module src/${a(n)}/index.ts reads ${a(n).toUpperCase()}_URL and ${n} more variables.\nagentId: ${word(n, 8)}`,
      ),
    ),
    80,
  ),
  work(
    'todos-that-get-done',
    rounds(10, (n) => [
      ok(
        'TodoWrite',
        {
          todos: areas.slice(0, 10).map((name, at) => ({
            content: `Migrate ${name}`,
            status: at < n - 1 ? 'completed' : at === n - 1 ? 'in_progress' : 'pending',
            activeForm: `Migrating ${name}`,
          })),
        },
        'Todos have been modified successfully.',
      ),
      edit(`/app/src/${a(n)}.ts`, 'require(', 'import('),
    ]),
  ),
  work('suite-against-chance', [
    ...rounds(4, (n) => bash('npm run e2e', `  18 passed (${20 + n}.${n}s)`)),
    edit('/app/e2e/login.spec.ts', 'waitForTimeout(100)', "waitForURL('/home')"),
    ...rounds(4, (n) => bash('npm run e2e', `  18 passed (${21 + n}.${n}s)`)),
  ]),
  work(
    'measurements',
    rounds(9, (n) => [
      edit('/app/src/hash.ts', `size = ${n * 64}`, `size = ${n * 64 + 64}`),
      bash(
        'node bench/hash.js',
        `hash x ${(1_200_000 + ((n * 7919) % 90_000)).toLocaleString('en')} ops/sec ±0.${n}%`,
      ),
    ]),
  ),
  // Codex
  work(
    'plan-that-goes-on',
    rounds(8, (n) => [
      ok(
        'update_plan',
        {
          plan: areas.slice(0, 8).map((name, at) => ({
            step: `Port ${name}`,
            status: at < n - 1 ? 'completed' : at === n - 1 ? 'in_progress' : 'pending',
          })),
        },
        'Plan updated',
      ),
      ok(
        'apply_patch',
        {
          input: `*** Begin Patch\n*** Update File: ${a(n)}.py\n@@\n-old\n+new_${n}\n*** End Patch`,
        },
        `Success. Updated the following files:\nM ${a(n)}.py`,
      ),
      exec(`python -m pytest -q test_${a(n)}.py`, `....\n4 passed in 0.${n}s`, 0.4 + n / 50),
    ]),
  ),
  work('build-with-percent', [
    ok(
      'exec_command',
      { cmd: 'cmake --build build', yield_time_ms: 10_000 },
      'Wall time: 10.0 seconds\nProcess running with session ID 71\nOutput:\n[  4%] Building CXX object a.o',
    ),
    ...rounds(15, (n) =>
      after(
        10,
        ok(
          'write_stdin',
          { session_id: 71, chars: '', yield_time_ms: 10_000 },
          `Wall time: 10.00${n} seconds\nProcess ${n < 15 ? 'running with session ID 71' : 'exited with code 0'}\nOutput:\n[ ${4 + n * 6}%] Building CXX object ${word(n, 5)}.o`,
        ),
      ),
    ),
  ]),
  work('training-in-silence', [
    ok(
      'exec_command',
      { cmd: 'python train.py', yield_time_ms: 30_000 },
      'Wall time: 30.0 seconds\nProcess running with session ID 9\nOutput:\n',
    ),
    ...rounds(16, (n) =>
      after(
        30,
        ok(
          'write_stdin',
          { session_id: 9, chars: '', yield_time_ms: 30_000 },
          `Wall time: 30.00${n} seconds\nProcess ${n < 16 ? 'running with session ID 9' : 'exited with code 0'}\nOutput:\n${n < 16 ? '' : 'loss 0.12'}`,
        ),
      ),
    ),
  ]),
  work(
    'fewer-errors-each-time',
    rounds(9, (n) => [
      ok(
        'apply_patch',
        {
          input: `*** Begin Patch\n*** Update File: src/m${n}.rs\n@@\n-fn a()\n+fn a() -> u${n}\n*** End Patch`,
        },
        `Success. Updated the following files:\nM src/m${n}.rs`,
      ),
      execFailed(
        'cargo check',
        `error[E0308]: mismatched types\n --> src/m${n + 1}.rs:${n * 11}:5\n  |\n  = note: expected \`u8\`, found \`()\`\n\nerror: could not compile \`app\` due to ${10 - n} previous errors`,
        1 + n / 10,
      ),
    ]),
  ),
  work(
    'first-error-stays',
    rounds(5, (n) => [
      ok(
        'apply_patch',
        {
          input: `*** Begin Patch\n*** Update File: src/${a(n)}.ts\n@@\n-x\n+y${n}\n*** End Patch`,
        },
        'Success',
      ),
      execFailed(
        'npx tsc --noEmit',
        `src/index.ts(3,10): error TS2305: Module './types' has no exported member 'Id'.\n${Array.from({ length: 6 - n }, (_, at) => `src/${a(n + at + 1)}.ts(${at + 4},2): error TS2322: Type 'string' is not assignable to type 'number'.`).join('\n')}`,
        1,
      ),
    ]),
  ),
  work(
    'debugger-steps',
    [
      ok(
        'exec_command',
        { cmd: 'python -m pdb app.py', yield_time_ms: 1000 },
        codexResult(0, '> /repo/app.py(1)<module>()\n-> import os\n(Pdb) ', 1),
      ),
      ...rounds(18, (n) =>
        ok(
          'write_stdin',
          {
            session_id: 3,
            chars: turnOf(['n\n', 'n\n', 'n\n', 'p total\n'], n),
            yield_time_ms: 500,
          },
          `Process running with session ID 3\nOutput:\n${n % 4 === 0 ? `${n * 17}` : `> /repo/app.py(${n + 1})<module>()\n-> total += items[${n}]`}\n(Pdb) `,
        ),
      ),
    ],
    3,
  ),
  work(
    'debugger-in-a-loop',
    [
      bash('gdb -batch -ex run ./a.out', 'Breakpoint 1, main () at a.c:8'),
      ...rounds(14, (n) =>
        ok(
          'gdb_command',
          { command: 'next' },
          turnOf(
            [`8\t  for (i = 0; i < n; i++) {  // i = ${n}`, '9\t    sum += v[i];', '10\t  }'],
            n,
          ),
        ),
      ),
      ok('gdb_command', { command: 'print sum' }, '$1 = 4711'),
    ],
    3,
  ),
  work(
    'probes-after-deploys',
    rounds(10, (n) => [
      exec(`./deploy.sh ${a(n)}`, `deployed ${a(n)} as ${word(n, 8)}`, 12),
      exec(`curl -s localhost:8080/health`, '{"status":"ok"}', 0.1),
    ]),
  ),
  work(
    'lint-by-package',
    rounds(12, (n) => exec(`npm run -s lint -w packages/${a(n)}`, '', 1.2 + n / 70)),
  ),
  work(
    'lint-findings-alike',
    rounds(9, (n) => [
      execFailed(
        `npx eslint packages/${a(n)}/index.ts`,
        `/repo/packages/${a(n)}/index.ts\n  ${n * 3}:7  error  'x' is never reassigned. Use 'const' instead  prefer-const\n\n✖ 1 problem (1 error, 0 warnings)`,
        1,
      ),
      ok(
        'apply_patch',
        {
          input: `*** Begin Patch\n*** Update File: packages/${a(n)}/index.ts\n@@\n-let x\n+const x\n*** End Patch`,
        },
        'Success',
      ),
    ]),
  ),
  work(
    'migrations',
    rounds(12, (n) =>
      exec(
        'alembic upgrade +1',
        `INFO  [alembic.runtime.migration] Running upgrade ${word(n, 12)} -> ${word(n + 1, 12)}, add ${a(n)}`,
        0.8,
      ),
    ),
  ),
  // OpenCode, Copilot
  work(
    'diagnostics-until-fixed',
    rounds(5, (n) =>
      ok(
        'edit',
        { filePath: '/repo/src/app.tsx', oldString: `<A${n}/>`, newString: `<B${n}/>` },
        n < 5
          ? "\nThis file has errors, please fix\n<file_diagnostics>\nERROR [3:10] Cannot find name 'B'.\n</file_diagnostics>"
          : '',
      ),
    ),
  ),
  work(
    'text-found-at-the-second-try',
    rounds(5, (n) => [
      failed(
        'edit',
        { filePath: `/repo/src/${a(n)}.ts`, oldString: `  ${a(n)}()`, newString: `${a(n)}(1)` },
        'Error: oldString not found in content',
      ),
      ok('read', { filePath: `/repo/src/${a(n)}.ts` }, `<file>\n00001| \t${a(n)}()\n</file>`),
      ok(
        'edit',
        { filePath: `/repo/src/${a(n)}.ts`, oldString: `\t${a(n)}()`, newString: `\t${a(n)}(1)` },
        '',
      ),
    ]),
  ),
  work(
    'windows-of-many-files',
    rounds(24, (n) =>
      ok(
        'read_file',
        { filePath: `/ws/src/${a(n)}${n > 16 ? '-view' : ''}.ts`, startLine: 1, endLine: 80 },
        `\`\`\`typescript\nexport const ${a(n)} = ${n}\n${word(n, 30)}\n\`\`\``,
      ),
    ),
  ),
  work(
    'problems-after-each-edit',
    rounds(13, (n) => [
      ok(
        'replace_string_in_file',
        { filePath: `/ws/src/${a(n)}.ts`, oldString: 'var', newString: 'let' },
        `The following files were successfully edited:\n/ws/src/${a(n)}.ts`,
      ),
      ok('get_errors', { filePaths: [`/ws/src/${a(n)}.ts`] }, 'No errors found.'),
    ]),
  ),
  work(
    'one-file-and-its-problems',
    rounds(11, (n) => [
      ok(
        'replace_string_in_file',
        { filePath: '/ws/src/app.ts', oldString: `v${n}`, newString: `w${n}` },
        'The following files were successfully edited:\n/ws/src/app.ts',
      ),
      ok('get_errors', { filePaths: ['/ws/src/app.ts'] }, 'No errors found.'),
      ok(
        'run_in_terminal',
        { command: 'npm test', explanation: 'Run the tests', isBackground: false },
        'Tests: 31 passed, 31 total',
      ),
    ]),
  ),
  work(
    'notebook',
    rounds(14, (n) =>
      ok(
        'run_notebook_cell',
        { filePath: '/ws/a.ipynb', cellId: `#VSC-${word(n, 8)}` },
        n % 3 === 0 ? 'Cell executed without output' : `   count  mean\n0  ${n * 11}  ${n}.5`,
      ),
    ),
  ),
]
