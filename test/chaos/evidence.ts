// What a chaos run leaves behind, and all that the checkers look at: the records of every topic,
// what the tools wrote down themselves, what the clients sent and heard, what was done to which
// process and when, and the commits at the end. Plain values: a checker is a pure function over
// them. Nothing here or in the checkers uses code of Weir, only its types: what is checked must not
// be its own judge.

import type {
  ApprovalAnswer,
  Message,
  MessageOf,
  MessageType,
} from '../../shared/contract/messages.ts'

/** One record as the broker gave it. */
export type Logged = {
  /** Without the deployment's prefix. */
  topic: string
  partition: number
  offset: number
  /** LogAppendTime. */
  time: number
  key: string
  /** The header `weir-id`; undefined: an observed record. */
  id: string | undefined
  /** Of its bytes. */
  digest: string
  /** Undefined: a tombstone, or `fault` says why it cannot be read. */
  message: Message | undefined
  fault: string | undefined
}

/** A line that a tool wrote before it did anything else. */
export type Start = {
  /** The idempotency key: the call, as `callKey` writes it. */
  call: string
  tool: string
  /** Which process had started it: its name and incarnation, `executor-1#3`. */
  process: string
  /** Of this start; the tool's result quotes it. */
  start: string
  at: number
}

/**
 * A message of a client. `taken`: some write of it was acknowledged. `heard`: what the client was
 * told in the end.
 */
export type Sent = {
  conversation: string
  messageId: string
  taken: boolean
  /** A message that the conversation must refuse. */
  refusable: boolean
  cancelled: boolean
  heard: { outcome: string; reply: string } | undefined
}

/**
 * Something that was done to a process (or to the broker), or that it did itself, from its begin
 * until all was well again or it was gone.
 */
export type Disturbance = {
  kind: 'kill' | 'pause' | 'leave' | 'exit' | 'broker'
  /** `executor-1#3`; `broker`. */
  process: string
  from: number
  to: number
}

/** A process that ended by itself, and was started again. */
export type UnexpectedExit = {
  process: string
  code: number | null
  signal: string | null
  at: number
}

/** A group's last commit, and the ends of what it reads. */
export type Committed = {
  group: string
  topic: string
  partition: number
  /** -1: there is none. */
  offset: number
  metadata: string
  begin: number
  end: number
}

/**
 * A person's word on a call that waits (people.ts). `told`: whether that person was told that it
 * counts; undefined: nothing was told.
 */
export type Decision = {
  call: string
  id: string
  answer: ApprovalAnswer
  by: string
  told: boolean | undefined
}

/** A whole answer that the provider gave. */
export type Said = {
  conversation: string
  messageId: string
  text: string
  calls: { name: string; raw: string }[]
}

export type Evidence = {
  partitions: number
  /** In the order of each partition. */
  records: Logged[]
  starts: Start[]
  sent: Sent[]
  said: Said[]
  decisions: Decision[]
  disturbances: Disturbance[]
  exits: UnexpectedExit[]
  committed: Committed[]
}

/** `at`: the address of the record that shows it, `topic/partition/offset`. */
export type Violation = { checker: string; what: string; at?: string | undefined }

export type Checker = { name: string; check(evidence: Evidence): Violation[] }

export type LoggedMessage<T extends MessageType> = Omit<Logged, 'message'> & {
  message: MessageOf<T>
}

/**
 * All records of these types, in the order of each partition. A derived record counts once; its
 * repeats are left out.
 */
export function recordsOf<T extends MessageType>(
  { records }: Evidence,
  ...types: T[]
): LoggedMessage<T>[] {
  const wanted = new Set<MessageType>(types)
  const seen = new Set<string>()
  return records.filter((record): record is LoggedMessage<T> & Logged => {
    if (record.message === undefined || !wanted.has(record.message.type)) return false
    if (record.id === undefined) return true
    const known = seen.has(record.id)
    seen.add(record.id)
    return !known
  })
}

export function addressOf({
  topic,
  partition,
  offset,
}: {
  topic: string
  partition: number
  offset: number
}): string {
  return `${topic}/${partition}/${offset}`
}

/** A call's identity, which is also its idempotency key. */
export function callKey(
  call: { conversation: string; turn: number; round: number },
  ordinal: number,
): string {
  return JSON.stringify([call.conversation, call.turn, call.round, ordinal])
}

export function roundKey({
  conversation,
  turn,
  round,
}: {
  conversation: string
  turn: number
  round: number
}): string {
  return JSON.stringify([conversation, turn, round])
}

export function turnKey({ conversation, turn }: { conversation: string; turn: number }): string {
  return JSON.stringify([conversation, turn])
}

export function messageKey({
  conversation,
  messageId,
}: {
  conversation: string
  messageId: string
}): string {
  return JSON.stringify([conversation, messageId])
}
