// Words for a reader: a question to a person or an agent, a task with its report, a message, a plan.
// The model may repeat these in other words.
//
// A report or a message with a new name is news: a path, an address, a number. A report
// on a task that goes on is news too.
// A plan is the same in any words while its steps and its completed steps are as many.

import { canonical } from '../../../shared/contract/identity/arguments.ts'
import { limits } from '../../../shared/contract/limits.ts'
import { isObject } from '../../../shared/lib/json/json-object.ts'
import type { CallEvidence } from '../evidence/call-evidence.ts'
import { fingerprint, textHash } from '../evidence/fingerprint.ts'
import { withoutEchoes } from '../evidence/mask.ts'
import { withoutNewIds, withoutStamps } from '../evidence/stamp.ts'
import { reportIn, startsAgent } from './agent-task.ts'
import { namesIn, stemsIn } from './wording.ts'

/**
 * `about`: the key of the reader. `asked`: the whole text. `words`: the beginnings of its longer words.
 * `answer`: the key of the answer without the question. `report`: the words of an answer that may be
 * reworded too. `names`: those that would be news.
 */
export type Question = Record<'about' | 'asked' | 'answer', string> &
  Record<'words' | 'report' | 'names', string[]>

/**
 * The words of a call for its reader. `question` undefined: it has no reader, or a short answer, which
 * many questions share. `task`: the key of an agent's task without stamps, undefined for any other
 * call and for a task that goes on with each report. `report`: the words of that agent.
 */
export type Spoken = {
  question?: Question
  task?: string
  report: { words: string[]; names: string[] }
}

export function spokenBy(call: CallEvidence): Spoken {
  const { tool, effect, failure, value, text } = call
  if (effect === 'waits' || !isObject(value)) return silent
  const plan = failure === undefined && plans.test(tool) ? planOf(tool, value) : undefined
  if (plan !== undefined) return { ...silent, question: plan }
  const isTask =
    effect === 'opaque' && (startsAgent.test(tool) || Object.keys(value).join() === 'task')
  if (!isTask && (effect === 'changes' || !asks.test(tool)))
    return failure === undefined ? messageOf(call, value) : silent
  const asked = textsIn(value, questionName, 0)
  if (asked.length === 0) return silent
  const answer = reportIn(text, asked)
  const report = { words: stemsIn(answer), names: namesIn(answer) }
  const isPerson = asksPerson.test(tool)
  const isOver = !ofNextStep.test(asked.join(' '))
  const isReport = !isPerson && isOver && answer.length >= reportMin
  const isQuestion =
    failure === undefined &&
    asks.test(tool) &&
    (isReport || answer.length >= (isPerson ? personMin : agentMin))
  return {
    ...(isTask &&
      isOver &&
      !call.isDenied && {
        task: fingerprint('arguments', tool, withoutStamps(asked) ?? asked.join()),
      }),
    ...(isQuestion && {
      question: {
        about: tool,
        asked: asked.join(' '),
        words: stemsIn(asked.join(' ')),
        answer: fingerprint('result', tool, answer),
        report: isReport ? report.words : [],
        names: isReport ? report.names : [],
      },
    }),
    report,
  }
}

const silent: Spoken = { report: { words: [], names: [] } }

function messageOf({ tool, effect, text }: CallEvidence, value: Record<string, unknown>): Spoken {
  const readers = Object.keys(value).filter((name) => reader.test(name))
  const sent = effect === 'reads' || readers.length === 0 ? [] : textsIn(value, messageName, 0)
  if (sent.length === 0) return silent
  const message = sent.join(' ')
  const answer = withoutNewIds(withoutEchoes(text, sent)).replace(/\d+/g, '#')
  return {
    ...silent,
    question: {
      about: `${tool} ${readers.map((name) => canonical(value[name])).join(' ')}`,
      asked: message,
      answer: `${textHash(answer)}`,
      words: stemsIn(message),
      report: [],
      names: namesIn(message),
    },
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

function textsIn(value: unknown, named: RegExp, depth: number): string[] {
  if (typeof value !== 'object' || value === null || depth > 2) return []
  return Object.entries(value).flatMap(([name, member]) => {
    if (typeof member === 'object') return textsIn(member, named, depth + 1)
    return typeof member === 'string' && named.test(name)
      ? [member.slice(0, limits.loopMaskedCharsMax)]
      : []
  })
}
