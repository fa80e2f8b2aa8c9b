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

export type Ledger = {
  streams: ModelStream[]
  starts: ToolStart[]
  sent: Sent[]
  garbage: Garbage[]
}

export function createLedger(): Ledger {
  return { streams: [], starts: [], sent: [], garbage: [] }
}
