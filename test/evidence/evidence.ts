// The evidence of a run, and the only input of the checkers. It holds the records of every topic,
// the tools' own records, messages with their answers, faults with their times, and the last
// commits. Chaos and simulation collect it. It is plain values: a checker is a pure function over
// them. The checkers use types of Weir but none of its code, except those of `stored`: code under
// test cannot be its own judge.

import type { Commit, StoredRecord } from '../../shared/contract/bus.ts'
import type {
  AdviceAction,
  ApprovalAnswer,
  HistoryEntry,
  Message,
  MessageOf,
  MessageType,
  TreeCaps,
} from '../../shared/contract/messages.ts'
import type { StageName } from '../../shared/contract/topology.ts'

/**
 * One record as the broker returned it. `isForeign`: a stranger wrote it, with invalid bytes or a
 * forged id.
 */
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
  /** The digest of its readable bytes. */
  digest: string
  /** Undefined: a tombstone, or `fault` explains why it cannot be decoded. */
  message: Message | undefined
  fault: string | undefined
  isForeign?: boolean
  /** Undefined: its bytes are readable. */
  encryptedWith?: EncryptedWith | undefined
  /** Its bytes, its key or a header show a text of the run's content, as the log stores them. */
  showsContent?: boolean
}

/** The owner of the key that encrypts a record. */
export type EncryptedWith = 'tenant' | 'conversation'

/** The line that a tool writes before all other work. */
export type Start = {
  /** The idempotency key: the call, as `callKey` writes it. */
  call: string
  tool: string
  /** The process that started it: its name and incarnation, `executor-1#3`. */
  process: string
  /** The id of this start, if the tool's result quotes it. */
  start?: string
  at: number
}

/**
 * A client's message. `taken`: some write of it was acknowledged. `answer`: the end of its turn, as
 * the client received it. Undefined: the client received none.
 */
export type Sent = {
  conversation: string
  messageId: string
  taken: boolean
  /** A message that the conversation must refuse. */
  refusable: boolean
  /** It is refused because its fallback is blank, so there is no other reply. */
  blankReply?: boolean
  cancelled: boolean
  answer: { outcome: string; reply: string } | 'unobserved' | undefined
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

/** A whole answer of the provider. `of`: the message or the round that it answers, by its key. */
export type ModelAnswer = {
  of: string
  text: string
  calls: { id?: string | null; name: string | null; raw: string }[]
}

/** A request as the provider received it. */
export type ModelRequest = {
  conversation: string
  turn: number
  round: number
  history: readonly HistoryEntry[]
}

/**
 * A request as the provider's stand-in counted it. `until`: the answer has ended, or its client has left.
 * `waitMs`: the answer was a refusal that named this wait.
 */
export type ProviderRequest = { at: number; until: number; waitMs?: number }

/** `limits`: of the model, in the agent file. */
export type ProviderSeen = {
  requests: readonly ProviderRequest[]
  limits: { requestsAtOnce: number; requestsPerMinute: number }
}

/** A call that a guest ran. `call`: as far as the guest knows its place. */
export type GuestRun = {
  conversation: string
  /** Of its tree, if another conversation is. */
  root?: string
  at: number
  text: string
  call: GuestCallName
}

/** A sub-agent of a guest, from the verdict on its call to its last turn. `root`: of its tree. */
export type GuestChild = { root: string; from: number; until: number }

/**
 * `mark`: an argument that is unique in the run. Otherwise the key of its round, in the turn with
 * this key. `isJudged`: the front had a verdict.
 */
export type GuestCallName =
  | { mark: string }
  | {
      turnKey: string
      key: string | undefined
      ordinal: number
      callId: string
      /** The arguments as the model sent them. */
      sent: string
      isJudged: boolean
      isForked: boolean
    }

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

/** The same with the history that the request shows. `keys`: of its rounds. */
export type GuestShown = {
  conversation: string
  turnKey: string
  keys: string[]
  mode: 'observing' | 'blocking' | 'hiding'
  isForked: boolean
  action: AdviceAction
  judged: boolean
  time: number
}

/** The bytes of the log, all accepted commits, and the stages to fold them again. */
export type StoredLog = {
  records(topic: string, partition: number): StoredRecord[]
  commits: readonly (Commit & { group: string; topic: string; partition: number })[]
  stages: Record<StageName, { stage: unknown }>
}

export type Evidence = {
  topicPrefix: string
  partitions: number
  /** In the order of each partition. */
  records: Logged[]
  committed: Committed[]
  /** It ended so long after the last message that no unit remembers anything. */
  isIdle: boolean
  starts: Start[]
  /** The world notes a start exactly, a tool with its first line if it is not stopped before. */
  startsNotedBy: 'world' | 'tools'
  sent: Sent[]
  modelAnswers: ModelAnswer[]
  guestRuns: GuestRun[]

  // Evidence of some runs only. A checker names the parts that it needs.

  /** The faults of processes with their times. */
  disturbances?: Disturbance[]
  /** How late the timers of the run were, without the latest hundredth. */
  timersLateMs?: number
  exits?: UnexpectedExit[]
  /** Persons decide about calls whose argument `risk` names one (approvals.ts). */
  decisions?: Decision[]
  /** The guards that reject by the argument `risk` (guard-answers.ts). */
  riskGuards?: string[]
  /** An approval rule names tools only, and each call has a program (no-unapproved-start.ts). */
  ruledByTool?: true
  modelRequests?: ModelRequest[]
  provider?: ProviderSeen
  /** The tools whose calls run an agent below. */
  childTools?: string[]
  guestAdvice?: GuestAsked[]
  /** The sub-agents of guests, and the caps of each tree. */
  guestTrees?: { children: readonly GuestChild[]; caps: Pick<TreeCaps, 'atOnce' | 'children'> }
  /** `isCalm`: no fault can strike. */
  guestHistories?: { asked: GuestShown[]; isCalm: boolean }
  stored?: StoredLog
  /** All processes have keys for the records. */
  isEncrypted?: true
}

/**
 * A bound for a time that an idle machine meets twentyfold. On a busy machine, processes and timers are
 * late, so the bound grows with the lateness.
 */
export function boundOn({ timersLateMs = 0 }: Evidence, idleBoundMs: number): number {
  return Math.max(idleBoundMs, 20 * timersLateMs)
}

/** `at`: the address of the record that shows it, `topic/partition/offset`. */
export type Finding = { problem: string; at?: string | undefined }

export type Violation = Finding & { checker: string }

/** Evidence that not every run has. */
export type Part =
  | 'disturbances'
  | 'exits'
  | 'decisions'
  | 'riskGuards'
  | 'ruledByTool'
  | 'modelRequests'
  | 'provider'
  | 'childTools'
  | 'guestAdvice'
  | 'guestTrees'
  | 'guestHistories'
  | 'stored'
  | 'isEncrypted'

/** `rule`: it holds after every run. `needs`: the evidence without which it cannot be checked. */
export type Checker<Needed extends Part = never> = {
  name: string
  rule: string
  needs: readonly Needed[]
  check(evidence: Evidence & Required<Pick<Evidence, Needed>>): Finding[] | Promise<Finding[]>
}

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
    if (record.message === undefined || record.isForeign === true) return false
    if (!wanted.has(record.message.type)) return false
    if (record.id === undefined) return true
    const known = seen.has(record.id)
    seen.add(record.id)
    return !known
  })
}

/** The first record of each round. */
export function firstOfRound<
  T extends { message: { conversation: string; turn: number; round: number } },
>(records: T[]): Map<string, T> {
  const first = new Map<string, T>()
  for (const record of records) {
    const round = roundKey(record.message)
    if (!first.has(round)) first.set(round, record)
  }
  return first
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
