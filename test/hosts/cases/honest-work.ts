// Honest work: a script of a model that makes progress or waits. Weir changes nothing, and its log
// has no advice.

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ScriptedAnswer, SeenRequest } from '../model-server.ts'
import { command, nameOf, type Program } from '../programs/program.ts'
import { transcriptOf } from '../transcript.ts'
import {
  type Case,
  type Front,
  type Observed,
  type ObserveOptions,
  observe,
  type Prompt,
  type Result,
} from './case.ts'
import { lastAnswer } from './incidents.ts'

/** An answer, or one that depends on the request. */
export type Step = ScriptedAnswer | ((request: SeenRequest) => ScriptedAnswer)

export type Honest = {
  title: string
  /** The answers to the main agent, in order. Then it is done. */
  main(program: Program, work: string): readonly Step[]
  /** The answers to each sub-agent. */
  agent?: (work: string) => readonly Step[]
  agents?: number
  prompts?: readonly Prompt[]
  /** Files of its folder at the start. */
  files?: Readonly<Record<string, string>>
}

export const doneText = 'All is done.'

export const repeated = (count: number, one: (at: number) => Step) =>
  Array.from({ length: count }, (_, at) => one(at))

export const shell =
  (program: Program) =>
  (text: string, more = {}): ScriptedAnswer => ({ calls: [command(program, text, more)] })

/** A command whose result differs at each call. Gemini CLI refuses one with `$(`. */
const counted = 'echo x >> n; echo "of 9 are built:"; wc -l < n'

export const equalPolls: Honest = {
  title: 'four equal polls that begin with cd',
  files: { 'build.txt': 'the build runs\n' },
  main: (program, work) => [
    ...repeated(4, () => shell(program)(`cd ${work} && cat build.txt`)),
    shell(program)('ls'),
  ],
}

export const changingPolls: Honest = {
  title: 'seven polls that begin with cd, with other results each time',
  main: (program, work) => [
    ...repeated(7, () => shell(program)(`cd ${work} && ${counted}`)),
    shell(program)('ls'),
  ],
}

export const sleepingPolls: Honest = {
  title: 'twenty times sleep and look',
  files: { 'status.txt': 'pending\n' },
  main: (program) => repeated(20, () => shell(program)('sleep 1; cat status.txt')),
}

/** Edits and tests by commands, which every host has. */
export const shellCycles: Honest = {
  title: 'eight edits by a command, each with a test that still fails',
  files: { 'test.sh': 'echo "$((9 - $(wc -l < done.txt))) tests fail"; exit 1\n', 'done.txt': '' },
  main: (program) =>
    repeated(16, (at) =>
      shell(program)(at % 2 === 0 ? `echo fix ${at / 2} >> done.txt` : 'sh test.sh'),
    ),
}

export const generalWork = [equalPolls, changingPolls, shellCycles]

export function expectedRequests(honest: Honest, program: Program): number {
  const { main, agent, agents = 0 } = honest
  const ofAgents = agents * ((agent?.('').length ?? 0) + 1)
  return main(program, '').length + 1 + ofAgents
}

/** Each main answer in order, and each sub-agent's answers in its own order. */
export function stepsScript(honest: Honest, program: Program) {
  return (work: string) => {
    const at = new Map<string, number>()
    const main = honest.main(program, work)
    const agent = honest.agent?.(work) ?? []
    return (request: SeenRequest): ScriptedAnswer => {
      const thread = threadOf(request)
      const next = at.get(thread) ?? 0
      at.set(thread, next + 1)
      const step = (thread === '' ? main : agent)[next]
      if (step === undefined) return lastAnswer(program, doneText, true)
      return typeof step === 'function' ? step(request) : step
    }
  }
}

/** The id of a sub-agent; empty: the main agent. */
export function threadOf({ headers }: SeenRequest): string {
  const claude = headers['x-claude-code-agent-id']
  if (claude !== undefined) return claude
  const codex = JSON.parse(headers['x-codex-turn-metadata'] ?? '{}') as Record<string, string>
  return codex.thread_id === codex.session_id ? '' : (codex.thread_id ?? '')
}

/** The run without Weir, once a case. */
const direct = new Map<string, Promise<Observed>>()

export function honestOptions(program: Program, honest: Honest): ObserveOptions {
  const { prompts, files = {} } = honest
  return {
    script: stepsScript(honest, program),
    ...(prompts !== undefined && { prompts }),
    prepare: async (work) => {
      for (const [name, content] of Object.entries(files))
        await writeFile(join(work, name), content)
    },
  }
}

function directRun(program: Program, honest: Honest): Promise<Observed> {
  const key = `${nameOf(program)} ${honest.title}`
  const run = direct.get(key) ?? observe(program, 'none', honestOptions(program, honest))
  direct.set(key, run)
  return run
}

export function honestCase(program: Program, front: Front, honest: Honest): Case {
  return {
    program: nameOf(program),
    worksWith: program,
    front,
    title: honest.title,
    run: async () => {
      const alone = await directRun(program, honest)
      const expected = expectedRequests(honest, program)
      if (front === 'none') return judgedAlone(program, alone, expected)
      return compared(await observe(program, front, honestOptions(program, honest)), alone, program)
    },
  }
}

function judgedAlone(
  { endsPolls }: Program,
  { requests, reply, ended }: Observed,
  expected: number,
): Result {
  if (endsPolls && requests.length < expected)
    return { found: `${requests.length} requests, ended by the host itself` }
  return {
    found: `${requests.length} requests`,
    fault:
      requests.length !== expected
        ? `not ${expected} requests: ${ended.errors.slice(-300)}`
        : reply.includes(doneText)
          ? undefined
          : `the reply is ${JSON.stringify(reply.slice(-200))}`,
  }
}

function compared(observed: Observed, alone: Observed, { lostOutput }: Program): Result {
  const { requests, advice, reply } = observed
  const found = `${requests.length} requests, ${advice.length === 0 ? 'no advice' : advice.join(', ')}`
  if (advice.length > 0) return { found, fault: `advice for honest work: ${reply.slice(-200)}` }
  if (requests.length !== alone.requests.length)
    return { found, fault: `without Weir ${alone.requests.length} requests` }
  if (reply !== alone.reply) return { found, fault: `another reply: ${reply.slice(-200)}` }
  const [left, right] = [transcriptOf(alone), transcriptOf(observed)]
  const isExact = firstDifference(left, right) === undefined
  const difference = isExact ? undefined : firstDifference(left, right, lostOutput)
  const note = isExact ? '' : ', but for an output that the host lost'
  return {
    found: `${found}, the transcript of a run without Weir${difference === undefined ? note : ''}`,
    fault: difference && `another transcript: ${difference}`,
  }
}

/**
 * Lines in any order: parallel agents and calls end in any order. `lost`: the text in place of an
 * output that a host has lost. It equals each output of the same call.
 */
function firstDifference(left: string[], right: string[], lost?: string): string | undefined {
  const rest = [...right]
  const marked = `Output: ${lost}`
  const withoutOutput = (line: string) => line.replace(/Output: .*?(?=\\nError:)/, 'Output:')
  const areEqual = (one: string, other: string) =>
    one === other ||
    (lost !== undefined &&
      (one.includes(marked) || other.includes(marked)) &&
      withoutOutput(one) === withoutOutput(other))
  for (const line of left) {
    const place = rest.findIndex((other) => areEqual(line, other))
    if (place === -1) return `only without Weir: ${line.slice(0, 300)}`
    rest.splice(place, 1)
  }
  return rest[0] === undefined ? undefined : `only with Weir: ${rest[0].slice(0, 300)}`
}
