// Guest: the twin of the conversation for agents that own their model and tools.
// Reads: guest-events.
// Writes: guest-carried to guest-events, round-proposed to rounds-proposed, turn-ended and cancel to
// rounds-checked and rounds-cleared, outcome and verdicts-requested to rounds-cleared,
// history-entry to history, turn-started, round-started, guest-advice and turn-finished to activity.
// Owns: the identity of rounds, the guest's turns, the advice for its next request.
// Does not own: whether a call may run (executor), progress (loop-detector).

import type {
  CancelRequested,
  GuestCarried,
  GuestResults,
  GuestRound,
  RoundOutcome,
  Tick,
  TurnExtended,
  TurnFailed,
} from '../../shared/contract/messages.ts'
import { closed, type Stage } from '../../shared/contract/stage.ts'

type In =
  | GuestRound
  | GuestResults
  | CancelRequested
  | RoundOutcome
  | TurnExtended
  | TurnFailed
  | GuestCarried
  | Tick

export const guest: Stage<never, In> = {
  name: 'guest',
  beginsAnew: (message) => message.type === 'guest-carried',
  unit: (message) => message.conversation,
  wants: () => [],
  due: () => undefined,
  react: () => closed,
  failed: () => closed,
}
