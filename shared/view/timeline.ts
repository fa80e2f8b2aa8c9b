// The timeline of a conversation; `weir inspect ID --json` prints exactly this object. Times (`at`
// and names that end in `At`) are append times of the log, in milliseconds since 1970-01-01 UTC.
// Names that end in `Ms` are durations. Null: it has not happened, or there is none.
// Newer versions may add fields. The meaning of a field never changes.

import type { ConversationId, MessageId } from '../contract/ids.ts'
import type {
  ApprovalOutcome,
  Call,
  Content,
  DenialCode,
  FailureClass,
  GuardMode,
  GuardSilence,
  Intervention,
  PersonIdentity,
  ResultStatus,
  RoundFailure,
  Stop,
  TextCalls,
  TextCallsMode,
  TurnFinished,
  TurnOutcome,
  Usage,
  VerdictKind,
} from '../contract/messages.ts'
import type { Milliseconds } from '../lib/clock.ts'
import type { TurnFacts } from './turn-facts.ts'

export type Timeline = {
  conversation: ConversationId
  /** open: a turn has no end yet, or a message waits for its turn. */
  state: 'open' | 'idle'
  /** The conversation whose turns begin its history. Null: it is no fork. */
  forkedFrom: ConversationId | null
  /** The title that was given, for lists. Null: none. */
  title: string | null
  /** Its own turns, in the order of their beginnings. */
  turns: TurnTimeline[]
  /** The newest summary, which stands for the beginning of the history in requests. */
  summary: SummaryTimeline | null
  /** The user's messages that opened no turn. */
  messages: LooseMessage[]
  /**
   * Records of this conversation that a stage could not process, and failures of a stage without a
   * turn.
   */
  troubles: Trouble[]
  /**
   * The number of records that cannot be read: they are encrypted without the key of the tenant, a
   * newer Weir wrote them, or they are damaged.
   */
  unreadable: number
}

export type SummaryTimeline = {
  at: Milliseconds
  /** The place of the request that did not fit: the number of the turn, and the round. */
  turn: number
  round: number
  /** The number of history entries that it stands for. */
  entries: number
  /** The agent that wrote it. Null: the entries are left out without a summary. */
  by: string | null
  /** The text for the model. */
  text: string
  /** The reason why there is no summary. Null: none was wanted, or there is one. */
  note: string | null
}

export type LooseMessage = {
  messageId: MessageId
  /** Null: its record is gone, or it was read under another id. */
  text: string | null
  at: Milliseconds | null
  /** The reason why it opened no turn. Null: it still waits. */
  end: { at: Milliseconds; outcome: TurnOutcome; reason: string; class: FailureClass | null } | null
}

export type Trouble = {
  at: Milliseconds
  stage: string
  reason: string
  topic: string | null
  partition: number | null
  offset: number | null
}

export type TurnTimeline = {
  /** Its id in records: the offset, in the conversation's inbox, of the record that opened it. */
  turn: number
  /** Its number for people, from 1 (turn-numbers.ts). */
  number: number
  agent: string
  messageId: MessageId
  /** The user's message. */
  text: string | null
  /** Its images and files, without their bytes. */
  contents: Content[]
  /** The time of the message and of its turn's beginning. A queued message waits in between. */
  messageAt: Milliseconds | null
  startedAt: Milliseconds
  /**
   * From the record that opened it to its end: the time that its cap counts. Null: it is open.
   */
  durationMs: Milliseconds | null
  rounds: RoundTimeline[]
  /** The time of the request to cancel it. */
  cancelRequestedAt: Milliseconds | null
  /** Interventions, denials, denials and waits, counted. */
  facts: TurnFacts
  /** Failures inside Weir that ended it. */
  failures: { at: Milliseconds; stage: string; reason: string }[]
  /** Null: it is open. */
  end: TurnEnd | null
}

export type TurnEnd = { at: Milliseconds } & Pick<
  TurnFinished,
  'outcome' | 'reason' | 'class' | 'cap' | 'reply' | 'totals'
>

export type RoundTimeline = {
  /** From 1. */
  round: number
  /** The time of the request to the model. */
  askedAt: Milliseconds | null
  /** The number of calls left in the turn. 0: the round could not call a tool. */
  callsLeft: number | null
  /**
   * The text at the top of the request: from an intervention or a cap.
   */
  nudge: string | null
  /** Names of the offered tools. */
  offered: string[]
  /** In the order of their beginnings. */
  attempts: AttemptTimeline[]
  /** The model's response. Null: none yet, or none at all. */
  response: ResponseTimeline | null
  /** The reason why there is no response. */
  failure: RoundFailure | null
  /** The text in the history in place of a response. */
  note: string | null
  /** By ordinal. */
  calls: CallTimeline[]
  /** The guards for the called tools, in any mode, by name. */
  guards: GuardTimeline[]
  /** The questions of its running tools to a person. */
  questions?: QuestionTimeline[]
  /** The policy that judged it. Null: not known yet. */
  policy: PolicyTimeline | null
  /**
   * The declarations of the called tools for the loop-detector and guards, by name. Tools without a
   * declaration are left out.
   */
  hints: Record<string, HintsTimeline>
  /** The intervention of the loop-detector. */
  intervention: InterventionTimeline | null
  /** The interventions of rules in shadow. They had no effect. */
  shadowed: InterventionTimeline[]
  /** The time at which a cancel stopped further starts in this round. */
  cancelledAt: Milliseconds | null
  /** The time of its outcome. */
  endedAt: Milliseconds | null
  times: {
    /** From the request to the response, including all attempts and waits. */
    modelMs: Milliseconds | null
    /**
     * The time for folding, checking and judging: from the response until the calls were cleared,
     * and from their results to the outcome.
     */
    checksMs: Milliseconds | null
    /** From clearing the calls to the last result. */
    toolsMs: Milliseconds | null
  }
}

export type AttemptTimeline = {
  /** Random. */
  attempt: string
  startedAt: Milliseconds | null
  /** The time of the first recorded piece of the answer. */
  firstPartAt: Milliseconds | null
  endedAt: Milliseconds | null
  /**
   * answer: the round's answer. unused: it succeeded, but another attempt had answered before.
   * abandoned: its gateway process ended, or it was stopped.
   */
  end: 'answer' | 'unused' | 'failed' | 'abandoned' | 'open'
  /** The failure of a failed attempt. retryAfterMs: the wait before the next one. */
  failure: {
    reason: string
    class: FailureClass
    retryable: boolean
    retryAfterMs: Milliseconds
  } | null
  /** Its wait for the limits of the provider's account. `waitMs`: as planned at that time. Absent: none. */
  wait?: { at: Milliseconds; reason: string; waitMs: Milliseconds }
}

export type ResponseTimeline = {
  text: string
  /** bytes: as exchanged with the provider. text: null without --reasoning. */
  reasoning: { bytes: number; characters: number; text: string | null } | null
  stop: Stop
  /** The provider's value. */
  finish: string
  usage: Usage
  /**
   * The response's text has the form of calls. `text`: the model's original text. `fault`: the
   * reason why none ran; null if the calls were recovered. `held`: set if they could run.
   */
  textCalls: (TextCalls & { text: string }) | null
  /** The agent's setting for this response. Null: an older version recorded none. */
  textCallsMode: TextCallsMode | null
}

export type CallTimeline = Omit<Call, 'raw'> & {
  /** The argument text, as received or repaired. Empty: no byte arrived. */
  rawArguments: string
  verdict: Verdict
  tries: TryTimeline[]
  /** Its one result. The model reads `text`. */
  result: { status: ResultStatus; text: string; reason: string; durationMs: Milliseconds } | null
  /** It waited for something that runs, or for a time, so it is no repetition. */
  waits?: true
}

/** `deny`: by the validator. `allow`: guards and persons judge the call next. `skipped`: the result has the reason. */
export type Verdict =
  | { kind: 'pending' }
  | { kind: 'allow'; at: Milliseconds }
  | { kind: 'deny'; at: Milliseconds; code: DenialCode; reason: string; text: string }
  | { kind: 'skipped'; at: Milliseconds; reason: string }

export type GuardTimeline = {
  name: string
  /** The version that answered; without an answer, the registered one. */
  version: string
  /**
   * verdicts: an answer in time. late: an answer after the deadline. silent: no answer before the
   * deadline. unusable: an invalid answer. none: no answer yet.
   */
  answer: 'verdicts' | 'late' | 'silent' | 'unusable' | 'none'
  answeredAt: Milliseconds | null
  /** From clearing the calls to its answer, and the part it spent judging, as it reports. */
  tookMs: Milliseconds | null
  judgedMs: Milliseconds | null
  deadlineMs: Milliseconds
  onTimeout: GuardSilence
  calls: GuardedCallTimeline[]
}

/**
 * A guard's verdict on a call. `mode`: the guard's mode for this call. `verdict` null: none.
 * `stopped`: this verdict stopped the call.
 */
export type GuardedCallTimeline = {
  ordinal: number
  mode: GuardMode
  verdict: VerdictKind | null
  code: string
  text: string
  evidence: string | null
  stopped: boolean
  /** Only of the approval guard, for a call that needed a person. */
  approval: ApprovalTimeline | null
}

export type ApprovalTimeline = {
  id: string
  /** The name of the rule that made it wait. */
  rule: string
  outcome: ApprovalOutcome | 'pending'
  /** The name that the deciding person gave. Empty: no person decided. */
  by: string
  /** The proof of that name. */
  identity: PersonIdentity
  reason: string
  /** The time of the decision, and the wait before it. */
  at: Milliseconds | null
  waitedMs: Milliseconds | null
}

/** `ordinal`: of the call. `rule`: the server and its message. */
export type QuestionTimeline = ApprovalTimeline & { ordinal: number }

/** One start of its tool, or the claim to start it. */
export type TryTimeline = {
  /** From 1. */
  try: number
  claimedAt: Milliseconds
  /** The claiming owner: new for every assignment of a partition to a process. */
  owner: string
  startedAt: Milliseconds | null
  endedAt: Milliseconds | null
  /**
   * given-back: not started. lapsed: the owner died. late: ended after the call had a result, and
   * does not count.
   */
  end: 'result' | 'given-back' | 'lapsed' | 'late' | 'open'
  status: ResultStatus | null
}

/**
 * `version`: a hash of its content. `differs`: the values that differ from the defaults, by key as
 * in `weir policy`; null: no cap.
 */
export type PolicyTimeline = { version: string; differs: Record<string, string | null> }

/** As in an agent file. `mutates` null: not declared. */
export type HintsTimeline = {
  poll: boolean
  mutates: boolean | null
  ignoreFields: string[]
  loopKey: string[]
}

export type InterventionTimeline = Intervention & { at: Milliseconds }
