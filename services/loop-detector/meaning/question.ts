// A task for another agent or a question to a person, and its answer. The model may repeat the task or
// question, in the same words or in others.

import { limits } from '../../../shared/contract/limits.ts'
import { isObject } from '../../../shared/lib/json/json-object.ts'
import { wordsOf } from '../evidence/effect.ts'
import type { CallEvidence } from '../evidence/evidence.ts'
import { fingerprint } from '../evidence/fingerprint.ts'
import { masked, withoutEchoes } from '../evidence/mask.ts'
import { withoutNewIds } from '../evidence/new-ids.ts'
import { withoutStamps } from '../evidence/stamp.ts'
import { wordsIn } from './wording.ts'

/**
 * `task`: the key of a task for an agent, without stamps. Undefined: no agent starts. `words`: the
 * beginnings of its longer words. `answer`: the key of the answer without the question. Undefined: it is short,
 * so many questions share it. `report`: the same answer for people.
 */
export type Question = {
  task: string | undefined
  words: string[]
  answer: string | undefined
  report: string
}

/** Undefined: the call asks nobody, or changes something. */
export function questionOf(call: CallEvidence): Question | undefined {
  const { tool, effect, failure, value, text } = call
  if (effect === 'changes' || effect === 'waits' || call.isDenied) return undefined
  const isTask = isObject(value) && Object.keys(value).join() === 'task'
  if (!isTask && !asks.test(tool)) return undefined
  const asked = questionsIn(value, 0)
  if (asked.length === 0) return undefined
  const report = reportIn(text, asked)
  const isShort = report.length < (asksPerson.test(tool) ? personMin : agentMin)
  const words = new Set(wordsIn(asked.join(' ')).filter((word) => word.length > 3))
  const isAgent = effect === 'opaque' && (isTask || startsAgent.test(tool))
  return {
    task: isAgent
      ? fingerprint('arguments', tool, withoutStamps(asked) ?? asked.join())
      : undefined,
    words: [...words],
    answer: isShort || failure !== undefined ? undefined : fingerprint('result', tool, report),
    report,
  }
}

/** The text without the question and the ids of its agent. */
export function reportIn(text: string, asked: string[] = []): string {
  return masked(withoutNewIds(withoutEchoes(text.replace(frame, ''), asked))).trim()
}

/** The words of a report: names, paths and numbers as a whole, the beginnings of the others. */
export function wordsOfReport(report: string): { facts: string[]; words: string[] } {
  const facts = report.match(fact) ?? []
  return { facts, words: wordsIn(report).filter((word) => word.length > 3) }
}

/** The id of the agent that goes on after this call. Undefined: none does, or the result has no id. */
export function agentStarted({ tool, effect, failure, text }: CallEvidence): string | undefined {
  if (effect !== 'opaque' || failure !== undefined || !startsAgent.test(tool)) return undefined
  const head = text.slice(0, headChars)
  return goesOn.test(head) ? agentId.exec(head)?.[1] : undefined
}

/** Whether the call looks at an agent, by the name of its tool or of its argument. */
export function looksAtAgent({ tool, raw }: Pick<CallEvidence, 'tool' | 'raw'>): boolean {
  return wordsOf(tool).some((word) => agentWord.test(word)) || argumentOfAgent.test(raw)
}

const asks = /ask|question|user_?input|human|agent|task|consult|oracle|expert|advisor|delegate/i
const asksPerson = /question|user|human|person/i
const startsAgent = /agent|^task$|delegate|spawn/i
const personMin = 8
const agentMin = 64
const headChars = 512
const goesOn = /async|in the background|launched|^\s*\{"agent_?id"/i
const agentId = /agent_?id["']?[:=]? ?["']?([\w-]{4,64})/i
const agentWord = /^(?:sub)?agents?$/
const argumentOfAgent = /"(?:sub_?)?agent_?ids?"/i
const questionName = /^(?:questions?|prompt|message|task|query|text|instructions?)$/i
/** The lines of a host about the agent that answered. */
const frame = /\n+agentId: [\s\S]*$|\b(?:task|session)_id: \S+/g
/** A word with a digit, an inner sign or an inner capital. */
const fact = /[\w/@#~-]*(?:\d|\w[./:@_\\](?=\w)|[a-z](?=[A-Z]))[\w./:@#\\-]*/g

function questionsIn(value: unknown, depth: number): string[] {
  if (typeof value !== 'object' || value === null || depth > 2) return []
  return Object.entries(value).flatMap(([name, member]) => {
    if (typeof member === 'object') return questionsIn(member, depth + 1)
    return typeof member === 'string' && questionName.test(name)
      ? [member.slice(0, limits.loopMaskedCharsMax)]
      : []
  })
}
