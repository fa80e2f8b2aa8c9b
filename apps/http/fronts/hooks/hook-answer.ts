// The JSON that a host reads from a hook.
// No answer says `allow`: it would skip the question that the host asks its user.
// An empty body is no opinion.

import { isObject } from '../../../../shared/lib/json/json-object.ts'
import { onOneLine } from '../../../../shared/lib/text-cut.ts'
import type { HookPayload } from './hook-payload.ts'

/** A text is for the user's terminal. */
export type HookAnswer = Record<string, unknown> | string | undefined

/** The call does not run. The model reads `text`. */
export function deny({ form }: HookPayload, text: string): HookAnswer {
  if (form === 'gemini-cli') return { decision: 'deny', reason: text }
  return {
    hookSpecificOutput: {
      hookEventName: 'PreToolUse',
      permissionDecision: 'deny',
      permissionDecisionReason: text,
    },
  }
}

/** The model reads `text` next to the results. */
export function addContext({ form, eventName }: HookPayload, text: string): HookAnswer {
  if (form === 'copilot') return { additionalContext: text }
  return { hookSpecificOutput: { hookEventName: eventName, additionalContext: text } }
}

/** The answer, with a further text that the model reads. An answer that ends the turn has no reader. */
export function withContext(answer: HookAnswer, payload: HookPayload, text: string): HookAnswer {
  if (text === '' || typeof answer === 'string' || answer?.continue === false) return answer
  const own = contextIn(answer)
  const added = addContext(payload, own === '' ? text : `${own}\n\n${text}`)
  return { ...answer, ...(added as Record<string, unknown>) }
}

function contextIn(answer: Exclude<HookAnswer, string>): string {
  const { additionalContext, hookSpecificOutput } = answer ?? {}
  const text = isObject(hookSpecificOutput)
    ? hookSpecificOutput.additionalContext
    : additionalContext
  return typeof text === 'string' ? text : ''
}

/**
 * Whether the answer to this event can end the turn. Gemini CLI ends one at any call, and Claude Code between
 * two rounds. The others end none.
 */
export function canEndTurn({ form, eventName }: HookPayload): boolean {
  return eventName === 'PostToolBatch' || (form === 'gemini-cli' && /Tool$/.test(eventName))
}

/** The host ends its turn, and shows the text to its user. */
export function endTurn(text: string): HookAnswer {
  return { continue: false, stopReason: text }
}

/** The user reads the texts when the program of the host ends. They may quote results of tools. */
export function tellUser(texts: readonly string[]): HookAnswer {
  return texts.length === 0 ? undefined : texts.map(onOneLine).join('\n')
}

/** The answer, with a text for the user's screen. */
export function withUserText(answer: HookAnswer, texts: readonly string[]): HookAnswer {
  if (texts.length === 0 || typeof answer === 'string') return answer
  return { ...answer, systemMessage: texts.map(onOneLine).join('\n') }
}
