// The guards' part of the report: the changes of an operator, and for each guard its requests, its
// verdicts and their effects.

import { clearedCalls } from '../evidence/checkers/calls/claims.ts'
import { modeOf } from '../evidence/checkers/calls/waits.ts'
import { stampAges } from '../evidence/checkers/guards/stamps.ts'
import { type Evidence, recordsOf, roundKey } from '../evidence/evidence.ts'
import { type GuardChange, guardNames } from './guard-world.ts'

export function guardLines(evidence: Evidence, changes: GuardChange[]): string[] {
  const done = changes
    .filter(({ to }) => Number.isFinite(to))
    .map(({ command, from, to }) => `${command} (${((to - from) / 1_000).toFixed(1)} s)`)
  const ages = stampAges(evidence).flatMap(({ ageMs }) => ageMs ?? [])
  return [
    `changes of guards: ${done.length === 0 ? 'none' : done.join(', ')}; stamped at most ${Math.max(0, ...ages)} ms after a change`,
    ...guardNames.map((guard) => `guard ${guard}: ${linesOf(guard, evidence)}`),
  ]
}

function linesOf(guard: string, evidence: Evidence): string {
  const cleared = recordsOf(evidence, 'round-cleared').filter(({ message }) =>
    message.policy.guards.some(({ name }) => name === guard),
  )
  const modes = cleared.flatMap(({ message }) => {
    const inForce = message.policy.guards.find(({ name }) => name === guard)
    return message.calls.flatMap(({ name }) => (inForce && modeOf(inForce, name)) ?? [])
  })
  const answers = evidence.records.filter(
    ({ topic, message }) =>
      topic === `guard-verdicts.${guard}` && message?.type === 'guard-verdict',
  )
  const rounds = new Set(
    answers.flatMap(({ message }) =>
      message?.type === 'guard-verdict' ? [roundKey(message)] : [],
    ),
  )
  const verdicts = [...clearedCalls(evidence).values()].flatMap((call) =>
    call.counted.filter((verdict) => verdict.guard === guard),
  )
  const count = (isCounted: (verdict: (typeof verdicts)[number]) => boolean) =>
    verdicts.filter(isCounted).length
  return [
    `in force in ${cleared.length} rounds, for ${modes.filter((mode) => mode === 'enforce').length} calls to enforce and ${modes.filter((mode) => mode === 'shadow').length} as a shadow`,
    `${rounds.size} rounds answered, ${answers.length - rounds.size} answers again`,
    `of the calls that waited for it ${count(({ answer, verdict }) => answer === 'verdicts' && verdict === 'allow')} passed and ${count(({ answer, verdict }) => answer === 'verdicts' && verdict === 'deny')} were rejected`,
    `at its deadline ${count(({ answer, verdict }) => answer === 'silent' && verdict === 'deny')} rejected and ${count(({ answer, verdict }) => answer === 'silent' && verdict === 'allow')} let through`,
    `${waitedAtRemoval(guard, evidence)} rounds waited when it was removed`,
  ].join('; ')
}

/**
 * Rounds that reached the guard before a removal, with its verdict or its silence after the
 * removal.
 */
function waitedAtRemoval(guard: string, evidence: Evidence): number {
  const removals = evidence.records.filter(
    ({ topic, key, message }) =>
      topic === 'policies' && key === `guard:${guard}` && message === undefined,
  )
  const waits = recordsOf(evidence, 'calls-waiting').filter(({ message }) =>
    message.calls.some(({ guards }) => guards.includes(guard)),
  )
  const verdicts = new Map(
    recordsOf(evidence, 'guard-verdict-given').flatMap(({ message, time }) =>
      message.guard === guard ? [[roundKey(message), time]] : [],
    ),
  )
  return waits.filter(({ message, time }) => {
    const verdictAt = verdicts.get(roundKey(message))
    return (
      verdictAt !== undefined &&
      removals.some((removal) => time <= removal.time && removal.time < verdictAt)
    )
  }).length
}
