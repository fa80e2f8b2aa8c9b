// The agents that a call starts, their reports, and looks at them.

import type { CallEvidence } from '../evidence/call-evidence.ts'
import { wordsOf } from '../evidence/effect.ts'
import { masked, withoutEchoes } from '../evidence/mask.ts'
import { withoutNewIds } from '../evidence/stamp.ts'

/** The text without the task and the ids of its agent. */
export function reportIn(text: string, asked: string[] = []): string {
  return masked(withoutNewIds(withoutEchoes(text.replace(frame, ''), asked))).trim()
}

/** The id of the agent that goes on after this call. Undefined: none does, or the result has no id. */
export function agentStarted({ tool, effect, failure, text }: CallEvidence): string | undefined {
  if (effect !== 'opaque' || failure !== undefined || !startsAgent.test(tool)) return undefined
  const head = text.slice(0, headChars)
  return inBackground.test(head) ? agentId.exec(head)?.[1] : undefined
}

/** Whether the call looks at an agent, by the name of its tool or of its argument. */
export function looksAtAgent({ tool, raw }: Pick<CallEvidence, 'tool' | 'raw'>): boolean {
  return wordsOf(tool).some((word) => agentWord.test(word)) || argumentOfAgent.test(raw)
}

/** By the name of its tool. */
export const startsAgent = /agent|^task$|delegate|spawn/i
const headChars = 512
const inBackground = /async|in the background|launched|^\s*\{"agent_?id"/i
const agentId = /agent_?id["']?[:=]? ?["']?([\w-]{4,64})/i
const agentWord = /^(?:sub)?agents?$/
const argumentOfAgent = /"(?:sub_?)?agent_?ids?"/i
/** The lines of a host about the agent that answered. */
const frame = /(?<!\n)\n+agentId: [\s\S]*$|\b(?:task|session)_id: \S+/g
