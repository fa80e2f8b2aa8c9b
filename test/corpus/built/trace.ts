// Builds traces of test/corpus from a few words. A trace that repeats itself with small changes is
// shorter as a function of its round.

import type { Scenario, Step, ToolStep } from '../../../apps/replay/judge/scenario.ts'

/** A call that succeeds. */
export function ok(tool: string, args: Record<string, unknown>, result: string): ToolStep {
  return { kind: 'tool', tool, args, outcome: 'ok', result }
}

/** A call that fails. */
export function failed(tool: string, args: Record<string, unknown>, result: string): ToolStep {
  return { kind: 'tool', tool, args, outcome: 'error', result }
}

/** The steps of each round. `n` counts from 1. */
export function rounds(count: number, stepsOf: (n: number) => Step | Step[]): Step[] {
  return Array.from({ length: count }, (_, index) => stepsOf(index + 1)).flat()
}

/** A random word that only depends on its number: letters and digits. */
export function word(n: number, length = 12): string {
  let seed = (n * 2_654_435_761 + 97) >>> 0
  let text = ''
  while (text.length < length) {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0
    text += 'k3w8a1z5q7m2x9c4'.charAt(seed >>> 28)
  }
  return text
}

/** The item at a place of a list that begins again at its end. */
export function turnOf<Item>(items: readonly Item[], n: number): Item {
  const item = items[(n - 1) % items.length]
  if (item === undefined) throw new Error('the list is empty')
  return item
}

/** A trace in which an intervention is due by this step. */
export function loop(id: string, reason: string, steps: Step[], by = 12): Scenario {
  return { id, steps, expect: { fires: true, by_step: by, kind: 'tool_loop', reason } }
}

/** A trace without any intervention. */
export function honest(id: string, reason: string, steps: Step[]): Scenario {
  return { id, steps, expect: { fires: false, by_step: null, reason } }
}
