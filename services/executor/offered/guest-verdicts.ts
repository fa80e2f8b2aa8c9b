// The verdicts on the calls of guests, which their fronts await. Part of the reducer.

import type { GuestCallVerdict, GuestVerdictKind } from '../../../shared/contract/messages.ts'
import type { Output } from '../../../shared/contract/stage.ts'
import { isGuest } from '../../../shared/contract/topology.ts'
import { claimDeadline, type OpenCall, type Round, type Turn } from '../turn.ts'

/**
 * The verdicts on the calls of each round of a guest whose verdicts have changed. The end of a call
 * that was allowed changes nothing for a front.
 */
export function changedVerdicts(turn: Turn): Output[] {
  if (!isGuest(turn.conversation)) return []
  return turn.rounds.flatMap((round) => {
    const shown = round.calls
      .map((open) => verdictOn(round, open))
      .map(({ verdict, code }) => `${verdict} ${code}`)
      .join('\n')
    if (shown === round.verdictsShown) return []
    round.verdictsShown = shown
    return [verdictsOf(turn, round)]
  })
}

export function verdictsOf({ conversation, turn }: Turn, round: Round): Output {
  const calls = round.calls.map((open) => verdictOn(round, open))
  const place = { conversation, turn, round: round.round }
  return { to: 'activity', message: { type: 'guest-verdicts', ...place, calls } }
}

function verdictOn(round: Round, { call, phase, isOffered }: OpenCall): GuestCallVerdict {
  const verdict = (kind: GuestVerdictKind, text = '', code = '', until = 0): GuestCallVerdict => ({
    guard: kind === 'deny' && phase.kind === 'done' ? phase.result.guard : '',
    ordinal: call.ordinal,
    callId: call.id,
    name: call.name,
    verdict: kind,
    text,
    code,
    until,
    isOver: kind === 'allow' && phase.kind === 'done',
  })
  switch (phase.kind) {
    case 'waiting': {
      const due = round.guards.filter(({ name }) => phase.guards.includes(name))
      const until = Math.min(round.expiresAt, Math.max(0, ...due.map((guard) => guard.due)))
      return verdict('pending', '', phase.guards.join(', '), until)
    }
    case 'ready':
    case 'claimed':
      return verdict('allow', '', '', phase.kind === 'claimed' ? claimDeadline(round, phase) : 0)
    case 'done': {
      const { text, reason } = phase.result
      return isOffered ? verdict('allow') : verdict('deny', text, reason)
    }
  }
}
