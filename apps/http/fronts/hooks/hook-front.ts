// The front of hooks: holds each call of a host until its verdict, reports results, and passes
// advice on. Beside the proxy it only holds: the proxy sees the history.
// Owns: the calls of open rounds, in memory. Does not own: HTTP (hook-routes.ts), decisions (guard).
// HOOK-1. A call that Weir cannot judge is denied (R6).
// HOOK-2. A verdict counts for the call with the hook's id, in its session.
// HOOK-3. Lost memory loses no call and no result: it loses the advice behind one round.

import type { Logger } from 'pino'
import type {
  Advice,
  CallVerdict,
  GuardSession,
  GuestConversation,
} from '../../../../client/guard/guest-conversation.ts'
import { limits } from '../../../../shared/contract/limits.ts'
import type { Clock } from '../../../../shared/lib/clock.ts'
import { newest } from '../../../../shared/lib/newest.ts'
import { pause } from '../../../../shared/lib/pause.ts'
import { cannotJudge, undecided } from '../../../../shared/model-texts/guests.ts'
import { type CallRound, guestAnswerOf, isComplete, requestAfter } from '../call-round.ts'
import { type HeldVerdicts, heldVerdicts } from '../held-verdicts.ts'
import { orAborted } from '../or-aborted.ts'
import { endedText, textOfAdvice as textOf } from '../refusal-texts.ts'
import { addContext, deny, endTurn, type HookAnswer, tellUser } from './hook-answer.ts'
import type { HookCall, HookPayload, HookResult } from './hook-payload.ts'
import type { HostSessions } from './host-sessions.ts'

export type HookFront = {
  /** `signal` aborts when the host no longer waits. */
  answer(
    guard: Pick<GuardSession, 'conversation'>,
    payload: HookPayload,
    signal: AbortSignal,
  ): Promise<HookAnswer>
}

type HookFrontOptions = { sessions: HostSessions; clock: Clock; log: Logger }

/** The memory of one conversation's hooks. */
type Seen = {
  prompt: { turn: string | undefined; text: string } | undefined
  /** The newest calls, by id, each in its round. */
  rounds: Map<string, JudgedRound>
  /** The round that further calls still join. */
  joining: JudgedRound | undefined
  /** The turn that Weir has ended, with the reason. */
  ended: { turn: string | undefined; reason: string } | undefined
}
type JudgedRound = CallRound & { verdicts: HeldVerdicts }

export function hookFront({ sessions, clock, log }: HookFrontOptions): HookFront {
  const seenOf = newest<Seen>(limits.hookSessionsMax)

  return {
    async answer(guard, payload, signal) {
      const { session, agentId, turn, event } = payload
      sessions.sawHook(session)
      const id = agentId === undefined ? session : `${session}:${agentId}`
      const seen = seenOf.at(id, nothingSeen)
      const conversation = guard.conversation(id, turn === undefined ? {} : { turn })
      switch (event.kind) {
        case 'prompt':
          seen.prompt = { turn, text: event.text }
          if (turn === undefined) seen.ended = undefined // this host names no turns
          return undefined
        case 'pre':
          return holdCall(seen, conversation, payload, event.call, signal)
        case 'post':
          if (sessions.hasProxy(session)) return undefined
          return adviceAfter(seen, conversation, payload, [event.result])
        case 'batch':
          if (sessions.hasProxy(session)) return undefined
          await judgeUnheld(seen, conversation, payload, event.calls)
          return adviceAfter(
            seen,
            conversation,
            payload,
            event.calls.map(({ result }) => result),
          )
        case 'stop':
          if (!sessions.hasProxy(session) && !isUnnamedAgent(payload))
            await conversation.finishTurn()
          return undefined
        case 'end':
          if (event.isShown || !isEnded(seen, payload)) return undefined
          return tellUser(seen.ended?.reason ?? '')
      }
    },
  }

  async function holdCall(
    seen: Seen,
    conversation: GuestConversation,
    payload: HookPayload,
    call: HookCall,
    signal: AbortSignal,
  ): Promise<HookAnswer> {
    if (isEnded(seen, payload)) return deny(endedText(seen.ended?.reason ?? ''))
    try {
      const verdict = await orAborted(verdictOn(seen, conversation, payload, call), signal)
      if (verdict?.verdict === 'allow') return undefined
      if (verdict?.verdict === 'deny')
        return await refused(seen, conversation, payload, call, verdict)
      await reportNotRun(conversation, call)
      return deny(undecided)
    } catch (error) {
      if (signal.aborted) reportNotRun(conversation, call).catch(() => {}) // nobody waits for it
      log.warn({ err: error, tool: call.name }, 'a call was denied: it could not be judged')
      return deny(cannotJudge)
    }
  }

  async function verdictOn(
    seen: Seen,
    conversation: GuestConversation,
    payload: HookPayload,
    call: HookCall,
  ): Promise<CallVerdict | undefined> {
    const { session } = payload
    const beside = await sessions.verdictOn(session, call.id)
    if (beside !== undefined) return beside.verdict
    const known = seen.rounds.get(call.id)
    const isRepeat = known !== undefined && placeOf(known, call) >= 0
    const round = isRepeat ? known : joinCall(seen, conversation, payload, call)
    return round.verdicts.last(placeOf(round, call))
  }

  /** Adds the call to the round that is open, or opens one (CALL-ROUND-1). */
  function joinCall(
    seen: Seen,
    conversation: GuestConversation,
    payload: HookPayload,
    call: HookCall,
  ): JudgedRound {
    const open = seen.joining
    if (open !== undefined) {
      open.calls.push(call)
      return remember(seen, open, call)
    }
    const round = openRound(seen, conversation, payload, [call], pause(clock, limits.callJoinMs))
    seen.joining = round
    return remember(seen, round, call)
  }

  /** The calls of a batch without an earlier hook: the host has refused them itself. */
  async function judgeUnheld(
    seen: Seen,
    conversation: GuestConversation,
    payload: HookPayload,
    calls: { call: HookCall; result: HookResult }[],
  ): Promise<void> {
    const unheld = calls.flatMap(({ call }) => (seen.rounds.has(call.id) ? [] : [call]))
    if (unheld.length === 0) return
    const round = openRound(seen, conversation, payload, unheld, Promise.resolve())
    for (const call of unheld) remember(seen, round, call)
    await round.verdicts.last(0)
  }
}

/**
 * A host that shows no batches runs no further hook for a denied call. So the advice behind a round
 * without a call that runs stands in the refusal.
 */
async function refused(
  seen: Seen,
  conversation: GuestConversation,
  { turn }: HookPayload,
  { id }: HookCall,
  { text }: CallVerdict,
): Promise<HookAnswer> {
  const round = seen.rounds.get(id)
  round?.results.set(id, { callId: id, status: 'error', text })
  if (round === undefined || !isComplete(round)) return deny(text)
  const advice = await conversation.beforeModel(requestAfter(round))
  if (advice.action === 'end') seen.ended = { turn, reason: advice.reason }
  return deny([text, textOf(advice)].filter(Boolean).join('\n\n'))
}

function isEnded({ ended: by }: Seen, { turn }: HookPayload): boolean {
  return by !== undefined && by.turn === turn
}

/** The end of a sub-agent without its id would end the turn of its session. */
function isUnnamedAgent({ eventName, agentId }: HookPayload): boolean {
  return eventName === 'SubagentStop' && agentId === undefined
}

/** Withdraws the approval of a call that will not happen. */
function reportNotRun(conversation: GuestConversation, { id }: HookCall): Promise<void> {
  return conversation.reportResults([{ callId: id, status: 'skipped', text: '' }])
}

function nothingSeen(): Seen {
  return { prompt: undefined, rounds: new Map(), joining: undefined, ended: undefined }
}

/** A hook that comes again has the same words. Other words under its id are another call. */
function placeOf({ calls }: CallRound, { id, name, input }: HookCall): number {
  const words = JSON.stringify([id, name, input])
  return calls.findIndex((one) => JSON.stringify([one.id, one.name, one.input]) === words)
}

/** Judges the calls once `joined` has resolved. */
function openRound(
  seen: Seen,
  conversation: GuestConversation,
  { turn, host }: HookPayload,
  calls: HookCall[],
  joined: Promise<void>,
): JudgedRound {
  const prompt = seen.prompt?.turn === turn ? (seen.prompt?.text ?? '') : ''
  const answer = joined.then(() => {
    if (seen.joining === round) seen.joining = undefined
    return guestAnswerOf(round)
  })
  const round: JudgedRound = {
    prompt,
    host,
    calls,
    results: new Map(),
    verdicts: heldVerdicts(conversation, answer, limits.guestHoldMs),
  }
  return round
}

function remember(seen: Seen, round: JudgedRound, call: HookCall): JudgedRound {
  seen.rounds.set(call.id, round)
  const [oldest] = seen.rounds.keys()
  if (seen.rounds.size > limits.hookCallsMax && oldest !== undefined) seen.rounds.delete(oldest)
  return round
}

/** Reports the results. Behind the last one of a round the answer has Weir's advice. */
async function adviceAfter(
  seen: Seen,
  conversation: GuestConversation,
  payload: HookPayload,
  results: HookResult[],
): Promise<HookAnswer> {
  const finished = new Set<JudgedRound>()
  const early: HookResult[] = []
  for (const result of results) {
    const round = seen.rounds.get(result.callId)
    if (round?.results.has(result.callId)) continue // the first counts
    round?.results.set(result.callId, result)
    if (round !== undefined && isComplete(round)) finished.add(round)
    else early.push(result)
  }
  if (early.length > 0) await conversation.reportResults(early)
  const advice: Advice[] = []
  for (const round of finished) advice.push(await conversation.beforeModel(requestAfter(round)))
  return answerTo(payload, advice, seen)
}

/** Codex ends no turn for a hook. */
function answerTo(payload: HookPayload, advice: Advice[], seen: Seen): HookAnswer {
  const { turn, eventName } = payload
  const end = advice.find(({ action }) => action === 'end')
  if (end !== undefined) seen.ended = { turn, reason: end.reason }
  if (isEnded(seen, payload) && canEnd(eventName)) return endTurn(seen.ended?.reason ?? '')
  const texts = advice.map(textOf).filter(Boolean)
  return texts.length === 0 ? undefined : addContext(payload, texts.join('\n\n'))
}

/** Claude Code ends its turn between two rounds. */
function canEnd(eventName: string): boolean {
  return eventName === 'PostToolBatch'
}
