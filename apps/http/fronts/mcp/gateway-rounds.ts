// The rounds of one conversation of the gateway. Calls of one message join. Rounds follow in order:
// a round begins when the former round has results and advice.
// Owns: the turn, the open rounds, the advice in force. Does not own: the protocol (forwarded-call.ts).
// Every call belongs to one round, under an id that no other call has. No answer of Weir counts for
// two calls.
// After the action text_only the next round has no tools, so none of its calls runs. After
// `end` no call is judged until ten minutes without a call.

import { randomUUID } from 'node:crypto'
import type {
  Advice,
  GuardSession,
  GuestConversation,
  GuestResult,
} from '../../../../client/guard/guest-conversation.ts'
import { limits } from '../../../../shared/contract/limits.ts'
import type { Declaration } from '../../../../shared/contract/messages.ts'
import type { Clock, Milliseconds } from '../../../../shared/lib/clock.ts'
import { pause } from '../../../../shared/lib/pause.ts'
import { endedTurn, tooManyCalls } from '../../../../shared/model-texts/guests.ts'
import { type HeldRound, heldRound, isComplete, requestAfter } from '../call-round.ts'
import { textOfAdvice } from '../denial-texts.ts'
import type { HeldVerdicts } from '../held-verdicts.ts'
import { orAborted } from '../or-aborted.ts'

/** A call in its round. */
export type PlacedCall = {
  id: string
  name: string
  /** The text of the arguments. */
  input: string
  /** At text_only: the advice that no tool may be called. Otherwise ''. */
  denial: string
  index: number
  verdicts: HeldVerdicts
  /**
   * Reports the result. Resolves with the text of the advice, if it is the last result of its round.
   * The first result counts.
   */
  finish(result: Omit<GuestResult, 'callId'>): Promise<string>
}

export type GatewayRounds = {
  /**
   * Places a call. `id`: the host's name of it, if it has one. A text: the denial of a call that
   * gets no round. Rejects if the signal aborts before that.
   */
  place(
    call: { id: string | undefined; name: string; input: string },
    tools: readonly Declaration[],
    signal: AbortSignal,
  ): Promise<PlacedCall | string>
  /** Ends the turn: no further call comes. */
  close(): Promise<void>
}

type GatewayRound = HeldRound & {
  conversation: GuestConversation
  denial: string
  beganAt: Milliseconds
  /** Resolves with the last result and the advice. */
  over: PromiseWithResolvers<void>
}

export function gatewayRounds(
  guard: Pick<GuardSession, 'conversation'>,
  id: string,
  clock: Clock,
): GatewayRounds {
  let turn: string = randomUUID()
  let lastCallAt = clock.monotonic()
  let advice: Advice | undefined
  let end: string | undefined
  let newest: GatewayRound | undefined
  let isParallel = false
  let open = 0
  const used = new Set<string>()

  function beginTurnAfterIdle(): void {
    const now = clock.monotonic()
    if (now - lastCallAt >= limits.gatewayIdleMs && open === 0) {
      turn = randomUUID()
      advice = undefined
      end = undefined
      used.clear()
    }
    lastCallAt = now
  }

  /** A host may send an id again. */
  function ownId(given: string | undefined): string {
    const wished = given ?? `mcp-${randomUUID()}`
    const own = used.has(wished) ? `${wished}.${randomUUID().slice(0, 8)}` : wished
    used.add(own)
    const [oldest] = used
    if (used.size > limits.hookCallsMax && oldest !== undefined) used.delete(oldest)
    return own
  }

  /** Calls of one read always join. A host that was seen to send calls in parallel gets more time. */
  function joined(): Promise<void> {
    if (isParallel) return pause(clock, limits.callJoinMs)
    return new Promise((resolve) => setImmediate(resolve))
  }

  function begin(tools: readonly Declaration[]): GatewayRound {
    const { action = 'none', text = '' } = advice ?? {}
    const conversation = guard.conversation(id, { turn })
    const isTextOnly = action === 'text_only'
    const shown = { prompt: '', tools: isTextOnly ? [] : tools }
    return Object.assign(heldRound(conversation, shown, { joined: joined(), before: newest }), {
      conversation,
      denial: isTextOnly ? text : '',
      beganAt: clock.monotonic(),
      over: Promise.withResolvers<void>(),
    })
  }

  /** The round that further calls join. */
  function joining(): GatewayRound | undefined {
    return newest?.isOpen === true ? newest : undefined
  }

  async function finish(round: GatewayRound, result: GuestResult): Promise<string> {
    if (round.results.has(result.callId)) return ''
    const { callId, status, text } = result
    round.results.set(callId, { callId, status: status === 'ok' ? 'ok' : 'error', text })
    round.isOpen = false
    open -= 1
    const isLast = isComplete(round)
    try {
      // A history has no unknown outcome, so each one is reported by itself.
      if (!isLast || status === 'unknown' || status === 'skipped')
        await round.conversation.reportResults([result])
      if (!isLast) return ''
      const request = requestAfter(round)
      const given = await round.conversation.beforeModel(request)
      advice = given
      if (given.action === 'end') end = endedTurn(given.reason)
      return textOfAdvice(given)
    } finally {
      if (isLast) round.over.resolve()
    }
  }

  return {
    async place({ id: given, name, input }, tools, signal) {
      beginTurnAfterIdle()
      if (open >= limits.gatewayCallsMax) return tooManyCalls(limits.gatewayCallsMax)
      if (newest?.isOpen === false && newest.results.size === 0)
        isParallel ||= clock.monotonic() - newest.beganAt < limits.callJoinMs
      open += 1
      let round = joining()
      while (round === undefined) {
        const before = newest
        if (before !== undefined)
          await orAborted(before.over.promise, signal).catch((error: unknown) => {
            open -= 1
            throw error
          })
        if (end !== undefined) {
          open -= 1
          return end
        }
        round = joining() // a call that waited too may have begun it
        if (round === undefined && newest === before) {
          round = begin(tools)
          newest = round
        }
      }
      const call = { id: ownId(given), name, input }
      round.calls.push(call)
      if (round.calls.length >= limits.responseCallsMax) round.isOpen = false
      const { verdicts, denial } = round
      const own = round
      const index = round.calls.length - 1
      return {
        ...call,
        index,
        denial,
        verdicts,
        finish: (result) => finish(own, { callId: call.id, ...result }),
      }
    },

    async close() {
      if (newest !== undefined) await guard.conversation(id, { turn }).endTurn()
    },
  }
}
