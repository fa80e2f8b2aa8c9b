// What `weir inspect` tells of a conversation; `weir inspect ID --json` prints exactly this object.
// Times (`at` and names that end in `At`) are append times of the log, in milliseconds since
// 1970-01-01 UTC; what ends in `Ms` is a duration. Null: it has not happened, or there is none.
// Fields are added as Weir grows; none changes its meaning.

import type { ConversationId, MessageId } from '../../../shared/contract/ids.ts'
import type {
  ApprovalOutcome,
  ArgumentSource,
  CallProblem,
  Cap,
  EvidenceRef,
  FailureClass,
  GuardMode,
  GuardSilence,
  RejectionCode,
  Repair,
  ResultStatus,
  RoundFailure,
  Rung,
  Stop,
  Totals,
  TurnOutcome,
  Usage,
  VerdictKind,
} from '../../../shared/contract/messages.ts'
import type { Milliseconds } from '../../../shared/lib/clock.ts'

export type Timeline = {
  conversation: ConversationId
  /** open: a turn has no end yet, or a message waits for its turn. */
  state: 'open' | 'idle'
  /** In the order in which they began. */
  turns: TurnTimeline[]
  /** The user's messages that opened no turn. */
  messages: LooseMessage[]
  /**
   * Records of this conversation that a stage could not take, and failures of a stage that named no
   * turn.
   */
  troubles: Trouble[]
  /**
   * Records of this conversation that this Weir cannot decode: a newer one wrote them, or they are
   * damaged.
   */
  unreadable: number
}

export type LooseMessage = {
  messageId: MessageId
  /** Null: its record is gone, or was read under another id. */
  text: string | null
  at: Milliseconds | null
  /** Why it opened no turn, or null while it waits. */
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
  /** Its number: the offset, in the conversation's inbox, of the record that opened it. */
  turn: number
  agent: string
  messageId: MessageId
  /** What the user said. */
  text: string | null
  /** When the message came, and when its turn began: later where it had to wait. */
  messageAt: Milliseconds | null
  startedAt: Milliseconds
  rounds: RoundTimeline[]
  /** When somebody asked to cancel it. */
  cancelRequestedAt: Milliseconds | null
  /** Failures inside of Weir that ended it. */
  failures: { at: Milliseconds; stage: string; reason: string }[]
  /** Null: it is open. */
  end: TurnEnd | null
}

export type TurnEnd = {
  at: Milliseconds
  outcome: TurnOutcome
  reason: string
  class: FailureClass | null
  cap: Cap | null
  reply: string
  totals: Totals
}

export type RoundTimeline = {
  /** From 1. */
  round: number
  /** When the model was asked for it. */
  askedAt: Milliseconds | null
  /** Calls that the turn had left; 0: no tool could be called in it. */
  callsLeft: number | null
  /**
   * The text that its request showed to the model at the top: an intervention's, or that of a cap.
   */
  nudge: string | null
  /** Names of the tools that were offered. */
  offered: string[]
  /** In the order in which they began. */
  attempts: AttemptTimeline[]
  /** What the model said; null: it has not, or there is none. */
  response: ResponseTimeline | null
  /** Why there is no response. */
  failure: RoundFailure | null
  /** What the history says in place of a response. */
  note: string | null
  /** By ordinal. */
  calls: CallTimeline[]
  /** The guards that were in force for tools that it calls, whatever their mode; by name. */
  guards: GuardTimeline[]
  /** What judged it; null: that is not known yet. */
  policy: PolicyTimeline | null
  /**
   * What the tools that it calls were declared as for those who judge, by name; those of which
   * nothing was declared are not there.
   */
  hints: Record<string, HintsTimeline>
  /** What the loop-detector wanted to be done about it. */
  intervention: InterventionTimeline | null
  /** What rules in shadow would have wanted; nothing followed from it. */
  shadowed: InterventionTimeline[]
  /** When the turn was told to start nothing more while this round was outstanding. */
  cancelledAt: Milliseconds | null
  /** When its outcome was known. */
  endedAt: Milliseconds | null
  times: {
    /** From the request to the response, all attempts and waits together. */
    modelMs: Milliseconds | null
    /**
     * What folding, checking and judging took: from the response until the calls were cleared, and
     * from their results to the outcome.
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
  /** When the first piece of the answer was written down. */
  firstPartAt: Milliseconds | null
  endedAt: Milliseconds | null
  /**
   * answer: it is the round's answer. unused: it ended well, and another one had answered before.
   * abandoned: its gateway went away, or was told to stop.
   */
  end: 'answer' | 'unused' | 'failed' | 'abandoned' | 'open'
  /** Of one that failed; retryAfterMs: how long the next one waited. */
  failure: {
    reason: string
    class: FailureClass
    retryable: boolean
    retryAfterMs: Milliseconds
  } | null
}

export type ResponseTimeline = {
  text: string
  /** bytes: as the provider sent it and gets it back. text: with --reasoning only, else null. */
  reasoning: { bytes: number; characters: number; text: string | null } | null
  stop: Stop
  /** The provider's own word. */
  finish: string
  usage: Usage
  /**
   * Its visible text was built like calls: `text` is what the model wrote; `fault`: why none of it
   * could run, null where the calls were recovered.
   */
  textCalls: { dialect: string; repairs: string[]; fault: string | null; text: string } | null
}

export type CallTimeline = {
  /** Its place in the response, from 0. */
  ordinal: number
  /** The provider's id. */
  id: string
  name: string
  /** The argument text as it came, or as it was mended; empty if no byte came. */
  raw: string
  /**
   * Where it came from: none, pieces, the end or the start of the call, the start of the response,
   * or the visible text.
   */
  source: ArgumentSource
  /** Why it can never run. */
  problem: CallProblem | null
  /** What was mended in the arguments; null: they are as they came. */
  repair: Repair | null
  /** Another source of them, which did not count, said something else. */
  disputed: boolean
  verdict: Verdict
  tries: TryTimeline[]
  /** Its one result; `text` is what the model reads. */
  result: { status: ResultStatus; text: string; reason: string; durationMs: Milliseconds } | null
}

/** not-cleared: it was left out for another reason (skipped, vetoed), which its result tells. */
export type Verdict =
  | { kind: 'pending' }
  | { kind: 'cleared'; at: Milliseconds }
  | { kind: 'rejected'; at: Milliseconds; code: RejectionCode; reason: string; text: string }
  | { kind: 'not-cleared'; at: Milliseconds; reason: string }

export type GuardTimeline = {
  name: string
  /** That answered; of one that did not, the registered one. */
  version: string
  /**
   * verdicts: it answered. late: it answered after its deadline. silent: its deadline passed
   * without a word. unusable: not as it must. none: no word yet.
   */
  answer: 'verdicts' | 'late' | 'silent' | 'unusable' | 'none'
  answeredAt: Milliseconds | null
  /** From clearing the calls to its answer, and what it took of that to judge, by its own word. */
  tookMs: Milliseconds | null
  judgedMs: Milliseconds | null
  deadlineMs: Milliseconds
  onTimeout: GuardSilence
  calls: GuardedCallTimeline[]
}

/**
 * What a guard said of a call. `mode`: of the guard for this call. `verdict` null: nothing.
 * `stopped`: its word is why the call did not run.
 */
export type GuardedCallTimeline = {
  ordinal: number
  mode: GuardMode
  verdict: VerdictKind | null
  code: string
  text: string
  evidence: string | null
  stopped: boolean
  /** Of the approval guard, where a person was asked about the call. */
  approval: ApprovalTimeline | null
}

export type ApprovalTimeline = {
  id: string
  /** The name of the rule for which it waits. */
  rule: string
  outcome: ApprovalOutcome | 'pending'
  /** Who decided, by their own word; '' where no person did. */
  by: string
  reason: string
  /** When it was decided, and how long it had waited. */
  at: Milliseconds | null
  waitedMs: Milliseconds | null
}

/** One start of its tool, or the claim of one. */
export type TryTimeline = {
  /** From 1. */
  try: number
  claimedAt: Milliseconds
  /** Who claimed it: new for every assignment of a partition to a process. */
  owner: string
  startedAt: Milliseconds | null
  endedAt: Milliseconds | null
  /**
   * given-back: it was not started. lapsed: its owner is dead. late: it ended after the call had
   * its result, and counts no more.
   */
  end: 'result' | 'given-back' | 'lapsed' | 'late' | 'open'
  status: ResultStatus | null
}

/**
 * `version`: a hash of its content. `differs`: what is not as by default, by key as `weir policy`
 * has them; null: not capped.
 */
export type PolicyTimeline = { version: string; differs: Record<string, string | null> }

/** As an agent file has them. `mutates` null: not declared. */
export type HintsTimeline = {
  poll: boolean
  mutates: boolean | null
  ignoreFields: string[]
  loopKey: string[]
}

export type InterventionTimeline = {
  at: Milliseconds
  rung: Rung
  /** A usual reminder (an empty response), no verdict that the model loops. */
  ordinary: boolean
  rule: string
  ruleVersion: number
  key: string
  reason: string
  /** What the next request shows to the model. */
  text: string
  class: FailureClass | null
  evidence: EvidenceRef[]
}
