// The results of calls that a client runs, in a request of a chat protocol.
// CALL-RESULTS-1. A call belongs to the conversation that the request names, so no request reaches a
//     call of another tenant: 404.
// CALL-RESULTS-2. A request that goes on with a turn has the results of all its offered calls, as
//     the protocols require. The turn could not go on without one.

import { type Agents, WeirError } from '../../../client/weir.ts'
import { limits } from '../../../shared/contract/limits.ts'
import { HttpError } from '../http-error.ts'
import type { EdgeContext } from './edge-context.ts'
import { conversationIn, type Principal } from './principal.ts'
import { bad } from './request-message.ts'
import { callIdOf, placeOfCall } from './turn-calls.ts'

/** `callId`: see callIdOf. */
export type CallAnswer = { callId: string; text: string; isError?: boolean }

/**
 * `conversation`: as the principal names it. `isHistory`: the client sends all results that it knows,
 * and those of calls that wait for none are left out. `isNeeded`: the request is nothing else.
 */
export type CallAnswers = {
  conversation: string
  results: readonly CallAnswer[]
  isHistory?: boolean
  isNeeded?: boolean
}

/**
 * Returns the ids of the answered calls. Throws 400 for a missing result, 404 for an unknown call, and
 * 409 for a late or second result. A repeated one changes nothing.
 */
export async function sendResults(
  { weir }: Pick<EdgeContext, 'weir'>,
  principal: Principal,
  { conversation, results, isHistory = false, isNeeded = true }: CallAnswers,
): Promise<string[]> {
  if (results.length === 0) return []
  const own = weir.conversation(conversationIn(principal, conversation))
  const offered = (await own.offeredCalls()).map(callIdOf)
  const isOffered = ({ callId }: CallAnswer): boolean => offered.includes(callId)
  const current = results.filter(isOffered)
  // A repeated request has results of calls that are over: the last one of the history tells.
  const sent = isHistory ? (current.length > 0 || !isNeeded ? current : results.slice(-1)) : results
  if (sent.length > limits.edgeAnswersMax)
    throw bad(
      `the request has ${sent.length} results: at most ${limits.edgeAnswersMax} are allowed`,
    )
  const missing = offered.filter((id) => !sent.some(({ callId }) => callId === id))
  if (isNeeded && current.length > 0 && missing.length > 0)
    throw new HttpError(400, 'call.unanswered', `the calls ${missing.join(', ')} need results too`)
  for (const { callId, text, isError = false } of sent) {
    const place = placeOfCall(callId)
    if (place === undefined) throw unknownCall()
    await own.sendResult(place, { text, isError })
  }
  return sent.map(({ callId }) => callId)
}

function unknownCall(): WeirError {
  return new WeirError('call.unknown', 'no call of this conversation has this id')
}

/** The names of the agent's tools that its clients run. */
export function clientToolsOf(agents: Agents, agent: string): ReadonlySet<string> {
  const tools = agents.get(agent)?.tools ?? []
  return new Set(
    tools.flatMap(({ declaration: { name, hints } }) => (hints?.client === true ? [name] : [])),
  )
}

/**
 * A client may declare the tools that it runs: the agent's own declaration counts. Throws 400 for any
 * other tool. `names`: see namesOfTools.
 */
export function assertClientTools(agents: Agents, agent: string, names: readonly string[]): void {
  const known = clientToolsOf(agents, agent)
  const unknown = names.find((name) => !known.has(name))
  if (unknown === undefined) return
  const offered = known.size === 0 ? 'it has none' : `they are ${[...known].join(', ')}`
  throw bad(
    `tools has ${JSON.stringify(unknown.slice(0, 64))}, and the agent ${agent} has no such tool with client: true: ${offered}`,
  )
}
