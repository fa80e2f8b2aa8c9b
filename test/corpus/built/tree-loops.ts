// Loops across a tree: a parent that starts one task again and again, and a parent that looks at a
// child without end. The expectations were written before the rules.

import type { Scenario, Step } from '../../../apps/replay/judge/scenario.ts'
import { failed, loop, ok, rounds, turnOf, word } from './trace.ts'

const same = (id: string, steps: Step[], by = 8) =>
  loop(`tree-same-${id}`, 'one task is started again, and each child ends alike', steps, by)
const poll = (id: string, steps: Step[], by: number) =>
  loop(`tree-poll-${id}`, 'the parent looks at a child, whose end comes by itself', steps, by)

/** One outcome in the words of different children. */
const notFound = [
  'I could not find the billing configuration in the repository. There is no such file.',
  'No billing configuration exists in this repository, so nothing could be read.',
  'The repository does not contain a billing configuration. I found no such file.',
  'There is no configuration for billing in the repository, as far as I could find.',
  'I searched the repository and found no billing configuration file.',
  'The billing configuration could not be found. The repository has no such file.',
  'Nothing found: the repository has no configuration file for billing.',
  'I did not find any billing configuration in this repository.',
]
const find = 'Find the billing configuration and report its currency.'
const claudeFrame = (n: number) =>
  `\nagentId: a${word(n, 7)} (for resuming to continue this agent's work if needed)\n<usage>total_tokens: ${9_000 + 371 * n}\ntool_uses: ${3 + n}\nduration_ms: ${20_000 + 913 * n}</usage>`
const launched = (n: number) =>
  `Async agent launched successfully.\nagentId: a${word(n, 7)} (internal ID - do not mention to user.)\nThe agent is working in the background. You will be notified automatically when it completes.`
const second = 1_000
/** The steps, so far apart. */
const apart = (ms: number, steps: Step[]): Step[] =>
  steps.map((step, n) => (step.kind === 'tool' ? { ...step, at: (n + 1) * ms } : step))

export const treeLoops: Scenario[] = [
  same(
    'claude-reworded-ends',
    rounds(8, (n) =>
      ok(
        'Task',
        { description: 'Find config', prompt: find, subagent_type: 'Explore' },
        turnOf(notFound, n) + claudeFrame(n),
      ),
    ),
    6,
  ),
  same(
    'claude-agent-other-remarks',
    rounds(8, (n) =>
      ok(
        'Agent',
        { description: `Try ${n} of the search`, prompt: find, subagent_type: 'general-purpose' },
        turnOf(notFound, n) + claudeFrame(n),
      ),
    ),
    6,
  ),
  same(
    'native-task',
    rounds(8, (n) => ok('researcher', { task: find }, turnOf(notFound, n))),
    6,
  ),
  same(
    'native-attempts',
    rounds(8, (n) => ok('researcher', { task: `${find} Attempt ${n}.` }, turnOf(notFound, n))),
    6,
  ),
  same(
    'native-child-fails',
    rounds(6, (n) =>
      failed(
        'researcher',
        { task: find },
        `the agent 'researcher' failed before its task was done: provider answered ${turnOf(['500', '502', '500 Internal', '520'], n)}. Do not treat its task as done. Its calls may have taken effect, so check before you repeat any part.`,
      ),
    ),
    4,
  ),
  same(
    'native-child-limit',
    rounds(6, (n) =>
      failed(
        'researcher',
        { task: find },
        `the agent 'researcher' reached a limit before its task was done: it used ${50_000 + 13 * n} of 50000 tokens. Do not treat its task as done. Give a further agent a smaller part, do the rest yourself, or tell the user.`,
      ),
    ),
    4,
  ),
  same(
    'native-fails-or-answers',
    rounds(8, (n) =>
      n % 2 === 0
        ? ok('researcher', { task: find }, turnOf(notFound, n))
        : failed(
            'researcher',
            { task: find },
            `the agent 'researcher' reached a limit before its task was done: ${turnOf(['rounds', 'time', 'calls', 'tokens'], n)}. Do not treat its task as done. Give a further agent a smaller part, do the rest yourself, or tell the user.`,
          ),
    ),
    6,
  ),
  same(
    'codex-spawn-wait',
    rounds(8, (n) => [
      ok('spawn_agent', { message: find }, JSON.stringify({ agent_id: word(n, 20) })),
      ok(
        'wait_agent',
        { ids: [word(n, 20)], timeout_ms: 60_000 },
        JSON.stringify({ status: { [word(n, 20)]: { completed: turnOf(notFound, n) } } }),
      ),
    ]),
    14,
  ),
  same(
    'codex-spawn-only',
    rounds(10, (n) =>
      ok('spawn_agent', { message: find }, JSON.stringify({ agent_id: word(n, 20) })),
    ),
    8,
  ),
  same(
    'claude-launches',
    rounds(10, (n) =>
      ok(
        'Agent',
        { description: 'Find config', prompt: find, run_in_background: true },
        launched(n),
      ),
    ),
    8,
  ),
  same(
    'opencode-task',
    rounds(8, (n) =>
      ok(
        'task',
        { description: 'Find config', prompt: find, subagent_type: 'explore' },
        `task_id: ses_${word(n, 16)} (for resuming to continue this task if needed)\n\n<task_result>\n${turnOf(notFound, n)}\n</task_result>`,
      ),
    ),
    6,
  ),
  same(
    'with-an-old-look-between',
    rounds(8, (n) => [
      ok(
        'Task',
        { description: 'Find config', prompt: find, subagent_type: 'Explore' },
        turnOf(notFound, n) + claudeFrame(n),
      ),
      ok('Bash', { command: 'ls config' }, 'app.yaml'),
    ]),
    13,
  ),
  poll(
    'claude-sleep',
    apart(31 * second, [
      ok('Agent', { prompt: find, run_in_background: true }, launched(1)),
      ...rounds(24, () => ok('Bash', { command: 'sleep 30', description: 'Wait' }, '')),
    ]),
    14,
  ),
  poll(
    'claude-sleeps-differ',
    apart(31 * second, [
      ok('Agent', { prompt: find, run_in_background: true }, launched(1)),
      ...rounds(24, (n) => ok('Bash', { command: `sleep ${20 + n}; echo waiting` }, 'waiting')),
    ]),
    14,
  ),
  poll(
    'claude-look',
    apart(12 * second, [
      ok('Agent', { prompt: find, run_in_background: true }, launched(1)),
      ...rounds(24, () =>
        ok(
          'TaskOutput',
          { task_id: `a${word(1, 7)}`, block: false },
          `<retrieval_status>not_ready</retrieval_status>\n\n<task_id>a${word(1, 7)}</task_id>\n\n<task_type>local_agent</task_type>\n\n<status>running</status>`,
        ),
      ),
    ]),
    22,
  ),
  poll(
    'claude-sleep-and-file',
    apart(21 * second, [
      ok(
        'Agent',
        { prompt: find, run_in_background: true },
        `${launched(1)}\noutput_file: /tmp/claude/tasks/a${word(1, 7)}.output`,
      ),
      ...rounds(24, () =>
        ok(
          'Bash',
          { command: `sleep 20; tail -c 200 /tmp/claude/tasks/a${word(1, 7)}.output` },
          '',
        ),
      ),
    ]),
    14,
  ),
]
