// The real events of the world, in its own records: the messages of users, the streams of models,
// the starts of tools. The checkers compare it with the topics. The system under test never sees
// it.

import type { HistoryEntry, PartEvent, TreeCaps } from '../../../shared/contract/messages.ts'
import type { GuestChild, GuestRun, GuestShown, Sent, Start } from '../../evidence/evidence.ts'

/** One call of the provider. `events`: its stream so far. */
export type ModelStream = {
  conversation: string
  turn: number
  round: number
  history: HistoryEntry[]
  events: PartEvent[]
  /** True once the stream contained the model's stop. */
  finished: boolean
}

/** Bytes that a foreign writer put into an inbox. */
export type Garbage = { topic: string; partition: number; offset: number }

/** A round that a front was about to write. `signal`: of the guest's request. */
export type GuestProposed = {
  conversation: string
  turnKey: string
  key: string
  signal: AbortSignal | undefined
}

export type GuestLedger = {
  /** No fault can strike in this seed. */
  isCalm: boolean
  asked: GuestShown[]
  runs: GuestRun[]
  children: GuestChild[]
  /** Of each session with sub-agents. */
  caps?: TreeCaps | null
  proposed: GuestProposed[]
  /** Errors of the scripts. */
  failures: unknown[]
}

export type Ledger = {
  guests: GuestLedger
  streams: ModelStream[]
  starts: Start[]
  sent: Sent[]
  garbage: Garbage[]
}

export function createLedger(): Ledger {
  return {
    streams: [],
    starts: [],
    sent: [],
    garbage: [],
    guests: { isCalm: false, asked: [], runs: [], children: [], proposed: [], failures: [] },
  }
}
