// The loops of a turn: runs of rounds without progress, as the loop-detector found them.
// It judges nothing: the evidence of interventions names the rounds. That evidence is
// bounded, so a run also includes earlier rounds with the same calls and the same end.
// A usual reminder, a guard's intervention and a wait are not loops.

import { stillWaiting } from '../../services/loop-detector/rules/still-waiting.ts'
import type { CallTimeline, RoundTimeline } from '../../shared/view/timeline.ts'
import { tokensOf } from '../../shared/view/totals.ts'
import type { Loop } from './page/data.ts'

export function loopsOf(rounds: RoundTimeline[]): Loop[] {
  const named = new Map<number, Named>()
  for (const { intervention, round } of rounds) {
    if (intervention === null || intervention.ordinary || isNoLoop(intervention)) continue
    const { rule, key } = intervention
    const evidence = [...intervention.evidence.map((ref) => ref.round), round]
    for (const one of withEarlier(evidence, rounds)) named.set(one, { rule, key })
  }
  const loops: Loop[] = []
  for (const round of rounds) {
    const reason = named.get(round.round)
    if (reason === undefined) continue
    const last = loops.at(-1)
    if (last !== undefined && last.to === round.round - 1) extend(last, round, reason)
    else loops.push(begun(round, reason))
  }
  return loops
}

function isNoLoop({ rule }: Pick<Loop, 'rule'>): boolean {
  return rule === 'guard' || rule === stillWaiting.name
}

type Named = Pick<Loop, 'rule' | 'key'>

function begun(round: RoundTimeline, { rule, key }: Named): Loop {
  return { from: round.round, to: round.round, rule, key, ...costOf(round) }
}

/** A run may have several reasons in sequence. The last one counts. */
function extend(loop: Loop, round: RoundTimeline, { rule, key }: Named): void {
  const { ms, tokens } = costOf(round)
  Object.assign(loop, {
    to: round.round,
    rule,
    key,
    ms: loop.ms + ms,
    tokens: loop.tokens + tokens,
  })
}

/** Milliseconds from the request to the outcome, and tokens, including cached ones. */
export function costOf({ askedAt, endedAt, response }: RoundTimeline): {
  ms: number
  tokens: number
} {
  const tokens = response === null ? 0 : tokensOf(response.usage)
  return { ms: askedAt === null || endedAt === null ? 0 : Math.max(0, endedAt - askedAt), tokens }
}

function withEarlier(evidence: number[], rounds: RoundTimeline[]): number[] {
  const known = new Set(evidence)
  const alike = new Set(
    rounds.filter(({ round }) => known.has(round)).flatMap(({ calls }) => calls.map(identityOf)),
  )
  const first = Math.min(...evidence)
  const earlier = rounds.filter(({ round }) => round < first).toReversed()
  const until = earlier.findIndex(
    ({ calls }) => calls.length === 0 || !calls.every((call) => alike.has(identityOf(call))),
  )
  return [
    ...known,
    ...earlier.slice(0, until < 0 ? earlier.length : until).map(({ round }) => round),
  ]
}

function identityOf({ name, rawArguments, result }: CallTimeline): string {
  return JSON.stringify([name, rawArguments.trim(), result?.status, result?.reason])
}
