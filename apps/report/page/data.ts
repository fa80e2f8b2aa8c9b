// The data of a report: the timeline of `weir inspect --json`, and the findings that are made once
// with the page. The page itself derives spans, differences and texts, so that a page with
// thousands of rounds stays small.

import type { RoundTimeline, Timeline, TurnTimeline } from '../../../shared/view/timeline.ts'
import type { Money } from '../../../shared/view/totals.ts'
import type { TurnFacts } from '../../../shared/view/turn-facts.ts'

/** The index of the page. It is small and read at once. */
export type ReportIndex = {
  /** The time at which the page was made, in milliseconds since 1970-01-01 UTC. Null: it is live. */
  madeAt: number | null
  /** The source of the records, as a text. */
  source: string
  /** The time of the bundle's export, in the same unit. Null: the source is a log. */
  exportedAt: number | null
  /** Names of the rules that redacted texts. Null: none did. */
  redaction: string | null
  /** The newest first. */
  conversations: IndexEntry[]
}

export type IndexEntry = {
  conversation: string
  /** The names of its agents. Empty: none is known. */
  agents: string[]
  /** Its title, or otherwise the first words of its first message. Null: its text is no longer in the log. */
  question: string | null
  /** Of all its turns. Null: unknown, or imported, because Weir was not in force. */
  facts: TurnFacts | null
  sentence: Phrase[]
  tone: Tone
  group: Group
  turns: number
  rounds: number
  loopRounds: number
  tokens: number
  /** The sum of the durations of its turns. Null: unknown or imported. */
  ms: number | null
  /**
   * Open turns, and turns whose beginning the log had deleted. An imported conversation has no open
   * turns, because it does not run.
   */
  openTurns: number
  cutTurns: number
  /** The time of its first record. Null: only its id is known, or its times are made up. */
  from: number | null
  /** The number of its data in the page. Null: the page was full. */
  place: number | null
}

/** In the order of importance. */
export const groups = ['loop', 'imported', 'unanswered', 'open', 'limited', 'answered'] as const
/**
 * loop: the loop-detector stepped in, with any end. imported: it would have stepped in. The
 * others have no loop; the newest turn selects their group.
 */
export type Group = (typeof groups)[number]

/** good: answered. warning: answered in the end, or open. bad: all others. */
export type Tone = 'good' | 'warning' | 'bad'

/** A piece of a sentence: our own text, or `code`, which is foreign text. */
export type Phrase = string | { code: string }

/** One conversation. The page reads it when it is shown. */
export type ReportData = {
  timeline: Omit<Timeline, 'turns'> & { turns: ShownTurn[] }
  /** Null: a run of Weir wrote it. */
  imported: Imported | null
  sentence: Phrase[]
  tone: Tone
  figures: Figures
  /** Null: no model request was under a budget, or the report is of a bundle. */
  money: Money | null
  partition: number
  topicPrefix: string
  /** Places of the records outside of turns, in the table of records. */
  records: Places
}

/**
 * A conversation from a transcript. Its times are made up and not shown, and Weir was not in force.
 * `wouldHave`: the first intervention by Weir's defaults; null: none. `turn`: by place.
 */
export type Imported = {
  wouldHave: { turn: number; round: number; action: string; rule: string; reason: string } | null
}

export type ShownTurn = Omit<TurnTimeline, 'rounds'> & {
  /** The record that opened it exists. Otherwise the log had deleted it, and maybe more. */
  isWhole: boolean
  /** Its end, or the time at which the log was read. */
  until: number
  sentence: Phrase[]
  tone: Tone
  /** In the order of their rounds; they do not overlap. */
  loops: Loop[]
  rounds: ShownRound[]
  /** Places of its records outside of rounds. */
  records: Places
}

/** `offered`: the number of tools. */
export type ShownRound = Omit<RoundTimeline, 'offered'> & {
  offered: number
  /** By place in `calls`. */
  found: CallFindings[]
  streaks: StreakChange[]
  records: Places
}

export type CallFindings = {
  /** The arguments in the form that the loop-detector compares. Null: they are unchanged. */
  canonical: string | null
  /**
   * The earlier call in this turn to compare with: the same call, or otherwise the newest call of
   * the same tool.
   */
  previous: { round: number; ordinal: number; same: boolean } | null
}

/**
 * A run of rounds, including `from` and `to`. `rule`, `key`: of the intervention that found it.
 */
export type Loop = {
  from: number
  to: number
  rule: string
  key: string
  ms: number
  tokens: number
}

/** A repeat count before and after the round. `what`: the repeated thing, readable and bounded. */
export type StreakChange = {
  rule: string
  what: string
  before: number
  after: number
  action: string
}

export type Figures = {
  rounds: number
  loopRounds: number
  /**
   * The sum of the durations of all turns, and of the rounds in loops. 0 for an imported
   * conversation.
   */
  ms: number
  loopMs: number
  inputTokens: number
  outputTokens: number
  loopTokens: number
  calls: number
  /**
   * Calls that were started, and calls that were stopped before. In an imported conversation, a
   * call with a result counts as started.
   */
  ran: number
  stopped: number
}

/** From the first place to the last, exclusive. */
export type Places = [from: number, to: number]

/**
 * Raw records. Equal values are stored once: a response is in five records. A row is
 * [topic, offset, time, id, type, ...fields]. Topic and type are numbers. Fields are numbers in
 * `values`, in the order of `types`. The id is '' if there is none. Type -1: the record could not
 * be decoded. Type -2: it is left out, because the page would be too large.
 */
export type RecordTable = {
  topics: string[]
  types: { type: string; fields: string[] }[]
  values: unknown[]
  rows: (string | number)[][]
}
