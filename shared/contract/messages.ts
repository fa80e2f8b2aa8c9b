// Generated from schemas/ by `node schemas/generate.ts`. Do not edit: change the .avsc file and run it again.

import type { AttemptId, CallId, ConversationId, MessageId, RoundId, TurnId } from './ids.ts'

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
  | AuditChanged
  | AuditDecided
  | AuditFollowed
  | BudgetReached
  | BudgetReleased
  | BudgetReserved
  | BudgetSettled
  | CallDenied
  | CallFinished
  | CallOffered
  | CallsStopped
  | CallsWaiting
  | Cancel
  | CancelRequested
  | Carried
  | Claim
  | ContentKept
  | ContentSent
  | ConversationForgotten
  | ConversationForked
  | ConversationKey
  | ConversationTitled
  | DeadLetter
  | FleetFormat
  | ForkRequested
  | FormatSchemas
  | GuardRegistration
  | GuardVerdict
  | GuardVerdictGiven
  | GuestAdvice
  | GuestCarried
  | GuestClaim
  | GuestClaimed
  | GuestResults
  | GuestRound
  | GuestVerdicts
  | HistoryEntry
  | HistorySummary
  | InputGiven
  | InputRequested
  | InterventionRaised
  | Lapsed
  | ModelAnswered
  | ModelFinished
  | ModelOpened
  | ModelRequest
  | ModelRetry
  | ModelWaiting
  | OperatorBudget
  | OperatorLimits
  | OperatorPrices
  | OperatorStop
  | Outcome
  | Part
  | PartitionCount
  | ProgramsHashed
  | RequestsUnjudged
  | ResultSent
  | RoundChecked
  | RoundCleared
  | RoundExecuted
  | RoundOutcome
  | RoundProposed
  | RoundStarted
  | SettingRemoved
  | SlotRenewed
  | SlotReserved
  | SlotSettled
  | Tick
  | TitleGiven
  | ToolStarted
  | TopicIds
  | TurnEnded
  | TurnExtended
  | TurnFailed
  | TurnFinished
  | TurnStarted
  | UserMessage
  | UserNamed
  | VerdictsRequested

export type MessageType = Message['type']

export type MessageOf<T extends MessageType> = Extract<Message, { type: T }>

/**
 * An operator's settings for the rounds of an agent, or of all agents. They override the agent file
 * from the next model response on. Observed, written by an operator into the table policies. A
 * tombstone removes them.
 */
export type AgentPolicy = {
  type: 'agent-policy'
  /** the agent's name, or * for all; the key of the record is policy: and this name */
  agent: string
  /** the settings, each key once; all others come from the agent file */
  entries: PolicyEntry[]
  /** the author's name as they gave it, for people */
  setBy: string
  /** time of writing in milliseconds, by the writer's clock, for people */
  setAt: number
}

/**
 * A person's decision on a call that waits. The first one that fits counts. Observed, written by
 * the edge.
 */
export type ApprovalAnswered = CallId & {
  type: 'approval-answered'
  /** the id under which a person decides: made of the call's place and of the hash */
  id: string
  /** SHA-256, in hex, of the tool's name, of the bytes of the arguments and of the program */
  hash: string
  /** the decision */
  answer: ApprovalAnswer
  /** the person's name */
  by: string
  /** the reason, for the model; may be empty */
  reason: string
  /**
   * the number of a question of a running tool in its round, from 1; 0: the record is about
   * approvals
   */
  input: number
  /** the values for a question, a JSON object; null: none */
  values: string | null
  /** whether the writer checked a proof of the name */
  identity: PersonIdentity
}

/**
 * The calls of a round that wait for the approval guard. It judges which of them need a person.
 * Derived, written by the executor.
 */
export type ApprovalAsked = RoundId & {
  type: 'approval-asked'
  /** the agent */
  agent: string
  /** by ordinal */
  calls: AskedCall[]
  /** the guard's rules in the round's policy, as JSON */
  rules: string
  /** the guard's version in this round */
  version: string
  /** append time of the round-cleared in milliseconds */
  clearedAt: number
  /** the guard's deadline in this round, in milliseconds after clearedAt */
  deadlineMs: number
  /** append time in milliseconds at which the executor stops waiting */
  until: number
  /**
   * the number of a question of a running tool in its round, from 1; 0: the record is about
   * approvals
   */
  input: number
}

/** Activity: a call that waited for a person is decided. Derived, written by the approval stage. */
export type ApprovalDecided = CallId & {
  type: 'approval-decided'
  /** the tool */
  name: string
  /** the id under which a person decides: made of the call's place and of the hash */
  id: string
  /** the result */
  outcome: ApprovalOutcome
  /** the person who decided; empty if no person did */
  by: string
  /** the reason; may be empty */
  reason: string
  /** milliseconds from the round-cleared to this record */
  waitedMs: number
  /** the proof of `by` */
  identity: PersonIdentity
}

/** Activity: calls in a round wait for a person. Derived, written by the approval stage. */
export type ApprovalPending = RoundId & {
  type: 'approval-pending'
  /** by ordinal */
  calls: PendingCall[]
  /** append time in milliseconds at which Weir denies them if nobody decides */
  until: number
}

/**
 * Calls no longer wait for the approval guard, for another reason than its answer. Derived, written
 * by the executor.
 */
export type ApprovalWithdrawn = RoundId & {
  type: 'approval-withdrawn'
  /** by ordinal */
  calls: WithdrawnCall[]
  /**
   * the number of a question of a running tool in its round, from 1; 0: the record is about
   * approvals
   */
  input: number
}

/** An attempt failed. Only this record counts as a try. Observed, written by the gateway. */
export type AttemptFailed = AttemptId & {
  type: 'attempt-failed'
  /** the cause */
  reason: string
  /** the failure class of the round if this was the last try */
  class: FailureClass
  /** whether another attempt can help */
  retryable: boolean
  /** milliseconds to wait before the next attempt, from this record's append time */
  retryAfterMs: number
  /**
   * the provider refused the history because its calls and results do not match; the next attempt
   * sends it rebuilt, for the first time (I5.4)
   */
  historyRefused: boolean
  /**
   * the context of the model is full, and a history-summary of this attempt stands for the
   * beginning of the history; the next attempt sends the rest, and costs no try
   */
  historyShortened: boolean
  /**
   * the provider refused a request that forbids tool calls but mentions tools or calls; the next
   * attempt sends it as plain text without tools, for the first time
   */
  toolsRefused: boolean
  /**
   * the provider refused the reasoning of the history; the next attempt answers that, for the first
   * time. `none`: it did not
   */
  reasoningRefused: ReasoningRefusal
}

/**
 * An attempt succeeded, and all its parts but those in `rest` are acknowledged. The first one while
 * the round is open wins. Observed, written by the gateway.
 */
export type AttemptFinished = AttemptId & {
  type: 'attempt-finished'
  /** the number of its part records */
  parts: number
  /** the provider's own stop reason; empty if it sent none */
  finish: string
  /** the reason why the model stopped */
  stop: Stop
  /** tokens */
  usage: Usage
  /** declarations of the offered tools whose names occur in the response */
  declarations: Declaration[]
  /** the policy of this round */
  policy: Policy
  /** the request makes the model write its calls as text, because it has no other way */
  callsAsText: boolean
  /**
   * the use of calls that the model writes as text; null: the rule of older versions, which run
   * whole texts and report nothing else
   */
  textCalls: TextCallsMode | null
  /**
   * the earlier text that already holds a call of this text, a noun phrase for the model; null:
   * none, or the response has native calls
   */
  echoOf: string | null
  /**
   * the events of its last parts, whose own records may come later or never; the other parts stand
   * before it
   */
  rest: PartEvent[][]
}

/** The owner is about to call the provider. Observed, written by the gateway. */
export type AttemptStarted = AttemptId & {
  type: 'attempt-started'
  /** the writer, new for every assignment of the partition (R4) */
  owner: string
  /**
   * the version of Weir that writes this, so a replay can report a different version; empty: an
   * older version
   */
  weir: string
}

/**
 * Evidence: an operator set or removed a setting, such as a stop, a budget or a guard. Content that
 * was erased is null. Observed, written by an operator together with the change.
 */
export type AuditChanged = {
  type: 'audit-changed'
  /** the key of the setting, such as stop:agent:bank; the key of this record is empty */
  setting: string
  /** whether the setting was removed */
  isRemoved: boolean
  /** time of the change in milliseconds, by the writer's clock */
  at: number
  /** the author; empty: a program registered a guard at its start */
  by: string
  /** the proof of `by` */
  identity: PersonIdentity
  /** content: the setting before the change, as JSON; empty: there was none */
  before: string | null
  /** content: the setting after the change, as JSON; empty: there is none */
  after: string | null
  /** its place in the chain */
  link: AuditLink | null
}

/**
 * Evidence: a call, or the question of a running tool, that waited for a person is decided. Content
 * that was erased is null. Derived, written by the approval stage.
 */
export type AuditDecided = CallId & {
  type: 'audit-decided'
  /** the agent */
  agent: string
  /** the tool */
  name: string
  /** the id under which a person decides: made of the call's place and of the hash */
  id: string
  /** SHA-256, in hex, of the tool's name, of the bytes of the arguments and of the program */
  hash: string
  /** SHA-256, in hex, of the program that would run; null: any */
  program: string | null
  /**
   * the number of a question of a running tool in its round, from 1; 0: the record is about an
   * approval
   */
  input: number
  /** text: the model wrote the call as text (I2); null: it is a native call */
  source: ArgumentSource | null
  /** append time in milliseconds at which the wait began */
  askedAt: number
  /** append time in milliseconds of the decision */
  at: number
  /** the result */
  outcome: ApprovalOutcome
  /** the person who decided; empty if no person did */
  by: string
  /** the proof of `by` */
  identity: PersonIdentity
  /** content: the JSON text that the tool would get, byte for byte */
  arguments: string | null
  /** content: the rule that made it wait, or the guard that requested it, with its text */
  rule: string | null
  /** content: the question of the running tool, as JSON (input-question.ts); empty: an approval */
  question: string | null
  /** content: the values for a question, a JSON object; empty: none */
  values: string | null
  /** content: the reason; may be empty */
  reason: string | null
  /** its place in the chain; null: the reducer's output, before it is written */
  link: AuditLink | null
}

/**
 * Evidence: the end of a call that a person could decide. Content that was erased is null. Derived,
 * written by the executor when the round ends.
 */
export type AuditFollowed = CallId & {
  type: 'audit-followed'
  /** the tool */
  name: string
  /** the way it ended */
  status: ResultStatus
  /** milliseconds that the tool ran; 0 if it did not */
  durationMs: number
  /** append time in milliseconds at which its round ended */
  at: number
  /** the rules of its agent that hide values from readers */
  redact: RedactRule[]
  /** content: a short reason if status is not ok */
  reason: string | null
  /** its place in the chain; null: the reducer's output, before it is written */
  link: AuditLink | null
}

/**
 * Activity: a soft budget's use reached the amount in this window, for the first time. Observed,
 * written by the gateway; derived for a guest.
 */
export type BudgetReached = RoundId & {
  type: 'budget-reached'
  /** the tenant */
  tenant: string
  /** the budget */
  budget: BudgetInForce
  /** the amount that is used, in the unit of the budget */
  used: number
}

/**
 * An attempt used nothing: its provider refused the request before any answer, or its call had no
 * effect. Observed, written by the gateway, by the executor for a call, or by the front of a guest.
 */
export type BudgetReleased = {
  type: 'budget-released'
  /** the tenant: the key of the record */
  tenant: string
  /** the conversation */
  conversation: ConversationId
  /** the turn: the inbox offset of the record that opened it */
  turn: number
  /** the model round in the turn, from 1 */
  round: number
  /** the attempt, random */
  attempt: string
}

/**
 * An attempt reserves the most that its model request can use. The records before it decide whether
 * it is granted. A child of a tree reserves its place in the same way, and a call of a once tool
 * its values. Observed, written by the gateway, by the executor for a call, or by the front of a
 * guest.
 */
export type BudgetReserved = {
  type: 'budget-reserved'
  /** the tenant: the key of the record */
  tenant: string
  /** the conversation */
  conversation: ConversationId
  /** the turn: the inbox offset of the record that opened it */
  turn: number
  /** the model round in the turn, from 1 */
  round: number
  /** the attempt, random */
  attempt: string
  /** the budgets that concern the request */
  budgets: BudgetInForce[]
  /** tokens, at most */
  tokens: number
  /** money, at most, in billionths of a US dollar; null: the price is unknown */
  usd: number | null
  /** append time in milliseconds from which the reserved amounts count as used */
  expiresAt: number
  /** the name of the tree, for budgets of a tree; empty: there are none */
  tree: string
  /** children that it starts; 0: it is for a model request */
  children: number
  /** the values of a call that must not run twice in the tenant; null: none */
  once: OnceValues | null
}

/**
 * The use of an attempt, instead of its reservation. Observed, written by the gateway, by the
 * executor for a call, or by the front of a guest.
 */
export type BudgetSettled = {
  type: 'budget-settled'
  /** the tenant: the key of the record */
  tenant: string
  /** the conversation */
  conversation: ConversationId
  /** the turn: the inbox offset of the record that opened it */
  turn: number
  /** the model round in the turn, from 1 */
  round: number
  /** the attempt, random */
  attempt: string
  /** the source of the amounts */
  counted: BudgetCount
  /** tokens as the provider counted them */
  usage: Usage
  /** tokens used */
  tokens: number
  /** money used, in billionths of a US dollar; null: the price is unknown */
  usd: number | null
  /** the version of the prices; empty: the price is unknown */
  prices: string
  /** whether a budget in money was in force; false: the price did not matter */
  priced: boolean
}

/** Activity: a call was denied before it could run. Derived, written by the loop-detector. */
export type CallDenied = CallId & {
  type: 'call-denied'
  /** the tool */
  name: string
  /** the short reason */
  reason: string
  /**
   * the text for the model, cut to limits.activityResultBytesMax; empty: an older version wrote
   * this
   */
  text: string
}

/** Activity: a call has a result. Derived, written by the executor. */
export type CallFinished = CallId & {
  type: 'call-finished'
  /** the tool */
  name: string
  /** the way it ended */
  status: ResultStatus
  /** a short reason if status is not ok */
  reason: string
  /** milliseconds that the tool ran */
  durationMs: number
  /** the text for the model, cut to limits.activityResultBytesMax with a note */
  result: string
  /** bytes of the whole result in UTF-8; -1: an older version wrote this, without the result */
  resultBytes: number
  /** the id of the result that the client sent; empty: no client sent it */
  resultId: string
  /** the guard that denied the call, `approval` for a person or for lack of one; empty: none did */
  guard: string
}

/**
 * Activity: a call waits for the client, which runs the call and sends the result. Derived, written
 * by the executor.
 */
export type CallOffered = CallId & {
  type: 'call-offered'
  /** the tool */
  name: string
  /** append time in milliseconds by which the result must be in the log */
  until: number
}

/**
 * An operator's stop counts for these calls of a round. Those that have not started never start. At
 * now, claimed ones are stopped. Observed, written by the executor.
 */
export type CallsStopped = RoundId & {
  type: 'calls-stopped'
  /** the calls */
  ordinals: number[]
  /** the stop */
  stop: StopInForce
}

/** Activity: calls in a round wait for guards. Derived, written by the executor. */
export type CallsWaiting = RoundId & {
  type: 'calls-waiting'
  /** by ordinal */
  calls: WaitingCall[]
  /** append time in milliseconds by which all of them are decided */
  until: number
}

/**
 * No further work of this turn may start. Derived, written by the conversation to gateway,
 * loop-detector and executor.
 */
export type Cancel = TurnId & {
  type: 'cancel'
  /** the open round; 0: none */
  round: number
  /** append time in milliseconds from which no work of the round may start (R6) */
  expiresAt: number
}

/**
 * A client ends a message's turn or removes the message from the queue. Observed, written by the
 * edge.
 */
export type CancelRequested = {
  type: 'cancel-requested'
  /** the conversation: the key of the record */
  conversation: ConversationId
  /** the client's id of the message */
  messageId: MessageId
}

/**
 * Ends a conversation's unit, or begins it anew with the state to carry over (R1). Derived, written
 * by the conversation into its own inbox.
 */
export type Carried = {
  type: 'carried'
  /** the conversation: the key of the record */
  conversation: ConversationId
  /**
   * the unit's last offset when this was written; the record counts only if that offset is still
   * the last
   */
  from: number
  /** the state to carry over; null: the conversation is idle and its unit ends */
  state: CarriedState | null
}

/** The owner is about to start this call (R4). Observed, written by the executor. */
export type Claim = CallId & {
  type: 'claim'
  /** the try, from 1 */
  try: number
  /**
   * the writer, new for every assignment of the partition (R4); client: the call is offered to the
   * client
   */
  owner: string
}

/**
 * A piece of an image or a file of a conversation. Derived, written by intake into the table
 * history under (conversation, hash, piece), so equal contents are kept once.
 */
export type ContentKept = {
  type: 'content-kept'
  /** the conversation: the key of the record */
  conversation: ConversationId
  /** SHA-256 of the whole content, in hex */
  hash: string
  /** the piece, from 0 */
  piece: number
  /** its bytes */
  data: Uint8Array
}

/**
 * A piece of an image or a file that a client sends ahead of its message. Observed, written by the
 * edge.
 */
export type ContentSent = {
  type: 'content-sent'
  /** the conversation: the key of the record */
  conversation: ConversationId
  /** SHA-256 of the whole content, in hex */
  hash: string
  /** the piece, from 0 */
  piece: number
  /** its bytes */
  data: Uint8Array
}

/**
 * A conversation was deleted. Its older records are gone, or no reader shows them any more.
 * Observed, written by an operator.
 */
export type ConversationForgotten = {
  type: 'conversation-forgotten'
  /** the conversation: the key of the record */
  conversation: ConversationId
  /** the name of the person who deleted it */
  by: string
  /** whether the writer checked a proof of the name */
  identity: PersonIdentity
}

/**
 * The history of a conversation begins with that of others, which is not copied. Derived, written
 * by intake into the table history under (conversation, origin).
 */
export type ConversationForked = {
  type: 'conversation-forked'
  /** the new conversation: the key of the record */
  conversation: ConversationId
  /** the conversations that it continues, oldest first; the last one is the one that was forked */
  origins: Origin[]
}

/**
 * A key that encrypts the records of one conversation, itself encrypted with a key of the tenant.
 * It stands in the table conversation-keys under (conversation, name). Each writer makes its own
 * name, so no key replaces another one. Observed, written by the client or the front that begins
 * the conversation. A tombstone makes the records unreadable.
 */
export type ConversationKey = {
  type: 'conversation-key'
  /** the conversation */
  conversation: ConversationId
  /** the name of the key, as encrypted records name it */
  name: string
  /** 32 bytes */
  key: Uint8Array
}

/**
 * The title of a conversation for lists. No stage acts on it. Derived, written by intake into the
 * table history under (conversation, title); the newest one counts.
 */
export type ConversationTitled = {
  type: 'conversation-titled'
  /** the conversation: the key of the record */
  conversation: ConversationId
  /**
   * the title for lists; empty, and written as a tombstone: the first words of the first message
   */
  title: string
}

/**
 * A record that could not be decoded or that made a reducer throw, with its origin (R8). Derived,
 * written by the runtime.
 */
export type DeadLetter = {
  type: 'dead-letter'
  /** its topic */
  topic: string
  /** its partition */
  partition: number
  /** its offset */
  offset: number
  /** its append time in milliseconds */
  time: number
  /** the stage that could not apply it */
  stage: string
  /** the error's code */
  code: string
  /** the error's text */
  reason: string
  /** its key */
  key: string
  /** its bytes, unchanged */
  value: Uint8Array
}

/**
 * The format in which all processes of a fleet write, because every live reader knows it. Observed,
 * written by an operator or by the runtime into the table policies. Without it format 1 is in
 * force. Its own schema never changes, because every later Weir reads it.
 */
export type FleetFormat = {
  type: 'fleet-format'
  /** the number of the format, 1 or more */
  format: number
  /** whether an operator set it, so that no process raises it */
  isPinned: boolean
  /** the operator's name as they gave it, or Weir and its version, for people */
  setBy: string
  /** time of writing in milliseconds, by the writer's clock, for people */
  setAt: number
}

/** A client wants a new conversation that continues others. Observed, written by the edge. */
export type ForkRequested = {
  type: 'fork-requested'
  /** the new conversation: the key of the record */
  conversation: ConversationId
  /** the conversations that it continues, oldest first; the last one is the one that was forked */
  origins: Origin[]
}

/**
 * The schemas with which a format of records begins, so that an older Weir can read its records.
 * Observed, written by an operator or by the first start of a newer Weir into the table policies.
 * Its own schema never changes, because every later Weir reads it.
 */
export type FormatSchemas = {
  type: 'format-schemas'
  /** the number of the format, 2 or more. The key of the record is format: and the number */
  format: number
  /** the version of the Weir that wrote the record, for people */
  weir: string
  /** the new schemas as a JSON list; each has id, type, version and schema */
  schemas: string
}

/**
 * Puts a guard in force from the next model response on. Observed, written by an operator into the
 * table policies. A tombstone removes the guard.
 */
export type GuardRegistration = {
  type: 'guard-registration'
  /** its name; the key of the record is guard: and this name */
  name: string
  /** its version, for people */
  version: string
  /** the tools that it judges */
  tools: GuardedTools[]
  /** milliseconds after the append time of round-cleared within which it must answer */
  deadlineMs: number
  /** the rule for its calls if it does not */
  onTimeout: GuardSilence
  /** time of writing in milliseconds, by the writer's clock, for people */
  registeredAt: number
  /** the rules of the approval guard, as JSON; null for any other guard */
  rules: string | null
  /**
   * the author's name as they gave it, for people; empty: a program registered the guard at its
   * start, or an older version wrote this
   */
  setBy: string
  /**
   * the append time of the first registration under this name since its last removal; null: this
   * record is the first one, or an older version wrote it
   */
  firstAt: number | null
  /** the registrations before this one that a round on its way may name, oldest first */
  replaced: ReplacedGuard[]
}

/**
 * A guard's answer to a round: a verdict on each of its calls. Observed, written by the guard into
 * its own topic. The executor copies it into its inbox.
 */
export type GuardVerdict = RoundId & {
  type: 'guard-verdict'
  /** the guard; the executor takes it from the topic's name */
  guard: string
  /** its version, for people */
  version: string
  /** one for each call of the round that it judges */
  verdicts: CallVerdict[]
  /** a text for the model's next request; null: none. It does not depend on the verdicts */
  intervention: GuardWish | null
  /** append time of the round-cleared that it answers; 0: not given */
  clearedAt: number
  /** duration of the judgement in milliseconds; 0: not given */
  judgedMs: number
  /** ordinals of the calls for which it enforces in this round; for the others it is a shadow */
  enforces: number[]
  /** its deadline in this round, in milliseconds; 0: not given */
  deadlineMs: number
}

/**
 * Activity: an enforcing guard answered a round, or the deadline passed. Derived, written by the
 * executor.
 */
export type GuardVerdictGiven = RoundId & {
  type: 'guard-verdict-given'
  /** the guard */
  guard: string
  /** the version that answered; for a silent guard, the registered version */
  version: string
  /** whether it answered */
  answer: GuardAnswer
  /**
   * the verdict that counts for each call that waited for it; allow without an answer: by onTimeout
   */
  verdicts: CallVerdict[]
  /** milliseconds from the round-cleared to this record */
  waitedMs: number
}

/** Activity: the advice for a guest's next request. Derived, written by the stage guest. */
export type GuestAdvice = {
  type: 'guest-advice'
  /** the conversation: the key of the record */
  conversation: ConversationId
  /** the turn: the offset in guest-events of the record that opened it; -1: none is open */
  turn: number
  /** the front's name for the turn, as in the record that this answers */
  turnKey: string
  /** the newest round that is over, or the round of a repeated record; 0: none */
  round: number
  /** the key of that round; empty: none */
  key: string
  /** the advice */
  action: AdviceAction
  /** the text for the model in the next request; empty at none and end */
  text: string
  /** the reason, for people; empty at none */
  reason: string
  /** the rule that fired; null: none */
  rule: string | null
  /** the cap that the turn reached; null: none */
  cap: Cap | null
  /** keys of the request that the log does not know; the front sends these rounds again */
  unknown: string[]
  /** calls of that round that Weir kept from running */
  denied: DeniedCall[]
  /** denied rounds of the turn that the guest never saw */
  hidden: HiddenRounds[]
  /**
   * keys of rounds that are over, the newest of their words, where the request shows fewer with
   * these words: the next one counts on
   */
  over: string[]
  /**
   * whether the record counted; false: its turn is over, or the record is refused with the reason
   */
  isOpen: boolean
  /** the request that this answers; empty: none */
  requestId: string
}

/**
 * Ends a guest's unit, or begins it anew with the state to carry over (R1). Derived, written by the
 * stage guest into its own inbox.
 */
export type GuestCarried = {
  type: 'guest-carried'
  /** the conversation: the key of the record */
  conversation: ConversationId
  /**
   * the unit's last offset when this was written; the record counts only if that offset is still
   * the last
   */
  from: number
  /**
   * keys of closed turns before the newest, oldest first; null: the guest is idle and its unit ends
   */
  turns: string[] | null
  /** the newest turn, which is over; null: none */
  newest: EndedTurn | null
}

/**
 * A front is about to give the verdict allow on these calls. The first claim of a call counts.
 * Observed, written by the front.
 */
export type GuestClaim = {
  type: 'guest-claim'
  /** the conversation: the key of the record */
  conversation: ConversationId
  /** the turn: the offset in guest-events of the record that opened it */
  turn: number
  /** the model round in the turn, from 1 */
  round: number
  /** the calls */
  ordinals: number[]
  /** the front, new for every start of its process */
  owner: string
  /** names this claim among those of its front */
  claim: string
}

/** Activity: the answer to a claim of a front. Derived, written by the stage guest. */
export type GuestClaimed = {
  type: 'guest-claimed'
  /** the conversation: the key of the record */
  conversation: ConversationId
  /** the turn: the offset in guest-events of the record that opened it */
  turn: number
  /** the model round in the turn, from 1 */
  round: number
  /** the claimed calls whose verdict this front may give; no other front may */
  ordinals: number[]
  /** the front, as in its claim */
  owner: string
  /** the claim that this answers */
  claim: string
}

/** Results of calls that a guest ran, and the moment in its turn. Observed, written by a front. */
export type GuestResults = {
  type: 'guest-results'
  /** the conversation: the key of the record */
  conversation: ConversationId
  /** the front's name for the turn */
  turnKey: string
  /** the text that opened the turn, cut at the limit; null: not known */
  user: string | null
  /**
   * keys of the last rounds of this turn in the guest's history, oldest first; empty: no history is
   * known
   */
  keys: string[]
  /** keys of the rounds that the front has hidden in this request */
  hiddenKeys: string[]
  /** the results */
  results: GuestResult[]
  /** at before_model: the front's name for the newest message of the user; empty: not known */
  prompt: string
  /**
   * at before_model: the turn before that message, if it ended with calls and the request shows no
   * round since; null: otherwise
   */
  former: FormerTurn | null
  /** the moment in the turn */
  phase: GuestPhase
  /** a random name of the answer that the front awaits; empty: none */
  requestId: string
  /** the agent's name */
  agent: string
  /** whether the front holds each call until its verdict */
  blocking: boolean
  /** the policy in force; its caps count also before the first round */
  policy: Policy
  /** soft budgets that a request of the turn found reached first */
  reached: BudgetUse[]
  /**
   * at turn_end: why Weir refused to go on, as a budget did or the verdicts on its calls; empty: it
   * did not
   */
  refusal: string
  /** the class of this refusal; null: `budget` */
  refusalClass: FailureClass | null
  /**
   * at turn_end: whether the agent reached the end by itself, with an answer that the front does
   * not see
   */
  answered: boolean
  /** requests of the guest that passed unjudged since the last such record */
  unjudged: UnjudgedRequests[]
}

/**
 * A model response of a guest: an agent that owns its model and its tools. Observed, written by a
 * front.
 */
export type GuestRound = {
  type: 'guest-round'
  /** the conversation: the key of the record */
  conversation: ConversationId
  /** the front's name for the turn */
  turnKey: string
  /** the text that opened the turn, cut at the limit; null: not known */
  user: string | null
  /**
   * the key of the round: hash of its words, hash of its call ids, dot, number of rounds with these
   * words in the turn, from 1
   */
  key: string
  /**
   * whether it comes from a history, which its host may have rewritten; false: it has the model's
   * own words
   */
  isShown: boolean
  /**
   * the former round's key in the history, empty for the first round; null: the place does not
   * identify the round
   */
  after: string | null
  /** the agent's name */
  agent: string
  /** whether the front holds each call until its verdict */
  blocking: boolean
  /** whether the front hides denied rounds from the guest */
  hides: boolean
  /** the agent's settings */
  settings: AgentSettings
  /** the policy in force, with its guards */
  policy: Policy
  /** the response; its attempt is the key of the round */
  response: Response
  /** names of all tools that the request offered */
  offered: string[]
  /** declarations of the offered tools whose names occur in the response */
  declarations: Declaration[]
}

/**
 * Activity: the verdicts on all calls of a round of a guest. The newest record of a round counts.
 * Derived, written by the executor.
 */
export type GuestVerdicts = {
  type: 'guest-verdicts'
  /** the conversation: the key of the record */
  conversation: ConversationId
  /** the turn: the offset in guest-events of the record that opened it */
  turn: number
  /** the model round in the turn, from 1 */
  round: number
  /** one for each call of the round, by ordinal */
  calls: GuestCallVerdict[]
}

/**
 * The part of a conversation's history that one round adds; immutable. Derived, written by the
 * conversation into the table history under (conversation, turn, round).
 */
export type HistoryEntry = TurnId & {
  type: 'history-entry'
  /** the round; 0: the user's message */
  round: number
  /** round 0: the user's text */
  user: string | null
  /** round 0: the images and files of the user's message */
  contents: Content[]
  /** the model's response; null: there is none */
  response: Response | null
  /** one for each call, by ordinal */
  results: CallResult[]
  /** the text at the top of this round's request */
  nudge: string | null
  /** the reason why there is no response, or a note that calls may have run */
  note: string | null
  /**
   * the agent's rules for values that readers of the log must not see; the history may outlive the
   * records with the policy
   */
  redact: RedactRule[]
  /** round 0: the last turn that the message follows, as in its settings */
  afterTurn: number | null
}

/**
 * Stands for the beginning of a conversation's history in the requests of its model. The entries
 * stay. Observed, written by the gateway into the table history under (conversation, summary); the
 * newest one counts.
 */
export type HistorySummary = {
  type: 'history-summary'
  /** the conversation: the key of the record */
  conversation: ConversationId
  /** the turn whose request did not fit */
  turn: number
  /** the round whose request did not fit */
  round: number
  /** the turn of the last entry that it stands for */
  throughTurn: number
  /** the round of the last entry that it stands for */
  throughRound: number
  /** the number of entries that it stands for, with those of earlier summaries */
  entries: number
  /** the agent that wrote it; empty: the entries are left out without a summary */
  by: string
  /** the text for the model */
  text: string
  /** the reason why there is no summary; empty: none was wanted, or there is one */
  note: string
}

/**
 * The answer to a question of a running tool. Derived, written by the approval stage. The executor
 * copies it into its inbox.
 */
export type InputGiven = CallId & {
  type: 'input-given'
  /** the number of the question in its round, from 1 */
  input: number
  /** the answer */
  answer: InputAnswer
  /** the values of an accepted question, a JSON object; otherwise empty */
  values: string
}

/**
 * A running tool has a question to a person. Observed, written by the executor that claimed the
 * call.
 */
export type InputRequested = CallId & {
  type: 'input-requested'
  /** the try, from 1 */
  try: number
  /** the writer, new for every assignment of the partition (R4) */
  owner: string
  /** the number of the question in its try, from 1 */
  number: number
  /** the question, as JSON (input-question.ts) */
  question: string
  /** how long the tool waits for the answer, in milliseconds */
  waitMs: number
}

/**
 * Activity: the detector acts, or would act if the rule were not a shadow. Derived, written by the
 * loop-detector.
 */
export type InterventionRaised = RoundId & {
  type: 'intervention-raised'
  /** the intervention and its reason */
  intervention: Intervention
  /** whether its rule is a shadow in this round; then the intervention has no effect */
  shadow: boolean
}

/**
 * The bus proved that the owner that claimed this call is dead. Observed, written by the executor.
 */
export type Lapsed = CallId & {
  type: 'lapsed'
  /** the try, from 1 */
  try: number
  /** the writer, new for every assignment of the partition (R4) */
  owner: string
}

/**
 * Activity: the model has answered in a round. Derived, written by the loop-detector before it
 * judges the calls.
 */
export type ModelAnswered = RoundId & {
  type: 'model-answered'
  /** the attempt that counts, as its parts name it; empty: a guest's */
  attempt: string
  /** the visible text, cut to limits.activityTextBytesMax */
  text: string
  /** bytes of the whole text in UTF-8 */
  textBytes: number
  /** the calls, in the order in which they began */
  calls: AnsweredCall[]
  /** the reason why the model stopped */
  stop: Stop
  /** tokens of the attempt */
  usage: Usage
}

/**
 * The end of a round's response, or the reason why there is none. Derived, written by the gateway.
 */
export type ModelFinished = AttemptId & {
  type: 'model-finished'
  /** the number of the attempt's part records */
  parts: number
  /** the provider's own stop reason; empty if it sent none */
  finish: string
  /** the reason why the model stopped */
  stop: Stop
  /** tokens */
  usage: Usage
  /** declarations of the offered tools whose names occur in the response */
  declarations: Declaration[]
  /** the agent's name */
  agent: string
  /** the policy of this round */
  policy: Policy
  /** calls that the turn may still make; 0: a text-only round */
  callsLeft: number
  /** append time in milliseconds from which no work of the round may start (R6) */
  expiresAt: number
  /** the reason why there is no response; null: there is one */
  failure: RoundFailure | null
  /** the request makes the model write its calls as text, because it has no other way */
  callsAsText: boolean
  /**
   * the use of calls that the model writes as text; null: the rule of older versions, which run
   * whole texts and report nothing else
   */
  textCalls: TextCallsMode | null
  /**
   * the earlier text that already holds a call of this text, a noun phrase for the model; null:
   * none, or the response has native calls
   */
  echoOf: string | null
  /** as in attempt-finished: the accumulator needs no records of these parts */
  rest: PartEvent[][]
}

/** Parts of this round may follow. Derived, written by the gateway. */
export type ModelOpened = RoundId & {
  type: 'model-opened'
  /** names of all tools that this request offered */
  offered: string[]
  /** append time in milliseconds from which no work of the round may start (R6) */
  expiresAt: number
}

/** Requests one round from the model. Derived, written by the conversation. */
export type ModelRequest = RoundId & {
  type: 'model-request'
  /** the round of the last history entry to read; 0: the user's message */
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
  /** append time in milliseconds from which no work of the round may start (R6) */
  expiresAt: number
}

/**
 * Activity: an attempt to get the model's response failed, and another attempt follows. Derived,
 * written by the gateway.
 */
export type ModelRetry = RoundId & {
  type: 'model-retry'
  /** the attempt that failed, as its parts name it */
  attempt: string
  /** the number of the next attempt of the round, from 2 */
  next: number
  /** the cause of the failure */
  reason: string
  /** milliseconds from this record to the next attempt */
  waitMs: number
}

/**
 * Activity: an attempt waits in line for the provider's account. Observed, written by the gateway.
 */
export type ModelWaiting = AttemptId & {
  type: 'model-waiting'
  /** the limit that holds it, for people */
  reason: string
  /** requests of the account that start earlier */
  ahead: number
  /** milliseconds to its start, if nothing changes */
  waitMs: number
}

/**
 * Limits the use of models until an operator removes it. Observed, written by an operator into the
 * table policies. A tombstone removes it.
 */
export type OperatorBudget = {
  type: 'operator-budget'
  /** the tenant; * counts each tenant separately */
  tenant: string
  /** the kind of thing whose use is limited */
  scope: BudgetScope
  /** the agent or the conversation; * counts each one separately, and at tenant it is empty */
  name: string
  /** the time after which it begins again */
  window: BudgetWindow
  /** the unit of its amounts */
  unit: BudgetUnit
  /** the amount from which an event reports it; null: none */
  soft: number | null
  /** the amount from which no model request starts; null: none */
  hard: number | null
  /** the rule for models without a price; without effect on tokens */
  unpriced: Unpriced
  /** the author's name as they gave it, for people */
  setBy: string
  /** time of writing in milliseconds, by the writer's clock, for people */
  setAt: number
}

/**
 * The operator's caps. Of each cap, the lower of the operator's and the agent's counts. Observed,
 * written by an operator into the table policies.
 */
export type OperatorLimits = {
  type: 'operator-limits'
  /** upper bounds */
  caps: Caps
}

/**
 * The prices that an operator sets; they win over the known ones. Observed, written by an operator
 * into the table policies. A tombstone removes them.
 */
export type OperatorPrices = {
  type: 'operator-prices'
  /** a hash of the prices, which each settled reservation names */
  version: string
  /** the prices, one for each provider and model */
  prices: ModelPrice[]
  /** the author's name as they gave it, for people */
  setBy: string
  /** time of writing in milliseconds, by the writer's clock, for people */
  setAt: number
}

/**
 * Stops model requests and tool calls until an operator releases it. Observed, written by an
 * operator into the table policies. A tombstone releases it.
 */
export type OperatorStop = {
  type: 'operator-stop'
  /** the kind of thing that is stopped */
  scope: StopScope
  /**
   * the agent, the tenant, the pattern of tool names or the conversation; empty at all. The key of
   * the record is stop: and the id: the scope, a colon and this name, or all
   */
  name: string
  /** the rule for tools and model requests that run already */
  mode: StopMode
  /** the reason, for people and models */
  reason: string
  /** the author's name as they gave it, for people */
  setBy: string
  /** time of writing in milliseconds, by the writer's clock, for people */
  setAt: number
}

/** The end of a claimed call. Observed, written by the executor that claimed it. */
export type Outcome = CallId & {
  type: 'outcome'
  /** the try, from 1 */
  try: number
  /** the writer, new for every assignment of the partition (R4) */
  owner: string
  /** its result; null: this owner did not start it and never will, or goesOn */
  result: CallResult | null
  /** without a result: its agent began and goes on; null: no pause follows, as in format 1 */
  goesOn: boolean | null
}

/**
 * A piece of a model's stream. It counts only if model-finished names its attempt. Observed,
 * written by the gateway ahead of its decision.
 */
export type Part = AttemptId & {
  type: 'part'
  /** its place among the attempt's part records, from 0 */
  i: number
  /** normalized events in the order of the stream */
  events: PartEvent[]
}

/**
 * The number of partitions with which this log began. Every conversation's partition follows from
 * it, so it never changes. Observed, written by an operator or by the first start into the table
 * policies.
 */
export type PartitionCount = {
  type: 'partition-count'
  /** of each topic; 1 or more */
  partitions: number
}

/**
 * The programs of a round's calls that wait for the approval guard, as an executor finds them. The
 * first record of a round counts. Observed, written by the executor.
 */
export type ProgramsHashed = RoundId & {
  type: 'programs-hashed'
  /** by ordinal */
  programs: CallProgram[]
}

/**
 * Activity: model requests of a guest passed its proxy unjudged. They belong to no turn. Derived.
 */
export type RequestsUnjudged = {
  type: 'requests-unjudged'
  /** the conversation: the key of the record */
  conversation: ConversationId
  /** the offset in guest-events of the record that counts them */
  at: number
  /** the requests by kind */
  requests: UnjudgedRequests[]
}

/**
 * The result of a call that a client ran. Observed, written by the edge; intake copies it to the
 * executor.
 */
export type ResultSent = CallId & {
  type: 'result-sent'
  /** a hash of status and text: equal results are one result */
  resultId: string
  /** whether the call failed */
  isError: boolean
  /** the text for the model */
  text: string
}

/**
 * A response with its calls checked against the offered declarations. Derived, written by the
 * validator.
 */
export type RoundChecked = RoundId & {
  type: 'round-checked'
  /** the model's response; empty next to a failure */
  response: Response
  /** the reason why there is no response; null: there is one */
  failure: RoundFailure | null
  /** the calls that must not run, by ordinal */
  denials: Denial[]
  /** declarations of the offered tools whose names occur in the response */
  declarations: Declaration[]
  /** the agent's name */
  agent: string
  /** the policy of this round */
  policy: Policy
  /** calls that the turn may still make; 0: a text-only round */
  callsLeft: number
  /** append time in milliseconds from which no work of the round may start (R6) */
  expiresAt: number
}

/** A round whose undecided calls may run. Derived, written by the loop-detector. */
export type RoundCleared = RoundId & {
  type: 'round-cleared'
  /** all calls of the round */
  calls: Call[]
  /** results of the calls that must not run, by ordinal */
  decided: CallResult[]
  /** declarations of the offered tools whose names occur in the response */
  declarations: Declaration[]
  /** the agent's name */
  agent: string
  /** the policy of this round */
  policy: Policy
  /** append time in milliseconds from which no work of the round may start (R6) */
  expiresAt: number
  /**
   * expiresAt, extended because the round waits for slow guards; null: not extended. A
   * round-cleared that arrives at or after expiresAt is over all the same
   */
  extendedTo: number | null
}

/** One result for each call of a round. Derived, written by the executor. */
export type RoundExecuted = RoundId & {
  type: 'round-executed'
  /** by ordinal */
  results: CallResult[]
  /** interventions by the guards that the round waited for */
  wishes: GuardWish[]
}

/**
 * A round is over: its response, the results of its calls, and an intervention if one is needed.
 * Derived, written by the loop-detector.
 */
export type RoundOutcome = RoundId & {
  type: 'round-outcome'
  /** the model's response; empty next to a failure */
  response: Response
  /** the reason why there is no response; null: there is one */
  failure: RoundFailure | null
  /** one for each call, by ordinal */
  results: CallResult[]
  /** the intervention against a lack of progress; null: none */
  intervention: Intervention | null
  /** the policy of this round */
  policy: Policy
}

/** A response, folded from its parts. Derived, written by the accumulator. */
export type RoundProposed = RoundId & {
  type: 'round-proposed'
  /** the model's response; empty next to a failure */
  response: Response
  /** the reason why there is no response; null: there is one */
  failure: RoundFailure | null
  /** names of all tools that this request offered */
  offered: string[]
  /** declarations of the offered tools whose names occur in the response */
  declarations: Declaration[]
  /** the agent's name */
  agent: string
  /** the policy of this round */
  policy: Policy
  /** calls that the turn may still make; 0: a text-only round */
  callsLeft: number
  /** append time in milliseconds from which no work of the round may start (R6) */
  expiresAt: number
}

/**
 * Activity: a request to the model begins a round. Derived, written by the conversation or the
 * stage guest.
 */
export type RoundStarted = RoundId & {
  type: 'round-started'
  /** calls that the turn may still make; 0: a text-only round */
  callsLeft: number
  /** whether the request carries a text at its top */
  nudged: boolean
  /** a guest's key of the round; empty: not a guest */
  key: string
  /** the front's name for a guest's turn, as in the record that this answers; empty: not a guest */
  turnKey: string
  /** the caps of the turn in this round; null: an older version wrote it */
  caps: Caps | null
}

/**
 * An operator removed a setting from the table policies: the tombstone has no author. Observed,
 * written by an operator into the same table. The newest limits.settingsRemovedKept are kept.
 */
export type SettingRemoved = {
  type: 'setting-removed'
  /**
   * the key of the removed record, such as stop:agent:bank; the key of this record is removed: and
   * that key
   */
  setting: string
  /** the author's name as they gave it, for people */
  setBy: string
  /** time of writing in milliseconds, by the writer's clock, for people */
  setAt: number
}

/**
 * A model request still runs, so it keeps its place in the line of its provider's account.
 * Observed, written by the gateway, or by the front of a guest.
 */
export type SlotRenewed = {
  type: 'slot-renewed'
  /** a hash of the provider's server, key and model: the key of the record */
  account: string
  /** the attempt */
  attempt: string
}

/**
 * A model request waits for its start in the line of a provider's account. The records before it
 * decide when it starts. Observed, written by the gateway, or by the front of a guest.
 */
export type SlotReserved = {
  type: 'slot-reserved'
  /** a hash of the provider's server, key and model: the key of the record */
  account: string
  /** the tenant */
  tenant: string
  /** the tenant's share of the starts, from 1, relative to other tenants */
  share: number
  /** the attempt, random */
  attempt: string
  /** the limits in force for the account's line from now on */
  limits: ModelLimits
  /**
   * a hash that names the round: a later attempt of the round replaces this one; empty: there is
   * none
   */
  request: string
  /** append time in milliseconds from which the request does not start */
  expiresAt: number
}

/**
 * A model request has ended or was given up, or its provider named a limit. Observed, written by
 * the gateway, or by the front of a guest.
 */
export type SlotSettled = {
  type: 'slot-settled'
  /** a hash of the provider's server, key and model: the key of the record */
  account: string
  /** the attempt; it may have reserved no slot */
  attempt: string
  /** tokens of the request and its answer; null: unknown */
  tokens: number | null
  /**
   * the provider refused it for now: for a limit of the account, or because the provider has too
   * much work; null: it did not
   */
  refusedBy: SlotRefusal | null
  /** milliseconds from the append time in which no request may start; 0: none named */
  waitMs: number
}

/**
 * Time has passed for this unit: its stage checks it again. Observed, written by the runtime of the
 * partition's owner.
 */
export type Tick = {
  type: 'tick'
  /** the conversation: the key of the record */
  conversation: ConversationId
  /** the unit's key */
  unit: string
}

/** A client gives a conversation a title. Observed, written by the edge. */
export type TitleGiven = {
  type: 'title-given'
  /** the conversation: the key of the record */
  conversation: ConversationId
  /** the title for lists; empty: the first words of the first message */
  title: string
}

/** Activity: a tool has started. Observed, written by the executor after the start. */
export type ToolStarted = CallId & {
  type: 'tool-started'
  /** the try, from 1 */
  try: number
  /** the tool */
  name: string
}

/**
 * The ids that the brokers gave to the topics of this log. A topic with another id was deleted and
 * created again, so its records and the marks of its writers are gone. Observed, written by an
 * operator or by the first start into the table policies.
 */
export type TopicIds = {
  type: 'topic-ids'
  /** each topic once */
  ids: TopicId[]
}

/** The turn is over: all its rounds have ended. Derived, written by the conversation. */
export type TurnEnded = TurnId & {
  type: 'turn-ended'
}

/** A round waits for slow guards, which extends its turn. Derived, written by the loop-detector. */
export type TurnExtended = RoundId & {
  type: 'turn-extended'
  /** append time in milliseconds at which the turn is now over */
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
  /** the error's text */
  reason: string
}

/** Activity: the turn is over, and this is the reply. Derived, written by the conversation. */
export type TurnFinished = {
  type: 'turn-finished'
  /** the conversation: the key of the record */
  conversation: ConversationId
  /**
   * the turn; for a message that was refused or removed from the queue, the offset of the record
   * that ended it
   */
  turn: number
  /** the message that opened it */
  messageId: MessageId
  /** the way it ended */
  outcome: TurnOutcome
  /** the text for the user */
  reply: string
  /** the reason */
  reason: string
  /** the failure class; null: the turn was answered */
  class: FailureClass | null
  /**
   * the cap that the turn reached, even if the model then answered in a text-only round; null: none
   */
  cap: Cap | null
  /** the turn's consumption */
  totals: Totals
}

/** Activity: a turn began. Derived, written by the conversation. */
export type TurnStarted = TurnId & {
  type: 'turn-started'
  /** the message that opened it */
  messageId: MessageId
  /** the agent's name */
  agent: string
  /** the place of a guest's conversation in a tree, as in its policy */
  parent: Parent | null
}

/** A user's message. Observed, written by the edge. */
export type UserMessage = {
  type: 'user-message'
  /** the conversation: the key of the record */
  conversation: ConversationId
  /** the client's id of the message; a repeated id has no effect */
  messageId: MessageId
  /** the user's text */
  text: string
  /** the agent's name */
  agent: string
  /** the agent's settings */
  settings: AgentSettings
  /** the tools that the agent offers */
  declarations: Declaration[]
}

/**
 * A user wrote in this conversation. No stage acts on it; a deletion finds the user's conversations
 * by it. Observed, written by the edge before the user's message.
 */
export type UserNamed = {
  type: 'user-named'
  /** the conversation: the key of the record */
  conversation: ConversationId
  /** the user, as the client names them */
  user: string
}

/**
 * A front awaits the verdicts of a round that the log already knows. Derived, written by the stage
 * guest to the executor.
 */
export type VerdictsRequested = {
  type: 'verdicts-requested'
  /** the conversation: the key of the record */
  conversation: ConversationId
  /** the turn: the offset in guest-events of the record that opened it */
  turn: number
  /** the model round in the turn, from 1 */
  round: number
}

/**
 * The advice for the next request of a guest. `none`: nothing to do. The others are those of the
 * ladder. A reader that does not know a newer symbol reads the default, the most cautious one.
 */
export type AdviceAction = 'none' | 'nudge' | 'text_only' | 'end'

/** The settings of an agent that a user's message carries. */
export type AgentSettings = {
  /** the text for the user if a turn ends without an answer */
  fallback: string
  /** model attempts in one round, at most */
  attempts: number
  /** milliseconds without a byte after which an attempt fails (I5.3) */
  stallMs: number
  /**
   * milliseconds to the first byte of a response, after which an attempt fails; null: stallMs, as
   * in older records
   */
  firstByteMs: number | null
  /** text after the agent's instructions, for this message only; null: none */
  system: string | null
  /** JSON Schema of the reply, as JSON text; null: the reply is text */
  output: string | null
  /** the client's context for the tools, as JSON text, if the client records it; null: none */
  context: string | null
  /** the images and files of this message */
  contents: Content[]
  /**
   * the last turn that this message follows (later ones leave its history and stay in the log), or
   * -1 for none; null: the newest one
   */
  afterTurn: number | null
  /** the policy of its rounds */
  policy: Policy
}

/** A call of a response, for people and clients. */
export type AnsweredCall = {
  /** its position in the response, from 0; part of its identity */
  ordinal: number
  /** the provider's id, or empty; not part of the identity, because models reuse ids */
  id: string
  /** the tool's name as sent */
  name: string
  /**
   * the argument text as the tool would get it, cut to limits.activityArgumentBytesMax; empty if no
   * arguments were sent
   */
  arguments: string
  /** bytes of the whole argument text in UTF-8 */
  argumentsBytes: number
  /** the reason why it can never run; null: the arguments are the text of a JSON object */
  problem: CallProblem | null
}

/**
 * A person's decision on a call that waits. A reader that does not know a newer symbol reads the
 * default, the most cautious one.
 */
export type ApprovalAnswer = 'allow' | 'deny'

/**
 * The result of a call that waited for a person. `withdrawn`: it no longer waits, for another
 * reason. A reader that does not know a newer symbol reads the default.
 */
export type ApprovalOutcome = 'allow' | 'deny' | 'expired' | 'withdrawn'

/**
 * The source of a call's argument text (I5.1: sources are never joined). `start`: the event that
 * began the call. `deltas`: the pieces. `done`: the event that ended the call. `message_start`: the
 * event that began the response. `text`: visible text (I2). A reader that does not know a newer
 * symbol reads the default, the most cautious one.
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
  /**
   * text: the model wrote the call as text (I2); null: it is a native call, or an older version
   * wrote this
   */
  source: ArgumentSource | null
  /**
   * SHA-256, in hex, of the program that would run; empty, if the executor has no such tool, and
   * null, if an older version wrote this
   */
  program: string | null
  /**
   * the guard that requests the approval, with its text; null: no guard does, and the rules decide
   * whether a person must
   */
  requested: string | null
  /**
   * the question of the running tool to the person, as JSON (input-question.ts); null: the call
   * waits for an approval
   */
  question: string | null
}

/**
 * The place of a record of `audit` in its writer's chain. A process fills it in as it writes the
 * record (shared/bus/audit/linked-bus.ts).
 */
export type AuditLink = {
  /** the chain: one for each process, and for each partition that one of its stages reads */
  writer: string
  /** the number of the record in its chain, from 1 */
  sequence: number
  /** SHA-256, in hex, of the record before this one in its chain; empty at 1 */
  previous: string
  /**
   * SHA-256, in hex, of the newest record of the partition that the writer could read then; empty:
   * it read none
   */
  seen: string
  /** SHA-256, in hex, of the record's content, which can be erased without a break of the chain */
  content: string
}

/**
 * The source of the amounts of a settled reservation. `usage`: the provider's count. `bound`: the
 * reserved amounts, because the provider sent no count.
 */
export type BudgetCount = 'usage' | 'bound'

/** A budget that concerns a model request, at the time of its reservation. */
export type BudgetInForce = {
  /** the id of the budget */
  id: string
  /** the thing that is counted: the agent or the conversation; empty: the tenant */
  subject: string
  /** the time after which it begins again */
  window: BudgetWindow
  /** the unit of its amounts */
  unit: BudgetUnit
  /** the amount from which an event reports it; null: none */
  soft: number | null
  /** the amount from which no model request starts; null: none */
  hard: number | null
}

/**
 * The kind of thing whose use a budget limits. A reader that does not know a newer symbol reads the
 * default, the widest one.
 */
export type BudgetScope = 'tenant' | 'agent' | 'conversation'

/**
 * The unit of a budget. `tokens`: all tokens, cached ones included. `usd`: billionths of a US
 * dollar. The others are of trees. `rounds`: model requests. `children`: children in all.
 * `running`: children at the same time. `ms`: milliseconds since the first reservation.
 */
export type BudgetUnit = 'tokens' | 'usd' | 'rounds' | 'children' | 'running' | 'ms'

/** The use of a budget. */
export type BudgetUse = {
  /** the budget */
  budget: BudgetInForce
  /** the amount that is used, in the unit of the budget */
  used: number
}

/**
 * The time after which a budget begins again: with each turn, at each day or each month in UTC, or
 * with each tree of agents. A reader that does not know a newer symbol reads the default, the
 * longest one.
 */
export type BudgetWindow = 'turn' | 'day' | 'month' | 'tree'

/** One tool call as the model made it. Its identity is (conversation, turn, round, ordinal). */
export type Call = {
  /** its position in the response, from 0; part of its identity */
  ordinal: number
  /** the provider's id, or empty; not part of the identity, because models reuse ids */
  id: string
  /** the tool's name as sent */
  name: string
  /**
   * the argument text, byte for byte from its one source, or repaired if repair is set; empty if no
   * arguments were sent, in any spelling but {}
   */
  raw: string
  /** the source of raw */
  source: ArgumentSource
  /** the reason why it can never run; null: raw is the text of a JSON object */
  problem: CallProblem | null
  /** the repair of raw, which changed no value; null: none */
  repair: Repair | null
  /** another source, which did not count, had a different text */
  disputed: boolean
}

/**
 * The reason why a call can never run. `truncated`: it has no end. `stream_error`: the server
 * reported an error inside the stream. `no_arguments`: it has no argument bytes. `invalid_json`:
 * the text is not JSON. `not_an_object`: it is JSON, but not an object. `lost_arguments`: some
 * argument bytes belong to no call, perhaps to this one. `free_text`: the arguments are free text,
 * which no tool accepts. A reader that does not know a newer symbol reads the default, the most
 * cautious one.
 */
export type CallProblem =
  | 'truncated'
  | 'stream_error'
  | 'no_arguments'
  | 'invalid_json'
  | 'not_an_object'
  | 'lost_arguments'
  | 'free_text'

/** The program of a call that waits for a person. */
export type CallProgram = {
  /** the call */
  ordinal: number
  /**
   * SHA-256, in hex, of the program that would run
   * (services/executor/performer/program/program-hash.ts); empty: this executor has no such tool
   */
  hash: string
}

/** The one result of a call (R5). */
export type CallResult = {
  /** the call */
  ordinal: number
  /** the way it ended */
  status: ResultStatus
  /** the text for the model */
  text: string
  /** a short reason, quoted by loop keys and interventions; empty for ok */
  reason: string
  /** milliseconds that the tool ran; 0 if it did not */
  durationMs: number
  /** the images of the result */
  contents: Content[]
  /** tokens of the agent's turn that the call ran; null: it ran none */
  tokens: TokenSum | null
  /** the guard that denied the call, `approval` for a person or for lack of one; empty: none did */
  guard: string
}

/** A guard's verdict on one call. */
export type CallVerdict = {
  /** the call */
  ordinal: number
  /** the decision */
  verdict: VerdictKind
  /**
   * the code of a denial or of a request for approval, for people, such as outside-folder; empty:
   * allow
   */
  code: string
  /** the text of a denial, for the model, or of a request, for the person; empty: allow */
  text: string
  /** the evidence, for people */
  evidence: string | null
}

/**
 * A cap of a turn. A reader that does not know a newer symbol reads the default, the most cautious
 * one.
 */
export type Cap = 'rounds' | 'calls' | 'wall' | 'tokens'

/** The caps of a turn (I3). Every turn has caps. */
export type Caps = {
  /** model rounds */
  rounds: number
  /** tool calls, run or denied */
  calls: number
  /** milliseconds from the user's message to the end */
  wallMs: number
  /** input and output tokens of all answers; null: not capped */
  tokens: number | null
}

/** The state that a conversation keeps between turns (R1). */
export type CarriedState = {
  /** waiting messages, oldest first */
  queue: QueuedMessage[]
  /** ids of accepted messages, oldest first, to detect a client's repeats */
  recentMessageIds: string[]
}

/** An image or a file of a message, by its hash. Its bytes are in content-kept records. */
export type Content = {
  /** SHA-256 of its bytes, in hex */
  hash: string
  /** the media type, as its first bytes show it */
  mediaType: string
  /** its size in bytes */
  bytes: number
  /** the number of its pieces */
  pieces: number
  /** the name of the file; empty for an image */
  name: string
}

/**
 * The description of a tool for the model, and the data that the pipeline needs to run it. Never a
 * command, URL or key: those stay in agent files.
 */
export type Declaration = {
  /** the tool's name, unique in an agent */
  name: string
  /** the description for the model */
  description: string
  /** JSON Schema of its arguments, as JSON text */
  schema: string
  /** whether it may be started again after an unknown outcome, with the same idempotency key */
  idempotent: boolean
  /** milliseconds that it may run */
  timeoutMs: number
  /** whether the model is meant to call it repeatedly until a result changes */
  poll: boolean
  /** further facts about it; null: none */
  hints: ToolHints | null
}

/**
 * A call that the validator denies. The detector may change the text before it becomes the call's
 * result.
 */
export type Denial = {
  /** the call */
  ordinal: number
  /** the finding */
  code: DenialCode
  /** a short reason, quoted by loop keys and interventions */
  reason: string
  /** the text for the model */
  text: string
  /** the required fields of the tool's schema (I5.2) */
  requiredFields: string[]
}

/**
 * The validator's finding. `unknown_tool`: no such tool was offered. `no_arguments`: the call has
 * no arguments, but the tool needs some. `bad_arguments`: the argument text is unusable. `schema`:
 * the arguments break the schema. `unusable_schema`: the schema itself is unusable (R6). A reader
 * that does not know a newer symbol reads the default, the most cautious one.
 */
export type DenialCode =
  | 'unknown_tool'
  | 'no_arguments'
  | 'bad_arguments'
  | 'schema'
  | 'unusable_schema'

/** A call of a guest that Weir kept from running. */
export type DeniedCall = {
  /** the call */
  ordinal: number
  /** the model's id of the call */
  callId: string
  /** the text for the model */
  text: string
  /** the short reason of its result */
  code: string
  /** the guard that denied the call, `approval` for a person or for lack of one; empty: none did */
  guard: string
}

/** The number of empty or thinking-only responses that get a nudge (I4). */
export type EmptyAllowance = {
  /** in a row, before any tool call of the turn */
  beforeTools: number
  /** in a row, after a tool call of the turn */
  afterTools: number
  /** in a whole turn; only a new user turn resets it */
  perTurn: number
}

/**
 * A guest's turn that is over. A request of the guest can open it again, under a further number.
 */
export type EndedTurn = {
  /** its number */
  turn: number
  /** the keys under which fronts named it */
  names: string[]
  /** its rounds, oldest first */
  known: KnownRound[]
  /** its denied rounds that the guest never saw */
  hidden: HiddenRounds[]
  /** whether its next new round opens it again: the guest has made a request since */
  reopens: boolean
  /** the cap that ended it; null: none */
  cap: Cap | null
  /**
   * the reason why no request opens it again, for people, until `stoppedUntil`; empty: a request
   * may open it
   */
  stopped: string
  /**
   * append time in milliseconds until which `stopped` holds. An earlier request moves it on; 0: for
   * ever
   */
  stoppedUntil: number
  /** the rule of `stopped`; null: none */
  rule: string | null
}

/** A call or a round that made the detector act. */
export type EvidenceRef = {
  /** the round */
  round: number
  /** the call; -1: the round as a whole */
  ordinal: number
}

/**
 * The class of a failed turn or round, which tells a caller how to react. `deterministic`: a retry
 * fails again. `transient`: retry later. `no_progress`: the model loops. `budget`: a cap was
 * reached. `refused`: the model or provider declines. `provider`: the provider is broken.
 * `internal`: Weir is broken. `cancelled`: a client cancelled it. `context_full`: the conversation
 * no longer fits into the model's context; begin a new one, or use a model with a larger context.
 * `degenerate`: the model repeated the same characters without end, also after a reminder if a try
 * was left. `stopped`: an operator's stop is in force. A reader that does not know a newer symbol
 * reads the default, the most cautious one.
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
  | 'degenerate'
  | 'stopped'

/**
 * The end of the turn before a guest's message of its user, as the first request after that message
 * shows it.
 */
export type FormerTurn = {
  /** the front's name for the message that opened it */
  prompt: string
  /** keys of its last rounds, oldest first */
  keys: string[]
  /** the results of its last round */
  results: GuestResult[]
}

/**
 * The answer of an enforcing guard to a round. `verdicts`: it answered in time. `silent`: it did
 * not answer before its deadline. `unusable`: its answer breaks the contract. A reader that does
 * not know a newer symbol reads the default, the most cautious one.
 */
export type GuardAnswer = 'verdicts' | 'silent' | 'unusable'

/** A guard's registration at the time of a model response. */
export type GuardInForce = {
  /** its name */
  name: string
  /** its version, for people */
  version: string
  /** the tools that it judges */
  tools: GuardedTools[]
  /** milliseconds after the append time of round-cleared within which it must answer */
  deadlineMs: number
  /** the rule for its calls if it does not */
  onTimeout: GuardSilence
  /** the rules of the approval guard, as JSON; null for any other guard */
  rules: string | null
}

/**
 * The effect of a guard's verdicts. `enforce`: calls wait for them. `shadow`: they are recorded and
 * have no effect. A reader that does not know a newer symbol reads the default, the most cautious
 * one.
 */
export type GuardMode = 'enforce' | 'shadow'

/**
 * The rule for a call if an enforcing guard does not answer in time. `deny`: the call does not run.
 * `allow`: the call goes on. A reader that does not know a newer symbol reads the default, the most
 * cautious one.
 */
export type GuardSilence = 'deny' | 'allow'

/** An intervention by a guard. */
export type GuardWish = {
  /** the guard; empty in its own record, which names the guard elsewhere */
  guard: string
  /** the reason, for people */
  reason: string
  /** the text for the model in the next request */
  text: string
}

/** Tools that a guard judges. If several of its patterns match a tool, enforce wins. */
export type GuardedTools = {
  /** a pattern of tool names; * stands for any characters */
  pattern: string
  /** the guard's mode for these tools */
  mode: GuardMode
}

/** The verdict on one call of a guest. */
export type GuestCallVerdict = {
  /** the call */
  ordinal: number
  /** the model's id of the call */
  callId: string
  /** the name of its tool */
  name: string
  /** whether it may run */
  verdict: GuestVerdictKind
  /** the text for the model; empty unless the call is denied */
  text: string
  /**
   * the reason of `deny` or `pending`: the short reason of its result, or the names of the guards
   * that it waits for; otherwise empty
   */
  code: string
  /**
   * append time in milliseconds at which the wait for guards ends, or the deadline of a call that
   * may run; otherwise 0
   */
  until: number
  /** whether an allowed call has ended */
  isOver: boolean
  /** the guard that denied the call, `approval` for a person or for lack of one; empty: none did */
  guard: string
}

/**
 * The moment at which a front reports results. `running`: calls report as they finish.
 * `before_model`: the guest is about to ask its model. `turn_end`: its turn is over. A reader that
 * does not know a newer symbol reads the default, which ends and answers nothing.
 */
export type GuestPhase = 'running' | 'before_model' | 'turn_end'

/** The end of a call of a guest, as its front reports it. */
export type GuestResult = {
  /** the key of its round; empty: any outstanding round with a call of that id */
  key: string
  /** the model's id of the call */
  callId: string
  /** the call among those of the round with that id, from 0 */
  nth: number
  /** the way it ended */
  status: GuestResultStatus
  /** its result as the model reads it, cut at the limit */
  text: string
  /**
   * the arguments of the call as the history shows them, if they are not those that the model sent;
   * null: the same, or not known
   */
  shown: string | null
  /** milliseconds that it ran; 0: not known */
  durationMs: number
}

/**
 * The way a call of a guest ended, as its front reports it. `skipped`: it never ran. `unknown`: it
 * may have run, or may still take effect. `unseen`: the guest has gone on without its result. A
 * reader that does not know a newer symbol reads the default, the most cautious one.
 */
export type GuestResultStatus = 'ok' | 'error' | 'skipped' | 'unknown' | 'unseen'

/**
 * The decision on a guest's call. `pending`: guards have not decided yet. A reader that does not
 * know a newer symbol reads the default, the most cautious one.
 */
export type GuestVerdictKind = 'allow' | 'deny' | 'pending'

/** Denied rounds with the same words that a front has hidden from its guest. */
export type HiddenRounds = {
  /** the hash of the words: the part of a round key before the dot */
  hash: string
  /** the number of such rounds */
  count: number
}

/**
 * The answer to a question of a running tool. `cancel`: nobody answered. A reader that does not
 * know a newer symbol reads the default.
 */
export type InputAnswer = 'accept' | 'decline' | 'cancel'

/**
 * An action of the conversation against a lack of progress. It is part of round-outcome, so it
 * always reaches the next request.
 */
export type Intervention = {
  /** the action */
  action: InterventionAction
  /**
   * whether it is only a usual reminder, such as the nudge after an empty response; false: the
   * model loops
   */
  ordinary: boolean
  /** the rule that fired, e.g. identical-failure */
  rule: string
  /** its version */
  ruleVersion: number
  /** the loop key, readable by people */
  key: string
  /** the reason, for people */
  reason: string
  /** the text for the model in the next request; empty at end */
  text: string
  /** the failure class of the turn, at end; null at other actions */
  class: FailureClass | null
  /** the evidence */
  evidence: EvidenceRef[]
}

/**
 * The action of the ladder. `nudge`: a text in the next request. `text_only`: one round without
 * tools. `end`: the end of the turn. A reader that does not know a newer symbol reads the default,
 * the most cautious one.
 */
export type InterventionAction = 'nudge' | 'text_only' | 'end'

/** A round of a guest that the log knows. */
export type KnownRound = {
  /** its key */
  key: string
  /** ordinals of the calls that Weir kept from running */
  denied: number[]
}

/** The thresholds at which the loop-detector intervenes, in model rounds. */
export type LoopThresholds = {
  /** rounds with the same failing call, by arguments or by error */
  identicalFailures: number
  /** rounds with the same call and the same result */
  identicalSuccesses: number
  /** laps of a cycle of 2 to 12 rounds without anything new */
  cycleLaps: number
  /** consecutive schema failures of one tool (I5.2) */
  schemaFailures: number
  /** whether reaching schemaFailures ends the turn as deterministic */
  schemaFailureEndsTurn: boolean
  /** minutes of one wait without news before a reminder */
  waitMinutes: number
}

/** Limits of the requests to a model, from the agent's file. */
export type ModelLimits = {
  /** requests that run at the same time; null: no limit */
  requestsAtOnce: number | null
  /** requests that start within a minute; null: no limit */
  requestsPerMinute: number | null
  /** tokens of requests and answers within a minute; null: no limit */
  tokensPerMinute: number | null
}

/** An operator's prices of a model, in billionths of a US dollar per million tokens. */
export type ModelPrice = {
  /** the provider, as in an agent file */
  provider: string
  /** the model, as in an agent file */
  model: string
  /** of tokens read */
  inputTokens: number
  /** of tokens written */
  outputTokens: number
  /** of tokens read from the cache */
  cacheReadTokens: number
  /** of tokens written to the cache */
  cacheWriteTokens: number
}

/** How often a tool may run with equal values: once. */
export type OnceRule = {
  /**
   * the arguments whose values count, in the notation of loopKey; empty: those that identify a call
   */
  by: string[]
  /** milliseconds for which an earlier call counts */
  forMs: number
  /** the conversations whose calls count together */
  within: OnceScope
}

/**
 * The conversations whose equal calls count together: one with the conversations that its calls
 * began, or all of a tenant. A reader that does not know a newer symbol reads the default, the
 * widest one.
 */
export type OnceScope = 'conversation' | 'tenant'

/** The values of a call that must not run twice in a tenant. */
export type OnceValues = {
  /** a hash of the tenant, the tool and the values */
  hash: string
  /** milliseconds for which the call counts */
  forMs: number
}

/** A conversation whose history is the beginning of the history of a fork. */
export type Origin = {
  /** the conversation, which has the fork's tenant and partition */
  conversation: ConversationId
  /** the last turn that belongs to the fork's history */
  turn: number
  /**
   * entries of its history up to that turn; a reader that finds fewer has not the whole beginning
   */
  entries: number
}

/** The place of a guest's conversation in a tree. The id of a native child has its own place. */
export type Parent = {
  /** the conversation at the root */
  root: string
  /** the conversation whose call began this one; null: not known */
  conversation: string | null
}

/** One normalized event of a provider stream. */
export type PartEvent = {
  /** the kind of event */
  kind: PartKind
  /**
   * its call or block, counted by the gateway from 0 in one attempt; call_piece: the provider's
   * index, -1: none, -2: the older form of a single call
   */
  index: number
  /** call_start, call_whole, call_piece: the provider's call id */
  id: string | null
  /**
   * call_start, call_whole, call_piece: the tool's name, or a piece of it; call_extra: the model
   */
  name: string | null
  /**
   * the piece of text. `call_start`, `call_whole`: the start input as JSON text. `error`: the
   * message
   */
  text: string
}

/**
 * `text`: visible text. `reasoning`: thinking text. `reasoning_block`: a finished thinking block,
 * as JSON, exactly as the provider expects it back. `call_start`: a call begins, and text is its
 * start input or empty. `call_arguments`: a piece of argument text. `call_end`: the provider closed
 * the call. `error`: the provider reported an error inside the stream. `refusal`: visible text in
 * which the model refuses. `call_whole`: as call_start, for a call that was complete in the event
 * that began the response. `call_done`: the whole arguments again, from the event that ends them.
 * `call_free_text`: the arguments of the call are free text, not JSON. `call_piece`: a piece of a
 * call, in a format that marks neither begin nor end of a call. It carries id, name and arguments
 * as far as they were sent. `call_piece_beside`: another piece from the same chunk as the one
 * before. `call_extra`: data that the server expects back next to the call of the previous piece,
 * as JSON, with the model in name. `kept_apart`: a block that is not a call for Weir (a tool that
 * the server runs, citations, an unknown block), as JSON. `provider_said`: the provider's own id,
 * usage and reasons, as JSON. A reader that does not know a newer symbol reads the default, the
 * most cautious one.
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

/** A call that waits for a person, in the form that the person sees. */
export type PendingCall = {
  /** the call */
  ordinal: number
  /** the tool */
  name: string
  /** the JSON text that the tool would get, byte for byte */
  arguments: string
  /** the id under which a person decides, from the call's place and the hash */
  id: string
  /** SHA-256, in hex, over the tool's name, the arguments' bytes and the program */
  hash: string
  /**
   * the rule that makes the call wait, or the guard that requests a person, with the guard's text
   */
  rule: string
  /**
   * text: the model wrote the call as text (I2); null: a native call, or a record from an older
   * version
   */
  source: ArgumentSource | null
  /**
   * SHA-256, in hex, over the program that would run; empty without such a tool, and null from an
   * older version
   */
  program: string | null
  /**
   * the running tool's question to the person, as JSON (input-question.ts); null: the call waits
   * for an approval
   */
  question: string | null
}

/**
 * The proof of a person's name. `claimed`: nothing proves it. `authenticated`: the writer of the
 * decision checked a key, a token, a certificate or a login. A reader that does not know a newer
 * symbol reads the default.
 */
export type PersonIdentity = 'claimed' | 'authenticated'

/**
 * The policy of a round: the agent's settings, overridden by the operator's. Each round carries it,
 * so no stage looks up a setting (R2).
 */
export type Policy = {
  /** a hash of its content, which identifies the policy */
  version: string
  /** caps of the turn */
  caps: Caps
  /** of the loop-detector */
  loop: LoopThresholds
  /** of the loop-detector */
  empty: EmptyAllowance
  /** milliseconds after its claim within which an owner may start a tool (R4) */
  startWithinMs: number
  /** milliseconds between asking a tool to stop and killing it */
  graceMs: number
  /** tries of an idempotent tool, at most */
  toolTries: number
  /** guards in force for this round; only the gateway writes them */
  guards: GuardInForce[]
  /**
   * names of the loop-detector's rules in shadow, in alphabetical order; they report interventions
   * without effect
   */
  shadowed: string[]
  /**
   * whether an approval is for one program, and other calls wait for it; false: there is no
   * approval guard, or an older version wrote this
   */
  bindsPrograms: boolean
  /** the operator's stops in force for this round; only the gateway and fronts write them */
  stops: StopInForce[]
  /** rules for values that readers of the log must not see */
  redact: RedactRule[]
  /**
   * the conversation that this one was forked from, whose memory a guard continues; only the
   * gateway writes it
   */
  forkedFrom: string | null
  /** the agents whose calls led to this turn, the nearest first; null: format 1 wrote this */
  calledBy: string[] | null
  /**
   * the place of a guest's conversation in a tree, as its front wrote it; null: a root, a native
   * conversation, or not known
   */
  parent: Parent | null
  /** the caps of the tree, as its root has them; null: none */
  tree: TreeCaps | null
}

/** One setting of a policy, under the name that commands use. */
export type PolicyEntry = {
  /** a threshold, such as loop.identicalFailures, or the mode of a rule, such as rule.cycle */
  key: string
  /** the value as written in a command: a whole number, true or false, shadow or enforce */
  value: string
}

/** A user's message that waits for its turn, reduced to the data that the turn needs. */
export type QueuedMessage = {
  /** the client's id */
  messageId: MessageId
  /** the user's text */
  text: string
  /** the agent's name */
  agent: string
  /** the agent's settings */
  settings: AgentSettings
  /** the tools offered */
  tools: ToolRef[]
  /** milliseconds that the slowest of them may run; a cancelled turn may have to wait that long */
  toolTimeoutMsMax: number
}

/**
 * A provider's objection to the reasoning in a history. `missing`: it requires reasoning in
 * messages that have none. `unsigned`: it requires the signature of a thought next to a call.
 * `unaccepted`: it does not know the field. `damaged`: it cannot verify the reasoning. A reader
 * that does not know a newer symbol reads the default.
 */
export type ReasoningRefusal = 'none' | 'missing' | 'unsigned' | 'unaccepted' | 'damaged'

/**
 * A rule for values that readers of the log must not see. With neither a pattern nor a path, its
 * name is a class of values, such as email.
 */
export type RedactRule = {
  /** its name, which stands in for the values */
  name: string
  /** the values to hide, as a regular expression of RE2; null: none */
  pattern: string | null
  /** the place of the values, such as arguments.password or results.customer.email; null: none */
  path: string | null
}

/** The repair that turned an argument text into the one that runs. */
export type Repair = {
  /** the text that the model sent, unchanged */
  sent: string
  /**
   * the repairs: fence, trailing-comma, single-quotes, python-word, control-character,
   * escaped-quote, encoded-twice, no-arguments, encoded-value, whole-number, read-text. In
   * encoded-twice a JSON string held the object, in encoded-value an array or object. A
   * whole-number was 30.0 where the schema requires an integer. A read-text was a number or boolean
   * in a text, which the host of a guest reads. Older records may have bad-escape
   */
  how: string[]
}

/** An earlier registration of a guard, which a newer one has replaced. */
export type ReplacedGuard = {
  /** the append time of its record */
  since: number
  /** its content */
  guard: GuardInForce
}

/** One finished model response, folded by the accumulator from the one attempt that counts. */
export type Response = {
  /** its attempt; empty if no attempt succeeded */
  attempt: string
  /** visible text, blocks joined without a separator; empty if calls were recovered from it */
  text: string
  /**
   * JSON array of the thinking blocks exactly as sent, to return to the provider; empty if there
   * were none
   */
  reasoning: string
  /** the calls, in the order in which they began */
  calls: Call[]
  /** the reason why the model stopped */
  stop: Stop
  /** the provider's own stop reason; empty if it sent none */
  finish: string
  /** tokens of the attempt */
  usage: Usage
  /** facts about visible text in the form of calls (I2); null: it was not in that form */
  textCalls: TextCalls | null
}

/**
 * The way a call ended (R5). `ok`, `error`, `timed_out`: it ran. `denied`, `skipped`: it never ran
 * in any try. `unknown`: it may have run, or may still take effect. `unseen`: a guest ran it, and
 * nobody saw its end. A reader that does not know a newer symbol reads the default, the most
 * cautious one.
 */
export type ResultStatus =
  | 'ok'
  | 'error'
  | 'denied'
  | 'timed_out'
  | 'skipped'
  | 'unknown'
  | 'unseen'

/** The reason why a round has no response. */
export type RoundFailure = {
  /** the failure class */
  class: FailureClass
  /** the cause, for people and for the turn's end */
  reason: string
}

/**
 * The reason of a provider that refuses a request for now: a limit of the account, or too much work
 * of the provider. A reader that does not know a newer symbol reads the default.
 */
export type SlotRefusal = 'limit' | 'overload'

/**
 * The reason why the model stopped, in one vocabulary for all providers. `cut`: the stream ended
 * without a reason. A reader that does not know a newer symbol reads the default, the most cautious
 * one.
 */
export type Stop = 'end' | 'calls' | 'length' | 'refusal' | 'cut' | 'other'

/** An operator's stop at the time of a model response or a call. */
export type StopInForce = {
  /** the kind of thing that is stopped */
  scope: StopScope
  /** the agent, the pattern of tool names or the conversation; empty at all */
  name: string
  /** the rule for running work */
  mode: StopMode
  /** the operator's reason */
  reason: string
}

/**
 * The rule of a stop for running work. `drain`: it ends normally. `now`: running tools and model
 * requests are stopped. A reader that does not know a newer symbol reads the default, the most
 * cautious one.
 */
export type StopMode = 'drain' | 'now'

/**
 * The kind of thing that a stop stops. `tool`: calls whose tool matches a pattern; turns go on. A
 * reader that does not know a newer symbol reads the default, the most cautious one.
 */
export type StopScope = 'all' | 'agent' | 'tool' | 'conversation' | 'tenant'

/**
 * Visible text in the form of calls (I2). If they were recovered, they replace the text in the
 * response. If they cannot run, the text stays.
 */
export type TextCalls = {
  /** the name of the dialect that parsed it */
  dialect: string
  /**
   * repairs that were needed to parse it, sorted; they changed no value: trailing-comma,
   * single-quotes, python-word, json-word, control-character, escaped-quote, encoded-twice,
   * encoded-value, no-arguments. Older records may have bad-escape
   */
  repairs: string[]
  /** the reason why none of it can run, a clause for the model; null: the calls were recovered */
  fault: string | null
  /** the reason why calls that could run did not run; null: they ran, or none of them can run */
  held: TextCallsHold | null
}

/**
 * The reason why readable calls in a text did not run. `tell`: the agent runs no text. `echo`: the
 * text repeats an earlier message of the user or result of a tool. `frame`: it follows other text.
 * `shape`: it is one object in a shape that is no call. A reader that does not know a newer symbol
 * reads the default.
 */
export type TextCallsHold = 'tell' | 'echo' | 'frame' | 'shape'

/**
 * The use of calls that a model writes as text (I2). `off`: they stay text. `tell`: they do not
 * run, and the model is informed. `run`: they run like native calls. A reader that does not know a
 * newer symbol reads the default, the most cautious one that is not silent.
 */
export type TextCallsMode = 'off' | 'tell' | 'run'

/** Tokens of several answers together. */
export type TokenSum = {
  /** tokens read, cached ones included */
  inputTokens: number
  /** tokens written, thinking included */
  outputTokens: number
}

/**
 * Facts about a tool beyond its schema, for the pipeline's guards. The author of the tool knows
 * more than its name shows.
 */
export type ToolHints = {
  /** whether its success may change something; null: derived from its name and command */
  mutates: boolean | null
  /**
   * arguments that do not identify a call: top-level names, or JSON pointers in which * is any step
   */
  ignoreFields: string[]
  /** the only arguments that identify a call, in the same notation; empty: all of them */
  loopKey: string[]
  /**
   * the text of its denials, with placeholders (shared/contract/arguments/denial-template.ts);
   * null: the usual one
   */
  denial: string | null
  /** the flow of data through it, for the flow guard: reads:private, reads:untrusted, sends:out */
  labels: string[]
  /** whether the client of the conversation runs it, and not an executor */
  client: boolean
  /**
   * the rule for a tool that must not run twice with equal values, for the guard once; null: none
   */
  once: OnceRule | null
}

/**
 * A tool by the hash of its declaration. Gateway and executor find it in their own agent files, or
 * refuse.
 */
export type ToolRef = {
  /** the tool's name */
  name: string
  /** sha-256 of the declaration, hex */
  hash: string
}

/** The id that the brokers gave to a topic. */
export type TopicId = {
  /** the name without the prefix */
  topic: string
  /** as the brokers write it */
  id: string
}

/** The consumption of a turn. */
export type Totals = {
  /** model rounds requested */
  rounds: number
  /** calls that the model made */
  calls: number
  /** input tokens of all answers, cached ones and those of agents that its calls ran included */
  inputTokens: number
  /** output tokens of all answers, those of agents that its calls ran included */
  outputTokens: number
  /** milliseconds from the record that opened the turn to its end, by append time */
  wallMs: number
}

/**
 * The caps of a tree: of a turn and all turns that its calls led to, or of a guest's session. Null:
 * not capped.
 */
export type TreeCaps = {
  /** agents below the root, one below the other */
  depth: number | null
  /** children that run at the same time */
  atOnce: number | null
  /** children in all */
  children: number | null
  /** model requests that were answered, or may have been */
  rounds: number | null
  /** all tokens, cached ones included */
  tokens: number | null
  /** US dollars */
  usd: number | null
  /** milliseconds from the first request or child on */
  wallMs: number | null
}

/**
 * `answered`: the reply is the model's. `capped`, `failed`, `cancelled`: the reply is the agent's
 * fallback. A reader that does not know a newer symbol reads the default, the most cautious one.
 */
export type TurnOutcome = 'answered' | 'capped' | 'failed' | 'cancelled'

/** Model requests of one kind that passed unjudged. */
export type UnjudgedRequests = {
  /** the name of an API that Weir cannot read, or a method and a path */
  kind: string
  /** the number of requests */
  count: number
}

/**
 * The rule for a model without a known price under a budget in money. `allow`: it counts as no
 * money. `deny`: its request does not start.
 */
export type Unpriced = 'allow' | 'deny'

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
 * A decision on a call. `ask`: a person decides. A reader that does not know a newer symbol reads
 * the default, the most cautious one.
 */
export type VerdictKind = 'allow' | 'deny' | 'ask'

/** A call that waits for guards. */
export type WaitingCall = {
  /** the call */
  ordinal: number
  /** the tool */
  name: string
  /** the guards that it waits for */
  guards: string[]
}

/** A call that no longer waits for an approval. */
export type WithdrawnCall = {
  /** the call */
  ordinal: number
  /** the short reason in its result */
  reason: string
}
