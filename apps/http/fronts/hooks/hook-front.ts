// The front of hooks: holds each call of a host until its verdict, reports results, and passes
// advice on. Next to the proxy it only holds: the proxy sees the history.
// Owns: the calls of open rounds, in memory. Does not own: HTTP (hook-routes.ts), decisions (guard).
// A call that Weir cannot judge is denied (R6).
// A verdict counts for the call with the hook's id, tool and arguments, in its session, and is given
// once: to all hooks that wait for it. Models repeat ids, so a later equal call is another one.
// Lost memory loses no call and no result: it loses the advice after one round.

import { randomUUID } from 'node:crypto'
import type { Logger } from 'pino'
import type {
  Advice,
  CallVerdict,
  GuardSession,
  GuestConversation,
  GuestPlaceOptions,
} from '../../../../client/guard/guest-conversation.ts'
import { limits } from '../../../../shared/contract/limits.ts'
import { hostNamed } from '../../../../shared/hosts/hosts.ts'
import { agentsThatEnded, agentThatGoesOn } from '../../../../shared/hosts/started-agents.ts'
import type { Clock } from '../../../../shared/lib/clock.ts'
import { newest } from '../../../../shared/lib/newest.ts'
import { pause } from '../../../../shared/lib/pause.ts'
import { touch } from '../../../../shared/lib/recency.ts'
import { cannotJudge, endedTurn, undecided } from '../../../../shared/model-texts/guests.ts'
import { guestChildEnded } from '../../../../shared/model-texts/trees.ts'
import {
  type CallRound,
  type HeldRound,
  heldRound,
  isComplete,
  type Joining,
  requestAfter,
} from '../call-round.ts'
import { textOfAdvice as textOf } from '../denial-texts.ts'
import { givenOnce } from '../held-verdicts.ts'
import { orAborted } from '../or-aborted.ts'
import { subAgentEnded } from '../person-texts.ts'
import {
  addContext,
  canEndTurn,
  deny,
  endTurn,
  type HookAnswer,
  tellUser,
  withContext,
  withUserText,
} from './hook-answer.ts'
import type { HookCall, HookEvent, HookPayload, HookResult } from './hook-payload.ts'
import type { HostSessions } from './host-sessions.ts'

export type HookFront = {
  /** `signal` aborts when the host no longer waits. */
  answer(
    guest: { agent: string; guard: Pick<GuardSession, 'conversation'> },
    payload: HookPayload,
    signal: AbortSignal,
  ): Promise<HookAnswer>
}

type PayloadOfGuest = HookPayload & { agent: string }

type HookFrontOptions = { sessions: HostSessions; clock: Clock; log: Logger }

/** The memory of one conversation's hooks: of a guest, its session and its sub-agent. */
type Seen = {
  prompt: { turn: string | undefined; text: string } | undefined
  /** The names of the newest calls whose ids an earlier call had, by that id. */
  renamed: Map<string, string>
  /** The newest calls, by name, each in its round. */
  rounds: Map<string, HeldRound>
  /** The round that further calls still join. */
  joining: HeldRound | undefined
  /** The turn that Weir has ended, with the reason. */
  ended: Ended | undefined
  /** The newest ends of the session's sub-agents, by their turns. `isShown`: on the screen. */
  endedAgents: Map<string, { text: string; reason: string; isShown: boolean }>
}
type Ended = { turn: string | undefined; reason: string; userText: string }

export function hookFront({ sessions, clock, log }: HookFrontOptions): HookFront {
  const seenOf = newest<Seen>(limits.hookSessionsMax)

  return {
    async answer({ agent, guard }, payload, signal) {
      const { session, agentId, turn, event } = payload
      sessions.sawHook(session)
      const id = agentId === undefined ? session : `${session}:${agentId}`
      const seenIn = (...of: string[]) =>
        seenOf.at(JSON.stringify([agent, session, ...of]), nothingSeen)
      const ofSession = seenIn()
      const seen = agentId === undefined ? ofSession : seenIn(agentId)
      const conversation = guard.conversation(id, placeInTree(payload))
      switch (event.kind) {
        case 'prompt':
          seen.prompt = { turn, text: event.text }
          if (turn === undefined) seen.ended = undefined // this host names no turns
          return undefined
        case 'pre':
          return holdCall(
            seen,
            conversation,
            { ...payload, agent },
            beginning(seen, event.call),
            signal,
          )
        case 'post':
        case 'batch':
          if (sessions.hasProxy({ agent, session })) return undefined
          return withEndedAgents(
            await judgeResults(seen, conversation, { ...payload, event: withOwnIds(seen, event) }),
            payload,
            { seen, ofSession },
          )
        case 'stop':
          if (!sessions.hasProxy({ agent, session }) && !isUnnamedAgent(payload))
            await conversation.finishTurn()
          return undefined
        case 'end':
          if (event.isShown) return undefined
          return tellUser([
            ...[...ofSession.endedAgents.values()].map(({ text }) => text),
            ...(isEnded(seen, payload) ? [seen.ended?.userText ?? ''] : []),
          ])
      }
    },
  }

  /** Reports the results of the event. */
  async function judgeResults(
    seen: Seen,
    conversation: GuestConversation,
    payload: HookPayload,
  ): Promise<HookAnswer> {
    const { event } = payload
    if (event.kind === 'batch') await judgeUnheld(seen, conversation, payload, event.calls)
    const answer = await adviceAfter(seen, conversation, payload, resultsOf(event))
    await reportEnd(seen, conversation, payload, log)
    return answer
  }

  async function holdCall(
    seen: Seen,
    conversation: GuestConversation,
    payload: PayloadOfGuest,
    call: HookCall,
    signal: AbortSignal,
  ): Promise<HookAnswer> {
    if (isEndedBy(seen, payload)) return endTurn(seen.ended?.userText ?? '')
    if (isEnded(seen, payload)) return deny(payload, endedTurn(seen.ended?.reason ?? ''))
    try {
      const verdict = await orAborted(verdictOn(seen, conversation, payload, call), signal)
      if (verdict?.verdict === 'allow') return undefined
      if (verdict?.verdict === 'deny') {
        const answer = await denied(seen, conversation, payload, call, verdict)
        await reportEnd(seen, conversation, payload, log)
        return answer
      }
      await reportNotRun(conversation, call)
      return deny(payload, undecided)
    } catch (error) {
      if (signal.aborted) reportNotRun(conversation, call).catch(() => {}) // nobody waits for it
      log.warn({ err: error, tool: call.name }, 'a call was denied: it could not be judged')
      return deny(payload, cannotJudge)
    }
  }

  async function verdictOn(
    seen: Seen,
    conversation: GuestConversation,
    payload: PayloadOfGuest,
    call: HookCall,
  ): Promise<CallVerdict | undefined> {
    const { agent, session } = payload
    const beside = await sessions.verdictOn(
      session,
      payload.event.kind === 'pre' ? payload.event.call : call,
    )
    if (beside !== undefined && (beside.agent === agent || beside.verdict?.verdict !== 'allow'))
      return beside.verdict
    const known = seen.rounds.get(call.id)
    const isRepeat = known !== undefined && placeOf(known, call) >= 0
    const round = isRepeat ? known : joinCall(seen, conversation, payload, call)
    return givenOnce(round, [placeOf(round, call)])
  }

  /** Adds the call to the round that is open, or opens one. */
  function joinCall(
    seen: Seen,
    conversation: GuestConversation,
    payload: HookPayload,
    call: HookCall,
  ): HeldRound {
    if (seen.joining?.isOpen !== true)
      seen.joining = openRound(seen, conversation, payload, {
        joined: pause(clock, limits.callJoinMs),
        before: seen.joining,
      })
    return join(seen, seen.joining, call)
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
    const round = openRound(seen, conversation, payload, { joined: Promise.resolve() })
    for (const call of unheld) join(seen, round, call)
    await round.verdicts.last(0)
  }
}

/**
 * A host that shows no batches runs no further hook for a denied call. So the advice after a round
 * without a call that runs stands in the denial.
 */
async function denied(
  seen: Seen,
  conversation: GuestConversation,
  payload: HookPayload,
  { id }: HookCall,
  { text }: CallVerdict,
): Promise<HookAnswer> {
  const round = seen.rounds.get(id)
  round?.results.set(id, { callId: id, status: 'error', text })
  if (round === undefined || !isComplete(round)) return deny(payload, text)
  const advice = await conversation.beforeModel(requestAfter(round))
  noteEnd(seen, payload.turn, advice)
  if (isEndedBy(seen, payload)) return endTurn(seen.ended?.userText ?? '')
  return deny(payload, [text, textOf(advice)].filter(Boolean).join('\n\n'))
}

/** A host whose turn ends by this answer runs no hook for the end. */
async function reportEnd(
  seen: Seen,
  conversation: GuestConversation,
  payload: HookPayload,
  log: Logger,
): Promise<void> {
  if (!isEndedBy(seen, payload)) return
  await conversation
    .endTurn()
    .catch((error: unknown) => log.warn({ err: error }, 'an end of a turn was not reported'))
}

/** Agents in the background: one that goes on after its call, and those that the result reports as over. */
async function noteAgents(
  conversation: GuestConversation,
  { session, host }: HookPayload,
  round: CallRound | undefined,
  { callId, text }: HookResult,
): Promise<void> {
  const profile = hostNamed(host)
  const tool = round?.calls.find(({ id }) => id === callId)?.name ?? ''
  const child = agentThatGoesOn(profile, tool, text)
  if (child !== undefined) conversation.goesOn(callId, `${session}:${child}`)
  for (const over of agentsThatEnded(profile, tool, text))
    await conversation.childEnded(`${session}:${over}`)
}

function noteEnd(seen: Seen, turn: string | undefined, advice: Advice): void {
  const { action, reason, userText } = advice
  if (action === 'end') seen.ended = { turn, reason, userText }
}

/**
 * A host shows nothing of a sub-agent's end to its user, and a result like any other to the caller's model. So
 * the next answer to the session names it to both.
 */
function withEndedAgents(
  answer: HookAnswer,
  payload: HookPayload,
  { seen, ofSession: { endedAgents } }: { seen: Seen; ofSession: Seen },
): HookAnswer {
  const { agentId, turn } = payload
  if (agentId !== undefined) {
    if (isEndedBy(seen, payload)) {
      const { userText = '', reason = '' } = seen.ended ?? {}
      const end = { text: subAgentEnded(userText), reason, isShown: false }
      touch(endedAgents, JSON.stringify([agentId, turn]), end, limits.hookAgentsMax)
    }
    return answer
  }
  const ends = [...endedAgents.values()].filter(({ isShown }) => !isShown)
  for (const end of ends) end.isShown = true
  const forModel = ends.map(({ reason }) => guestChildEnded(reason)).join('\n\n')
  return withUserText(
    withContext(answer, payload, forModel),
    ends.map(({ text }) => text),
  )
}

/** Any agent of the session may have begun a sub-agent, so only the root is known. */
function placeInTree({ session, agentId, turn }: HookPayload): GuestPlaceOptions {
  return { ...(turn !== undefined && { turn }), ...(agentId !== undefined && { root: session }) }
}

function resultsOf(event: HookEvent): HookResult[] {
  if (event.kind === 'post') return [event.result]
  return event.kind === 'batch' ? event.calls.map(({ result }) => result) : []
}

/** Whether the answer to this event ends the turn. */
function isEndedBy(seen: Seen, payload: HookPayload): boolean {
  return isEnded(seen, payload) && canEndTurn(payload)
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
  return {
    prompt: undefined,
    renamed: new Map(),
    rounds: new Map(),
    joining: undefined,
    ended: undefined,
    endedAgents: new Map(),
  }
}

/** The name is random, so no id of a model is equal to it. */
function beginning(seen: Seen, call: HookCall): HookCall {
  const named = { ...call, id: nameIn(seen, call.id) }
  const round = seen.rounds.get(named.id)
  const isUsedUp =
    round !== undefined && (round.results.has(named.id) || round.given.has(placeOf(round, named)))
  if (!isUsedUp) return named
  touch(seen.renamed, call.id, `call-${randomUUID()}`, limits.hookCallsMax)
  return { ...call, id: nameIn(seen, call.id) }
}

function nameIn({ renamed }: Seen, id: string): string {
  return renamed.get(id) ?? id
}

/** The event with the names of its calls. */
function withOwnIds(
  seen: Seen,
  event: Extract<HookEvent, { kind: 'post' | 'batch' }>,
): Extract<HookEvent, { kind: 'post' | 'batch' }> {
  const named = (result: HookResult) => ({ ...result, callId: nameIn(seen, result.callId) })
  if (event.kind === 'post') {
    const { result, of } = event
    const callId = of === undefined ? undefined : runningCall(seen, of)
    return { ...event, result: callId === undefined ? named(result) : { ...result, callId } }
  }
  const calls = event.calls.map(({ call, result }) => ({
    call: { ...call, id: nameIn(seen, call.id) },
    result: named(result),
  }))
  return { ...event, calls }
}

/** The newest call with these words that has no result. */
function runningCall({ rounds }: Seen, { name, input }: Omit<HookCall, 'id'>): string | undefined {
  const words = JSON.stringify([name, input])
  return [...rounds]
    .reverse()
    .find(([id, { calls, results }]) =>
      calls.some(
        (one) =>
          one.id === id && !results.has(id) && JSON.stringify([one.name, one.input]) === words,
      ),
    )?.[0]
}

/** A hook that comes again has the same words. Other words under its id are another call. */
function placeOf({ calls }: CallRound, { id, name, input }: HookCall): number {
  const words = JSON.stringify([id, name, input])
  return calls.findIndex((one) => JSON.stringify([one.id, one.name, one.input]) === words)
}

/** Judges the calls that it has once they are joined. */
function openRound(
  { prompt }: Seen,
  conversation: GuestConversation,
  { turn, host }: HookPayload,
  joining: Pick<Joining, 'joined' | 'before'>,
): HeldRound {
  const shown = { prompt: prompt?.turn === turn ? (prompt?.text ?? '') : '', host }
  return heldRound(conversation, shown, { ...joining, personsMs: limits.guestHoldMs })
}

function join(seen: Seen, round: HeldRound, call: HookCall): HeldRound {
  round.calls.push(call)
  seen.rounds.set(call.id, round)
  const [oldest] = seen.rounds.keys()
  if (seen.rounds.size > limits.hookCallsMax && oldest !== undefined) seen.rounds.delete(oldest)
  return round
}

/** Reports the results. After the last one of a round the answer has Weir's advice. */
async function adviceAfter(
  seen: Seen,
  conversation: GuestConversation,
  payload: HookPayload,
  results: HookResult[],
): Promise<HookAnswer> {
  const finished = new Set<HeldRound>()
  const early: HookResult[] = []
  for (const result of results) {
    const round = seen.rounds.get(result.callId)
    if (round?.results.has(result.callId)) continue // the first counts
    await noteAgents(conversation, payload, round, result)
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
  const end = advice.find(({ action }) => action === 'end')
  if (end !== undefined) noteEnd(seen, payload.turn, end)
  if (isEndedBy(seen, payload)) return endTurn(seen.ended?.userText ?? '')
  const texts = advice.map(textOf).filter(Boolean)
  return texts.length === 0 ? undefined : addContext(payload, texts.join('\n\n'))
}
