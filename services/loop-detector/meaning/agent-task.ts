// A task for another agent and its report, and looks at such agents.

import { isObject } from '../../../shared/lib/json/json-object.ts'
import type { CallEvidence } from '../evidence/call-evidence.ts'
import { wordsOf } from '../evidence/effect.ts'
import { fingerprint } from '../evidence/fingerprint.ts'
import { masked, withoutEchoes } from '../evidence/mask.ts'
import { withoutNewIds, withoutStamps } from '../evidence/stamp.ts'
import { frame, goesOn, questionsIn } from './question.ts'
import { wordsIn } from './wording.ts'

/** `task`: its key, without stamps. `report`: the answer without the task and the ids of its agent. */
export type AgentTask = { task: string; report: string }

/** Undefined: the call starts no agent, or its task goes on with each report. */
export function agentTaskOf(call: CallEvidence): AgentTask | undefined {
  const { tool, effect, value, text } = call
  if (effect !== 'opaque' || call.isDenied) return undefined
  const isTask = isObject(value) && Object.keys(value).join() === 'task'
  if (!isTask && !startsAgent.test(tool)) return undefined
  const asked = questionsIn(value)
  if (asked.length === 0 || goesOn(asked)) return undefined
  const task = fingerprint('arguments', tool, withoutStamps(asked) ?? asked.join())
  return { task, report: reportIn(text, asked) }
}

/** The text without the task and the ids of its agent. */
export function reportIn(text: string, asked: string[] = []): string {
  return masked(withoutNewIds(withoutEchoes(text.replace(frame, ''), asked))).trim()
}

/** The words of a report: names, paths and numbers as a whole, the beginnings of the others. */
export function wordsOfReport(report: string): { facts: string[]; words: string[] } {
  const facts = (report.match(token) ?? []).filter((one) => fact.test(one))
  return { facts, words: wordsIn(report).filter((word) => word.length > 3) }
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

const startsAgent = /agent|^task$|delegate|spawn/i
const headChars = 512
const inBackground = /async|in the background|launched|^\s*\{"agent_?id"/i
const agentId = /agent_?id["']?[:=]? ?["']?([\w-]{4,64})/i
const agentWord = /^(?:sub)?agents?$/
const argumentOfAgent = /"(?:sub_?)?agent_?ids?"/i
const token = /[\w./:@#~\\-]+/g
/** A digit, an inner sign or an inner capital. One pattern for both would take quadratic time. */
const fact = /\d|\w[./:@_\\]\w|[a-z][A-Z]/
