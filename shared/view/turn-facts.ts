// The facts about a turn that people look for: interventions, denials and waits. A fold of
// the turn's activity, in any order, for all commands that show or select turns.
// A record counts once, however often it was delivered.
// Only effects count: no rule in shadow, and no usual reminder for an empty response.

import { isDeniedByGuard } from '../contract/call/call.ts'
import { approvalGuard } from '../contract/guard/approval-guard.ts'
import type {
  ApprovalOutcome,
  CallDenied,
  CallFinished,
  InterventionAction,
  InterventionRaised,
  Message,
} from '../contract/messages.ts'
import type { Milliseconds } from '../lib/clock.ts'
import { deniedBy } from './verdicts.ts'

/** `weir conversations --json` and `weir inspect --json` print it. Newer versions may add fields. */
export type TurnFacts = {
  /** The number of interventions by rule; `guard`: of guards. The conversation acted on each. */
  rules: Record<string, number>
  /** The same interventions by action. */
  actions: Partial<Record<InterventionAction, number>>
  /** The number of calls that a guard stopped, by guard. `approval`: by a person, or for lack of one. */
  denials: Record<string, number>
  /** The number of calls that were denied by the validator, or by a check before their start. */
  deniedByChecks: number
  /** The number of calls that waited for a person, by outcome. pending: it still waits. */
  approvals: Partial<Record<ApprovalOutcome | 'pending', number>>
  /** The time in which calls waited for a person; calls of one round wait together. */
  approvalMs: Milliseconds
  /** The number of requests that passed a guest's proxy unjudged, by kind. They belong to no turn. */
  unjudged: Record<string, number>
}

/**
 * Effects by place in the turn, so a repeated record changes nothing. A missing kind: none
 * yet, which spares an open turn a kilobyte.
 */
export type FactFold = {
  interventions?: Map<string, { rule: string; action: InterventionAction }>
  denials?: Map<string, string>
  deniedByChecks?: Set<string>
  approvals?: Map<string, { outcome: ApprovalOutcome | 'pending'; round: number; waitedMs: number }>
  unjudged?: Map<string, { kind: string; count: number }>
}

export function beginFacts(): FactFold {
  return {}
}

/** Adds a record of the turn's activity. Other records add nothing. */
export function addFact(facts: FactFold, message: Message): void {
  switch (message.type) {
    case 'intervention-raised': {
      const { rule, action } = message.intervention
      if (!isEffective(message)) return
      facts.interventions ??= new Map()
      facts.interventions.set(`${message.round}/${rule}`, { rule, action })
      return
    }
    case 'guard-verdict-given':
      for (const { ordinal } of deniedBy(message))
        addDenial(facts, `${message.round}/${ordinal}`, message.guard)
      return
    case 'call-denied':
    case 'call-finished': {
      const place = `${message.round}/${message.ordinal}`
      if (isDeniedByCheck(message))
        facts.deniedByChecks = (facts.deniedByChecks ?? new Set()).add(place)
      // Without a verdict: the guard or the allowed program changed before the start.
      else if (message.type === 'call-finished' && isDeniedByGuard(message))
        addDenial(facts, place, message.guard)
      return
    }
    case 'approval-pending':
      facts.approvals ??= new Map()
      for (const { ordinal, id } of message.calls) {
        const place = `${message.round}/${ordinal}/${id}`
        if (!facts.approvals.has(place))
          facts.approvals.set(place, { outcome: 'pending', round: message.round, waitedMs: 0 })
      }
      return
    case 'approval-decided': {
      const { round, ordinal, id, outcome, waitedMs } = message
      facts.approvals ??= new Map()
      facts.approvals.set(`${round}/${ordinal}/${id}`, { outcome, round, waitedMs })
      return
    }
    case 'requests-unjudged':
      facts.unjudged ??= new Map()
      for (const { kind, count } of message.requests)
        facts.unjudged.set(`${message.at}/${kind}`, { kind, count })
      return
  }
}

/** The calls that never ran, for any reason. */
export function callsDenied({ denials, deniedByChecks }: FactFold): number {
  return (denials?.size ?? 0) + (deniedByChecks?.size ?? 0)
}

/** The calls that wait for a person. */
export function callsPending({ approvals }: FactFold): number {
  return [...(approvals?.values() ?? [])].filter(({ outcome }) => outcome === 'pending').length
}

/** Whether the validator denied the call, or a check before its start. A guard did not. */
export function isDeniedByCheck(message: CallDenied | CallFinished): boolean {
  if (message.type === 'call-denied') return true
  return message.status === 'denied' && !isDeniedByGuard(message)
}

/** No rule in shadow, and no usual reminder for an empty response. */
export function isEffective({ intervention, shadow }: InterventionRaised): boolean {
  return !shadow && !intervention.ordinary
}

/** The last rule that ended the turn, or forbade it further calls. Undefined: none did. */
export function stoppingRule({ interventions }: FactFold): string | undefined {
  return [...(interventions?.values() ?? [])].findLast(({ action }) => action !== 'nudge')?.rule
}

/** One guard stops a call. If two denied it, a named guard explains more than a person's silence. */
function addDenial(facts: FactFold, place: string, guard: string): void {
  facts.denials ??= new Map()
  const known = facts.denials.get(place)
  if (known === undefined || known === approvalGuard) facts.denials.set(place, guard)
}

export function factsOf(fold: FactFold): TurnFacts {
  const interventions = [...(fold.interventions?.values() ?? [])]
  const approvals = [...(fold.approvals?.values() ?? [])]
  const longest = new Map<number, number>()
  for (const { round, waitedMs } of approvals)
    longest.set(round, Math.max(waitedMs, longest.get(round) ?? 0))
  return {
    rules: tally(interventions.map(({ rule }) => rule)),
    actions: tally(interventions.map(({ action }) => action)),
    denials: tally([...(fold.denials?.values() ?? [])]),
    deniedByChecks: fold.deniedByChecks?.size ?? 0,
    approvals: tally(approvals.map(({ outcome }) => outcome)),
    approvalMs: [...longest.values()].reduce((sum, ms) => sum + ms, 0),
    unjudged: sumOf(
      [...(fold.unjudged?.values() ?? [])].map(({ kind, count }) => ({ [kind]: count })),
    ),
  }
}

/** The facts of all these turns together. */
export function sumOfFacts(all: readonly TurnFacts[]): TurnFacts {
  return {
    rules: sumOf(all.map(({ rules }) => rules)),
    actions: sumOf(all.map(({ actions }) => actions)),
    denials: sumOf(all.map(({ denials }) => denials)),
    deniedByChecks: all.reduce((sum, { deniedByChecks }) => sum + deniedByChecks, 0),
    approvals: sumOf(all.map(({ approvals }) => approvals)),
    approvalMs: all.reduce((sum, { approvalMs }) => sum + approvalMs, 0),
    unjudged: sumOf(all.map(({ unjudged }) => unjudged)),
  }
}

/** By name, sorted: the order of records must not change an output. */
function tally<N extends string>(names: N[]): Record<N, number> {
  return sumOf(names.map((name) => ({ [name]: 1 }) as Partial<Record<N, number>>))
}

function sumOf<N extends string>(counts: readonly Partial<Record<N, number>>[]): Record<N, number> {
  const sums = new Map<string, number>()
  for (const one of counts)
    for (const [name, n] of Object.entries<number | undefined>(one))
      sums.set(name, (sums.get(name) ?? 0) + (n ?? 0))
  return Object.fromEntries([...sums].sort(([a], [b]) => (a < b ? -1 : 1))) as Record<N, number>
}
