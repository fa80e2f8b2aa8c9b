// A guest's turn: the state while open and afterwards, the rounds, and their calls.
//
// The state does not grow with the texts of a turn. It keeps the keys of rounds, and
// the advice of the newest round that is over.
// GUEST-TURN-2. A result counts for the round that it names, and the first one of a call counts.
// The first claim of a call without a result counts. Only its owner may give the verdict,
// also in a later answer and after the round (R4).

import { policyOf } from '../../shared/agents/policy/policy.ts'
import {
  type CallEnding,
  resultWith,
  unseenResult,
} from '../../shared/contract/call/call-endings.ts'
import { errorLine } from '../../shared/contract/call/error-line.ts'
import { limits } from '../../shared/contract/limits.ts'
import type {
  CallResult,
  EndedTurn,
  FailureClass,
  GuestAdvice,
  GuestClaim,
  GuestResult,
  GuestResults,
  GuestRound,
  HiddenRounds,
  Policy,
  RedactRule,
  StopInForce,
} from '../../shared/contract/messages.ts'
import type { Output } from '../../shared/contract/stage.ts'
import { guestOwner } from '../../shared/contract/topology.ts'
import { lowestCaps } from '../../shared/contract/turn/caps.ts'
import { latestOutcome, slowestTimeout } from '../../shared/contract/turn/tool-deadline.ts'
import type { Milliseconds } from '../../shared/lib/clock.ts'
import { cutToBytes } from '../../shared/lib/text-cut.ts'
import { stopOfTurn } from '../../shared/runtime/settings/stops.ts'
import { hashOfKey, numberOfKey, roundKey } from '../../shared/transcript/round-key.ts'
import { type Allowance, expiresAt, extended, newAllowance, withRound } from '../turn/allowance.ts'
import { roundStarted, userEntry } from '../turn/endings.ts'
import type { Outstanding, Place } from '../turn/unit.ts'
import {
  type AskedRequest,
  type Identities,
  noIdentities,
  noteKnown,
  recogniseAnswer,
  showsAnswer,
} from './identity.ts'

/** Keys of closed turns that a guest's unit keeps, and names of one turn. */
export const guestTurnsKeptMax = 16
/** A guest's open turn without a record, after advice to end. A guest that goes on gets the advice again. */
export const guestEndedMs = 60_000

export type Advice = Pick<
  GuestAdvice,
  'round' | 'key' | 'action' | 'text' | 'reason' | 'rule' | 'cap' | 'denied'
> & {
  /** The failure class of a turn that ends after it. */
  class: FailureClass | null
}

export const noAdvice: Omit<Advice, 'class'> = {
  round: 0,
  key: '',
  action: 'none',
  text: '',
  reason: '',
  rule: null,
  cap: null,
  denied: [],
}

export type OpenTurn = {
  /** The offset of the record that opened it. */
  turn: number
  /** The keys under which fronts name it. Its own is first. */
  names: string[]
  /** The name of the user's message that its newest request answers. Empty: it is not known. */
  prompt: string
  agent: string
  /** Whether its front holds calls, as the newest record says. */
  blocking: boolean
  redact: readonly RedactRule[]
  allowance: Allowance
  /** The keys of its rounds, each with the ordinals of the calls that Weir kept from running. */
  known: Map<string, readonly number[]>
  /** The newest of its rounds that are over, by the hash of their words. */
  over: Map<string, string>
  /** Its rounds in the words of the host. */
  identities: Identities
  /** Denied rounds that the guest never saw, by the hash of their words. */
  hidden: Map<string, number>
  outstanding: OutstandingRound | undefined
  /** The owners of claimed calls by ordinal, in the newest round with a claim. */
  claims: { round: number; owners: Map<number, string> }
  /** Ids of calls in its rounds that are over. */
  formerIds: Set<string>
  /** The advice of the newest round that is over. */
  last: Advice
  isCancelled: boolean
  /** The operator's stop of the turn, as the newest record of a front has it. */
  stop: StopInForce | undefined
  /** The time of the newest record of a front, or of the outcome of its round. */
  activeAt: Milliseconds
}

/** The round whose outcome is awaited. */
export type OutstandingRound = Outstanding & {
  key: string
  /** The name of the turn in its record. */
  turnKey: string
  callsLeft: number
  /** Whether the front hides it from the guest if a call of it is denied. */
  hides: boolean
  /** The request that it answers, if its front hides rounds. Undefined: it is not known. */
  request: AskedRequest | undefined
  calls: { ordinal: number; id: string; reported: CallResult['status'] | undefined }[]
  policy: Pick<Policy, 'startWithinMs' | 'graceMs'>
  toolTimeoutMsMax: Milliseconds
}

/** Opens a turn. `ended`: the turn that it goes on, under this further number. */
export function openTurn(
  { conversation, offset, time }: Place,
  { turnKey, user, agent, blocking, policy }: GuestRound | GuestResults,
  ended: EndedTurn | undefined,
): { turn: OpenTurn; records: Output[] } {
  const turn: OpenTurn = {
    turn: offset,
    names: ended?.names ?? [turnKey],
    prompt: '',
    agent,
    blocking,
    redact: policy.redact,
    allowance: newAllowance(policy.caps, time),
    known: new Map(ended?.known.map(({ key, denied }) => [key, denied])),
    over: newestByWords(ended?.known.map(({ key }) => key) ?? []),
    identities: noIdentities(),
    hidden: new Map(ended?.hidden.map(({ hash, count }) => [hash, count])),
    outstanding: undefined,
    claims: { round: 0, owners: new Map() },
    formerIds: new Set(),
    last: { ...noAdvice, class: null },
    isCancelled: false,
    stop: undefined,
    activeAt: time,
  }
  for (const key of turn.known.keys()) noteKnown(turn.identities, key)
  const records: Output[] = [
    userEntry({ conversation, turn: offset }, cutToBytes(user ?? '', limits.userMessageBytesMax), {
      redact: policy.redact,
    }),
    {
      to: 'activity',
      message: {
        type: 'turn-started',
        conversation,
        turn: offset,
        messageId: turnKey,
        agent,
        parent: policy.parent,
      },
    },
  ]
  return { turn, records }
}

/** The turn when it is over. */
export function endedTurn(
  turn: OpenTurn,
  how: Pick<EndedTurn, 'cap'> & { stopped?: string; rule?: string | null },
): EndedTurn {
  const { aliases } = turn.identities
  const others = [...aliases].map(([key, own]) => [key, turn.known.get(own) ?? []] as const)
  const known = [
    ...[...turn.known].slice(-limits.guestKeysMax),
    ...others.slice(-limits.guestKeysMax),
  ]
  return {
    turn: turn.turn,
    names: turn.names,
    known: known.map(([key, denied]) => ({ key, denied: [...denied] })),
    hidden: hiddenOf(turn),
    reopens: false,
    cap: how.cap,
    stopped: how.stopped ?? '',
    stoppedUntil: how.rule === undefined ? 0 : turn.activeAt + guestEndedMs,
    rule: how.rule ?? null,
  }
}

/** The turn at a request of its guest. Each repeat keeps a turn closed that a rule has ended. */
export function atRequest(ended: EndedTurn, time: Milliseconds): EndedTurn {
  if (ended.stoppedUntil === 0) return ended
  if (time >= ended.stoppedUntil) return { ...ended, stopped: '', stoppedUntil: 0, rule: null }
  return { ...ended, stoppedUntil: time + guestEndedMs }
}

/** Notes the facts in a front's record about its turn. */
export function noteRecord(
  turn: OpenTurn,
  record: GuestRound | GuestResults,
  time: Milliseconds,
): void {
  const { turnKey, blocking, policy } = record
  if (record.type === 'guest-results' && record.prompt !== '') turn.prompt = record.prompt
  turn.names = withName(turn.names, turnKey)
  turn.blocking = blocking
  turn.redact = policy.redact
  turn.allowance.caps = lowestCaps(turn.allowance.caps, policy.caps)
  turn.stop = stopOfTurn(policy.stops)
  turn.activeAt = time
}

/** The names of a turn with one more. A turn with the most names keeps the ones it has. */
export function withName(names: string[], name: string): string[] {
  return names.includes(name) || names.length >= guestTurnsKeptMax ? names : [...names, name]
}

/** Begins a round: the pipeline judges it as one that the gateway finished. */
export function propose({ conversation }: Place, turn: OpenTurn, message: GuestRound): Output[] {
  const { key, hides, response, offered, agent } = message
  const policy = message.blocking ? message.policy : observed(message.policy)
  // A guest's call is never tried again: its tool is not Weir's.
  const declarations = message.declarations.map((one) => ({ ...one, idempotent: false }))
  turn.allowance = withRound(turn.allowance)
  const id = { turn: turn.turn, round: turn.allowance.used.rounds }
  const place = { conversation, ...id }
  const end = expiresAt(turn.allowance)
  const callsLeft = callsLeftOf(turn, message)
  turn.known.set(key, [])
  noteKnown(turn.identities, key)
  if (message.isShown && message.after !== null) turn.identities.taken.set(key, message.after)
  turn.outstanding = {
    ...id,
    key,
    turnKey: message.turnKey,
    callsLeft,
    hides,
    request: requestOf(turn, message),
    /** The advice that the guest had when it made the round. */
    nudge: turn.last.text === '' ? null : turn.last.text,
    calls: response.calls.map(({ ordinal, id }) => ({ ordinal, id, reported: undefined })),
    expiresAt: end,
    policy: { startWithinMs: policy.startWithinMs, graceMs: policy.graceMs },
    toolTimeoutMsMax: slowestTimeout(declarations),
  }
  return [
    {
      to: 'next',
      message: {
        type: 'round-proposed',
        conversation,
        turn: id.turn,
        round: id.round,
        response: { ...response, attempt: key },
        failure: null,
        offered,
        declarations,
        agent,
        policy,
        callsLeft,
        expiresAt: end,
      },
    },
    roundBegun(place, turn, { outstanding: turn.outstanding, turnKey: message.turnKey }),
  ]
}

/**
 * The key under which a request shows the outstanding round as the answer to the request before it.
 * Undefined: it does not.
 */
export function shownAnswer(
  { outstanding, hidden, identities, known }: OpenTurn,
  { keys }: GuestResults,
): string | undefined {
  const last = keys.at(-1)
  if (last === undefined || outstanding?.request === undefined) return undefined
  if (!showsAnswer(outstanding.request, outstanding.key, keys)) return undefined
  const key = shifted(hidden, last)
  recogniseAnswer(identities, known, { key, own: outstanding.key })
  return key
}

/**
 * The request as one that shows the end of this turn, if its user's message came before an answer to
 * the turn's last calls. Undefined: the turn is not the one before that message.
 */
export function shownBefore(turn: OpenTurn, message: GuestResults): GuestResults | undefined {
  const { former } = message
  if (former === null || former.prompt !== turn.prompt) return undefined
  return { ...message, keys: former.keys, hiddenKeys: [], results: former.results }
}

/** The newest request, if this is the answer to it and its front hides rounds. */
export function requestOf(
  { identities }: OpenTurn,
  { hides, after }: GuestRound,
): AskedRequest | undefined {
  const { newest } = identities
  return hides && newest?.place === after ? newest : undefined
}

/**
 * The policy for a front that only observes. It has let its calls run, so none of them may count as
 * refused or skipped: no stop counts, and every guard is in shadow. So no person decides them either.
 */
function observed(policy: Policy): Policy {
  if (policy.stops.length === 0 && policy.guards.length === 0) return policy
  const { version: _, ...content } = policy
  const guards = policy.guards.map((guard) => ({
    ...guard,
    tools: guard.tools.map((tools) => ({ ...tools, mode: 'shadow' as const })),
  }))
  return policyOf({ ...content, guards, stops: [] })
}

/** Joins the key of the outstanding round with its number, for a front that writes it again. */
export function roundBegun(
  { conversation }: Pick<Place, 'conversation'>,
  { allowance: { caps } }: OpenTurn,
  { outstanding, turnKey }: { outstanding: OutstandingRound; turnKey: string },
): Output {
  const { turn, round, key } = outstanding
  return roundStarted({ conversation, turn, round }, { ...outstanding, caps }, { key, turnKey })
}

/** The round to end from outside. Without an outstanding one, all of the turn ends. */
export function roundOf({ turn, outstanding, allowance }: OpenTurn): Outstanding {
  return outstanding ?? { turn, round: 0, nudge: null, expiresAt: expiresAt(allowance) }
}

/**
 * The calls that the turn may still make. A front that only observes cannot keep a call from
 * running, so none may count as skipped.
 */
function callsLeftOf(
  { last, allowance: { caps, used } }: OpenTurn,
  { blocking }: GuestRound,
): number {
  if (!blocking) return limits.turnCallsMax
  if (last.action === 'text_only' || last.action === 'end') return 0
  return Math.max(0, caps.calls - used.calls)
}

/** Answers a claim with the calls whose verdict its front may give. */
export function claimed(turn: OpenTurn | undefined, { type: _, ...claim }: GuestClaim): Output {
  const ordinals = turn?.turn === claim.turn ? claimedIn(turn, claim) : []
  return { to: 'activity', message: { type: 'guest-claimed', ...claim, ordinals } }
}

function claimedIn(turn: OpenTurn, claim: Omit<GuestClaim, 'type'>): number[] {
  const outstanding = turn.outstanding?.round === claim.round ? turn.outstanding : undefined
  if (outstanding !== undefined && turn.claims.round !== claim.round)
    turn.claims = { round: claim.round, owners: new Map() }
  if (turn.claims.round !== claim.round) return []
  const { owners } = turn.claims
  const mayRun = outstanding?.calls.filter(({ reported }) => reported === undefined) ?? []
  for (const { ordinal } of mayRun)
    if (claim.ordinals.includes(ordinal) && !owners.has(ordinal)) owners.set(ordinal, claim.owner)
  return claim.ordinals.filter((ordinal) => owners.get(ordinal) === claim.owner)
}

/** Forwards the results that name the outstanding round. */
export function report(place: Place, turn: OpenTurn, results: readonly GuestResult[]): Output[] {
  const { outstanding } = turn
  if (outstanding === undefined) return []
  return results.flatMap((result) => {
    // Without a key, an id that a former round has too could mean that round.
    const isNamed =
      result.key === '' ? !turn.formerIds.has(result.callId) : result.key === outstanding.key
    if (!isNamed) return []
    const call = outstanding.calls.filter(({ id }) => id === result.callId)[result.nth]
    if (call === undefined || call.reported !== undefined) return []
    return reported(place, turn, outstanding, call, endingOf(result))
  })
}

/** The guest has gone on: no result of the outstanding round comes any more. */
export function goOn(place: Place, turn: OpenTurn): Output[] {
  const { outstanding } = turn
  if (outstanding === undefined) return []
  return outstanding.calls
    .filter((call) => call.reported === undefined)
    .flatMap((call) => reported(place, turn, outstanding, call, gone))
}

const gone = unseenResult('the agent went on without its result')

function reported(
  { conversation }: Place,
  { turn }: OpenTurn,
  { round }: OutstandingRound,
  call: OutstandingRound['calls'][number],
  ending: GuestEnding,
): Output[] {
  call.reported = ending.status
  const { ordinal } = call
  const result = resultWith(ordinal, ending)
  const id = { conversation, turn, round, ordinal, try: 1, owner: guestOwner, goesOn: null }
  return [{ to: 'tools', message: { type: 'outcome', ...id, result } }]
}

type GuestEnding = CallEnding & Partial<Pick<CallResult, 'durationMs'>>

/** The end for the executor, with the reason that `weir judge` finds in a transcript. */
function endingOf({ status, text, durationMs }: GuestResult): GuestEnding {
  if (status === 'unseen') return { ...gone, durationMs }
  const within = cutToBytes(text, limits.resultBytesMax)
  return { status, text: within, reason: reasonOf(status, within), durationMs }
}

function reasonOf(status: Exclude<GuestResult['status'], 'unseen'>, text: string): string {
  switch (status) {
    case 'ok':
      return ''
    case 'error':
      return errorLine(text) ?? 'it failed and said nothing'
    case 'skipped':
      return 'the agent did not run it'
    case 'unknown':
      return 'the agent does not know its result'
  }
}

/** The key of a visible round, with the denied rounds counted that the guest never saw. */
export function shifted(hidden: ReadonlyMap<string, number>, key: string): string {
  if (hidden.size === 0) return key
  const hash = hashOfKey(key)
  const count = hidden.get(hash) ?? 0
  return count === 0 ? key : roundKey(hash, numberOfKey(key) + count)
}

/**
 * The newest rounds by their words, where a request shows fewer with these words. `shown`: the keys of
 * the request, in the words of its host.
 */
export function overOf(over: ReadonlyMap<string, string>, shown: readonly string[]): string[] {
  const numbers = newestByWords(shown)
  const isOver = (key: string) => isNewer(key, numbers.get(hashOfKey(key)))
  // A request can show each of its rounds only once, so the others are among these.
  const candidates = [...over.values()].slice(-limits.guestKeysMax - shown.length)
  return candidates.filter(isOver).slice(-limits.guestKeysMax)
}

/** The key with the highest number of each hash of words. */
export function newestByWords(keys: Iterable<string>): Map<string, string> {
  const newest = new Map<string, string>()
  for (const key of keys) noteOver(newest, key)
  return newest
}

/** Notes a round that is over. */
export function noteOver(over: Map<string, string>, key: string): void {
  const words = hashOfKey(key)
  if (isNewer(key, over.get(words))) over.set(words, key)
}

function isNewer(key: string, other: string | undefined): boolean {
  return other === undefined || numberOfKey(key) > numberOfKey(other)
}

export function hiddenOf({ hidden }: OpenTurn): HiddenRounds[] {
  return [...hidden].map(([hash, count]) => ({ hash, count }))
}

/** Extends the turn for slow guards. */
export function extend(turn: OpenTurn, outstanding: OutstandingRound, until: Milliseconds): void {
  turn.allowance = extended(turn.allowance, until)
  outstanding.expiresAt = Math.max(outstanding.expiresAt, turn.allowance.extendedTo)
}

/** The time by which the outstanding round certainly has its outcome. */
export function latestOutcomeOf(outstanding: OutstandingRound): Milliseconds {
  const { expiresAt, policy, toolTimeoutMsMax } = outstanding
  return latestOutcome(expiresAt, policy, toolTimeoutMsMax)
}
