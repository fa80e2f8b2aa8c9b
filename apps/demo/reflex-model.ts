// The model of incident I1, as a script. It repeats `exec` with `{}` until it reads an
// intervention. The stubborn one goes on until it has no tools.

import type { Block, ModelCall, Reply } from './anthropic-server.ts'

/**
 * `reflex`: stops when it reads an intervention. `stubborn`: ignores it and repeats the call as
 * long as calls are allowed.
 */
export const badModels = ['reflex', 'stubborn'] as const
export type BadModel = (typeof badModels)[number]

/** The pause before each reply: long enough to watch, short enough for 25 rounds. */
export const thinkingMs = 60

const explanation =
  'I tried to run a shell command for you but never had one to run: I kept calling exec without the "command" argument. Which command should I run?'

export function reflexModel(kind: BadModel): (call: ModelCall, number: number) => Reply {
  return (call, number) => {
    const isWarned = systemText(call).includes('SYSTEM INTERVENTION')
    const mayCall = call.tool_choice?.type !== 'none'
    const stops = !mayCall || (isWarned && kind === 'reflex')
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
