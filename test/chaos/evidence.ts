// The evidence of a chaos run, and the only input of the checkers. It holds the records of every
// topic, the tools' own records, messages with their answers, faults with their times, and the last
// commits. It is plain values: a checker is a pure function over them. The checkers use types of
// Weir but none of its code: code under test cannot be its own judge.

import type {
  AdviceAction,
  ApprovalAnswer,
  Message,
  MessageOf,
  MessageType,
} from '../../shared/contract/messages.ts'

/** One record as the broker returned it. */
export type Logged = {
  /** Without the deployment's prefix. */
  topic: string
  partition: number
  offset: number
  /** LogAppendTime. */
  time: number
  key: string
  /** The header `weir-id`. Undefined: an observed record. */
  id: string | undefined
  /** The digest of its bytes. */
  digest: string
  /** Undefined: a tombstone, or `fault` explains why it cannot be decoded. */
  message: Message | undefined
  fault: string | undefined
}

/** The line that a tool writes before all other work. */
export type Start = {
  /** The idempotency key: the call, as `callKey` writes it. */
  call: string
  tool: string
  /** The process that started it: its name and incarnation, `executor-1#3`. */
  process: string
  /** The id of this start. The tool's result quotes it. */
  start: string
  at: number
}

/**
 * A client's message. `taken`: some write of it was acknowledged. `answer`: the end of its turn, as
 * the client received it.
 */
export type Sent = {
  conversation: string
  messageId: string
  taken: boolean
  /** A message that the conversation must refuse. */
  refusable: boolean
  cancelled: boolean
  answer: { outcome: string; reply: string } | undefined
}

/**
 * A fault of a process or of the broker, or an exit without one. It lasts until full recovery or
 * the process's end.
 */
export type Disturbance = {
  kind: 'kill' | 'pause' | 'leave' | 'exit' | 'broker'
  /** `executor-1#3`; `broker`. */
  process: string
  from: number
  to: number
}

/** A process that ended without a fault and was started again. */
export type UnexpectedExit = {
  process: string
  code: number | null
  signal: string | null
  at: number
}

/** A group's last commit, and the ends of its inbox. */
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
 * A person's decision on a waiting call (approvers.ts). `counted`: the reply, whether it counts.
 * Undefined: there was no reply.
 */
export type Decision = {
  call: string
  id: string
  answer: ApprovalAnswer
  by: string
  counted: boolean | undefined
}

/** A whole answer of the provider. */
export type ModelAnswer = {
  conversation: string
  messageId: string
  text: string
  calls: { name: string; raw: string }[]
}

/** A call that a guest ran. `mark`: its unique argument. `text`: its result. */
export type GuestRun = { conversation: string; mark: string; at: number; text: string }

/**
 * The advice that a guest got for a request. `round`: the number of the request in its turn.
 * `isStubborn`: the guest repeats one broken call.
 */
export type GuestAsked = {
  conversation: string
  turn: number
  round: number
  action: AdviceAction
  judged: boolean
  isStubborn: boolean
}

export type Evidence = {
  partitions: number
  /** In the order of each partition. */
  records: Logged[]
  starts: Start[]
  sent: Sent[]
  modelAnswers: ModelAnswer[]
  decisions: Decision[]
  disturbances: Disturbance[]
  exits: UnexpectedExit[]
  guests: { runs: GuestRun[]; asked: GuestAsked[] }
  committed: Committed[]
  /** How late the timers of the run were, without the latest hundredth: 0 on an idle machine. */
  timersLateMs: number
}

/**
 * A bound for a time that an idle machine meets twentyfold. On a busy machine, processes and timers are
 * late, so the bound grows with the lateness.
 */
export function boundOn({ timersLateMs }: Evidence, idleBoundMs: number): number {
  return Math.max(idleBoundMs, 20 * timersLateMs)
}

/** `at`: the address of the record that shows it, `topic/partition/offset`. */
export type Violation = { checker: string; problem: string; at?: string | undefined }

export type Checker = { name: string; check(evidence: Evidence): Violation[] }

export type LoggedMessage<T extends MessageType> = Omit<Logged, 'message'> & {
  message: MessageOf<T>
}

/**
 * All records of these types, in the order of each partition. A derived record counts once: repeats
 * are left out.
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
