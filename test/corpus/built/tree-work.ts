// Honest work with children: equal agents on different files, retries, waits with long pauses, and
// reports that differ. The expectations were written before the rules.

import type { Scenario, Step } from '../../../apps/replay/judge/scenario.ts'
import { failed, honest, ok, rounds, turnOf, word } from './trace.ts'

const work = (id: string, steps: (Step | Step[])[]) =>
  honest(`tree-work-${id}`, 'Each child or each look brings the work forward.', steps.flat())
const second = 1_000
const minute = 60 * second
/** The steps, so far apart. */
const apart = (ms: number, steps: (Step | Step[])[]): Step[] =>
  steps.flat().map((step, n) => (step.kind === 'tool' ? { ...step, at: (n + 1) * ms } : step))
/** The steps as one response. */
const together = (turn: number, steps: Step[]): Step[] =>
  steps.map((step) => (step.kind === 'tool' ? { ...step, turn } : step))

const files = ['auth', 'billing', 'cart', 'delivery', 'email', 'feed', 'graph', 'help']
const fileOf = (n: number) => `src/${turnOf(files, n)}.ts`
const task = (prompt: string, report: string) =>
  ok('Task', { description: 'Work', prompt, subagent_type: 'general-purpose' }, report)
const clean = 'No problems found. The file follows the rules of the project in all places.'
const claudeFrame = (n: number) =>
  `\nagentId: a${word(n, 7)} (for resuming)\n<usage>total_tokens: ${9_000 + 371 * n}</usage>`
const launched = (n: number) =>
  `Async agent launched successfully.\nagentId: a${word(n, 7)} (internal ID)\nThe agent is working in the background. You will be notified automatically when it completes.`
const start = (n: number, prompt: string) =>
  ok('Agent', { description: 'Work', prompt, run_in_background: true }, launched(n))
const spawned = (n: number) => JSON.stringify({ agent_id: word(n, 20) })
const next = 'Take the first open item of PLAN.md, do it, and mark it as done.'
const tests = 'Run the tests and report the failures.'
const sleep = (seconds: number) => ok('Bash', { command: `sleep ${seconds}` }, '')
const transient =
  "the agent 'researcher' failed before its task was done: the provider answered 529 overloaded. Do not treat its task as done. Its calls may have taken effect, so check before you repeat any part."

export const treeWork: Scenario[] = [
  work(
    'one-file-each-in-a-row',
    rounds(8, (n) => task(`Review ${fileOf(n)} for errors.`, clean + claudeFrame(n))),
  ),
  work(
    'one-file-each-at-once',
    together(
      1,
      rounds(8, (n) => task(`Review ${fileOf(n)} for errors.`, clean)),
    ),
  ),
  work(
    'one-file-each-in-waves',
    rounds(4, (wave) =>
      together(
        wave,
        rounds(3, (n) =>
          task(`Translate page ${3 * wave + n}.`, `Page ${3 * wave + n} is translated.`),
        ),
      ),
    ),
  ),
  work('equal-reviewers-at-once', [
    together(
      1,
      rounds(5, () => task('Review the change for errors.', 'The change is fine.')),
    ),
    ok('Edit', { file_path: '/r/a.ts', old_string: 'a', new_string: 'b' }, 'updated'),
  ]),
  work(
    'next-item-with-a-name',
    rounds(8, (n) => task(next, `Done: moved the reader into ${fileOf(n)}. Tests pass.`)),
  ),
  work(
    'next-item-with-a-count',
    rounds(10, (n) => task(next, `The item is done. ${10 - n} items are open.`)),
  ),
  work(
    'next-item-and-a-check',
    rounds(8, (n) => [
      task(next, 'The item is done and marked.'),
      ok('Read', { file_path: '/r/PLAN.md' }, `[x] item ${n}\n[ ] item ${n + 1}`),
    ]),
  ),
  work(
    'next-item-and-a-commit',
    rounds(8, (n) => [
      task(next, 'The item is done and marked.'),
      ok('Bash', { command: 'git commit -am step' }, `[main ${word(n, 7)}] step: ${fileOf(n)}`),
    ]),
  ),
  work(
    'tests-after-each-edit',
    rounds(8, (n) => [
      ok(
        'Edit',
        { file_path: `/r/${fileOf(n)}`, old_string: `a${n}`, new_string: `b${n}` },
        'updated',
      ),
      task(tests, 'One test fails: the sum of the invoice is wrong.'),
    ]),
  ),
  work(
    'tests-with-fewer-failures',
    rounds(7, (n) => task(tests, `${8 - n} of 40 tests fail.${claudeFrame(n)}`)),
  ),
  work('tests-four-times-alike', [
    rounds(4, () => task(tests, 'All tests pass.')),
    ok('Bash', { command: 'git push' }, 'pushed'),
  ]),
  work('retry-after-a-failed-child', [
    failed(
      'researcher',
      { task: 'Find the currency.' },
      "the agent 'researcher' failed before its task was done: it returned no text. Do not treat its task as done.",
    ),
    failed(
      'researcher',
      { task: 'Find the currency.' },
      "the agent 'researcher' reached a limit before its task was done: 20 rounds. Do not treat its task as done.",
    ),
    ok('researcher', { task: 'Find the currency.' }, 'The currency is EUR.'),
  ]),
  work('retry-while-overloaded', [
    rounds(7, () => failed('researcher', { task: 'Find the currency.' }, transient)),
    ok('researcher', { task: 'Find the currency.' }, 'The currency is EUR.'),
  ]),
  work('split-after-a-limit', [
    failed(
      'researcher',
      { task: 'Read all pages.' },
      "the agent 'researcher' reached a limit before its task was done: 20 rounds. Do not treat its task as done.",
    ),
    rounds(8, (n) =>
      ok('researcher', { task: `Read page ${n} of the report.` }, `Page ${n} has no table.`),
    ),
  ]),
  work(
    'native-questions',
    rounds(8, (n) =>
      ok(
        'analyst',
        { task: `What was the turnover of ${2015 + n}?` },
        `It was ${3 + n}.${n} million.`,
      ),
    ),
  ),
  work('native-drafts', [
    ...[
      'A first draft: the report opens with the turnover.',
      'Shorter now, and the risks come before the outlook.',
      'Rewritten for engineers: charts replace the prose.',
      'The tone is warmer, and each part ends with a summary.',
      'Ready to send. Spelling and links were checked.',
    ].map((report) => ok('writer', { task: 'Improve the draft in draft.md.' }, report)),
  ]),
  work(
    'codex-spawns-workers',
    together(
      1,
      rounds(6, (n) => ok('spawn_agent', { message: next }, spawned(n))),
    ),
  ),
  work('codex-wait-long', [
    ...apart(65 * second, [
      ok('spawn_agent', { message: next }, spawned(1)),
      rounds(20, () =>
        ok(
          'wait_agent',
          { ids: [word(1, 20)], timeout_ms: 60_000 },
          '{"status":{},"timed_out":true}',
        ),
      ),
      ok(
        'wait_agent',
        { ids: [word(1, 20)], timeout_ms: 60_000 },
        JSON.stringify({ status: { [word(1, 20)]: { completed: 'The item is done.' } } }),
      ),
    ]),
  ]),
  work('codex-wait-in-a-row', [
    ...apart(31 * second, [
      ...rounds(4, (n) => [
        ok('spawn_agent', { message: `Review ${fileOf(n)}.` }, spawned(n)),
        ok(
          'wait_agent',
          { ids: [word(n, 20)], timeout_ms: 30_000 },
          '{"status":{},"timed_out":true}',
        ),
        ok(
          'wait_agent',
          { ids: [word(n, 20)], timeout_ms: 30_000 },
          JSON.stringify({ status: { [word(n, 20)]: { completed: `${fileOf(n)} is fine.` } } }),
        ),
      ]),
    ]),
  ]),
  work('claude-long-sleeps', apart(10 * minute, [start(1, next), rounds(5, () => sleep(595))])),
  work(
    'claude-some-sleeps',
    apart(31 * second, [
      start(1, next),
      rounds(8, () => sleep(30)),
      ok('Read', { file_path: '/r/PLAN.md' }, '[x] item 1'),
    ]),
  ),
  work(
    'claude-sleeps-with-progress',
    apart(31 * second, [
      start(1, next),
      rounds(20, (n) =>
        ok('Bash', { command: 'sleep 30; tail -1 /r/out.log' }, `compiled ${n} of 40 files`),
      ),
    ]),
  ),
  work(
    'claude-blocking-looks',
    apart(31 * second, [
      start(1, next),
      rounds(20, () =>
        ok(
          'TaskOutput',
          { task_id: `a${word(1, 7)}`, block: true, timeout: 30_000 },
          `<retrieval_status>timeout</retrieval_status>\n\n<task_id>a${word(1, 7)}</task_id>\n\n<status>running</status>`,
        ),
      ),
    ]),
  ),
  work(
    'claude-child-ends-then-a-build',
    apart(31 * second, [
      start(1, next),
      ok(
        'TaskOutput',
        { task_id: `a${word(1, 7)}`, block: true },
        `<retrieval_status>success</retrieval_status>\n\n<task_id>a${word(1, 7)}</task_id>\n\n<status>completed</status>\n\n<output>The item is done.</output>`,
      ),
      ok('Bash', { command: 'make all &' }, 'started'),
      rounds(20, () => sleep(30)),
    ]),
  ),
  work(
    'claude-works-on-while-children-run',
    apart(20 * second, [
      rounds(6, (n) => [
        start(n, `Review ${fileOf(n)}.`),
        ok('Read', { file_path: `/r/${fileOf(n)}` }, `export const ${turnOf(files, n)} = ${n}`),
        sleep(15),
      ]),
    ]),
  ),
  work(
    'claude-state-that-changes',
    apart(15 * second, [
      start(1, next),
      rounds(16, (n) =>
        ok(
          'TaskOutput',
          { task_id: `a${word(1, 7)}`, block: false },
          `<task_id>a${word(1, 7)}</task_id>\n\n<status>running</status>\n\n<output>step ${n} of 16: ${fileOf(n)}</output>`,
        ),
      ),
    ]),
  ),
  work(
    'opencode-one-each',
    rounds(8, (n) =>
      ok(
        'task',
        {
          description: 'Explore',
          prompt: `Where is ${turnOf(files, n)} used?`,
          subagent_type: 'explore',
        },
        `task_id: ses_${word(n, 16)}\n\n<task_result>\nIn ${fileOf(n)} only.\n</task_result>`,
      ),
    ),
  ),
  work('answers-of-a-user-between', [
    ...rounds(6, () => [
      task('Show the state of the release.', 'The release waits for the approval of Ada.'),
      { kind: 'user' } as const,
    ]),
  ]),
  work(
    'other-tools-with-a-task',
    rounds(8, (n) =>
      ok('create_task', { title: `Fix ${fileOf(n)}`, list: 'sprint' }, `{"id":${100 + n}}`),
    ),
  ),
]
