// The model of incident I1, as a script: it calls `exec` with `{}` over and over, until it is told
// to stop, or (stubborn) until it has no tools.

import type { Block, ModelCall, Reply } from './anthropic-server.ts'

/**
 * `reflex`: stops when it reads an intervention; `stubborn`: ignores it and calls on for as long as
 * a call is allowed.
 */
export const badModels = ['reflex', 'stubborn'] as const
export type BadModel = (typeof badModels)[number]

/** How long it thinks before each answer: long enough to watch, short enough for 25 rounds. */
export const thinkingMs = 60

const explanation =
  'I tried to run a shell command for you but never had one to run: I kept calling exec without the "command" argument. Which command should I run?'

export function reflexModel(kind: BadModel): (call: ModelCall, number: number) => Reply {
  return (call, number) => {
    const told = systemText(call).includes('SYSTEM INTERVENTION')
    const mayCall = call.tool_choice?.type !== 'none'
    const stops = !mayCall || (told && kind === 'reflex')
    const block: Block = stops
      ? { type: 'text', text: explanation }
      : { type: 'tool_use', id: `toolu_${number}`, name: 'exec', input: '{}' }
    return { kind: 'message', blocks: [block] }
  }
}

function systemText(call: ModelCall): string {
  return typeof call.system === 'string'
    ? call.system
    : (call.system ?? []).map((block) => block.text).join('\n')
}
