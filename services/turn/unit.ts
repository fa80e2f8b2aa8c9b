// The unit of a turn: how it begins anew, which round it awaits, and how it ends from outside.
// Conversations and guests share it, and each opens its turns in its own way.
//
// A unit ends or begins anew only by a carried record that counts (R1): no record came
// after the one that led to it, or the unit is not open.

import type { ConversationId } from '../../shared/contract/ids.ts'
import type {
  Message,
  RoundOutcome,
  TurnExtended,
  TurnFailed,
} from '../../shared/contract/messages.ts'
import type { Received } from '../../shared/contract/stage.ts'
import type { StageName } from '../../shared/contract/topology.ts'
import { brokenIn } from '../../shared/contract/turn/turn-texts.ts'
import type { Milliseconds } from '../../shared/lib/clock.ts'
import { type Ending, internalFailure } from './endings.ts'

/** The position of a record that the stage reads. */
export type Place = { conversation: ConversationId; offset: number; time: Milliseconds }

export function placeOf({
  message: { conversation },
  offset,
  time,
}: Received<Message & { conversation: ConversationId }>): Place {
  return { conversation, offset, time }
}

/** The round whose outcome is awaited: the part that is needed to end it from outside. */
export type Outstanding = {
  turn: number
  round: number
  nudge: string | null
  expiresAt: Milliseconds
}

export function isAwaited(
  outstanding: Outstanding | undefined,
  { turn, round }: RoundOutcome | TurnExtended,
): boolean {
  return outstanding?.turn === turn && outstanding.round === round
}

export function counts(state: unknown, from: number, previous: number | undefined): boolean {
  return state === undefined || previous === from
}

/**
 * The end of a turn by the failure of another stage. Undefined: `failed` has handled a failure of the
 * stage itself, and by now another turn may be open.
 */
export function failureOf(
  own: StageName,
  { stage, reason }: TurnFailed,
): { note: string; ending: Ending } | undefined {
  if (stage === own) return undefined
  return { note: brokenIn(stage), ending: internalFailure(stage, reason) }
}
