// Words for a reader: a question to a person or an agent, a task with its report, a message, a plan.
// The model may repeat these in other words.
//
// A report or a message with a new name is news: a path, an address, a long number. A
// report on a task that goes on is news too.
// A plan is the same in any words while its steps and its completed steps are as many.

import { canonical } from '../../../shared/contract/identity/arguments.ts'
import { limits } from '../../../shared/contract/limits.ts'
import { isObject } from '../../../shared/lib/json/json-object.ts'
import type { CallEvidence } from '../evidence/call-evidence.ts'
import { fingerprint, textHash } from '../evidence/fingerprint.ts'
import { masked, withoutEchoes } from '../evidence/mask.ts'
import { withoutNewIds } from '../evidence/stamp.ts'
import { wordsIn } from './wording.ts'

/**
 * `about`: the key of the reader. `asked`: the whole text. `words`: the beginnings of its longer words.
 * `answer`: the key of the answer without the question. `report`: the words of an answer that may be
 * reworded too. `names`: those that would be news.
 */
export type Question = Record<'about' | 'asked' | 'answer', string> &
  Record<'words' | 'report' | 'names', string[]>

/** Undefined: the call has no reader, or a short answer, which many questions share. */
export function questionOf(call: CallEvidence): Question | undefined {
  const { tool, effect, failure, value, text } = call
  if (failure !== undefined || effect === 'waits' || !isObject(value)) return undefined
  const plan = plans.test(tool) ? planOf(tool, value) : undefined
  if (plan !== undefined) return plan
  if (effect === 'changes' || !asks.test(tool)) {
    const readers = Object.keys(value).filter((name) => reader.test(name))
    const sent = effect === 'reads' || readers.length === 0 ? [] : textsIn(value, messageName, 0)
    if (sent.length === 0) return undefined
    const about = `${tool} ${readers.map((name) => canonical(value[name])).join(' ')}`
    const answer = withoutNewIds(withoutEchoes(text, sent)).replace(/\d+/g, '#')
    const message = sent.join(' ')
    return {
      about,
      asked: message,
      answer: `${textHash(answer)}`,
      words: stemsIn(message),
      report: [],
      names: namesIn(message),
    }
  }
  const asked = questionsIn(value)
  if (asked.length === 0) return undefined
  const answer = withoutEchoes(text.replace(frame, ''), asked).trim()
  const isPerson = asksPerson.test(tool)
  const isReport = !isPerson && answer.length >= reportMin && !goesOn(asked)
  if (!isReport && answer.length < (isPerson ? personMin : agentMin)) return undefined
  const plain = masked(answer)
  return {
    about: tool,
    asked: asked.join(' '),
    words: stemsIn(asked.join(' ')),
    answer: fingerprint('result', tool, plain),
    report: isReport ? stemsIn(plain) : [],
    names: isReport ? namesIn(plain) : [],
  }
}

/** A plan, which counts as a report: any other words are a rewording. */
function planOf(tool: string, value: Record<string, unknown>): Question | undefined {
  // Other lists, such as the stops of a route, are the subject of their call.
  const [, steps] = Object.entries(value).find(isSteps) ?? []
  if (!Array.isArray(steps)) return undefined
  const done = steps.filter((step) => isObject(step) && completed.has(step.status))
  const about = `${tool} ${done.length}/${steps.length}`
  const report = [canonical(steps) ?? '']
  return { about, asked: '', answer: tool, words: ['plan', 'steps'], report, names: [] }
}

const plans = /todo|plan/i
const stepsName = /^(?:(?:new_?)?todos?|todo_?list|plan|steps|tasks)$/i
const isSteps = ([name, member]: [string, unknown]) => stepsName.test(name) && Array.isArray(member)
const completed: ReadonlySet<unknown> = new Set(['completed', 'done'])
const asks = /ask|question|user_?input|human|agent|task|consult|oracle|expert|advisor|delegate/i
const asksPerson = /question|user|human|person/i
const personMin = 8
const agentMin = 64
const reportMin = 24
const questionName = /^(?:questions?|prompt|message|task|query|text|instructions?)$/i
const messageName = /^(?:text|body|message|content|html|markdown)$/i
const reader =
  /^(?:to|recipients?|receiver|target|channel|room|chat|topic|email|phone|user|thread|conversation)(?:_?(?:ids?|name|number|email))?$/i
const ofNextStep = /\b(?:next|continue|go on|another|remaining|rest of)\b/i
/** The lines of a host about the agent that answered. */
export const frame = /\n+agentId: [\s\S]*$|\b(?:task|session)_id: \S+/g
const token = /[\w.@/-]+/g
const name = /\d{3}|[a-z]\d|[_/@]|[a-z][A-Z]/

/** One pattern for both would take quadratic time. */
function namesIn(text: string): string[] {
  const tokens = text.slice(0, limits.loopMaskedCharsMax).match(token) ?? []
  return tokens.filter((one) => name.test(one))
}

function stemsIn(text: string): string[] {
  return [...new Set(wordsIn(text).filter((word) => word.length > 3))]
}

/** Whether each report on the task is about another step. */
export function goesOn(asked: string[]): boolean {
  return ofNextStep.test(asked.join(' '))
}

/** The texts of a question or task among the arguments. */
export function questionsIn(value: unknown): string[] {
  return textsIn(value, questionName, 0)
}

function textsIn(value: unknown, named: RegExp, depth: number): string[] {
  if (typeof value !== 'object' || value === null || depth > 2) return []
  return Object.entries(value).flatMap(([name, member]) => {
    if (typeof member === 'object') return textsIn(member, named, depth + 1)
    return typeof member === 'string' && named.test(name)
      ? [member.slice(0, limits.loopMaskedCharsMax)]
      : []
  })
}
