// Generated from schemas/ by `node schemas/generate.ts`. Do not edit: change the .avsc file and run it again.

import type { ConversationId, MessageId } from './ids.ts'

export type Message =
  | AgentPolicy
  | ApprovalAnswered
  | ApprovalAsked
  | ApprovalDecided
  | ApprovalPending
  | ApprovalWithdrawn
  | AttemptFailed
  | AttemptFinished
  | AttemptStarted
  | CallFinished
  | CallRejected
  | CallsWaiting
  | Cancel
  | CancelRequested
  | Carried
  | Claim
  | DeadLetter
  | GuardRegistration
  | GuardVerdict
  | GuardVerdictGiven
  | HistoryEntry
  | InterventionRaised
  | Lapsed
  | ModelFinished
  | ModelOpened
  | ModelRequest
  | OperatorLimits
  | Outcome
  | Part
  | RoundChecked
  | RoundCleared
  | RoundExecuted
  | RoundOutcome
  | RoundProposed
  | RoundStarted
  | Tick
  | ToolStarted
  | TurnEnded
  | TurnExtended
  | TurnFailed
  | TurnFinished
  | TurnStarted
  | UserMessage

export type MessageType = Message['type']

export type MessageOf<T extends MessageType> = Extract<Message, { type: T }>

/**
 * What an operator sets for the rounds of an agent, or of all, over its agent file: in force from
 * the next model response on. Observed, written by an operator into the table policies; a tombstone
 * removes it.
 */
export type AgentPolicy = {
  type: 'agent-policy'
  /** the agent's name, or * for all: the key of the record is policy: and this */
  agent: string
  /** what is set, each key once; what is not is as the agent file says */
  entries: PolicyEntry[]
  /** who wrote this, by their own word: for people */
  setBy: string
  /** when this was written, in milliseconds, by the writer's clock: for people */
  setAt: number
}

/**
 * A person's word on a call that waits; the first that fits counts. Observed, written by the edge.
 */
export type ApprovalAnswered = {
  type: 'approval-answered'
  /** the conversation: the key of the record */
  conversation: ConversationId
  /** the turn: the inbox offset of the record that opened it */
  turn: number
  /** the model round in the turn, from 1 */
  round: number
  /** the call */
  ordinal: number
  /** the id under which a person decides: made of the call's place and of the hash */
  id: string
  /** SHA-256, in hex, of the tool's name and of the bytes of the arguments */
  hash: string
  /** what was said */
  answer: ApprovalAnswer
  /** who said it, by their own word */
  by: string
  /** why, for the model; may be empty */
  reason: string
}

/**
 * The calls of a round that wait for the approval guard, for it to judge which of them need a
 * person. Derived, written by the executor.
 */
export type ApprovalAsked = {
  type: 'approval-asked'
  /** the conversation: the key of the record */
  conversation: ConversationId
  /** the turn: the inbox offset of the record that opened it */
  turn: number
  /** the model round in the turn, from 1 */
  round: number
  /** the agent */
  agent: string
  /** by ordinal */
  calls: AskedCall[]
  /** what the guard judges by, as it stood in the round's policy */
  rules: string
  /** the guard's version in this round */
  version: string
  /** append time of the round-cleared in milliseconds */
  clearedAt: number
  /** the guard's deadline in this round, in milliseconds after clearedAt */
  deadlineMs: number
  /** append time in milliseconds at which the executor stops to wait */
  until: number
}

/** Activity: a call that waited for a person is decided. Derived, written by the approval stage. */
export type ApprovalDecided = {
  type: 'approval-decided'
  /** the conversation: the key of the record */
  conversation: ConversationId
  /** the turn: the inbox offset of the record that opened it */
  turn: number
  /** the model round in the turn, from 1 */
  round: number
  /** the call */
  ordinal: number
  /** the tool */
  name: string
  /** the id under which a person decides: made of the call's place and of the hash */
  id: string
  /** what became of it */
  outcome: ApprovalOutcome
  /** who decided; empty where no person did */
  by: string
  /** why; may be empty */
  reason: string
  /** milliseconds from the round-cleared to this */
  waitedMs: number
}

/** Activity: calls of a round wait for a person. Derived, written by the approval stage. */
export type ApprovalPending = {
  type: 'approval-pending'
  /** the conversation: the key of the record */
  conversation: ConversationId
  /** the turn: the inbox offset of the record that opened it */
  turn: number
  /** the model round in the turn, from 1 */
  round: number
  /** by ordinal */
  calls: PendingCall[]
  /** append time in milliseconds at which they are rejected if nobody decides */
  until: number
}

/**
 * Calls that waited for the approval guard wait no more, and not because of its answer. Derived,
 * written by the executor.
 */
export type ApprovalWithdrawn = {
  type: 'approval-withdrawn'
  /** the conversation: the key of the record */
  conversation: ConversationId
  /** the turn: the inbox offset of the record that opened it */
  turn: number
  /** the model round in the turn, from 1 */
  round: number
  /** by ordinal */
  calls: WithdrawnCall[]
}

/**
 * An attempt gave no answer; the only thing that counts as a try. Observed, written by the gateway.
 */
export type AttemptFailed = {
  type: 'attempt-failed'
  /** the conversation: the key of the record */
  conversation: ConversationId
  /** the turn: the inbox offset of the record that opened it */
  turn: number
  /** the model round in the turn, from 1 */
  round: number
  /** the attempt, random */
  attempt: string
  /** what happened */
  reason: string
  /** what to do about it if it was the last try */
  class: FailureClass
  /** whether another attempt can help */
  retryable: boolean
  /** milliseconds after this record's time before the next attempt */
  retryAfterMs: number
  /**
   * the provider says that the calls and results of the history do not go together: it was not sent
   * rebuilt yet, and is now (I5.4)
   */
  historyRefused: boolean
  /**
   * the provider refuses a request in which no tool may be called although it speaks of tools or
   * calls: it was not sent in plain text and without tools yet, and is now
   */
  toolsRefused: boolean
}

/**
 * An attempt gave an answer; all its parts were acknowledged before. Observed, written by the
 * gateway; the first one while the round is open wins.
 */
export type AttemptFinished = {
  type: 'attempt-finished'
  /** the conversation: the key of the record */
  conversation: ConversationId
  /** the turn: the inbox offset of the record that opened it */
  turn: number
  /** the model round in the turn, from 1 */
  round: number
  /** the attempt, random */
  attempt: string
  /** how many part records it has */
  parts: number
  /** the provider's own word for why it stopped; empty when none came */
  finish: string
  /** why the model stopped */
  stop: Stop
  /** tokens */
  usage: Usage
  /** of the offered tools whose names occur in the response */
  declarations: Declaration[]
  /** what judges this round */
  policy: Policy
  /** the model was told to write its calls as text: it has no other way */
  callsAsText: boolean
}

/** The owner is about to call the provider. Observed, written by the gateway. */
export type AttemptStarted = {
  type: 'attempt-started'
  /** the conversation: the key of the record */
  conversation: ConversationId
  /** the turn: the inbox offset of the record that opened it */
  turn: number
  /** the model round in the turn, from 1 */
  round: number
  /** the attempt, random */
  attempt: string
  /** who writes: new for every assignment of the partition (R4) */
  owner: string
  /**
   * the version of Weir that writes this, so that a replay can say that another one decided; empty:
   * an older one
   */
  weir: string
}

/** Activity: a call has its result. Derived, written by the executor. */
export type CallFinished = {
  type: 'call-finished'
  /** the conversation: the key of the record */
  conversation: ConversationId
  /** the turn: the inbox offset of the record that opened it */
  turn: number
  /** the model round in the turn, from 1 */
  round: number
  /** the call */
  ordinal: number
  /** the tool */
  name: string
  /** how it ended */
  status: ResultStatus
  /** the short reason of anything but ok */
  reason: string
  /** milliseconds that the tool ran */
  durationMs: number
}

/** Activity: a call was refused before it could run. Derived, written by the loop-detector. */
export type CallRejected = {
  type: 'call-rejected'
  /** the conversation: the key of the record */
  conversation: ConversationId
  /** the turn: the inbox offset of the record that opened it */
  turn: number
  /** the model round in the turn, from 1 */
  round: number
  /** the call */
  ordinal: number
  /** the tool */
  name: string
  /** the short reason */
  reason: string
}

/** Activity: calls of a round wait for guards. Derived, written by the executor. */
export type CallsWaiting = {
  type: 'calls-waiting'
  /** the conversation: the key of the record */
  conversation: ConversationId
  /** the turn: the inbox offset of the record that opened it */
  turn: number
  /** the model round in the turn, from 1 */
  round: number
  /** by ordinal */
  calls: WaitingCall[]
  /** append time in milliseconds at which the last of them is decided at the latest */
  until: number
}

/**
 * Nothing more of this turn may start. Derived, written by the conversation to gateway,
 * loop-detector and executor.
 */
export type Cancel = {
  type: 'cancel'
  /** the conversation: the key of the record */
  conversation: ConversationId
  /** the turn: the inbox offset of the record that opened it */
  turn: number
  /** the round that is outstanding; 0: none */
  round: number
  /** append time in milliseconds from which nothing of it may start (R6) */
  expiresAt: number
}

/**
 * A client wants to end a message's turn, or to take the message out of the queue. Observed,
 * written by the edge.
 */
export type CancelRequested = {
  type: 'cancel-requested'
  /** the conversation: the key of the record */
  conversation: ConversationId
  /** the client's id of the message */
  messageId: MessageId
}

/**
 * Ends a conversation's unit or begins it anew with what it must remember (R1). Derived, written by
 * the conversation into its own inbox.
 */
export type Carried = {
  type: 'carried'
  /** the conversation: the key of the record */
  conversation: ConversationId
  /** the unit's last offset when this was written; it counts only if that is still so */
  from: number
  /** what goes on; null: the conversation is idle and its unit ends */
  state: CarriedState | null
}

/** The owner wants to start this call (R4). Observed, written by the executor. */
export type Claim = {
  type: 'claim'
  /** the conversation: the key of the record */
  conversation: ConversationId
  /** the turn: the inbox offset of the record that opened it */
  turn: number
  /** the model round in the turn, from 1 */
  round: number
  /** the call */
  ordinal: number
  /** the try, from 1 */
  try: number
  /** who writes: new for every assignment of the partition (R4) */
  owner: string
}

/**
 * A record that could not be decoded or that made a reducer throw, with its origin (R8). Derived,
 * written by the runtime.
 */
export type DeadLetter = {
  type: 'dead-letter'
  /** where it was read */
  topic: string
  /** its partition */
  partition: number
  /** its offset */
  offset: number
  /** its append time in milliseconds */
  time: number
  /** who could not take it */
  stage: string
  /** the error's code */
  code: string
  /** what was wrong */
  reason: string
  /** its key */
  key: string
  /** its bytes, as they are */
  value: Uint8Array
}

/**
 * A guard is in force from the next model response on. Observed, written by an operator into the
 * table policies; a tombstone removes it.
 */
export type GuardRegistration = {
  type: 'guard-registration'
  /** its name: the key of the record is guard: and this */
  name: string
  /** its version, for people */
  version: string
  /** the tools that it judges */
  tools: GuardedTools[]
  /** milliseconds after the append time of round-cleared within which it must answer */
  deadlineMs: number
  /** what becomes of its calls when it does not */
  onTimeout: GuardSilence
  /** when this was written, in milliseconds, by the writer's clock: for people */
  registeredAt: number
  /** what the approval guard judges by, as JSON; null for any other */
  rules: string | null
}

/**
 * A guard's answer to a round: a verdict on each of its calls. Observed, written by the guard into
 * its own topic, and from there copied into the inbox of the executor.
 */
export type GuardVerdict = {
  type: 'guard-verdict'
  /** the conversation: the key of the record */
  conversation: ConversationId
  /** the turn: the inbox offset of the record that opened it */
  turn: number
  /** the model round in the turn, from 1 */
  round: number
  /** the guard; the executor takes it from the topic's name */
  guard: string
  /** its version, for people */
  version: string
  /** one for each call of the round that it was asked about */
  verdicts: CallVerdict[]
  /** what it wants the model to be told, whatever its verdicts */
  intervention: GuardWish | null
  /** append time of the round-cleared that it answers, as it read it; 0: not said */
  clearedAt: number
  /** milliseconds that it judged; 0: not said */
  judgedMs: number
  /** those of its calls for which it enforces in this round; for the others it is a shadow */
  enforces: number[]
  /** its deadline in this round; 0: not said */
  deadlineMs: number
}

/**
 * Activity: an enforcing guard has answered a round, or its time is over. Derived, written by the
 * executor.
 */
export type GuardVerdictGiven = {
  type: 'guard-verdict-given'
  /** the conversation: the key of the record */
  conversation: ConversationId
  /** the turn: the inbox offset of the record that opened it */
  turn: number
  /** the model round in the turn, from 1 */
  round: number
  /** the guard */
  guard: string
  /** the version that answered; of a silent one, the registered */
  version: string
  /** whether it answered */
  answer: GuardAnswer
  /**
   * what counts for each call that waited for it; pass without an answer: on-timeout let it through
   */
  verdicts: CallVerdict[]
  /** milliseconds from the round-cleared to this */
  waitedMs: number
}

/**
 * What one round adds to the conversation's history; immutable. Derived, written by the
 * conversation into the table history under (conversation, turn, round).
 */
export type HistoryEntry = {
  type: 'history-entry'
  /** the conversation: the key of the record */
  conversation: ConversationId
  /** the turn: the inbox offset of the record that opened it */
  turn: number
  /** the round; 0: the user's message */
  round: number
  /** round 0: what the user said */
  user: string | null
  /** what the model said; null when there is none */
  response: Response | null
  /** one for each call, by ordinal */
  results: CallResult[]
  /** the text that the request of this round showed at its top */
  nudge: string | null
  /** why there is no response, or that calls may have run */
  note: string | null
}

/** Activity: the detector acts, or would have. Derived, written by the loop-detector. */
export type InterventionRaised = {
  type: 'intervention-raised'
  /** the conversation: the key of the record */
  conversation: ConversationId
  /** the turn: the inbox offset of the record that opened it */
  turn: number
  /** the model round in the turn, from 1 */
  round: number
  /** what it does and why */
  intervention: Intervention
  /**
   * whether its rule is a shadow in this round: then this is only what it would have done, and
   * nothing follows from it
   */
  shadow: boolean
}

/**
 * The owner that claimed this call is dead, proven by the bus. Observed, written by the executor.
 */
export type Lapsed = {
  type: 'lapsed'
  /** the conversation: the key of the record */
  conversation: ConversationId
  /** the turn: the inbox offset of the record that opened it */
  turn: number
  /** the model round in the turn, from 1 */
  round: number
  /** the call */
  ordinal: number
  /** the try, from 1 */
  try: number
  /** who writes: new for every assignment of the partition (R4) */
  owner: string
}

/** The answer of a round, or why there is none. Derived, written by the gateway. */
export type ModelFinished = {
  type: 'model-finished'
  /** the conversation: the key of the record */
  conversation: ConversationId
  /** the turn: the inbox offset of the record that opened it */
  turn: number
  /** the model round in the turn, from 1 */
  round: number
  /** the attempt, random */
  attempt: string
  /** how many part records the attempt has */
  parts: number
  /** the provider's own word for why it stopped; empty when none came */
  finish: string
  /** why the model stopped */
  stop: Stop
  /** tokens */
  usage: Usage
  /** of the offered tools whose names occur in the response */
  declarations: Declaration[]
  /** the agent's name */
  agent: string
  /** what judges this round */
  policy: Policy
  /** calls that the turn may still make; 0: a text-only round */
  callsLeft: number
  /** append time in milliseconds from which nothing of it may start (R6) */
  expiresAt: number
  /** why there is no response; null: there is one */
  failure: RoundFailure | null
  /** the model was told to write its calls as text: it has no other way */
  callsAsText: boolean
}

/** Parts of this round may come. Derived, written by the gateway. */
export type ModelOpened = {
  type: 'model-opened'
  /** the conversation: the key of the record */
  conversation: ConversationId
  /** the turn: the inbox offset of the record that opened it */
  turn: number
  /** the model round in the turn, from 1 */
  round: number
  /** names of all tools that this very request offered */
  offered: string[]
  /** append time in milliseconds from which nothing of it may start (R6) */
  expiresAt: number
}

/** Ask the model for one round. Derived, written by the conversation. */
export type ModelRequest = {
  type: 'model-request'
  /** the conversation: the key of the record */
  conversation: ConversationId
  /** the turn: the inbox offset of the record that opened it */
  turn: number
  /** the model round in the turn, from 1 */
  round: number
  /** the history entry (turn, historyRound) up to which to read; 0: the user's message */
  historyRound: number
  /** text for the top of the request */
  nudge: string | null
  /** calls that the turn may still make; 0: a text-only round */
  callsLeft: number
  /** the agent's name */
  agent: string
  /** the tools offered */
  tools: ToolRef[]
  /** the agent's settings */
  settings: AgentSettings
  /** append time in milliseconds from which nothing of it may start (R6) */
  expiresAt: number
}

/**
 * The operator's caps: for each the lower of this and the agent's counts. Observed, written by an
 * operator into the table policies.
 */
export type OperatorLimits = {
  type: 'operator-limits'
  /** upper bounds */
  caps: Caps
}

/** What became of a claimed call. Observed, written by the executor that claimed it. */
export type Outcome = {
  type: 'outcome'
  /** the conversation: the key of the record */
  conversation: ConversationId
  /** the turn: the inbox offset of the record that opened it */
  turn: number
  /** the model round in the turn, from 1 */
  round: number
  /** the call */
  ordinal: number
  /** the try, from 1 */
  try: number
  /** who writes: new for every assignment of the partition (R4) */
  owner: string
  /** how it ended; null: it was not started and never will be by this owner */
  result: CallResult | null
}

/**
 * A piece of a model's stream. Observed, written by the gateway ahead of its decision; counts only
 * when model-finished names its attempt.
 */
export type Part = {
  type: 'part'
  /** the conversation: the key of the record */
  conversation: ConversationId
  /** the turn: the inbox offset of the record that opened it */
  turn: number
  /** the model round in the turn, from 1 */
  round: number
  /** the attempt, random */
  attempt: string
  /** its place among the attempt's part records, from 0 */
  i: number
  /** normalized events in the order of the stream */
  events: PartEvent[]
}

/**
 * A response, its calls checked against the declarations that were offered. Derived, written by the
 * validator.
 */
export type RoundChecked = {
  type: 'round-checked'
  /** the conversation: the key of the record */
  conversation: ConversationId
  /** the turn: the inbox offset of the record that opened it */
  turn: number
  /** the model round in the turn, from 1 */
  round: number
  /** what the model said; an empty one beside a failure */
  response: Response
  /** why there is no response; null: there is one */
  failure: RoundFailure | null
  /** the calls that must not run, by ordinal */
  rejections: Rejection[]
  /** of the offered tools whose names occur in the response */
  declarations: Declaration[]
  /** the agent's name */
  agent: string
  /** what judges this round */
  policy: Policy
  /** calls that the turn may still make; 0: a text-only round */
  callsLeft: number
  /** append time in milliseconds from which nothing of it may start (R6) */
  expiresAt: number
}

/** A round whose undecided calls may run. Derived, written by the loop-detector. */
export type RoundCleared = {
  type: 'round-cleared'
  /** the conversation: the key of the record */
  conversation: ConversationId
  /** the turn: the inbox offset of the record that opened it */
  turn: number
  /** the model round in the turn, from 1 */
  round: number
  /** all calls of the round */
  calls: Call[]
  /** results of those that must not run, by ordinal */
  decided: CallResult[]
  /** of the offered tools whose names occur in the response */
  declarations: Declaration[]
  /** the agent's name */
  agent: string
  /** what judges this round */
  policy: Policy
  /** append time in milliseconds from which nothing of it may start (R6) */
  expiresAt: number
  /**
   * expiresAt as it is now that the round waits for slow guards; null: as it was. What arrives at
   * or after expiresAt is over all the same
   */
  extendedTo: number | null
}

/** One result for each call of a round. Derived, written by the executor. */
export type RoundExecuted = {
  type: 'round-executed'
  /** the conversation: the key of the record */
  conversation: ConversationId
  /** the turn: the inbox offset of the record that opened it */
  turn: number
  /** the model round in the turn, from 1 */
  round: number
  /** by ordinal */
  results: CallResult[]
  /** of the guards that the round waited for */
  wishes: GuardWish[]
}

/**
 * A round is over: what the model said, what became of its calls, what to do about it. Derived,
 * written by the loop-detector.
 */
export type RoundOutcome = {
  type: 'round-outcome'
  /** the conversation: the key of the record */
  conversation: ConversationId
  /** the turn: the inbox offset of the record that opened it */
  turn: number
  /** the model round in the turn, from 1 */
  round: number
  /** what the model said; an empty one beside a failure */
  response: Response
  /** why there is no response; null: there is one */
  failure: RoundFailure | null
  /** one for each call, by ordinal */
  results: CallResult[]
  /** what to do about a lack of progress */
  intervention: Intervention | null
  /** what judges this round */
  policy: Policy
}

/** A response, folded. Derived, written by the accumulator. */
export type RoundProposed = {
  type: 'round-proposed'
  /** the conversation: the key of the record */
  conversation: ConversationId
  /** the turn: the inbox offset of the record that opened it */
  turn: number
  /** the model round in the turn, from 1 */
  round: number
  /** what the model said; an empty one beside a failure */
  response: Response
  /** why there is no response; null: there is one */
  failure: RoundFailure | null
  /** names of all tools that this very request offered */
  offered: string[]
  /** of the offered tools whose names occur in the response */
  declarations: Declaration[]
  /** the agent's name */
  agent: string
  /** what judges this round */
  policy: Policy
  /** calls that the turn may still make; 0: a text-only round */
  callsLeft: number
  /** append time in milliseconds from which nothing of it may start (R6) */
  expiresAt: number
}

/** Activity: the model is asked. Derived, written by the conversation. */
export type RoundStarted = {
  type: 'round-started'
  /** the conversation: the key of the record */
  conversation: ConversationId
  /** the turn: the inbox offset of the record that opened it */
  turn: number
  /** the model round in the turn, from 1 */
  round: number
  /** calls that the turn may still make; 0: a text-only round */
  callsLeft: number
  /** whether the request carries a text at its top */
  nudged: boolean
}

/** Look at this unit again. Observed, written by the runtime of whoever owns the partition. */
export type Tick = {
  type: 'tick'
  /** the conversation: the key of the record */
  conversation: ConversationId
  /** the unit's key */
  unit: string
}

/** Activity: a tool process really started. Observed, written by the executor after the start. */
export type ToolStarted = {
  type: 'tool-started'
  /** the conversation: the key of the record */
  conversation: ConversationId
  /** the turn: the inbox offset of the record that opened it */
  turn: number
  /** the model round in the turn, from 1 */
  round: number
  /** the call */
  ordinal: number
  /** the try, from 1 */
  try: number
  /** the tool */
  name: string
}

/** All rounds of the turn were answered; it is over. Derived, written by the conversation. */
export type TurnEnded = {
  type: 'turn-ended'
  /** the conversation: the key of the record */
  conversation: ConversationId
  /** the turn: the inbox offset of the record that opened it */
  turn: number
}

/**
 * A round waits for slow guards, and its turn has as much longer. Derived, written by the
 * loop-detector.
 */
export type TurnExtended = {
  type: 'turn-extended'
  /** the conversation: the key of the record */
  conversation: ConversationId
  /** the turn: the inbox offset of the record that opened it */
  turn: number
  /** the model round in the turn, from 1 */
  round: number
  /** append time in milliseconds at which the turn is over now */
  until: number
}

/**
 * A reducer threw on a record of this turn (R8). Derived, written by the runtime of the stage that
 * failed.
 */
export type TurnFailed = {
  type: 'turn-failed'
  /** the conversation: the key of the record */
  conversation: ConversationId
  /** the turn; null: not known */
  turn: number | null
  /** the stage that failed */
  stage: string
  /** what it threw */
  reason: string
}

/** Activity: the turn is over, and this is the reply. Derived, written by the conversation. */
export type TurnFinished = {
  type: 'turn-finished'
  /** the conversation: the key of the record */
  conversation: ConversationId
  /**
   * the turn; for a message that was refused or taken out of the queue: the offset of the record
   * that ended it
   */
  turn: number
  /** the message that opened it */
  messageId: MessageId
  /** how it ended */
  outcome: TurnOutcome
  /** what the user gets */
  reply: string
  /** why it ended so */
  reason: string
  /** of anything but answered */
  class: FailureClass | null
  /** the cap that was reached, also when the model answered in its last text-only round */
  cap: Cap | null
  /** what it used */
  totals: Totals
}

/** Activity: a turn began. Derived, written by the conversation. */
export type TurnStarted = {
  type: 'turn-started'
  /** the conversation: the key of the record */
  conversation: ConversationId
  /** the turn: the inbox offset of the record that opened it */
  turn: number
  /** the message that opened it */
  messageId: MessageId
  /** the agent's name */
  agent: string
}

/** A user's message. Observed, written by the edge. */
export type UserMessage = {
  type: 'user-message'
  /** the conversation: the key of the record */
  conversation: ConversationId
  /** the client's id of the message; a repeat of it changes nothing */
  messageId: MessageId
  /** what the user said */
  text: string
  /** the agent's name */
  agent: string
  /** the agent's settings */
  settings: AgentSettings
  /** the tools that the agent offers */
  declarations: Declaration[]
}

/** An agent's settings, as they come with the user's message. */
export type AgentSettings = {
  /** what the user gets when a turn ends without an answer */
  fallback: string
  /** model attempts of one round */
  attempts: number
  /** milliseconds without a byte after which an attempt is given up (I5.3) */
  stallMs: number
  /** what judges its rounds */
  policy: Policy
}

/**
 * What a person says of a call that waits. A reader that does not know a newer symbol reads the
 * default, the most cautious one.
 */
export type ApprovalAnswer = 'approve' | 'reject'

/**
 * What became of a call that waited for a person: withdrawn, it was decided otherwise meanwhile. A
 * reader that does not know a newer symbol reads the default.
 */
export type ApprovalOutcome = 'approved' | 'rejected' | 'expired' | 'withdrawn'

/**
 * Where the argument text of a call came from (I5.1: sources are never joined): pieces; the event
 * that ended the call and said them whole; the start of the call; the start of the whole response;
 * text: the model wrote the call as visible text (I2). A reader that does not know a newer symbol
 * reads the default, the most cautious one.
 */
export type ArgumentSource = 'none' | 'start' | 'deltas' | 'done' | 'message_start' | 'text'

/** A call that waits for the approval guard. */
export type AskedCall = {
  /** the call */
  ordinal: number
  /** the tool */
  name: string
  /** the JSON text that the tool would get, byte for byte */
  arguments: string
}

/** One tool call as the model made it; known as (conversation, turn, round, ordinal). */
export type Call = {
  /** its place in the response, from 0: part of its identity */
  ordinal: number
  /** the provider's id: data, not identity, models reuse ids; empty when none was sent */
  id: string
  /** the tool's name as sent */
  name: string
  /**
   * the argument text exactly as it came from its one source, or as repair says; empty when no byte
   * came
   */
  raw: string
  /** where raw came from */
  source: ArgumentSource
  /** why it can never run; null: raw is the text of a JSON object */
  problem: CallProblem | null
  /** what was mended in raw, without a change of any value; null: it is as it came */
  repair: Repair | null
  /** another source, which did not count, said something else */
  disputed: boolean
}

/**
 * Why a call can never run: the end was never seen; the server reported an error inside the stream;
 * no argument bytes came; the text is not JSON; it is JSON but no object; argument bytes came that
 * belong to no call, so its own may be among them; its arguments are free text, as no tool of ours
 * takes them. A reader that does not know a newer symbol reads the default, the most cautious one.
 */
export type CallProblem =
  | 'truncated'
  | 'stream_error'
  | 'no_arguments'
  | 'invalid_json'
  | 'not_an_object'
  | 'lost_arguments'
  | 'free_text'

/** The one result of a call (R5). */
export type CallResult = {
  /** the call */
  ordinal: number
  /** how it ended */
  status: ResultStatus
  /** what the model reads */
  text: string
  /** the short reason of anything but ok, as loop keys and interventions quote it; empty for ok */
  reason: string
  /** milliseconds that the tool ran; 0 when it did not */
  durationMs: number
}

/** A guard's verdict on one call. */
export type CallVerdict = {
  /** the call */
  ordinal: number
  /** pass or reject */
  verdict: VerdictKind
  /** of a rejection, for people: a short word such as outside-folder; empty: it passes */
  code: string
  /** of a rejection, what the model reads; empty: it passes */
  text: string
  /** what it judged by, for people */
  evidence: string | null
}

/**
 * A cap of a turn. A reader that does not know a newer symbol reads the default, the most cautious
 * one.
 */
export type Cap = 'rounds' | 'calls' | 'wall' | 'tokens'

/** What a turn may use at most (I3). There is no turn without caps. */
export type Caps = {
  /** model rounds */
  rounds: number
  /** tool calls that are run or refused */
  calls: number
  /** milliseconds from the user's message to the end */
  wallMs: number
  /** input and output tokens of all answers; null: not capped */
  tokens: number | null
}

/** What a conversation must remember beyond a turn (R1). */
export type CarriedState = {
  /** waiting messages, oldest first */
  queue: QueuedMessage[]
  /** ids of messages taken, oldest first: a client's repeat is known by them */
  recentMessageIds: string[]
}

/**
 * What a model is told about a tool, and what the pipeline must know to run it. Never a command,
 * URL or key: those stay in agent files.
 */
export type Declaration = {
  /** the tool's name, unique in an agent */
  name: string
  /** what the model is told that it does */
  description: string
  /** JSON Schema of its arguments, as JSON text */
  schema: string
  /** whether it may be started again after an unknown outcome, with the same idempotency key */
  idempotent: boolean
  /** milliseconds it may run */
  timeoutMs: number
  /** whether it is meant to be asked again until something changes */
  poll: boolean
  /** what else is known about it; null: nothing */
  hints: ToolHints | null
}

/** How many empty or thinking-only responses are answered by a nudge (I4). */
export type EmptyAllowance = {
  /** in a row, before any tool call of the turn */
  beforeTools: number
  /** in a row, after one */
  afterTools: number
  /** in a whole turn; only a new user turn resets it */
  perTurn: number
}

/** A call or a round that made the detector act. */
export type EvidenceRef = {
  /** the round */
  round: number
  /** the call; -1: the round as a whole */
  ordinal: number
}

/**
 * What a caller should do about a turn or round that failed: deterministic (the same again fails
 * again), transient (later), no_progress (the model loops), budget (a cap), refused (the model or
 * provider declines), provider (the provider is broken), internal (Weir is), cancelled (somebody
 * asked for it), context_full (the conversation no longer fits into the model's context: begin a
 * new one, or use a model with a larger context). A reader that does not know a newer symbol reads
 * the default, the most cautious one.
 */
export type FailureClass =
  | 'deterministic'
  | 'transient'
  | 'no_progress'
  | 'budget'
  | 'refused'
  | 'provider'
  | 'internal'
  | 'cancelled'
  | 'context_full'

/**
 * How an enforcing guard answered a round: verdicts, in time; silent, not before its deadline;
 * unusable, not as it must be. A reader that does not know a newer symbol reads the default, the
 * most cautious one.
 */
export type GuardAnswer = 'verdicts' | 'silent' | 'unusable'

/** A guard as it was registered when a round was answered. */
export type GuardInForce = {
  /** its name */
  name: string
  /** its version, for people */
  version: string
  /** the tools that it judges */
  tools: GuardedTools[]
  /** milliseconds after the append time of round-cleared within which it must answer */
  deadlineMs: number
  /** what becomes of its calls when it does not */
  onTimeout: GuardSilence
  /** what the approval guard judges by, as JSON; null for any other */
  rules: string | null
}

/**
 * What the verdicts of a guard do: enforce, calls wait for them; shadow, they are recorded and
 * change nothing. A reader that does not know a newer symbol reads the default, the most cautious
 * one.
 */
export type GuardMode = 'enforce' | 'shadow'

/**
 * What becomes of a call when an enforcing guard does not answer in time: reject, it is vetoed;
 * allow, it goes on. A reader that does not know a newer symbol reads the default, the most
 * cautious one.
 */
export type GuardSilence = 'reject' | 'allow'

/** A guard's wish for an intervention. */
export type GuardWish = {
  /** the guard; empty in its own record, which says who it is */
  guard: string
  /** why, for people */
  reason: string
  /** what the next request shows to the model */
  text: string
}

/** Tools that a guard judges. Where several of a guard's patterns match a tool, enforce counts. */
export type GuardedTools = {
  /** of tool names; * stands for any characters */
  pattern: string
  /** of the guard for these tools */
  mode: GuardMode
}

/**
 * What the conversation must do about a lack of progress. It rides in round-outcome, so it always
 * reaches the next request.
 */
export type Intervention = {
  /** what to do */
  rung: Rung
  /**
   * whether it is only a usual reminder (an empty response is nudged), not a verdict that the model
   * loops
   */
  ordinary: boolean
  /** the rule that fired, e.g. identical-failure */
  rule: string
  /** its version */
  ruleVersion: number
  /** the loop key, readable */
  key: string
  /** why, for people */
  reason: string
  /** what the next request shows to the model; empty at the rung end */
  text: string
  /** of the turn, at the rung end */
  class: FailureClass | null
  /** what it judged by */
  evidence: EvidenceRef[]
}

/** When the loop-detector intervenes. Each counts model rounds. */
export type LoopThresholds = {
  /** rounds with the same failing call, by arguments or by error */
  identicalFailures: number
  /** rounds with the same call and the same result */
  identicalSuccesses: number
  /** laps of a cycle of 2 to 6 rounds without anything new */
  cycleLaps: number
  /** consecutive schema failures of one tool (I5.2) */
  schemaFailures: number
  /** whether reaching schemaFailures ends the turn as deterministic */
  schemaFailureEndsTurn: boolean
}

/** One normalized event of a provider stream. */
export type PartEvent = {
  /** what it is */
  kind: PartKind
  /**
   * the call or block it belongs to, counted by the gateway from 0 in one attempt; call_piece: the
   * index that the provider gave, -1: none, -2: the older form of a single call
   */
  index: number
  /** call_start, call_whole, call_piece: the provider's call id */
  id: string | null
  /**
   * call_start, call_whole, call_piece: the tool's name, or a piece of it; call_extra: the model
   */
  name: string | null
  /** the piece of text; call_start, call_whole: the start input as JSON text; error: the message */
  text: string
}

/**
 * text: visible text; reasoning: thinking text; reasoning_block: a finished thinking block, as
 * JSON, exactly as the provider wants it back; call_start: a call begins, text is its start input
 * (empty: none came); call_arguments: a piece of argument text; call_end: the provider closed the
 * call; error: the provider reported an error inside the stream; refusal: visible text in which the
 * model refuses; call_whole: as call_start, of a call that stood whole in what began the response;
 * call_done: the whole arguments once more, in the words of an event that ends them;
 * call_free_text: the arguments of the call are free text, not JSON; call_piece: a piece of a call
 * in a format that marks neither the beginning nor the end of one, with what it said of id, name
 * and arguments; call_piece_beside: another piece that came in the same chunk as the one before;
 * call_extra: what the server wants to see again beside the call of the piece before, as JSON, name
 * is the model; kept_apart: a block that is no call of ours (a tool that the server runs,
 * citations, what is unknown), as JSON; provider_said: the provider's own id, usage and reasons, as
 * JSON. A reader that does not know a newer symbol reads the default, the most cautious one.
 */
export type PartKind =
  | 'text'
  | 'reasoning'
  | 'reasoning_block'
  | 'call_start'
  | 'call_arguments'
  | 'call_end'
  | 'error'
  | 'refusal'
  | 'call_whole'
  | 'call_done'
  | 'call_free_text'
  | 'call_piece'
  | 'call_piece_beside'
  | 'call_extra'
  | 'kept_apart'
  | 'provider_said'

/** A call that waits for a person, as that person should see it. */
export type PendingCall = {
  /** the call */
  ordinal: number
  /** the tool */
  name: string
  /** the JSON text that the tool would get, byte for byte */
  arguments: string
  /** the id under which a person decides: made of the call's place and of the hash */
  id: string
  /** SHA-256, in hex, of the tool's name and of the bytes of the arguments */
  hash: string
  /** the name of the rule for which it waits */
  rule: string
}

/**
 * What judges a round: the agent's settings overlaid by the operator's; stamped on each round so
 * that no stage looks anything up (R2).
 */
export type Policy = {
  /** a hash of its content: which policy judged */
  version: string
  /** of the turn */
  caps: Caps
  /** of the loop-detector */
  loop: LoopThresholds
  /** of the loop-detector */
  empty: EmptyAllowance
  /** milliseconds after its claim within which an owner may start a tool (R4) */
  startWithinMs: number
  /** milliseconds between asking a tool to stop and killing it */
  graceMs: number
  /** tries of an idempotent tool */
  toolTries: number
  /** in force for this round: written by the gateway, whatever an agent or a message says */
  guards: GuardInForce[]
  /**
   * names of rules of the loop-detector that only tell what they would have done, in the order of
   * the alphabet
   */
  shadowed: string[]
}

/** One setting of a policy, under a name that commands have for it. */
export type PolicyEntry = {
  /** a threshold, as loop.identicalFailures, or the mode of a rule, as rule.cycle */
  key: string
  /** as it is written in a command: a whole number, true or false, shadow or enforce */
  value: string
}

/** A user's message that waits for its turn, reduced to what the turn needs. */
export type QueuedMessage = {
  /** the client's id */
  messageId: MessageId
  /** what the user said */
  text: string
  /** the agent's name */
  agent: string
  /** the agent's settings */
  settings: AgentSettings
  /** the tools offered */
  tools: ToolRef[]
  /**
   * milliseconds that the slowest of them may run: how long a cancelled turn may still have to be
   * waited for
   */
  toolTimeoutMsMax: number
}

/**
 * A call that the validator refuses; the detector may sharpen the text before it becomes the call's
 * result.
 */
export type Rejection = {
  /** the call */
  ordinal: number
  /** what was found */
  code: RejectionCode
  /** the short reason, as loop keys and interventions quote it */
  reason: string
  /** what the model reads */
  text: string
  /** the required fields of the tool's schema (I5.2) */
  requiredFields: string[]
}

/**
 * What the validator found: no such tool was offered; no arguments came and the tool needs some;
 * the argument text cannot be used; the arguments break the schema; the schema itself cannot be
 * used (R6). A reader that does not know a newer symbol reads the default, the most cautious one.
 */
export type RejectionCode =
  | 'unknown_tool'
  | 'no_arguments'
  | 'bad_arguments'
  | 'schema'
  | 'unusable_schema'

/** How an argument text was mended so that it is JSON. */
export type Repair = {
  /** the text exactly as it came */
  sent: string
  /**
   * what was done: fence, trailing-comma, single-quotes, python-word, control-character,
   * bad-escape; whole-number (30.0 where an integer is wanted)
   */
  how: string[]
}

/** One finished model response, folded by the accumulator from the one attempt that counts. */
export type Response = {
  /** the attempt that it came from; empty when no attempt succeeded */
  attempt: string
  /** visible text, blocks joined without a separator; empty where calls were recovered from it */
  text: string
  /**
   * JSON array of the thinking blocks exactly as sent, to be returned to the provider; empty when
   * there were none
   */
  reasoning: string
  /** in the order in which they began */
  calls: Call[]
  /** why the model stopped */
  stop: Stop
  /** the provider's own word for it; empty when none came */
  finish: string
  /** tokens of the attempt */
  usage: Usage
  /** the visible text was built like calls (I2); null: it was not */
  textCalls: TextCalls | null
}

/**
 * How a call ended (R5). ok, error, timed_out: it ran; rejected, vetoed, skipped: it never ran in
 * any try; outcome_unknown: it may have run, or may still take effect. A reader that does not know
 * a newer symbol reads the default, the most cautious one.
 */
export type ResultStatus =
  | 'ok'
  | 'error'
  | 'rejected'
  | 'vetoed'
  | 'timed_out'
  | 'skipped'
  | 'outcome_unknown'

/** Why a round has no response. */
export type RoundFailure = {
  /** what to do about it */
  class: FailureClass
  /** what happened, for people and for the turn's end */
  reason: string
}

/**
 * The rung of the ladder: a text in the next request, one round without tools, the end of the turn.
 * A reader that does not know a newer symbol reads the default, the most cautious one.
 */
export type Rung = 'nudge' | 'text_only' | 'end'

/**
 * Why the model stopped, in one vocabulary for all providers. cut: the stream ended without saying
 * why. A reader that does not know a newer symbol reads the default, the most cautious one.
 */
export type Stop = 'end' | 'calls' | 'length' | 'refusal' | 'cut' | 'other'

/**
 * A visible text that is built like calls (I2): either they were recovered from it and stand in the
 * response in its place, or they cannot run and the text stays.
 */
export type TextCalls = {
  /** how it is written: the name of the dialect that read it */
  dialect: string
  /**
   * what had to be repaired to read it, without a change of any value, sorted: trailing-comma,
   * single-quotes, python-word, control-character, bad-escape
   */
  repairs: string[]
  /** why none of it can run, a clause for the model; null: the calls were recovered */
  fault: string | null
}

/**
 * What the guards of the pipeline are told about a tool beyond its schema, where whoever wrote it
 * knows better than its name says.
 */
export type ToolHints = {
  /** whether its success may change something; null: its name and its command say it */
  mutates: boolean | null
  /** arguments that identify nothing: top-level names, or JSON pointers in which * is any step */
  ignoreFields: string[]
  /** the arguments that alone identify a call, named likewise; empty: all of them */
  loopKey: string[]
  /**
   * the text of its refusals, with placeholders (shared/contract/arguments/refusal-template.ts);
   * null: the usual one
   */
  refusal: string | null
}

/**
 * A tool by the hash of its declaration: gateway and executor find it in their own agent files or
 * refuse.
 */
export type ToolRef = {
  /** the tool's name */
  name: string
  /** sha-256 of the declaration, hex */
  hash: string
}

/** What a turn used. */
export type Totals = {
  /** model rounds asked for */
  rounds: number
  /** calls that the model made */
  calls: number
  /** input tokens of all answers, cached ones included */
  inputTokens: number
  /** output tokens of all answers */
  outputTokens: number
  /** milliseconds from the record that opened the turn to its end, by append time */
  wallMs: number
}

/**
 * answered: the reply is the model's; capped, failed, cancelled: the reply is the agent's fallback.
 * A reader that does not know a newer symbol reads the default, the most cautious one.
 */
export type TurnOutcome = 'answered' | 'capped' | 'failed' | 'cancelled'

/** Tokens of one attempt as the provider counted them. */
export type Usage = {
  /** tokens read, without cached ones */
  inputTokens: number
  /** tokens written, thinking included */
  outputTokens: number
  /** tokens read from the provider's prompt cache */
  cacheReadTokens: number
  /** tokens written to the provider's prompt cache */
  cacheWriteTokens: number
}

/**
 * What a guard says of a call. A reader that does not know a newer symbol reads the default, the
 * most cautious one.
 */
export type VerdictKind = 'pass' | 'reject'

/** A call that waits for guards. */
export type WaitingCall = {
  /** the call */
  ordinal: number
  /** the tool */
  name: string
  /** the guards that it waits for */
  guards: string[]
}

/** A call that waits for no approval any more. */
export type WithdrawnCall = {
  /** the call */
  ordinal: number
  /** the short reason of its result */
  reason: string
}
