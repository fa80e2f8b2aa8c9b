// What a report holds for its page: the timeline of `weir inspect --json`, and what is found out
// about it once, where the page is made. Everything that the page can find out by itself (spans of
// time, differences, texts) is left to it, so that a page of thousands of rounds stays small.

import type { RoundTimeline, Timeline, TurnTimeline } from '../../history/inspect/timeline.ts'

/** The index of the page: small, and read at once. */
export type ReportIndex = {
  /** When the page was made, in milliseconds since 1970-01-01 UTC. */
  madeAt: number
  /** Where the records were read, in words. */
  source: string
  /** When the bundle that was read was made, in the same unit; null: it was the log itself. */
  exportedAt: number | null
  /** Names of the rules by which texts were taken out of it; null: none were. */
  redaction: string | null
  /** The newest first. */
  conversations: IndexEntry[]
}

export type IndexEntry = {
  conversation: string
  sentence: Phrase[]
  tone: Tone
  group: Group
  turns: number
  rounds: number
  loopRounds: number
  tokens: number
  /**
   * Turns that had not ended (of what is imported none: nothing of it runs), and turns whose
   * beginning the log no longer has.
   */
  openTurns: number
  cutTurns: number
  /** Of its first and its last record; null: nothing of it is known but its id. */
  from: number | null
  to: number | null
  /** Its data are in the page, under this number; null: the page was full. */
  place: number | null
}

/** In the order in which somebody wants to see them. */
export const groups = ['loop', 'imported', 'unanswered', 'open', 'limited', 'answered'] as const
/**
 * loop: the loop-detector stepped in, however it ended. imported: it would have, had it been there.
 * The others have no loop; which one tells the newest turn.
 */
export type Group = (typeof groups)[number]

/** good: answered. warning: answered in the end, or open. bad: anything else. */
export type Tone = 'good' | 'warning' | 'bad'

/** A piece of a sentence: words of ours, or `code`, which somebody else wrote. */
export type Phrase = string | { code: string }

/** One conversation, read when it is shown. */
export type ReportData = {
  timeline: Omit<Timeline, 'turns'> & { turns: ShownTurn[] }
  /** Null: a run of Weir wrote it. */
  imported: Imported | null
  sentence: Phrase[]
  tone: Tone
  figures: Figures
  partition: number
  topicPrefix: string
  /** Places of the records that are no turn's, in the table of records. */
  records: Places
}

/**
 * Of a conversation out of a transcript: its times are made up, so none of them is shown, and Weir
 * was not in force. `wouldHave`: where it would have stepped in first, by its defaults; `turn`: by
 * place; null: nowhere.
 */
export type Imported = {
  wouldHave: { turn: number; round: number; rung: string; rule: string; reason: string } | null
}

export type ShownTurn = Omit<TurnTimeline, 'rounds'> & {
  /** The record that opened it is there; else the log had deleted it, and maybe more. */
  isWhole: boolean
  /** Until when it is known: when it ended, or when the log was read. */
  until: number
  sentence: Phrase[]
  tone: Tone
  /** In the order of their rounds; they do not overlap. */
  loops: Loop[]
  rounds: ShownRound[]
  /** Places of those records that are no round's. */
  records: Places
}

/** `offered`: how many tools. */
export type ShownRound = Omit<RoundTimeline, 'offered'> & {
  offered: number
  /** By place in `calls`. */
  found: CallFindings[]
  streaks: StreakChange[]
  records: Places
}

export type CallFindings = {
  /** The arguments as the loop-detector compares them; null: they are as they were sent. */
  canonical: string | null
  /**
   * The call before it, in this turn, that is compared with it: the same call, else the newest of
   * the same tool.
   */
  previous: { round: number; ordinal: number; same: boolean } | null
}

/**
 * A run of rounds, from the first to the last, both in it. `rule`, `key`: of the intervention that
 * named it.
 */
export type Loop = {
  from: number
  to: number
  rule: string
  key: string
  ms: number
  tokens: number
}

/** How far something had come back, before the round and after it. `what`: readable, bounded. */
export type StreakChange = {
  rule: string
  what: string
  before: number
  after: number
  rung: string
}

export type Figures = {
  rounds: number
  loopRounds: number
  /**
   * From the beginning of each turn to its end, summed up; and of the rounds in loops. 0 of what is
   * imported.
   */
  ms: number
  loopMs: number
  inputTokens: number
  outputTokens: number
  loopTokens: number
  calls: number
  /**
   * Calls that were started (of what is imported: that have a result of their tool), and calls that
   * were stopped before they could be.
   */
  ran: number
  stopped: number
}

/** From the first place to the last, which is not in it. */
export type Places = [from: number, to: number]

/**
 * Raw records, each field once however many records have it: a response stands in five of them. A
 * row is [topic, offset, time, id, type, ...fields]: topic and type by their number, fields by
 * their number in `values`, in the order in which `types` names them; id '' where it has none; type
 * -1: it could not be decoded, -2: it is left out, because the page would have become too large.
 */
export type RecordTable = {
  topics: string[]
  types: { type: string; fields: string[] }[]
  values: unknown[]
  rows: (string | number)[][]
}
