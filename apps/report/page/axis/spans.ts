// The spans of time in a turn, in five lanes. Pure.

import type {
  AttemptTimeline,
  CallTimeline,
  GuardTimeline,
} from '../../../../shared/view/timeline.ts'
import type { ShownRound, ShownTurn } from '../data.ts'

export const lanes = ['model', 'checks', 'guards', 'tools', 'waits'] as const
export type Lane = (typeof lanes)[number]

/**
 * `round` 0: the turn itself. `tone`: bad, it failed or stopped something; shadow, nothing waited
 * for it.
 */
export type Span = {
  lane: Lane
  from: number
  to: number
  round: number
  tone: 'plain' | 'bad' | 'shadow'
  label: string
}

/** Shorter waits are not interesting. */
const waitMsMin = 20

/** `until`: the end of open spans. */
export function spansOf(turn: ShownTurn, until: number): Span[] {
  const { messageAt, startedAt, rounds } = turn
  const queued = messageAt === null ? [] : wait(messageAt, startedAt, 0, 'for the turn to begin')
  return [...queued, ...rounds.flatMap((round) => spansOfRound(round, until))]
}

export function spansOfRound(round: ShownRound, until: number): Span[] {
  const { askedAt, endedAt, calls, guards, times } = round
  if (askedAt === null) return []
  const answeredAt = times.modelMs === null ? null : askedAt + times.modelMs
  const clearedAt = clearedIn(calls)
  const toolsEndAt = clearedAt === null || times.toolsMs === null ? null : clearedAt + times.toolsMs
  const spans = modelSpans(round, askedAt, answeredAt ?? endedAt ?? until)
  const checked = clearedAt ?? endedAt
  if (answeredAt !== null && checked !== null)
    spans.push(...span('checks', answeredAt, checked, round.round, 'checks'))
  if (toolsEndAt !== null && endedAt !== null)
    spans.push(...span('checks', toolsEndAt, endedAt, round.round, 'judging'))
  if (clearedAt !== null)
    for (const guard of guards)
      spans.push(...guardSpans(guard, clearedAt, toolsEndAt ?? until, round.round))
  for (const call of calls) spans.push(...toolSpans(call, toolsEndAt ?? until, round.round))
  return spans
}

/** Milliseconds of a round by lane, for the small bar of its row. Overlapping spans count once. */
export function shares(round: ShownRound, until: number): Record<Lane, number> {
  const sums = { model: 0, checks: 0, guards: 0, tools: 0, waits: 0 }
  const ends: Partial<Record<Lane, number>> = {}
  for (const { lane, tone, from, to } of spansOfRound(round, until).sort(
    (a, b) => a.from - b.from,
  )) {
    if (tone === 'shadow') continue
    const end = ends[lane] ?? from
    sums[lane] += Math.max(0, to - Math.max(from, end))
    ends[lane] = Math.max(end, to)
  }
  return sums
}

function span(
  lane: Lane,
  from: number,
  to: number,
  round: number,
  label: string,
  tone: Span['tone'] = 'plain',
): Span[] {
  return to < from ? [] : [{ lane, from, to, round, tone, label }]
}

function wait(from: number, to: number, round: number, reason: string): Span[] {
  return to - from < waitMsMin ? [] : span('waits', from, to, round, `waits ${reason}`)
}

function modelSpans({ round, attempts }: ShownRound, askedAt: number, end: number): Span[] {
  if (attempts.length === 0) return span('model', askedAt, end, round, 'model')
  return attempts.flatMap((attempt, index) => {
    const next = attempts[index + 1]
    const from = attempt.startedAt ?? askedAt
    const to = attempt.endedAt ?? next?.startedAt ?? end
    const pause =
      next?.startedAt === undefined || next.startedAt === null
        ? []
        : wait(to, next.startedAt, round, 'before the next attempt')
    return [
      ...span(
        'model',
        from,
        Math.max(from, to),
        round,
        attemptLabel(attempt, index),
        attempt.failure === null ? 'plain' : 'bad',
      ),
      ...pause,
    ]
  })
}

function attemptLabel({ failure }: AttemptTimeline, index: number): string {
  if (failure !== null) return `attempt ${index + 1} failed: ${failure.reason}`
  return index === 0 ? 'model' : `attempt ${index + 1}`
}

/** The time at which calls were cleared. Null: none was. */
function clearedIn(calls: CallTimeline[]): number | null {
  const cleared = calls.flatMap(({ verdict }) => (verdict.kind === 'allow' ? [verdict.at] : []))
  return cleared[0] ?? null
}

function guardSpans(
  { name, answeredAt, deadlineMs, answer, calls }: GuardTimeline,
  clearedAt: number,
  end: number,
  round: number,
): Span[] {
  const person = calls.find(({ approval }) => approval !== null)?.approval
  if (person != null)
    return wait(clearedAt, person.at ?? end, round, `for a person (${person.rule})`)
  const to = answeredAt ?? (answer === 'silent' ? clearedAt + deadlineMs : end)
  const isShadow = calls.every(({ mode }) => mode === 'shadow')
  const tone = calls.some(({ stopped }) => stopped) ? 'bad' : 'plain'
  return span('guards', clearedAt, to, round, `guard ${name}`, isShadow ? 'shadow' : tone)
}

/** A call that only waits is in the lane of waits. */
function toolSpans(
  { name, tries, result, waits }: CallTimeline,
  end: number,
  round: number,
): Span[] {
  const lane = waits ? 'waits' : 'tools'
  return tries.flatMap(({ claimedAt, startedAt, endedAt }) => {
    if (startedAt === null) return []
    const tone = result === null || result.status === 'ok' ? 'plain' : 'bad'
    const label = `${name}${result === null ? '' : `: ${result.status.replace('_', ' ')}`}`
    return [
      ...wait(claimedAt, startedAt, round, 'to start'),
      ...span(lane, startedAt, Math.max(startedAt, endedAt ?? end), round, label, tone),
    ]
  })
}
