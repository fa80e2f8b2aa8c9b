// The line of model requests to one provider's account, folded from its records of the topic `budgets`.
// Every process that folds them gets the same starts. Pure.
// Owns: the order and the time of each start, the pace that the provider accepts.
// Only records and their times decide. A start needs no record: after its time the request counts
// as running, also if its process is gone.
// No request starts within a wait that the provider named. Then one goes first, as a probe.
// Starts are apart by the pace of the limits, or by the pace that the provider accepted. So
// waits that begin together never end together.
// Tenants start in turn by their shares (start-time fair queueing, Goyal 1996). In a full line
// an earlier turn takes the place of the last one, so no tenant fills the line alone.
// A round has one attempt in the line, the newest one. So the next owner of a round frees the place of a
// killed one. A running request without renewals loses its place with its lease (test/models/lines.py).

import { limits } from '../../contract/limits.ts'
import type {
  ModelLimits,
  SlotRenewed,
  SlotReserved,
  SlotSettled,
} from '../../contract/messages.ts'
import type { Milliseconds } from '../../lib/clock.ts'

/** The requests a minute after a provider refused one for the first time, and the time to the double. */
export const slotPaceMin = 20
export const slotPaceDoublesMs = 10_000
/** From this pace on the account counts as free again. */
const slotPaceMax = 10_000
/** How long the pace stays that a provider accepted. Then it grows by a twentieth each minute. */
const slotPaceHeldMs = 5 * 60_000
/** After a wait that a provider named, one request goes first, and the next one so much later. */
export const slotProbeMs = 3_000
/** The longest wait for tokens that are used above `tokensPerMinute`. */
export const slotDebtMsMax = 10 * 60_000

const minuteMs: Milliseconds = 60_000
/** An overload with a shorter wait gathers no requests, so it holds no other one back. */
const briefMs: Milliseconds = 1000
/** So clocks and networks that are a second apart put no further request into a provider's minute. */
const usedShare = 0.98
/** The part of `tokensPerMinute` that the first request counts until its answer is counted. */
const firstTokensShare = 1 / 4

export const noModelLimits: ModelLimits = {
  requestsAtOnce: null,
  requestsPerMinute: null,
  tokensPerMinute: null,
}

/** `request`: the name that all attempts of a round share, or empty. `tag`: its virtual start. */
type WaitingRequest = {
  request: string
  tag: number
  since: Milliseconds
  expiresAt: Milliseconds
}

/** `lapsesAt`: the end of its lease. `tokens`: the amount that its start counted. */
type RunningRequest = Pick<WaitingRequest, 'request' | 'tag'> & {
  at: Milliseconds
  lapsesAt: Milliseconds
  tokens: number
}

/**
 * Requests a minute since a time. `rising`: a guess that doubles until the provider refuses. `held`: the
 * number that the provider accepted.
 */
type Pace = { kind: 'rising' | 'held'; perMinute: number; since: Milliseconds }

export type RequestLine = {
  limits: ModelLimits
  /** By attempt, the lowest tag first: the next to start. */
  waiting: Map<string, WaitingRequest>
  /** By attempt, in the order of their leases. */
  running: Map<string, RunningRequest>
  /** The starts of the last minute that the provider did not refuse, by attempt. */
  accepted: Map<string, Milliseconds>
  /** The earliest next start by requests, by tokens, and by the waits of the provider. */
  requestAt: Milliseconds
  tokensAt: Milliseconds
  closedUntil: Milliseconds
  /** When a request last ended. A waiting request cannot have its place earlier. */
  freedAt: Milliseconds
  /** The next request to start is a probe. */
  probes: boolean
  pace: Pace | undefined
  /** The mean of the newest requests. */
  tokensEach: number | undefined
  /** The tag of the newest start, and the newest tag of each tenant. */
  virtual: number
  tags: Map<string, number>
}

/** The reason of a wait, for people. */
export type LineWait =
  | 'closed'
  | 'requestsAtOnce'
  | 'requestsPerMinute'
  | 'tokensPerMinute'
  | 'pace'

export function emptyLine(): RequestLine {
  return {
    limits: noModelLimits,
    waiting: new Map(),
    running: new Map(),
    accepted: new Map(),
    requestAt: 0,
    tokensAt: 0,
    closedUntil: 0,
    freedAt: 0,
    probes: false,
    pace: undefined,
    tokensEach: undefined,
    virtual: 0,
    tags: new Map(),
  }
}

export function hasLimits(given: ModelLimits): boolean {
  return Object.values(given).some((limit) => limit !== null)
}

export type LineRecord = SlotReserved | SlotRenewed | SlotSettled

const lineTypes: ReadonlySet<string> = new Set<LineRecord['type']>([
  'slot-reserved',
  'slot-renewed',
  'slot-settled',
])

/** Whether a record of the topic is of a line, or of the ledger. */
export function isOfLine<Other extends { type: string }>(
  record: Other | LineRecord,
): record is LineRecord {
  return lineTypes.has(record.type)
}

/** Changes the line in place. `time`: the append time of the record. */
export function applyToLine(line: RequestLine, record: LineRecord, time: Milliseconds): void {
  advance(line, time)
  switch (record.type) {
    case 'slot-reserved':
      return enter(line, record, time)
    case 'slot-renewed':
      return renew(line, record, time)
    case 'slot-settled':
      return settle(line, record, time)
  }
}

/** The attempt that waits or runs for this one: another attempt of its round may have replaced it. */
export function attemptInLine(
  line: RequestLine,
  { attempt, request }: Pick<SlotReserved, 'attempt' | 'request'>,
): string | undefined {
  if (line.waiting.has(attempt) || line.running.has(attempt)) return attempt
  if (request === '') return undefined
  for (const all of [line.waiting, line.running])
    for (const [other, known] of all) if (known.request === request) return other
  return undefined
}

/** Whether a request without limits in its agent's file has to wait in the line too. */
export function isUnderPressure(line: RequestLine, time: Milliseconds): boolean {
  return line.waiting.size > 0 || line.closedUntil > time || paceAt(line, time) !== undefined
}

/** Whether the line has nothing that a later record could need. Changes the line in place. */
export function isIdle(line: RequestLine, time: Milliseconds): boolean {
  advance(line, time)
  return (
    !isUnderPressure(line, time) &&
    line.running.size === 0 &&
    Math.max(line.requestAt, line.tokensAt) <= time
  )
}

/**
 * The start of each waiting request, if no further record comes. A running request then keeps its place
 * for its lease. `ignoresRunning`: the earliest starts, as if all running requests had ended.
 */
export function plannedStarts(
  line: RequestLine,
  { ignoresRunning = false } = {},
): Map<string, Milliseconds> {
  const starts = new Map<string, Milliseconds>()
  const copy = {
    ...line,
    limits: ignoresRunning ? { ...line.limits, requestsAtOnce: null } : line.limits,
    waiting: new Map(line.waiting),
    running: new Map(line.running),
    accepted: new Map<string, Milliseconds>(),
    tags: new Map<string, number>(),
  }
  advance(copy, Number.POSITIVE_INFINITY, (attempt, at) => starts.set(attempt, at))
  return starts
}

/** The first reason why the next request does not start at `time`. Undefined: there is none. */
export function waitOfLine(line: RequestLine, time: Milliseconds): LineWait | undefined {
  if (line.closedUntil > time) return 'closed'
  if (placeAt(line) > time) return 'requestsAtOnce'
  if (line.tokensAt > time) return 'tokensPerMinute'
  if (line.requestAt <= time) return undefined
  return paceAt(line, time) === limitedPace(line) ? 'requestsPerMinute' : 'pace'
}

/** Starts all requests whose time has come, in order. */
function advance(
  line: RequestLine,
  time: Milliseconds,
  started: (attempt: string, at: Milliseconds) => void = () => {},
): void {
  for (const [attempt, request] of line.waiting) {
    const at = Math.ceil(
      Math.max(request.since, line.requestAt, line.tokensAt, line.closedUntil, placeAt(line)),
    )
    if (at > time) break
    line.waiting.delete(attempt)
    if (at >= request.expiresAt) continue
    start(line, attempt, request, at)
    started(attempt, at)
  }
  endLeases(line, time)
  for (const [attempt, at] of line.accepted)
    if (at <= time - minuteMs) line.accepted.delete(attempt)
}

function endLeases({ running }: RequestLine, time: Milliseconds): void {
  for (const [attempt, { lapsesAt }] of running) {
    if (lapsesAt > time) return
    running.delete(attempt)
  }
}

/** When a place of `requestsAtOnce` is free, without further records. */
function placeAt({ limits: { requestsAtOnce }, running, freedAt }: RequestLine): Milliseconds {
  if (requestsAtOnce === null) return 0
  if (running.size < requestsAtOnce) return freedAt
  let left = running.size - requestsAtOnce
  for (const { lapsesAt } of running.values()) if (left-- === 0) return lapsesAt
  return 0
}

function start(
  line: RequestLine,
  attempt: string,
  { request, tag }: WaitingRequest,
  at: Milliseconds,
): void {
  const { tokensPerMinute } = line.limits
  const tokens = line.tokensEach ?? (tokensPerMinute ?? 0) * firstTokensShare
  endLeases(line, at)
  line.running.set(attempt, { request, tag, at, lapsesAt: at + limits.slotLeaseMs, tokens })
  line.accepted.set(attempt, at)

  const perMinute = paceAt(line, at)
  const apart = perMinute === undefined ? 0 : minuteMs / perMinute
  line.requestAt = at + Math.max(apart, line.probes ? slotProbeMs : 0)
  line.probes = false
  line.tokensAt = Math.max(line.tokensAt, at)
  countTokens(line, tokens, at)

  line.virtual = Math.max(line.virtual, tag)
  for (const [tenant, newest] of line.tags) if (newest <= line.virtual) line.tags.delete(tenant)
}

function countTokens(line: RequestLine, tokens: number, time: Milliseconds): void {
  const { tokensPerMinute } = line.limits
  if (tokensPerMinute === null) return
  const until = line.tokensAt + (tokens * minuteMs) / (tokensPerMinute * usedShare)
  line.tokensAt = Math.min(until, time + slotDebtMsMax)
}

function enter(line: RequestLine, record: SlotReserved, time: Milliseconds): void {
  const { attempt, request, tenant, share, expiresAt } = record
  // A request without limits waits in the line too, and must not free the others.
  if (hasLimits(record.limits)) line.limits = boundedLimits(record.limits)
  const former = attemptInLine(line, record)
  if (former === attempt) return
  const formerTag = former === undefined ? undefined : remove(line, former, time)?.tag
  const tag = formerTag ?? nextTag(line, { tenant, share })
  if (line.waiting.size >= limits.slotsWaitingMax && !makesRoom(line, tag)) return
  if (formerTag === undefined) line.tags.set(tenant, tag)
  const entry: [string, WaitingRequest] = [attempt, { request, tag, since: time, expiresAt }]
  const later = [...line.waiting].filter(([, other]) => other.tag > tag)
  for (const [other] of later) line.waiting.delete(other)
  for (const [name, waiting] of [entry, ...later]) line.waiting.set(name, waiting)
  advance(line, time)
}

function nextTag(
  { virtual, tags }: RequestLine,
  { tenant, share }: Pick<SlotReserved, 'tenant' | 'share'>,
): number {
  return Math.max(virtual, tags.get(tenant) ?? 0) + 1 / Math.max(1, share)
}

function remove(line: RequestLine, attempt: string, time: Milliseconds) {
  const request = line.waiting.get(attempt) ?? line.running.get(attempt)
  if (line.running.delete(attempt)) line.freedAt = time
  line.waiting.delete(attempt)
  return request
}

/** An attempt that lost its place stays without: the place may be that of the next owner's attempt. */
function renew({ running }: RequestLine, { attempt }: SlotRenewed, time: Milliseconds): void {
  const request = running.get(attempt)
  if (request === undefined) return
  running.delete(attempt) // keeps the order of leases
  running.set(attempt, { ...request, lapsesAt: time + limits.slotLeaseMs })
}

/** Refuses the last waiting request if its turn is later. */
function makesRoom({ waiting }: RequestLine, tag: number): boolean {
  const [attempt, last] = [...waiting].at(-1) ?? []
  return attempt !== undefined && last !== undefined && last.tag > tag && waiting.delete(attempt)
}

/** A record of another process may have any number. */
function boundedLimits(given: ModelLimits): ModelLimits {
  const bounded = (max: number | null) => (max === null ? null : Math.max(1, max))
  return {
    requestsAtOnce: bounded(given.requestsAtOnce),
    requestsPerMinute: bounded(given.requestsPerMinute),
    tokensPerMinute: bounded(given.tokensPerMinute),
  }
}

function settle(line: RequestLine, record: SlotSettled, time: Milliseconds): void {
  const { attempt, tokens, refusedBy, waitMs } = record
  const running = line.running.get(attempt)
  remove(line, attempt, time)
  if (tokens !== null && running !== undefined) {
    const used = Math.min(Math.max(0, tokens), limits.usageTokensMax)
    countTokens(line, used - running.tokens, time)
    line.tokensEach = (line.tokensEach ?? used) * (7 / 8) + used / 8
  }
  if (refusedBy !== null) {
    line.accepted.delete(attempt)
    if (tokens === null && running !== undefined) countTokens(line, -running.tokens, time)
  }
  const wait = Math.min(Math.max(0, waitMs), limits.retryAfterMsMax)
  const isBrief = refusedBy === 'overload' && wait < briefMs && line.pace === undefined
  if (!isBrief && (refusedBy !== null || wait > 0)) {
    line.closedUntil = Math.max(line.closedUntil, time + wait)
    line.probes = true
    line.pace = paceAfter(line, { refusedBy, sentAt: running?.at ?? 0 }, time)
  }
  advance(line, time)
}

/**
 * The pace after the provider named a limit. A request from before the present pace says nothing about
 * that pace.
 */
function paceAfter(
  line: RequestLine,
  { refusedBy, sentAt }: { refusedBy: SlotSettled['refusedBy']; sentAt: Milliseconds },
  time: Milliseconds,
): Pace {
  const { pace, accepted, waiting } = line
  const perMinute = grown(pace, time)
  if (pace === undefined || perMinute === undefined)
    return { kind: 'rising', perMinute: slotPaceMin, since: line.closedUntil }
  if (refusedBy === null || sentAt < pace.since)
    return pace.kind === 'held' ? pace : { ...pace, since: Math.max(pace.since, line.closedUntil) }
  if (refusedBy === 'overload') {
    const half = Math.max(slotPaceMin, perMinute / 2)
    return { kind: 'rising', perMinute: half, since: line.closedUntil }
  }
  // Without requests that wait, the number is of the demand and not of the provider.
  const measured = Math.max(accepted.size, waiting.size > 0 ? 1 : slotPaceMin)
  // A provider may have refused before a minute was over, so the measure can be too low.
  const least = perMinute * (pace.kind === 'held' ? 0.7 : 0.5)
  return { kind: 'held', perMinute: Math.max(measured, least), since: time }
}

/** In requests a minute. Undefined: no limit. */
function paceAt(line: RequestLine, time: Milliseconds): number | undefined {
  const paces = [limitedPace(line), grown(line.pace, time)].filter((pace) => pace !== undefined)
  return paces.length === 0 ? undefined : Math.min(...paces)
}

function limitedPace({ limits: { requestsPerMinute } }: RequestLine): number | undefined {
  return requestsPerMinute === null ? undefined : requestsPerMinute * usedShare
}

/** Undefined: it has grown so much that the account is free. */
function grown(pace: Pace | undefined, time: Milliseconds): number | undefined {
  if (pace === undefined) return undefined
  const age = Math.max(0, time - pace.since)
  const perMinute =
    pace.kind === 'rising'
      ? pace.perMinute * 2 ** Math.floor(age / slotPaceDoublesMs)
      : pace.perMinute * 1.05 ** Math.floor(Math.max(0, age - slotPaceHeldMs) / minuteMs)
  return perMinute < slotPaceMax ? perMinute : undefined
}
