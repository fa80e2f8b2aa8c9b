// The changed decisions of a what-if: the first round of each conversation, and the known effects.
// Nothing is known after a changed decision. Savings are "at most, in that turn",
// as if the model had stopped. Denied calls count as if it had gone on.

import type { CallId, RoundId } from '../../../shared/contract/ids.ts'
import type { CallResult, InterventionAction } from '../../../shared/contract/messages.ts'
import type { Address } from '../difference.ts'

/**
 * `rule`: with its version, `identical-failure@1`. `ask`: calls wait for a person. `calls`: the
 * ordinals of denied calls, or of those that wait.
 */
export type Decision = {
  action: InterventionAction | 'deny' | 'ask'
  rule: string
  reason: string
  calls?: number[]
}

/** `was`, `is`: null means "go on". `at`: the record that led to the decision. */
export type Change = RoundId & {
  at: Address
  was: Decision | null
  is: Decision | null
  /** The later rounds of this turn, at most. 0 if the new decision is milder. */
  roundsSaved: number
  tokensSaved: number
  /**
   * If the new decision is milder: the rounds, at least, by which the old one comes later. It can
   * come with the next round at the earliest, and more is unknown. Otherwise 0.
   */
  roundsLater: number
  /** Calls that had succeeded. */
  denied: DeniedCall[]
  /** Calls for which a guard would have requested approval. */
  approvals: number
}

/**
 * `at`: the record with the call's outcome. `repeats`: it equals an earlier call of the turn, with
 * the same result (repetitions.ts).
 */
export type DeniedCall = CallId & {
  tool: string
  at: Address
  repeats: boolean
}

/** A round with both decisions, the results of its calls, and its cost. */
export type JudgedRound = RoundId & {
  at: Address
  was: Decision | null
  is: Decision | null
  calls: { ordinal: number; name: string }[]
  results: Pick<CallResult, 'ordinal' | 'status'>[]
  /** Successful calls that equal an earlier call of the turn, with the same result. */
  repeated: readonly number[]
  tokens: number
  /** Calls of this round that would not have run. */
  denying?: readonly number[]
  /** Calls of this round that would have waited for a person. */
  asking?: number
}

export type Changes = {
  /** Call it with the rounds of each conversation in their order. */
  judged(round: JudgedRound): void
  readonly byConversation: ReadonlyMap<string, Change>
  /** Those with a judged round, changed or not. */
  readonly conversations: ReadonlySet<string>
}

/** The rule of a turn's last request, which a cap makes the last. */
export const lastRound = 'caps'

const heights: Record<Decision['action'], number> = {
  nudge: 1,
  ask: 2,
  deny: 3,
  text_only: 4,
  end: 5,
}

export function gatherChanges(): Changes {
  const byConversation = new Map<string, Change>()
  const conversations = new Set<string>()
  /** By changed conversation: the calls of later rounds that would not have run. */
  const denying = new Map<string, 'next round' | 'all' | undefined>()

  function begin(round: JudgedRound): void {
    const { conversation, turn, at, was, is } = round
    if (isSame(was, is)) return
    const denied = succeeded(round, round.denying ?? [])
    byConversation.set(conversation, {
      conversation,
      turn,
      round: round.round,
      at,
      was,
      is,
      roundsSaved: 0,
      tokensSaved: 0,
      roundsLater: heightOf(is) < heightOf(was) ? 1 : 0,
      denied,
      approvals: round.asking ?? 0,
    })
    denying.set(conversation, denialsOf(is))
  }

  function goOn(change: Change, round: JudgedRound): void {
    if (change.turn !== round.turn) return // unknown from here
    if (heightOf(change.is) > heightOf(change.was)) {
      change.roundsSaved += 1
      change.tokensSaved += round.tokens
    }
    change.approvals += round.asking ?? 0
    const denied = denying.get(change.conversation)
    change.denied.push(...succeeded(round, denied === undefined ? (round.denying ?? []) : 'all'))
    if (denied !== 'all') denying.set(change.conversation, denialsOf(round.is))
  }

  return {
    byConversation,
    conversations,
    judged(round) {
      conversations.add(round.conversation)
      const change = byConversation.get(round.conversation)
      if (change === undefined) begin(round)
      else goOn(change, round)
    },
  }
}

/** Another version of a guard with the same decision is no change. */
function isSame(was: Decision | null, is: Decision | null): boolean {
  return (
    was?.action === is?.action &&
    nameOf(was) === nameOf(is) &&
    was?.calls?.join() === is?.calls?.join()
  )
}

function nameOf(decision: Decision | null): string | undefined {
  return decision?.rule.split('@', 1)[0]
}

function heightOf(decision: Decision | null): number {
  return decision === null ? 0 : heights[decision.action]
}

function denialsOf(decision: Decision | null): 'next round' | 'all' | undefined {
  if (decision?.action === 'end' || decision?.rule === lastRound) return 'all'
  return decision?.action === 'text_only' ? 'next round' : undefined
}

function succeeded(
  { conversation, turn, round, at, calls, results, repeated }: JudgedRound,
  which: readonly number[] | 'all',
): DeniedCall[] {
  return results
    .filter(
      ({ ordinal, status }) => status === 'ok' && (which === 'all' || which.includes(ordinal)),
    )
    .map(({ ordinal }) => {
      const tool = calls.find((call) => call.ordinal === ordinal)?.name ?? ''
      return { conversation, turn, round, ordinal, tool, at, repeats: repeated.includes(ordinal) }
    })
}

/** The first change of a conversation counts, from any lens. After it nothing is known. */
export function earliest(all: readonly ReadonlyMap<string, Change>[]): Change[] {
  const first = new Map<string, Change>()
  for (const changes of all)
    for (const change of changes.values()) {
      const known = first.get(change.conversation)
      const isFirst =
        known === undefined ||
        change.turn < known.turn ||
        (change.turn === known.turn && change.round < known.round)
      if (isFirst) first.set(change.conversation, change)
    }
  return [...first.values()]
}

export type Totals = {
  conversations: number
  roundsSaved: number
  tokensSaved: number
  /** Changes to a milder decision, and the rounds by which the old decisions come later, at least. */
  milder: number
  roundsLater: number
  denied: DeniedCall[]
  approvals: number
}

export function totalsOf(changes: readonly Change[]): Totals {
  return {
    conversations: changes.length,
    roundsSaved: changes.reduce((sum, { roundsSaved }) => sum + roundsSaved, 0),
    tokensSaved: changes.reduce((sum, { tokensSaved }) => sum + tokensSaved, 0),
    milder: changes.filter(({ roundsLater }) => roundsLater > 0).length,
    roundsLater: changes.reduce((sum, { roundsLater }) => sum + roundsLater, 0),
    denied: changes.flatMap(({ denied }) => denied),
    approvals: changes.reduce((sum, { approvals }) => sum + approvals, 0),
  }
}
