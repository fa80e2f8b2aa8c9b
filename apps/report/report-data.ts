// The data for a conversation's report: timeline, findings and raw records. Pure.

import { readArguments } from '../../shared/contract/identity/arguments.ts'
import type { CallId } from '../../shared/contract/ids.ts'
import type { ResultStatus } from '../../shared/contract/messages.ts'
import { inboxOf } from '../../shared/contract/topology.ts'
import { inOrder, type Logged } from '../../shared/view/logged.ts'
import type { RoundTimeline, Timeline, TurnTimeline } from '../../shared/view/timeline.ts'
import { importedOf, wouldHaveText } from './imported.ts'
import { costOf, loopsOf } from './loops.ts'
import type {
  CallFindings,
  Figures,
  Loop,
  RecordTable,
  ReportData,
  ShownRound,
  ShownTurn,
} from './page/data.ts'
import { beginTable, type TableBuilder } from './record-table.ts'
import { sentenceOf, sentenceOfAll } from './sentence.ts'
import { streaksOf } from './streaks.ts'

export type MadeReport = { data: ReportData; records: RecordTable }

export type Where = {
  partition: number
  topicPrefix: string
  readAt?: number | undefined
  isLive?: boolean
}

/**
 * `given`: the records of the timeline. `partition`: their partition. `readAt`: the time at which
 * the log was read, for turns that were open then. Without it, the last record is the end of our
 * knowledge. `isLive`: the page follows the log.
 */
export function reportData(
  timeline: Timeline,
  given: readonly Logged[],
  { readAt = 0, isLive = false, ...where }: Where,
): MadeReport {
  const table = beginTable()
  const imported = importedOf(timeline)
  const isImported = imported !== null
  const byMessage = new Map(timeline.turns.map(({ messageId, turn }) => [messageId, turn]))
  const byTurn = Map.groupBy(inOrder(given), (record) => turnOf(record, byMessage))
  const opened = new Set(
    given
      .filter(({ topic }) => topic === inboxOf(timeline.conversation))
      .map(({ offset }) => offset),
  )
  const turns = timeline.turns.map((turn) => {
    const records = byTurn.get(turn.turn) ?? []
    return shownTurn(
      {
        turn,
        records,
        isWhole: opened.has(turn.turn),
        isImported,
        isLive,
        until: untilOf(turn, records, readAt),
      },
      table,
    )
  })
  const shown = new Set(timeline.turns.map(({ turn }) => turn))
  const others = [...byTurn].flatMap(([turn, records]) =>
    turn !== undefined && shown.has(turn) ? [] : records,
  )
  const figures = turns.map(({ figures }) => figures).reduce(summed, nothing)
  const overall = sentenceOfAll(
    turns.map(({ shown }, index) => ({
      ...shown,
      isImported,
      isLive,
      turn: timeline.turns[index] as TurnTimeline,
    })),
    figures,
    timeline.forkedFrom,
  )
  const [only] = turns
  const { sentence, tone } = turns.length === 1 && only !== undefined ? only.shown : overall
  return {
    data: {
      timeline: { ...timeline, turns: turns.map(({ shown }) => shown) },
      imported,
      sentence: imported === null ? sentence : [...sentence, ...wouldHaveText(imported, timeline)],
      tone,
      figures,
      money: null,
      ...where,
      records: table.add(others),
    },
    records: table.table,
  }
}

type Found = {
  turn: TurnTimeline
  records: Logged[]
  isWhole: boolean
  isImported: boolean
  isLive: boolean
  until: number
}

function shownTurn(
  { turn, records, isWhole, isImported, isLive, until }: Found,
  table: TableBuilder,
): { shown: ShownTurn; figures: Figures } {
  const byRound = Map.groupBy(records, roundOf)
  const loops = loopsOf(turn.rounds)
  const figures = isImported ? figuresOfImported(turn) : figuresOf(turn, loops, until)
  const streaks = streaksOf(records)
  const earlier = earlierCalls()
  const rounds = turn.rounds.map((round): ShownRound => {
    const own = byRound.get(round.round) ?? []
    return {
      ...round,
      offered: round.offered.length,
      found: earlier(round),
      streaks: streaks.get(round.round) ?? [],
      records: table.add(own),
    }
  })
  const others = [...byRound].flatMap(([round, own]) =>
    round === undefined || round === 0 ? own : [],
  )
  const summary = sentenceOf({ turn, loops, isWhole, isImported, isLive }, figures)
  return {
    shown: { ...turn, ...summary, isWhole, until, loops, rounds, records: table.add(others) },
    figures,
  }
}

/**
 * The turn of a record. A user's message belongs to the turn that answers it, although it is older.
 */
function turnOf({ message }: Logged, byMessage: Map<string, number>): number | undefined {
  if (message?.type === 'user-message') return byMessage.get(message.messageId)
  return message !== undefined && 'turn' in message ? (message.turn ?? undefined) : undefined
}

function roundOf({ message }: Logged): number | undefined {
  return message !== undefined && 'round' in message ? message.round : undefined
}

/** The end of a round may be written shortly after the end of its turn. */
function untilOf(
  { end, rounds, startedAt }: TurnTimeline,
  records: Logged[],
  readAt: number,
): number {
  const known = end === null ? Math.max(readAt, records.at(-1)?.time ?? 0) : end.at
  return Math.max(known, rounds.at(-1)?.endedAt ?? 0, startedAt)
}

// ── Figures ──

const nothing: Figures = {
  rounds: 0,
  loopRounds: 0,
  ms: 0,
  loopMs: 0,
  inputTokens: 0,
  outputTokens: 0,
  loopTokens: 0,
  calls: 0,
  ran: 0,
  stopped: 0,
}

function figuresOf(
  { rounds, startedAt, durationMs }: TurnTimeline,
  loops: Loop[],
  until: number,
): Figures {
  const figures = rounds.map(figuresOfRound).reduce(summed, nothing)
  return {
    ...figures,
    ms: durationMs ?? Math.max(0, until - startedAt),
    loopRounds: loops.reduce((sum, { from, to }) => sum + to - from + 1, 0),
    loopMs: loops.reduce((sum, { ms }) => sum + ms, 0),
    loopTokens: loops.reduce((sum, { tokens }) => sum + tokens, 0),
  }
}

/** Weir started none of its calls. A call with a result from its tool has run. */
function figuresOfImported({ rounds }: TurnTimeline): Figures {
  const ran = rounds.flatMap(({ calls }) =>
    calls.filter(({ result }) => result !== null && ranBy[result.status]),
  ).length
  return { ...rounds.map(figuresOfRound).reduce(summed, nothing), ran }
}

/** Nobody saw a result of `unknown` or `unseen`. */
const ranBy: Record<ResultStatus, boolean> = {
  ok: true,
  error: true,
  timed_out: true,
  unknown: false,
  unseen: false,
  denied: false,
  skipped: false,
}

function figuresOfRound(round: RoundTimeline): Figures {
  const { calls, response } = round
  const outputTokens = response?.usage.outputTokens ?? 0
  return {
    ...nothing,
    rounds: 1,
    inputTokens: costOf(round).tokens - outputTokens,
    outputTokens,
    calls: calls.length,
    ran: calls.filter(({ tries }) => tries.some(({ startedAt }) => startedAt !== null)).length,
    stopped: calls.filter(({ result }) => result?.status === 'denied').length,
  }
}

function summed(one: Figures, other: Figures): Figures {
  const keys = Object.keys(nothing) as (keyof Figures)[]
  return Object.fromEntries(keys.map((key) => [key, one[key] + other[key]])) as Figures
}

// Finds for each call of a turn the earlier call to compare it with, and its arguments in the form
// of the loop-detector.

type EarlierCalls = (round: RoundTimeline) => CallFindings[]

type Place = Pick<CallId, 'round' | 'ordinal'>

/** Call it for the rounds of a turn in order. */
function earlierCalls(): EarlierCalls {
  const byCall = new Map<string, Place>()
  const byTool = new Map<string, Place>()
  return ({ round, calls, hints }) => {
    const found = calls.map(({ name, rawArguments: raw }) => {
      const { canonical } = readArguments(raw, Object.hasOwn(hints, name) ? hints[name] : undefined)
      const same = byCall.get(keyOf(name, canonical))
      const previous = same ?? byTool.get(name)
      return {
        canonical: canonical === raw.trim() || canonical.startsWith('text:') ? null : canonical,
        previous: previous === undefined ? null : { ...previous, same: same !== undefined },
        key: keyOf(name, canonical),
      }
    })
    // Calls of one round were written together, so none is an earlier call of another.
    for (const [index, { ordinal, name }] of calls.entries()) {
      byCall.set(found[index]?.key ?? '', { round, ordinal })
      byTool.set(name, { round, ordinal })
    }
    return found.map(({ canonical, previous }) => ({ canonical, previous }))
  }
}

function keyOf(name: string, canonical: string): string {
  return JSON.stringify([name, canonical])
}
