// The JSON that a host reads from a hook.
// HOOK-ANSWER-1. No answer says `allow`: it would skip the question that the host asks its user.
//     An empty body is no opinion.

import { onOneLine } from '../../../../shared/lib/text-cut.ts'
import { turnEnded } from '../person-texts.ts'
import { withoutText } from '../refusal-texts.ts'
import type { HookPayload } from './hook-payload.ts'

/** A text is for the user's terminal. */
export type HookAnswer = Record<string, unknown> | string | undefined

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
  return { continue: false, stopReason: withoutText(reason) }
}

/** The user reads it when the program of the host ends. `reason` may quote a tool's result. */
export function tellUser(reason: string): HookAnswer {
  return turnEnded(onOneLine(withoutText(reason)))
}
