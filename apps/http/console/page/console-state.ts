// The data that the console's server sends and its page shows. Times are append times, in
// milliseconds since 1970-01-01 UTC.
// Here: code for the browser only, a folder for each page. Not here: reads of the log (../state)
// and routes (..).

import type { InputField } from '../../../../shared/contract/call/input-question.ts'
import type {
  ApprovalDecided,
  PendingCall,
  PersonIdentity,
} from '../../../../shared/contract/messages.ts'
import type { AuditEntry } from '../../../../shared/view/audit/entries.ts'
import type { TreeTimeline } from '../../../../shared/view/tree.ts'
import type { PricedConversation } from '../../../history/conversations/conversations.ts'
import type { RecordTable, ReportData, ReportIndex } from '../../../report/page/data.ts'

/** In the order of their display. */
export const turnStates = ['person', 'client', 'stalled', 'guard', 'tool', 'model'] as const
export type TurnState = (typeof turnStates)[number]

/**
 * `detail`: the running tools, the guards that have not answered, or the calls that wait for their
 * client. `since`: of its state. `idle`: rounds without a new result, at least. `tree`: its root. Null: no
 * other agent is known in it.
 */
export type ShownTurn = {
  conversation: string
  agent: string
  state: TurnState
  detail: string
  round: number
  since: number
  startedAt: number
  idle: number
  tree: string | null
}

/**
 * Counts of the last hour. `rounds`, `tokens`: saved at most, if each stopped turn had gone on to its
 * first cap.
 */
export type Stops = {
  calls: number
  turns: number
  reminders: number
  rounds: number
  tokens: number
}

/** `filters`: find its conversations in the list. */
export type StopsBy = Stops & {
  agent: string
  rule: string
  filters: Record<string, string> | null
}

/**
 * The model's use for rounds without a new result, in the last hour, at least. `usd`: billionths of a
 * US dollar, of the `priced` ones of the rounds.
 */
export type Spend = { turns: number; rounds: number; tokens: number; usd: number; priced: number }

export type SpendBy = Spend & { agent: string }

/** `at`: the beginning of the minute. */
export type StopsOfMinute = { at: number; calls: number; turns: number }

/** A call that waits for a person. */
export type WaitingCall = Pick<PendingCall, 'id' | 'hash' | 'name' | 'rule' | 'program'> & {
  conversation: string
  turn: number
  round: number
  agent: string
  /** The text that the tool would get. Null: too large for the inbox. */
  rawArguments: string | null
  bytes: number
  /** The model wrote the call as text. */
  isText: boolean
  /** The question of the running tool. Null: the call waits for an approval. */
  question: { url: string | null; fields: InputField[] } | null
  since: number
  until: number
  /** The arguments of the last allowed call of this tool by this agent. Null: none is known. */
  allowed: string | null
}

export type Decision = Pick<
  ApprovalDecided,
  'id' | 'conversation' | 'name' | 'outcome' | 'by' | 'identity' | 'reason'
> & { agent: string; at: number }

export type ConsoleState = {
  /** The server's time. */
  now: number
  /** Grows with each change. */
  version: number
  health: {
    /** Records that the console has not read yet. */
    behind: number
    deadLetters: number
    /** The time of the newest record that it has read. Null: none. */
    newestAt: number | null
    /** The reason why the console reads no more. Null: it reads. */
    problem: string | null
    viewers: number
  }
  turns: {
    counts: Record<TurnState, number>
    /** The longest in their state first, at most `limits.consoleTurnsShownMax`. */
    shown: ShownTurn[]
    /** Open turns that are not followed. */
    dropped: number
  }
  stops: { total: Stops; by: StopsBy[]; minutes: StopsOfMinute[] }
  spend: { total: Spend; by: SpendBy[] }
  inbox: {
    waiting: WaitingCall[]
    /** Calls that wait beyond the inbox. */
    more: number
    decided: Decision[]
  }
}

/** The reason of a waiting call. Null: the log does not have the text. */
export type CallContext = {
  /** The user's message. */
  question: string | null
  /** The last words of the model in this turn, up to the call's round. */
  words: string | null
}

/**
 * A page of the list. `total`: the conversations that match, of `all`. Null: not counted yet. `behind`: the
 * records that the search has not read yet, so the list may miss conversations.
 */
export type ConversationsData = {
  conversations: PricedConversation[]
  next: string | null
  total: number | null
  all: number | null
  behind: number
}

/** `behind`: as of ConversationsData. */
export type TreeData = TreeTimeline & { behind: number }

/**
 * A key of the filters. `accepted`: all of its values. `known`: a few values that turns of this log have.
 * Both null: a text.
 */
export type FilterData = {
  key: string
  accepted: readonly string[] | null
  known: readonly string[] | null
}

/**
 * `entries`: the newest first. `left`: older entries that match and are not among them. `hidden`: records
 * that cannot be read.
 */
export type AuditData = {
  entries: AuditEntry[]
  left: number
  hidden: number
  filters: FilterData[]
}

/** The person or program that reads the page. `isSession`: it logged in. */
export type MeData = { name: string; identity: PersonIdentity; isSession: boolean }

/** A conversation as its report has it. */
export type ConversationData = { index: ReportIndex; data: ReportData; records: RecordTable }
