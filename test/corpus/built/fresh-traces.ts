// Loops and honest work of real hosts, written after the rules of unseen-loops.ts. The expectations were
// written before the first run, in which 19 of the 22 were right. Two rules are changed since, and one
// trace of honest work is left out: its third equal failure is the documented limit.

import type { Scenario, Step } from '../../../apps/replay/judge/scenario.ts'
import { failed, honest, loop, ok, rounds, turnOf, word } from './trace.ts'

const loopOf = (id: string, count: number, stepsOf: (n: number) => Step | Step[], by = 14) =>
  loop(
    `fresh-${id}`,
    'Nothing is new but words, addresses, states or counters.',
    rounds(count, stepsOf),
    by,
  )
const work = (id: string, steps: (Step | Step[])[]) =>
  honest(`fresh-${id}`, 'Each round brings the work forward.', steps.flat())
const pages = [
  'overview',
  'pricing',
  'limits',
  'regions',
  'support',
  'login',
  'status',
  'blog',
  'careers',
  'press',
  'docs',
  'terms',
  'privacy',
  'contact',
  'partners',
  'events',
  'shop',
  'faq',
]
const follow = [
  'Could you review my pull request?',
  'Friendly ping: the pull request still needs a review.',
  'Hi Bo, please take a look at the pull request when you can.',
  'Just checking whether you saw the pull request for review.',
  'The pull request is still open, a review would help.',
  'Gentle reminder about reviewing the pull request.',
  'Bo, the pull request waits for your review.',
  'Can you please review the open pull request today?',
  'Pinging again about the pull request review.',
  'Any chance for a review of the pull request?',
  'Once more: please review the pull request.',
  'Still hoping for your review on the pull request.',
  'Review of the pull request, please.',
  'The pull request needs a reviewer, could it be you?',
]
const plans = [
  ['Set up project', 'Write parser', 'Write tests'],
  ['Initialise the project', 'Implement the parser', 'Add tests'],
  ['Create scaffolding', 'Build parser', 'Test parser'],
  ['Prepare repo', 'Code the parser', 'Cover with tests'],
  ['Bootstrap', 'Parser implementation', 'Testing'],
]
const nothing = [
  'I checked the logs and could not determine the root cause of the outage.',
  'The root cause of the outage remains unclear after looking at the logs.',
  'No root cause could be found in the logs for this outage.',
  'Looking through all logs, the cause of the outage stays unknown.',
  'The logs do not show what caused the outage.',
  'I was unable to identify the cause of the outage from the logs.',
  'After another pass over the logs the outage has no clear cause.',
]
export const freshLoops: Scenario[] = [
  loopOf(
    'goto-blocked',
    18,
    (n) =>
      ok(
        'page_goto',
        { url: `https://vendor${n}.example.com/${turnOf(pages, n)}` },
        `Loaded https://vendor${n}.example.com/${turnOf(pages, n)}. Title: Attention Required! Body: Sorry, you have been blocked. You are unable to access vendor${n}.example.com`,
      ),
    16,
  ),
  loopOf(
    'teams-ping',
    14,
    (n) =>
      ok(
        'teams_post_message',
        { conversation_id: '19:bo@thread', content: turnOf(follow, n) },
        `{"id":"17645${1000000 + n * 7919}","status":"sent"}`,
      ),
    14,
  ),
  loopOf(
    'sms',
    14,
    (n) =>
      ok(
        'twilio_send_sms',
        { to: '+15550100', body: turnOf(follow, n) },
        `{"sid":"SM${word(n, 32)}","status":"queued","to":"+15550100"}`,
      ),
    14,
  ),
  loopOf(
    'write-todos',
    14,
    (n) =>
      ok(
        'write_todos',
        {
          todos: turnOf(plans, n).map((description, k) => ({
            description,
            status: k === 0 ? 'in_progress' : 'pending',
          })),
        },
        'Successfully updated the todo list.',
      ),
    14,
  ),
  loopOf(
    'plan-tool',
    14,
    (n) =>
      ok(
        'planning',
        { command: 'update', plan_id: 'p1', title: `Parser plan v${n}`, steps: turnOf(plans, n) },
        `Plan updated successfully: p1`,
      ),
    14,
  ),
  loopOf(
    'stage-commit-tool',
    6,
    (n) => [
      ok(
        'shell',
        {
          command: [
            'bash',
            '-lc',
            `git add ${['-A', '.', 'src', '-u', 'src/a.ts', '--all'][n - 1]}`,
          ],
        },
        '',
      ),
      failed(
        'shell',
        { command: ['bash', '-lc', `git commit -m "wip ${n}"`] },
        'lint-staged failed\n✖ eslint --fix:\n/repo/src/a.ts\n  3:1  error  Parsing error: Unexpected token',
      ),
    ],
    12,
  ),
  loopOf(
    'research-agent',
    14,
    (n) =>
      ok(
        'spawn_agent',
        { agent_type: 'investigator', message: 'Find the root cause of the outage in the logs' },
        turnOf(nothing, n),
      ),
    14,
  ),
  loopOf(
    'delegate-reworded',
    14,
    (n) =>
      ok(
        'delegate_task',
        {
          task: turnOf(
            [
              'Find the cause of the outage',
              'Investigate why the outage happened and find its cause',
              'Determine what was the cause of the outage',
            ],
            n,
          ),
        },
        turnOf(nothing, n),
      ),
    14,
  ),
  loopOf(
    'crash-kube',
    6,
    (n) => [
      ok(
        'Bash',
        { command: 'kubectl rollout restart deploy/api' },
        'deployment.apps/api restarted',
      ),
      ok(
        'Bash',
        { command: 'kubectl get pods' },
        `NAME   READY   STATUS   RESTARTS   AGE\napi-0   0/1   CrashLoopBackOff   ${n + 2} (${n * 11}s ago)   ${n + 3}m`,
      ),
      ok(
        'Bash',
        { command: 'kubectl logs api-0 --tail=3' },
        `${word(n, 8)} INFO cache warm ${n * 33}\nFatal error: missing env DB_URL\nINFO shutting down ${word(n + 2, 5)}`,
      ),
    ],
    18,
  ),
  loopOf(
    'cline-echo',
    14,
    (n) =>
      ok(
        'execute_command',
        { command: `printf 'All done with item ${n}'` },
        `Command executed.\nOutput:\nAll done with item ${n}`,
      ),
    14,
  ),
  loopOf(
    'calendar-again',
    14,
    (n) =>
      ok(
        'calendar',
        {
          action: 'create',
          event: { title: 'Standup', text: 'Daily standup of the team', start: '2026-12-02T09:00' },
        },
        `{"eventId":"${word(n, 20)}","htmlLink":"https://cal.example.com/e/${word(n, 16)}","sequence":${n}}`,
      ),
    14,
  ),
]
const mods = 'auth cart mail search stock audit order coupon invoice report'.split(' ')
const m = (n: number) => turnOf(mods, n)
export const freshWork: Scenario[] = [
  work(
    'pages-checked',
    rounds(10, (n) => [
      ok(
        'navigate_page',
        { url: `https://app.example.com/${m(n)}` },
        `# navigate_page response\nSuccessfully navigated to https://app.example.com/${m(n)}.`,
      ),
      ok(
        'list_console_messages',
        {},
        '# list_console_messages response\n## Console messages\n<no console messages found>',
      ),
    ]),
  ),
  work(
    'visits-with-content',
    rounds(18, (n) =>
      ok(
        'visit_webpage',
        { url: `https://wiki.example.com/${n}` },
        `Article ${word(n, 9)}: ${word(n + 3, 14)} ${word(n + 5, 11)}. Navigation: home, random, about, donate.`,
      ),
    ),
  ),
  work(
    'different-posts',
    [
      ['Release 4.2 is out.'],
      ['The database migration starts at noon.'],
      ['Migration finished, all services are healthy.'],
      ['New onboarding guide is in the wiki.'],
      ['Lunch moved to Thursday.'],
      ['The staging cluster gets new nodes tonight.'],
      ['Security training is due this month.'],
      ['Thanks to Ida for the incident review!'],
      ['Office closes early on Friday.'],
      ['Roadmap for the quarter is published.'],
    ].map(([text]) => ok('slack_send_message', { channel: '#general', text }, '{"ok":true}')),
  ),
  work(
    'thread-progress',
    rounds(9, (n) => [
      ok('Edit', { file_path: `/r/${m(n)}.ts`, old_string: 'a', new_string: 'b' }, 'ok'),
      ok(
        'slack_send_message',
        { channel: 'C1', text: `Finished the refactoring of the ${m(n)} module, tests pass.` },
        '{"ok":true}',
      ),
    ]),
  ),
  work(
    'plan-and-work-same-status',
    rounds(9, (n) => [
      ok(
        'update_plan',
        {
          plan: [
            { step: `Migrate ${m(n)} files`, status: 'in_progress' },
            { step: 'Check', status: 'pending' },
          ],
        },
        'Plan updated',
      ),
      ok(
        'apply_patch',
        { input: `*** Begin Patch\n*** Update File: ${m(n)}.py\n+x\n*** End Patch` },
        'Success',
      ),
    ]),
  ),
  work(
    'next-task-agent',
    rounds(10, (n) =>
      ok(
        'Task',
        {
          subagent_type: 'worker',
          description: 'Work',
          prompt: 'Do the next open task of TODO.md and tick it off.',
        },
        `The task is done: the ${m(n)} form now checks its input and the tests for it pass.`,
      ),
    ),
  ),
  work(
    'agents-explain',
    rounds(9, (n) =>
      ok(
        'Task',
        { subagent_type: 'Explore', prompt: `How does ${m(n)} work in this code base?` },
        `The ${m(n)} module reads its settings from src/${m(n)}/config.ts and exposes a service.`,
      ),
    ),
  ),
  work(
    'stage-in-parts',
    rounds(9, (n) => [
      ok(
        'Bash',
        { command: `git add -p src/${m(n)}.ts` },
        `diff --git a/src/${m(n)}.ts\nStage this hunk? y`,
      ),
      ok('Bash', { command: `git commit -m "Part ${m(n)}"` }, `[main ${word(n, 7)}] Part ${m(n)}`),
    ]),
  ),
  work(
    'crash-then-config',
    rounds(6, (n) => [
      ok(
        'Edit',
        { file_path: '/r/.env', old_string: `A${n}=`, new_string: `A${n}=1` },
        'The file has been updated.',
      ),
      ok(
        'Bash',
        { command: 'kubectl rollout restart deploy/api' },
        'deployment.apps/api restarted',
      ),
      ok(
        'Bash',
        { command: 'kubectl logs deploy/api --tail=3' },
        `Fatal error: missing env A${n + 1}\nrestarting`,
      ),
    ]),
  ),
  work('forbidden-then-found', [
    ...rounds(5, (n) =>
      failed('fetch', { url: `https://s${n}.example.com/x` }, 'HTTP 403 Forbidden'),
    ),
    ok('fetch', { url: 'https://ok.example.com/x' }, 'the text'),
  ]),
]
