// Builds traces with the times of a session. Hosts record when each result came.

import type { Scenario, Step, ToolStep } from '../../../../apps/replay/judge/scenario.ts'
import { failed, honest, loop, ok, word } from '../trace.ts'

/** The steps with a result each so many seconds. The time of `after` replaces them for a step. */
export function apart(seconds: number, steps: readonly (Step | Step[])[]): Step[] {
  let now = 0
  return steps.flat().map((step) => {
    if (step.kind !== 'tool') return step
    now += step.at ?? seconds * 1000
    return { ...step, at: now }
  })
}

/** The step with its own time since the step before, in seconds. */
export function after(seconds: number, step: ToolStep): ToolStep {
  return { ...step, at: seconds * 1000 }
}

/** A loop whose first intervention is due by this call. */
export function stuck(
  id: string,
  by: number,
  steps: readonly (Step | Step[])[],
  seconds = 6,
): Scenario {
  return loop(
    `session-${id}`,
    'The model goes nowhere: only words, ids, times or spellings differ.',
    apart(seconds, steps),
    by,
  )
}

/** A session that reaches its goal. */
export function work(id: string, steps: readonly (Step | Step[])[], seconds = 6): Scenario {
  return honest(
    `session-${id}`,
    'The work goes on, or waits for something that ends by itself.',
    apart(seconds, steps),
  )
}

export const bash = (command: string, result: string, description = 'Run it') =>
  ok('Bash', { command, description }, result)
export const bashFailed = (command: string, result: string, description = 'Run it') =>
  failed('Bash', { command, description }, result)

/** A command of Codex with the header of its result. */
export const exec = (cmd: string, output: string, wall = 0.1) =>
  ok('exec_command', { cmd, workdir: '/repo', yield_time_ms: 1000 }, codexResult(0, output, wall))
export const execFailed = (cmd: string, output: string, wall = 0.1) =>
  failed(
    'exec_command',
    { cmd, workdir: '/repo', yield_time_ms: 1000 },
    codexResult(1, output, wall),
  )

export function codexResult(code: number, output: string, wall: number): string {
  const chunk = Math.floor(1_048_576 + wall * 79_190 + output.length * 31).toString(16)
  return `Chunk ID: ${chunk}\nWall time: ${wall.toFixed(4)} seconds\nProcess exited with code ${code}\nOriginal token count: ${Math.ceil(output.length / 4)}\nOutput:\n${output}`
}

/** A snapshot of a page as the browser server of Playwright prints it. */
export function snapshot(
  url: string,
  title: string,
  rows: readonly string[],
  from: number,
): string {
  const tree = rows.map((row, at) => `  - ${row} [ref=e${from + at}]`).join('\n')
  return `### Page state\n- Page URL: ${url}\n- Page Title: ${title}\n- Page Snapshot:\n\`\`\`yaml\n- generic [ref=e${from - 1}]:\n${tree}\n\`\`\``
}

/** The name that a cluster gives to a pod of a deployment. */
export function podName(deployment: string, n: number): string {
  const safe = (text: string) =>
    text.replace(/[013a-e]/g, (letter) => 'xzvwtr58'.charAt(letter.charCodeAt(0) % 8))
  return `${deployment}-${safe(word(n, 10))}-${safe(word(n + 7, 5))}`
}
