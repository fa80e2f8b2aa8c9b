// The claims of each cleared call in the log of `rounds-cleared`: the accepted ones, their owners,
// and how each ended. Written a second time from the protocol, on purpose: it checks the executor's
// own reducer.
//
// A call waits for guards (waits.ts) and is then ready(try). The first claim of that try makes it
// claimed(try, owner, time), if its record precedes expiresAt. An outcome of that owner ends the
// call or returns it to ready, with the next try. If its agent goes on, the call counts as lapsed. A tick at or after claim + startWithin + timeout
// + grace ends the claim as lapsed. A lapsed call is ready again if it is idempotent, has tries
// left, and is neither cancelled nor expired. Otherwise its outcome is unknown.

import type {
  CallsStopped,
  Claim,
  Declaration,
  Lapsed,
  MessageOf,
  Outcome,
  ResultStatus,
  RoundCleared,
} from '../../../../shared/contract/messages.ts'
import {
  addressOf,
  callKey,
  type Evidence,
  type LoggedMessage,
  recordsOf,
  turnKey,
} from '../../evidence.ts'
import {
  type AwaitedGuard,
  applyAnswer,
  type CountedVerdict,
  guardsOf,
  matches,
  passTime,
  type WaitEnd,
  type Waiting,
} from './waits.ts'

export type AcceptedClaim = {
  try: number
  owner: string
  /** When the log accepted it. */
  time: number
  at: string
  end:
    | { kind: 'open' }
    | { kind: 'reported'; status: ResultStatus; reason: string; text: string; time: number }
    | { kind: 'given back' | 'goes on' | 'lapsed'; time: number }
}

export type ClearedCall = {
  key: string
  conversation: string
  turn: number
  tool: string
  idempotent: boolean
  toolTries: number
  startWithinMs: number
  /** The call was decided before it reached the executor, and must never start. */
  decided: boolean
  /** An operator's stop named it. */
  isStopped: boolean
  at: string
  /** The guards that the call waited for, with their verdicts during that time. */
  guards: AwaitedGuard[]
  counted: CountedVerdict[]
  claims: AcceptedClaim[]
  /** The end that the log requires. Undefined: still open, or its turn closed first. */
  ending: ResultStatus | undefined
}

type Phase =
  | { kind: 'waiting' }
  | { kind: 'ready'; try: number; lapsed: boolean }
  | {
      kind: 'claimed'
      claim: AcceptedClaim
      lapsed: boolean
      cancelled: boolean
      /** Its end if it is given back after a stop. */
      never?: ResultStatus
    }
  | { kind: 'done' }

type ClaimedPhase = Extract<Phase, { kind: 'claimed' }>

type OpenCall = ClearedCall & Waiting & { round: number; deadlineMs: number; phase: Phase }

type Turn = { cancelled: boolean; roundNewest: number; time: number; calls: OpenCall[] }

/** By call. */
export function clearedCalls(evidence: Evidence): Map<string, ClearedCall> {
  const calls = new Map<string, ClearedCall>()
  const turns = new Map<string, Turn>()
  const types = [
    'round-cleared',
    'cancel',
    'calls-stopped',
    'turn-ended',
    'guard-verdict',
    'claim',
    'outcome',
    'lapsed',
    'tick',
  ] as const
  for (const record of recordsOf(evidence, ...types)) {
    if (record.topic !== 'rounds-cleared') continue
    const { message } = record
    const key = message.type === 'tick' ? message.unit : turnKey(message)
    const turn = turns.get(key)
    const time = Math.max(record.time, turn?.time ?? 0)
    if (turn !== undefined) turn.time = time
    switch (message.type) {
      case 'round-cleared': {
        const opened = turn ?? openTurn(time)
        turns.set(key, opened)
        for (const call of clear(opened, message, time, addressOf(record)))
          calls.set(call.key, call)
        break
      }
      case 'cancel': {
        const opened = turn ?? openTurn(time)
        turns.set(key, opened)
        cancel(opened)
        break
      }
      case 'calls-stopped':
        stop(turn, message)
        break
      case 'turn-ended':
        turns.delete(key)
        break
      case 'guard-verdict':
        applyAnswer(
          turn?.calls.filter(({ round }) => round === message.round) ?? [],
          message,
          time,
          addressOf(record),
          endWait,
        )
        break
      case 'claim':
        claim(turn, record as LoggedMessage<'claim'>, time)
        break
      case 'outcome':
        conclude(turn, message, time)
        break
      case 'lapsed':
        lapse(turn, message, time)
        break
      case 'tick':
        passTime(turn?.calls ?? [], time, addressOf(record), endWait)
        look(turn, time)
    }
  }
  return calls
}

function openTurn(time: number): Turn {
  return { cancelled: false, roundNewest: 0, time, calls: [] }
}

function clear(turn: Turn, message: RoundCleared, time: number, at: string): OpenCall[] {
  if (message.round <= turn.roundNewest) return []
  turn.roundNewest = message.round
  const decided = new Map(message.decided.map((result) => [result.ordinal, result.status]))
  const cleared = message.calls.map((call): OpenCall => {
    const declaration = message.declarations.find(({ name }) => name === call.name)
    const known = decided.get(call.ordinal)
    const isUnable =
      declaration === undefined ||
      (call.problem !== null && call.problem !== 'no_arguments') ||
      isUnguarded(message, declaration)
    const ending =
      known ??
      (turn.cancelled || time >= message.expiresAt ? 'skipped' : undefined) ??
      stopStatus(message, call.name) ??
      (isUnable ? 'denied' : undefined)
    const guards = ending === undefined ? guardsOf(message, call.name, time) : []
    return {
      key: callKey(message, call.ordinal),
      conversation: message.conversation,
      turn: message.turn,
      round: message.round,
      ordinal: call.ordinal,
      tool: call.name,
      idempotent: declaration?.idempotent ?? false,
      toolTries: message.policy.toolTries,
      startWithinMs: message.policy.startWithinMs,
      deadlineMs:
        message.policy.startWithinMs + (declaration?.timeoutMs ?? 0) + message.policy.graceMs,
      expiresAt: Math.max(message.expiresAt, message.extendedTo ?? 0),
      decided: known !== undefined,
      isStopped: false,
      at,
      guards,
      counted: [],
      awaited: guards.length > 0 ? guards : undefined,
      claims: [],
      ending,
      phase:
        ending !== undefined
          ? { kind: 'done' }
          : guards.length > 0
            ? { kind: 'waiting' }
            : { kind: 'ready', try: 1, lapsed: false },
    }
  })
  turn.calls.push(...cleared)
  return cleared
}

/** A tool with `once` whose guard is not in force yet, or no more. */
function isUnguarded({ policy }: RoundCleared, { name, hints }: Declaration): boolean {
  const patterns = policy.guards.flatMap((guard) => (guard.name === 'once' ? guard.tools : []))
  return (hints?.once ?? null) !== null && !patterns.some(({ pattern }) => matches(pattern, name))
}

function endWait(call: OpenCall, how: WaitEnd): void {
  if (how === 'passed') call.phase = { kind: 'ready', try: 1, lapsed: false }
  else end(call, how)
}

function cancel(turn: Turn): void {
  turn.cancelled = true
  for (const call of turn.calls) {
    call.awaited = undefined
    if (call.phase.kind === 'waiting') end(call, 'skipped')
    if (call.phase.kind === 'ready') end(call, call.phase.lapsed ? 'unknown' : 'skipped')
    if (call.phase.kind === 'claimed') call.phase.cancelled = true
  }
}

/** A call that has not been claimed never starts. At `now` a claimed one is to be stopped. */
function stop(turn: Turn | undefined, { round, ordinals, stop }: CallsStopped): void {
  const never = stop.scope === 'tool' ? 'denied' : 'skipped'
  for (const call of turn?.calls ?? []) {
    if (call.round !== round || !ordinals.includes(call.ordinal)) continue
    call.isStopped = true
    const { phase } = call
    if (phase.kind === 'waiting' || phase.kind === 'ready') {
      call.awaited = undefined
      end(call, phase.kind === 'ready' && phase.lapsed ? 'unknown' : never)
    } else if (phase.kind === 'claimed' && stop.mode === 'now' && !phase.cancelled) {
      phase.cancelled = true
      phase.never = never
    }
  }
}

/** The first stop of a turn in the policy of its round, otherwise one of the call's tool. */
function stopStatus({ policy }: RoundCleared, tool: string): ResultStatus | undefined {
  const stops = policy.stops ?? []
  if (stops.some(({ scope }) => scope !== 'tool')) return 'skipped'
  return stops.some(({ name }) => matches(name, tool)) ? 'denied' : undefined
}

function claim(turn: Turn | undefined, record: LoggedMessage<'claim'>, time: number): void {
  const { message } = record
  const call = find(turn, message)
  if (call?.phase.kind !== 'ready' || call.phase.try !== message.try || time >= call.expiresAt)
    return
  const accepted: AcceptedClaim = {
    try: message.try,
    owner: message.owner,
    time,
    at: addressOf(record),
    end: { kind: 'open' },
  }
  call.claims.push(accepted)
  call.phase = { kind: 'claimed', claim: accepted, lapsed: call.phase.lapsed, cancelled: false }
}

function conclude(turn: Turn | undefined, message: Outcome, time: number): void {
  const call = find(turn, message)
  if (call?.phase.kind !== 'claimed') return
  const { claim, lapsed: before, cancelled, never = 'skipped' } = call.phase
  if (claim.try !== message.try || claim.owner !== message.owner) return
  const { result } = message
  if (result === null) {
    claim.end = { kind: message.goesOn ? 'goes on' : 'given back', time }
    const lapsed = before || message.goesOn === true
    if (cancelled || time >= call.expiresAt) end(call, lapsed ? 'unknown' : never)
    else call.phase = { kind: 'ready', try: claim.try + 1, lapsed }
    return
  }
  claim.end = {
    kind: 'reported',
    status: result.status,
    reason: result.reason,
    text: result.text,
    time,
  }
  end(call, before && neverRan.has(result.status) ? 'unknown' : result.status)
}

function look(turn: Turn | undefined, time: number): void {
  for (const call of turn?.calls ?? []) {
    const { phase } = call
    if (phase.kind === 'ready' && time >= call.expiresAt)
      end(call, phase.lapsed ? 'unknown' : 'skipped')
    if (phase.kind !== 'claimed' || time < phase.claim.time + call.deadlineMs) continue
    lapseClaim(call, phase, time)
  }
}

/** The next process at the place of a dead owner gives up its claim before the deadline. */
function lapse(turn: Turn | undefined, message: Lapsed, time: number): void {
  const call = find(turn, message)
  if (call?.phase.kind !== 'claimed') return
  const { claim } = call.phase
  if (claim.try === message.try && claim.owner === message.owner) lapseClaim(call, call.phase, time)
}

function lapseClaim(call: OpenCall, phase: ClaimedPhase, time: number): void {
  phase.claim.end = { kind: 'lapsed', time }
  const isAgain =
    call.idempotent && phase.claim.try < call.toolTries && !phase.cancelled && time < call.expiresAt
  if (isAgain) call.phase = { kind: 'ready', try: phase.claim.try + 1, lapsed: true }
  else end(call, 'unknown')
}

function find(turn: Turn | undefined, of: Pick<Claim, 'round' | 'ordinal'>): OpenCall | undefined {
  return turn?.calls.find(({ round, ordinal }) => round === of.round && ordinal === of.ordinal)
}

function end(call: OpenCall, status: ResultStatus): void {
  call.phase = { kind: 'done' }
  call.ending = status
}

/** Statuses that promise that a call never ran in any try. */
export const neverRan: ReadonlySet<ResultStatus> = new Set<MessageOf<'call-finished'>['status']>([
  'denied',
  'skipped',
])
