// What really happened in the world, written down by the world itself: what users sent, what models
// streamed, which tools started. The checkers compare it with the topics; the system under test
// never sees it.

import type { HistoryEntry, PartEvent } from '../../../shared/contract/messages.ts'
import type { Milliseconds } from '../../../shared/lib/clock.ts'

/** One call of the provider. `events`: what it streamed so far. */
export type ModelStream = {
  conversation: string
  turn: number
  round: number
  textOnly: boolean
  history: HistoryEntry[]
  events: PartEvent[]
  /** True once the provider said that the model had stopped. */
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

/** `refusable`: it cannot open a turn, whenever it comes. */
export type Sent = {
  conversation: string
  messageId: string
  refusable: boolean
  time: Milliseconds
}

/** Bytes that somebody foreign put into an inbox. */
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
