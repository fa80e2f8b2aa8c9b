// The records in the guards' own topics. Every round of a guard that exists at the end has one
// answer, and no other round has any. An answer covers exactly the calls of its request. Its
// verdicts follow from guards/risk.ts, written a second time, and from the conversation in the log.
// A repeated answer is identical, from any process of that version.

import type { Call, CallVerdict, RoundCleared } from '../../../../shared/contract/messages.ts'
import {
  addressOf,
  type Checker,
  type Evidence,
  type Finding,
  type LoggedMessage,
  recordsOf,
  roundKey,
} from '../../evidence.ts'
import { modeOf } from '../calls/waits.ts'

/** A round sent to the guard. `seenBefore` counts earlier calls of the conversation sent to it. */
type RequiredRound = { cleared: LoggedMessage<'round-cleared'>; calls: Call[]; seenBefore: number }

export const guardAnswers: Checker<'riskGuards'> = {
  name: 'guard-answers',
  rule: 'Each round of a guard has one answer, which follows from its rules and the log.',
  needs: ['riskGuards'],
  check(evidence) {
    return evidence.riskGuards.flatMap((guard) => {
      const rounds = roundsOf(guard, evidence)
      return [...answers(guard, rounds, evidence), ...missing(guard, rounds, evidence)]
    })
  },
}

function answers(guard: string, rounds: Map<string, RequiredRound>, evidence: Evidence): Finding[] {
  const findings: Finding[] = []
  const first = new Map<string, string>()
  // Every record, also with a repeated id: this rule compares the repeats.
  for (const record of evidence.records) {
    if (record.topic !== `guard-verdicts.${guard}` || record.message?.type !== 'guard-verdict')
      continue
    const { message } = record
    const round = roundKey(message)
    const report = (problem: string) =>
      findings.push({ problem: `${guard} on ${round}: ${problem}`, at: addressOf(record) })
    const required = rounds.get(round)
    if (required === undefined) {
      report('no round requires it')
      continue
    }
    if (required.cleared.time > record.time) report('it is older than the round')
    const expected = required.calls.map((call, i) =>
      verdictOn(call, guard, message.version, required.seenBefore + i),
    )
    const given = message.verdicts.map(({ ordinal, verdict, text }) => [ordinal, verdict, text])
    if (JSON.stringify(given) !== JSON.stringify(expected))
      report(`its answer is ${JSON.stringify(given)}, and must be ${JSON.stringify(expected)}`)
    const content = JSON.stringify([message.verdicts, message.enforces])
    const name = `${round} ${message.version}`
    if (first.has(name) && first.get(name) !== content)
      report(`its answer was ${first.get(name)} before, and is now ${content}`)
    first.set(name, content)
  }
  return findings
}

function missing(guard: string, rounds: Map<string, RequiredRound>, evidence: Evidence): Finding[] {
  if (!guardsAtEnd(evidence).includes(guard)) return []
  const answered = new Set(
    recordsOf(evidence, 'guard-verdict').flatMap(({ topic, message }) =>
      topic === `guard-verdicts.${guard}` ? [roundKey(message)] : [],
    ),
  )
  return [...rounds].flatMap(([round, { cleared }]) =>
    answered.has(round)
      ? []
      : [{ problem: `${guard} never answered ${round}`, at: addressOf(cleared) }],
  )
}

/** By round, in log order. */
function roundsOf(guard: string, evidence: Evidence): Map<string, RequiredRound> {
  const rounds = new Map<string, RequiredRound>()
  const seen = new Map<string, number>()
  for (const cleared of recordsOf(evidence, 'round-cleared')) {
    const { message } = cleared
    const calls = callsFor(guard, message)
    if (calls.length === 0) continue
    const seenBefore = seen.get(message.conversation) ?? 0
    rounds.set(roundKey(message), { cleared, calls, seenBefore })
    seen.set(message.conversation, seenBefore + calls.length)
  }
  return rounds
}

function callsFor(guard: string, { policy, calls, decided, declarations }: RoundCleared): Call[] {
  const inForce = policy.guards.find(({ name }) => name === guard)
  if (inForce === undefined) return []
  const isOpen = ({ ordinal, name, raw }: Call) =>
    !decided.some((result) => result.ordinal === ordinal) &&
    declarations.some((one) => one.name === name) &&
    riskIn(raw) !== undefined
  return calls
    .filter((call) => isOpen(call) && modeOf(inForce, call.name) !== undefined)
    .sort((a, b) => a.ordinal - b.ordinal)
}

function verdictOn(
  { ordinal, raw }: Call,
  guard: string,
  version: string,
  seenBefore: number,
): [number, CallVerdict['verdict'], string] {
  if (!riskIn(raw)?.includes(guard)) return [ordinal, 'allow', '']
  return [
    ordinal,
    'deny',
    `${guard} ${version} has seen ${seenBefore} calls before; it does not want this one.`,
  ]
}

/** The guards that the arguments name. Undefined: they are not valid arguments. */
function riskIn(raw: string): string[] | undefined {
  try {
    const { risk } = JSON.parse(raw) as { risk?: string }
    return risk?.split(' ') ?? []
  } catch {
    return undefined
  }
}

/** Guards whose commits must be at the end of the log. */
function guardsAtEnd({ committed }: Evidence): string[] {
  return committed.flatMap(({ group }) => group.split('guard.').slice(1))
}
