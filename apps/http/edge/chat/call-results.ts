// The results of calls that a client runs, in a request of a chat protocol.
// A call belongs to the conversation that the request names, so no request reaches a
// call of another tenant: 404.
// A request that goes on with a turn, or sends a new message after it, has the
// results of all its offered calls, as the protocols require. Otherwise it would wait for itself.

import type { Agents } from '../../../../client/weir.ts'
import { WeirError } from '../../../../shared/lib/errors.ts'
import { nearestName } from '../../../../shared/settings/nearest-name.ts'
import { bad, HttpError } from '../../http-error.ts'
import { conversationIn, type Principal } from '../access/principal.ts'
import type { EdgeContext } from '../edge-context.ts'
import { callIdOf, placeOfCall } from './turn-calls.ts'

/** Answers to approvals in one request of a chat client. */
export const edgeAnswersMax = 256

/** `callId`: see callIdOf. */
export type CallAnswer = { callId: string; text: string; isError?: boolean }

/** The form of a result in a protocol: its name, and the id of the call as its clients know it. */
export type ResultForm = { name: string; idOf?(callId: string): string }

/**
 * `conversation`: as the principal names it. `isHistory`: the client sends all results that it knows,
 * and those of calls that wait for none are left out. `with`: the rest of the request.
 */
export type CallAnswers = {
  conversation: string
  results: readonly CallAnswer[]
  form: ResultForm
  isHistory?: boolean
  with?: 'nothing' | 'new message' | 'other'
}

/**
 * Returns the ids of the answered calls. Throws 400 for a missing result, 404 for an unknown call, and
 * 409 for a late or second result. A repeated one changes nothing.
 */
export async function sendResults(
  { weirOf, agents }: Pick<EdgeContext, 'weirOf' | 'agents'>,
  principal: Principal,
  { conversation, results, form, isHistory = false, with: beside = 'nothing' }: CallAnswers,
): Promise<string[]> {
  const mayWait = beside === 'new message' && hasClientTools(agents)
  if (results.length === 0 && !mayWait) return []
  const own = weirOf(principal).conversation(conversationIn(principal, conversation))
  const offered = (await own.offeredCalls()).map((call) => ({
    callId: callIdOf(call),
    name: call.name,
  }))
  const isOffered = ({ callId }: CallAnswer): boolean =>
    offered.some((call) => call.callId === callId)
  const current = results.filter(isOffered)
  // A repeated request has results of calls that are over: the last one of the history tells.
  const fromHistory = current.length > 0 || beside !== 'nothing' ? current : results.slice(-1)
  const sent = isHistory ? fromHistory : results
  if (sent.length > edgeAnswersMax)
    throw bad(`the request has ${sent.length} results: at most ${edgeAnswersMax} are allowed`)
  const missing = offered.filter((call) => !sent.some(({ callId }) => callId === call.callId))
  const isBlocked = beside === 'nothing' ? current.length > 0 : beside === 'new message'
  if (isBlocked && missing.length > 0) throw unanswered(missing, form)
  for (const { callId, text, isError = false } of sent) {
    const place = placeOfCall(callId)
    if (place === undefined) throw unknownCall()
    await own.sendResult(place, { text, isError }).catch((error: unknown) => {
      throw error instanceof WeirError && error.code === 'call.unknown' ? unknownCall() : error
    })
  }
  return sent.map(({ callId }) => callId)
}

function unanswered(
  missing: readonly { callId: string; name: string }[],
  { name: form, idOf = (callId) => callId }: ResultForm,
): HttpError {
  const calls = missing.map(({ callId, name }) => ({ id: idOf(callId), name }))
  const listed = calls.map(({ id, name }) => `${id} (${name})`).join(', ')
  const text = `the turn waits for results of its client, for ${listed}: send ${form} for each of them, or cancel the turn`
  return new HttpError(400, 'call.unanswered', text, { fields: { calls } })
}

function hasClientTools(agents: Agents): boolean {
  return [...agents.keys()].some((agent) => clientToolsOf(agents, agent).size > 0)
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
  const near = nearestName(unknown, [...known])
  const offered = known.size === 0 ? 'it has none' : `they are ${[...known].join(', ')}`
  const advice = near === undefined ? offered : `did you mean ${near}?`
  throw bad(
    `tools has ${JSON.stringify(unknown.slice(0, 64))}, and the agent ${agent} has no such tool with client: true: ${advice}`,
  )
}
