// A round of a host that shows no history (hooks, MCP): the calls that begin within a moment. The guard
// gets its request and its answer as values.
// The calls of one message join only if the host starts them together. Calls that it
// starts one after the other are rounds of one call each.
// A round begins once the calls of the round before are decided. A later round ends the claims of an
// earlier one, and an allowed call without a claim does not run.

import type { ReadGuestAnswer, ReadGuestRequest } from '../../../client/guard/guest-conversation.ts'
import type { Declaration } from '../../../shared/contract/messages.ts'
import { noUsage } from '../../../shared/contract/turn/no-usage.ts'
import type { Milliseconds } from '../../../shared/lib/clock.ts'
import { argumentTextAt } from '../../../shared/transcript/json-fields.ts'
import type { Piece } from '../../../shared/transcript/transcript.ts'
import { type ModelAnswer, piecesOfAnswer } from '../../../shared/wire/exchange.ts'
import { type HeldConversation, type HeldVerdicts, heldVerdicts } from './held-verdicts.ts'
import type { HookCall, HookResult } from './hooks/hook-payload.ts'

/**
 * `prompt`: the text that opened the turn, '' if nothing has shown it. `tools`: those that the host
 * was offered. Undefined: the front does not see them. `host`: as in GuestRequest.
 */
export type CallRound = {
  prompt: string
  host?: string | undefined
  tools?: readonly Declaration[]
  calls: HookCall[]
  results: Map<string, HookResult>
}

/**
 * A round whose calls wait for their verdicts. `isOpen`: further calls join. `given`: as in givenOnce.
 */
export type HeldRound = CallRound & {
  verdicts: HeldVerdicts
  isOpen: boolean
  given: Set<number>
}

/**
 * A round without calls. Those that it has once `joined` resolves, and the calls of `before` are decided,
 * are judged. `personsMs`: as in heldVerdicts.
 */
export function heldRound(
  conversation: HeldConversation,
  shown: Pick<CallRound, 'prompt' | 'host' | 'tools'>,
  { joined, before, personsMs }: Joining,
): HeldRound {
  const isNext = before !== undefined && !isComplete(before)
  const begins = isNext ? Promise.all([joined, decided(before)]) : joined
  const answer = begins.then(() => {
    round.isOpen = false
    return guestAnswerOf(round)
  })
  const verdicts = heldVerdicts(conversation, answer, personsMs)
  const own = { calls: [], results: new Map(), given: new Set<number>() }
  const round: HeldRound = { ...shown, ...own, verdicts, isOpen: true }
  return round
}

export type Joining = {
  joined: Promise<void>
  before?: HeldRound | undefined
  personsMs?: Milliseconds
}

/** Resolves once each call of the round is decided, waits for a known person, or cannot be judged. */
function decided({ calls, verdicts }: HeldRound): Promise<unknown> {
  return Promise.allSettled(calls.map((_, index) => verdicts.first(index)))
}

export function isComplete({ calls, results }: CallRound): boolean {
  return calls.every(({ id }) => results.has(id))
}

function guestAnswerOf(round: CallRound): ReadGuestAnswer {
  return { request: requestOf(round, []), pieces: piecesOfAnswer(answerOf(round)) }
}

/** The request that the host sends after this round, as far as hooks know it. */
export function requestAfter(round: CallRound): ReadGuestRequest {
  const results = [...round.results.values()].map(({ callId: id, status, text }): Piece => {
    return { kind: 'result', id, text, isError: status === 'error', where: 'results' }
  })
  return requestOf(round, [...piecesOfAnswer(answerOf(round)), ...results])
}

function requestOf({ prompt, tools, host }: CallRound, pieces: Piece[]): ReadGuestRequest {
  return { pieces: [{ kind: 'user', text: prompt }, ...pieces], tools, host }
}

/** Throws for arguments that are neither a text nor an object. */
function answerOf({ calls }: CallRound): ModelAnswer {
  const items = calls.map(({ id, name, input }) => {
    const text = argumentTextAt(input, `the input of ${name}`)
    return { kind: 'call' as const, id, name, arguments: text }
  })
  return { id: '', model: '', items, stop: 'calls', finish: '', usage: noUsage }
}
