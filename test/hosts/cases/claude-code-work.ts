// Honest work with Claude Code's own tools.

import type { ScriptedAnswer, ScriptedCall, SeenRequest } from '../model-server.ts'
import { claudeCode } from '../programs/terminal-agents.ts'
import { messagesOf } from '../transcript.ts'
import { type Honest, repeated } from './honest-work.ts'
import { loopingAgents } from './looping-agents.ts'
import type { Storm } from './storm.ts'

const call = (name: string, input: unknown): ScriptedCall => ({
  name,
  input: JSON.stringify(input),
})
const calls = (...all: ScriptedCall[]): ScriptedAnswer => ({ calls: all })
const bash = (command: string, more = {}) => call('Bash', { command, ...more })
const read = (file_path: string) => call('Read', { file_path })
const edit = (file_path: string, old_string: string, new_string: string) =>
  call('Edit', { file_path, old_string, new_string })

const numbersAsTexts: Honest = {
  title: 'four equal polls with a number as text',
  files: { 'build.txt': 'the build runs\n' },
  main: () => [
    ...repeated(4, () => calls(bash('cat build.txt', { timeout: '5000' }))),
    calls(bash('ls')),
  ],
}

const lines = (count: number) => Array.from({ length: count }, (_, at) => `line ${at}\n`).join('')

const edits: Honest = {
  title: 'eight edits, each second one with blanks at a line end',
  files: { 'a.txt': lines(8) },
  main: (_, work) => [
    calls(read(`${work}/a.txt`)),
    ...repeated(8, (at) =>
      calls(edit(`${work}/a.txt`, `line ${at}`, at % 2 === 0 ? `new ${at}` : `new ${at}  `)),
    ),
  ],
}

const failingTest = 'echo "$((9 - $(grep -c new a.txt))) tests fail"; exit 1\n'

const editCycles: Honest = {
  title: 'eight edits, each with a test that fails less',
  files: { 'a.txt': lines(8), 'test.sh': failingTest },
  main: (_, work) => [
    calls(read(`${work}/a.txt`)),
    ...repeated(16, (at) =>
      at % 2 === 0
        ? calls(edit(`${work}/a.txt`, `line ${at / 2}`, `new ${at / 2}`))
        : calls(bash(`cd ${work} && sh test.sh`)),
    ),
  ],
}

/** Twenty looks at the output of a command in the background, which stays empty. */
const silentTask: Honest = {
  title: 'twenty looks at a silent background task',
  main: () => [
    calls(bash('sleep 75', { run_in_background: true })),
    ...repeated(20, () => (request) => calls(read(taskOutputIn(request)))),
    { text: 'I wait for it.' }, // its end is one more request
  ],
}

function taskOutputIn(request: SeenRequest): string {
  const text = JSON.stringify(messagesOf(request))
  return /written to: (\S+?\.output)/.exec(text)?.[1] ?? 'no task'
}

const subagent = (text: string) =>
  call('Agent', {
    description: 'looks',
    prompt: text,
    subagent_type: 'general-purpose',
    run_in_background: false, // each that ends later is one more request
  })

/** Equal agents with equal calls. Each waits for the same thing four times, then has it. */
const equalAgents: Honest = {
  title: 'three equal sub-agents at once',
  files: { 'build.txt': 'the build runs\n' },
  agents: 3,
  main: () => [calls(...Array.from({ length: 3 }, () => subagent('Look at the build.')))],
  agent: () => repeated(4, () => calls(bash('cat build.txt'))),
}

export const claudeStorm: Storm = { spawn: subagent('Look.'), after: [] }

export const claudeLoopingAgents = loopingAgents(claudeCode, [
  calls(subagent('Run it.'), subagent('Run it.')),
])

/** A session of 60 requests, with all that people do in one. */
const longSession: Honest = {
  title: 'a session of sixty requests',
  files: { 'a.txt': lines(12), 'b.txt': 'b\n', 'c.txt': 'c\n', 'test.sh': failingTest },
  agents: 4,
  prompts: [
    { text: 'Do the task.' },
    { text: 'Go on.', more: (session) => ['--resume', session] },
    { text: '/compact', more: (session) => ['--resume', session] },
    { text: 'Is it done?', more: (session) => ['--resume', session] },
    { text: 'Try another way.', more: (session) => ['--resume', session, '--fork-session'] },
  ],
  main: (_, work) => {
    const cycle = (at: number) => [
      calls(edit(`${work}/a.txt`, `line ${at}`, `new ${at}${at % 2 === 0 ? '' : '  '}`)),
      calls(bash(`cd ${work} && sh test.sh`)),
    ]
    return [
      calls(...['a', 'b', 'c'].map((name) => read(`${work}/${name}.txt`))),
      { text: 'I look around.', ...calls(bash('ls'), bash('git init -q .')) },
      ...[0, 1, 2, 3].flatMap(cycle),
      calls(call('Write', { file_path: `${work}/notes.md`, content: 'one  \ntwo\n' })),
      calls(bash('cat missing.txt')),
      calls(bash('sleep 3', { run_in_background: 'true' })),
      ...repeated(4, () => (request: SeenRequest) => calls(read(taskOutputIn(request)))),
      calls(subagent('Look at a.txt.'), subagent('Look at b.txt.')),
      calls(subagent('Look at the build.'), subagent('Look at the build.')),
      calls(bash(`cd ${work} && git add -A && git -c user.name=a -c user.email=b commit -qm one`)),
      calls(bash(`cd ${work} && git status`)),
      { text: 'This part is done.' },
      ...[4, 5, 6].flatMap(cycle),
      { thinking: 'Nearly.', ...calls(bash('ls', { timeout: '5000' })) },
      { text: 'The second part is done.' },
      { text: 'A summary: all files have new lines.' },
      calls(read(`${work}/a.txt`)),
      ...[7, 8].flatMap(cycle),
      { text: 'It is done.' },
      ...[9, 10, 11].flatMap(cycle),
    ]
  },
  agent: () => [
    calls(bash('cat b.txt')),
    calls(bash('cat b.txt')),
    calls(bash('ls'), bash('cat c.txt')),
  ],
}

export const claudeCodeWork = [
  numbersAsTexts,
  edits,
  editCycles,
  silentTask,
  equalAgents,
  longSession,
]
