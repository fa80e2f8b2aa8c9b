// The real events of the world, in its own records: the messages of users, the streams of models,
// the starts of tools. The checkers compare it with the topics. The system under test never sees
// it.

import type { HistoryEntry, PartEvent } from '../../../shared/contract/messages.ts'
import type { Milliseconds } from '../../../shared/lib/clock.ts'

/** One call of the provider. `events`: its stream so far. */
export type ModelStream = {
  conversation: string
  turn: number
  round: number
  textOnly: boolean
  history: HistoryEntry[]
  events: PartEvent[]
  /** True once the stream contained the model's stop. */
  finished: boolean
}

/** One start of a tool process. `call`: the idempotency key, which names the call. */
export type ToolStart = {
  call: string
  tool: string
  idempotent: boolean
  time: Milliseconds
  machine: string
}

/** `refusable`: it cannot open a turn at any time. */
export type Sent = {
  conversation: string
  messageId: string
  refusable: boolean
  time: Milliseconds
}

/** Bytes that a foreign writer put into an inbox. */
export type Garbage = { topic: string; partition: number; offset: number }

/** A request of a guest to its model, as it goes on. `keys`: of the rounds that its history shows. */
export type GuestAsked = {
  conversation: string
  turnKey: string
  keys: string[]
  mode: 'observing' | 'blocking' | 'hiding'
  isForked: boolean
  /** The rounds that the front has hidden in this request. */
  hidden: number
  action: string
  judged: boolean
  beganAt: Milliseconds
  time: Milliseconds
}

/** A call that a guest started. `judged`: its front had a verdict. `key`: of its round. */
export type GuestRun = {
  conversation: string
  turnKey: string
  key: string | undefined
  ordinal: number
  callId: string
  /** The arguments as the model sent them. */
  sent: string
  text: string
  judged: boolean
  isForked: boolean
  time: Milliseconds
}

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
  asked: GuestAsked[]
  runs: GuestRun[]
  proposed: GuestProposed[]
  /** Errors of the scripts. */
  failures: unknown[]
}

export type Ledger = {
  guests: GuestLedger
  streams: ModelStream[]
  starts: ToolStart[]
  sent: Sent[]
  garbage: Garbage[]
}

export function createLedger(): Ledger {
  return {
    streams: [],
    starts: [],
    sent: [],
    garbage: [],
    guests: { isCalm: false, asked: [], runs: [], proposed: [], failures: [] },
  }
}
