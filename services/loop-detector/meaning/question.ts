// A question to a person or to another agent. The model may repeat it in other words.

import { limits } from '../../../shared/contract/limits.ts'
import type { CallEvidence } from '../evidence/evidence.ts'
import { fingerprint } from '../evidence/fingerprint.ts'
import { masked, withoutEchoes } from '../evidence/mask.ts'
import { wordsIn } from './wording.ts'

/** `words`: the beginnings of its longer words. `answer`: the key of the answer without the question. */
export type Question = { words: string[]; answer: string }

/** Undefined: the call asks nobody, changes something, or has a short answer, which many questions share. */
export function questionOf({
  tool,
  effect,
  failure,
  value,
  text,
}: CallEvidence): Question | undefined {
  if (!asks.test(tool) || failure !== undefined) return undefined
  if (effect === 'changes' || effect === 'waits') return undefined
  const asked = questionsIn(value, 0)
  if (asked.length === 0) return undefined
  const answer = withoutEchoes(text.replace(frame, ''), asked).trim()
  if (answer.length < (asksPerson.test(tool) ? personMin : agentMin)) return undefined
  const words = new Set(wordsIn(asked.join(' ')).filter((word) => word.length > 3))
  return { words: [...words], answer: fingerprint('result', tool, masked(answer)) }
}

const asks = /ask|question|user_?input|human|agent|task|consult|oracle|expert|advisor|delegate/i
const asksPerson = /question|user|human|person/i
const personMin = 8
const agentMin = 64
const questionName = /^(?:questions?|prompt|message|task|query|text|instructions?)$/i
/** The line of a host about the agent that answered. */
const frame = /\n+agentId: [\s\S]*$/

function questionsIn(value: unknown, depth: number): string[] {
  if (typeof value !== 'object' || value === null || depth > 2) return []
  return Object.entries(value).flatMap(([name, member]) => {
    if (typeof member === 'object') return questionsIn(member, depth + 1)
    return typeof member === 'string' && questionName.test(name)
      ? [member.slice(0, limits.loopMaskedCharsMax)]
      : []
  })
}
