// Requests of a server for input of a person (elicitation), as questions and as the results that the
// server gets.
// Each request gets one result. A request that no person can answer is cancelled.
// Questions of one call wait one after the other, and end before the call does. A call
// that is over has no question any more.

import type { ElicitRequest, ElicitResult } from '@modelcontextprotocol/client'
import { type InputQuestion, questionFault } from '../../contract/call/input-question.ts'
import type { Milliseconds } from '../../lib/clock.ts'
import { isObject } from '../../lib/json/json-object.ts'
import type { AskPerson, PersonAnswer } from '../tool.ts'

/**
 * A question ends this much before its tool, or after three quarters of a short time. So the tool
 * can still finish.
 */
const inputEndMs = 10_000

export type AnswerInput = (params: ElicitRequest['params']) => Promise<ElicitResult>

/** The server requests input that no person can give. */
export class UnknownInput extends Error {}

export type ElicitationOptions = {
  server: string
  ask: AskPerson
  /** Text without the login of the server. */
  hide(text: string): string
  /** How long the call may still run. 0: it is over. */
  leftMs(): Milliseconds
  /** A question begins to wait; the call's limit on silence rests until the function is called. */
  onWait(): () => void
  /** A request was cancelled without a question. `fault`: for the operator's log. */
  onRefused(fault: string): void
}

export function answerInput({
  server,
  ask,
  hide,
  leftMs,
  onWait,
  onRefused,
}: ElicitationOptions): AnswerInput {
  let former: Promise<unknown> = Promise.resolve()

  return (params) => {
    const answer = former.then(() => answerTo(params))
    former = answer
    return answer
  }

  async function answerTo(params: ElicitRequest['params']): Promise<ElicitResult> {
    const question = questionOf(server, params)
    const fault = question === undefined ? 'it cannot be read' : questionFault(question)
    if (question === undefined || fault !== undefined) {
      onRefused(`a question of the server ${server} was cancelled: ${fault}`)
      return { action: 'cancel' }
    }
    const left = leftMs()
    if (left <= 0) return { action: 'cancel' }
    const waitMs = left - Math.min(inputEndMs, left / 4)
    const waited = onWait()
    const answer = await ask(hide(JSON.stringify(question)), Math.max(1, Math.floor(waitMs)))
    waited()
    return resultOf(question, answer)
  }
}

function questionOf(server: string, params: unknown): InputQuestion | undefined {
  if (!isObject(params) || typeof params.message !== 'string') return undefined
  const { message, requestedSchema, url } = params
  if (params.mode === 'url')
    return typeof url === 'string' ? { server, message, mode: 'url', url } : undefined
  if (!isObject(requestedSchema)) return undefined
  const schema = requestedSchema as (InputQuestion & { mode: 'form' })['schema']
  return { server, message, mode: 'form', schema }
}

function resultOf({ mode }: InputQuestion, { answer, values }: PersonAnswer): ElicitResult {
  if (answer !== 'accept' || mode === 'url') return { action: answer }
  return { action: answer, content: JSON.parse(values) }
}
