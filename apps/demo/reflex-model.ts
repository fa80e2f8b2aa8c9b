// The model of incident I1, as a script. It repeats `exec` with `{}` until it reads an
// intervention. The stubborn one goes on until it has no tools.

import type { Block, ModelCall } from '../../client/testing/anthropic-stream.ts'
import type { Reply } from './anthropic-server.ts'

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
    const stops = !mayCall(call) || (isWarned(call) && kind === 'reflex')
    const block: Block = stops
      ? { kind: 'text', text: explanation }
      : { kind: 'call', id: `toolu_${number}`, name: 'exec', arguments: '{}' }
    return { kind: 'message', blocks: [block] }
  }
}

/** Weir's own requests have the intervention in the system text, those of a guest in a message. */
export function isWarned(call: ModelCall): boolean {
  const last = JSON.stringify(call.messages.at(-1)?.content) ?? ''
  return `${systemText(call)}${last}`.includes('SYSTEM INTERVENTION')
}

export function mayCall(call: ModelCall): boolean {
  return call.tool_choice?.type !== 'none'
}

function systemText(call: ModelCall): string {
  return typeof call.system === 'string'
    ? call.system
    : (call.system ?? []).map((block) => block.text).join('\n')
}
