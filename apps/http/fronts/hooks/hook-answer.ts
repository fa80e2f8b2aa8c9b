// The JSON that a host reads from a hook.
// HOOK-ANSWER-1. No answer says `allow`: it would skip the question that the host asks its user.
//     An empty body is no opinion.

import type { HookPayload } from './hook-payload.ts'

export type HookAnswer = Record<string, unknown> | undefined

/** The call does not run. The model reads `text`. */
export function deny(text: string): HookAnswer {
  return {
    hookSpecificOutput: {
      hookEventName: 'PreToolUse',
      permissionDecision: 'deny',
      permissionDecisionReason: text,
    },
  }
}

/** The model reads `text` beside the results. */
export function addContext({ eventName }: HookPayload, text: string): HookAnswer {
  return { hookSpecificOutput: { hookEventName: eventName, additionalContext: text } }
}

/** The host ends its turn, and shows `reason` to its user. */
export function endTurn(reason: string): HookAnswer {
  return { continue: false, stopReason: reason }
}
