// Honest work with Codex's own tools.

import type { ScriptedAnswer, ScriptedCall, SeenRequest } from '../model-server.ts'
import { codex } from '../programs/terminal-agents.ts'
import { messagesOf } from '../transcript.ts'
import { type Honest, repeated, type Step } from './honest-work.ts'
import { loopingAgents } from './looping-agents.ts'
import type { Storm } from './storm.ts'

const call = (name: string, input: unknown): ScriptedCall => ({
  name,
  input: JSON.stringify(input),
})
const calls = (...all: ScriptedCall[]): ScriptedAnswer => ({ calls: all })
const exec = (cmd: string, more = {}) => call('exec_command', { cmd, ...more })

function sessionIn(request: SeenRequest): number {
  const texts = [...JSON.stringify(messagesOf(request)).matchAll(/session ID (\d+)/g)]
  return Number(texts.at(-1)?.[1] ?? 0)
}

const poll: Step = (request) =>
  calls(call('write_stdin', { session_id: sessionIn(request), chars: '', yield_time_ms: 5000 }))

/** Codex waits at least five seconds in each. */
const silentTerminal: Honest = {
  title: 'twenty empty polls of a silent terminal',
  main: () => [calls(exec('sleep 110', { yield_time_ms: 250 })), ...repeated(20, () => poll)],
}

const patch = (at: number) =>
  `apply_patch <<'P'\n*** Begin Patch\n*** Add File: part-${at}.txt\n+part ${at}\n*** End Patch\nP`

const patchCycles: Honest = {
  title: 'eight patches, each with a test that fails less',
  files: { 'test.sh': 'echo "$((9 - $(ls part-* | wc -l))) tests fail"; exit 1\n' },
  main: () =>
    repeated(16, (at) =>
      calls(at % 2 === 0 ? exec(patch(at / 2)) : exec('sh test.sh', { max_output_tokens: 2000 })),
    ),
}

const longSession: Honest = {
  title: 'a session of forty requests',
  files: {
    'a.txt': 'a\n',
    'b.txt': 'b\n',
    'test.sh': 'echo "$((20 - $(ls | wc -l))) tests fail"; exit 1\n',
  },
  prompts: [
    { text: 'Do the task.' },
    { text: 'Go on.', more: (session) => ['resume', session] },
    { text: 'Is it done?', more: (session) => ['resume', session] },
  ],
  main: (_, work) => {
    const cycle = (at: number): Step[] => [
      calls(exec(patch(at))),
      calls(exec(`cd ${work} && sh test.sh`)),
    ]
    return [
      { text: 'I look around.', ...calls(exec('cat a.txt'), exec('cat b.txt'), exec('ls')) },
      ...[0, 1, 2, 3, 4].flatMap(cycle),
      calls(exec('cat missing.txt')),
      calls(exec('git init -q . && git add -A && git status --short')),
      calls(exec('sleep 12', { yield_time_ms: 250 })),
      poll,
      poll,
      { text: 'The first part is done.' },
      ...[5, 6, 7, 8].flatMap(cycle),
      { thinking: 'Nearly.', ...calls(exec('ls')) },
      { text: 'The second part is done.' },
      ...[9, 10, 11].flatMap(cycle),
      calls(exec(`cd ${work} && ls`)),
    ]
  },
}

const agentCall = (name: string, input: unknown): ScriptedCall => ({
  ...call(name, input),
  namespace: 'multi_agent_v1',
})

/** Starts agents, and looks at them after all have ended: an end at another time is a request more. */
const spawned = (count: number): Step[] => [
  calls(...Array.from({ length: count }, () => agentCall('spawn_agent', { message: 'Look.' }))),
  calls(exec('sleep 10', { yield_time_ms: 30_000 })),
  (request) => calls(agentCall('wait_agent', { targets: agentsIn(request), timeout_ms: 10_000 })),
]

function agentsIn(request: SeenRequest): (string | undefined)[] {
  const ids = JSON.stringify(messagesOf(request)).matchAll(/agent_id\\+":\\+"([0-9a-f-]+)/g)
  return [...new Set([...ids].map(([, id]) => id))]
}

const equalAgents: Honest = {
  title: 'three equal sub-agents at once',
  files: { 'build.txt': 'the build runs\n' },
  agents: 3,
  main: () => spawned(3),
  agent: () => repeated(4, () => calls(exec('cat build.txt'))),
}

const awaited = (request: SeenRequest): ScriptedAnswer =>
  calls(agentCall('wait_agent', { targets: agentsIn(request), timeout_ms: 60_000 }))

/** A call of `wait_agent` returns at the end of one of them. */
export const codexStorm: Storm = {
  spawn: agentCall('spawn_agent', { message: 'Look.' }),
  after: [awaited, awaited, awaited],
  patience: { yield_time_ms: 30_000 },
}

export const codexLoopingAgents = loopingAgents(codex, spawned(2))

export const codexWork = [equalAgents, silentTerminal, patchCycles, longSession]
