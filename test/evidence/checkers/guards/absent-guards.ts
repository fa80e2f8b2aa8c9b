// Rounds and the guards that should judge them, checked from all registrations in the log. The
// executor reads only the newest registration of a guard, with its `firstAt` and `replaced`. So those
// fields must match the registrations before. No call starts without a guard that was in force since
// before its round's stamp. A denial without a reason is found by guards-decide.ts.

import {
  addressOf,
  type Checker,
  callKey,
  type Evidence,
  type Finding,
  firstOfRound,
  type LoggedMessage,
  recordsOf,
} from '../../evidence.ts'
import { modeOf } from '../calls/waits.ts'
import { contentOf, historiesOf, type State } from './stamps.ts'

/** The longest time between the stamp and the clearing of a round. */
const stampedMs = 600_000

/** The earlier registrations that the newest one keeps. */
const replacedMax = 8

export const absentGuards: Checker = {
  name: 'absent-guards',
  rule: 'No call starts in a round without a guard that was in force, also if the guard changes.',
  needs: [],
  check(evidence) {
    const histories = historiesOf(evidence)
    const rounds = firstOfRound(recordsOf(evidence, 'round-cleared'))
    return [
      ...[...histories].flatMap(([guard, history]) => wrongFields(guard, history)),
      ...[...rounds.values()].flatMap((cleared) => unjudgedStarts(evidence, cleared, histories)),
    ]
  },
}

/**
 * The first record of the log proves nothing: older ones may be compacted. Two instances of a guard that
 * begin at once both register, and the second may not have read the first. Both have one content, so the
 * last one stands for both.
 */
function wrongFields(guard: string, history: State[]): Finding[] {
  return history.slice(1).flatMap(({ from, registration, content }, place) => {
    if (registration === undefined) return []
    const { firstAt, replaced } = registration
    const before = history.slice(0, place + 1)
    const earlier = before.slice(before.findLastIndex((state) => !state.registration) + 1)
    const next = (i: number) => earlier[i + 1] ?? { from, content }
    const distinct = earlier.filter((state, i) => next(i).content !== state.content)
    const problem = (field: string) => ({
      problem: `${field} of the registration of ${guard} at ${from} differs from the log`,
    })
    const [oldest] = earlier
    const [first] = distinct
    const begins = first !== undefined ? [beginOf(first)] : [null, oldest && beginOf(oldest)]
    const kept = replaced.filter(({ since }) => since >= (oldest?.from ?? 0))
    const isLogged = kept.every(({ since, guard: one }) =>
      earlier.some((state) => state.from === since && state.content === contentOf(one)),
    )
    const required = earlier
      .filter((_, i) => next(i).from > from - stampedMs)
      .slice(-replacedMax)
      .filter((state) => distinct.includes(state))
    const isWhole = required.every((state) => kept.some(({ since }) => since === state.from))
    return [
      ...(begins.includes(firstAt) ? [] : [problem('firstAt')]),
      ...(isLogged && isWhole ? [] : [problem('replaced')]),
    ]
  })
}

/** When a guard was registered first, as far as the log's oldest record of it tells. */
function beginOf({ from, registration }: State): number {
  return registration?.firstAt ?? from
}

function unjudgedStarts(
  evidence: Evidence,
  cleared: LoggedMessage<'round-cleared'>,
  histories: Map<string, State[]>,
): Finding[] {
  const { message, time } = cleared
  return message.calls.flatMap(({ ordinal, name }) => {
    const call = callKey(message, ordinal)
    return evidence.starts
      .filter((start) => start.call === call)
      .flatMap(({ at }) =>
        [...histories].flatMap(([guard, history]) => {
          const states = inForce(history, { after: time - stampedMs, until: at })
          const [first] = states
          if (first === undefined || beginOf(first) > time - stampedMs) return []
          const named = contentOf(message.policy.guards.find((one) => one.name === guard))
          const mayStart = states.some(
            ({ content, registration }) =>
              content === named ||
              registration === undefined ||
              modeOf(registration, name) !== 'enforce',
          )
          const problem = `${call} started, and its round does not name guard ${guard} as it was`
          return mayStart ? [] : [{ problem, at: addressOf(cleared) }]
        }),
      )
  })
}

function inForce(history: State[], { after, until }: { after: number; until: number }): State[] {
  return history.filter(
    ({ from }, place) => from <= until && (history[place + 1]?.from ?? Infinity) > after,
  )
}
