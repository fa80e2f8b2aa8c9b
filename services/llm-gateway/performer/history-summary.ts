// The part of a history that leaves the requests when the model's context is full, and the summary
// that stands for it. Pure.
// Only whole rounds leave, so no call loses its result. The message of the open
// turn always stays, and so does its newest round.
// Each further summary stands for more entries, or there is none: a request
// gets shorter or the turn ends.

import { argumentText } from '../../../shared/contract/call/call.ts'
import { contentNote } from '../../../shared/contract/call/contents.ts'
import { type RoundId, roundIdOf } from '../../../shared/contract/ids.ts'
import { limits } from '../../../shared/contract/limits.ts'
import type { HistoryEntry, HistorySummary } from '../../../shared/contract/messages.ts'
import { comparedPlaces, type HistoryPlace } from '../../../shared/contract/performer.ts'
import { cutToBytes, shortened } from '../../../shared/lib/text-cut.ts'
import {
  historySummary,
  summaryLine,
  summaryTask as taskText,
} from '../../../shared/model-texts/requests.ts'
import { historyBytes } from '../../../shared/wire/request/history-size.ts'

/** As HistoryRule of an agent. */
export type Keep = { rounds?: number; tokens?: number }

const bytesOfToken = 4

/** The last entry for which the summary stands. */
export function throughOf({ throughTurn, throughRound }: HistorySummary): HistoryPlace {
  return { turn: throughTurn, round: throughRound }
}

/** The one of the later request. Of one request, the one that stands for more entries. */
export function laterSummary(
  a: HistorySummary | undefined,
  b: HistorySummary | undefined,
): HistorySummary | undefined {
  if (a === undefined || b === undefined) return a ?? b
  return (comparedPlaces(a, b) || comparedPlaces(throughOf(a), throughOf(b))) > 0 ? a : b
}

/** The entries for which the summary does not stand. `turn`: the open one. */
export function entriesAfter(
  entries: HistoryEntry[],
  summary: HistorySummary | undefined,
  turn: number,
): HistoryEntry[] {
  if (summary === undefined) return entries
  const through = throughOf(summary)
  return entries.filter((entry) => comparedPlaces(entry, through) > 0 || isMessageOf(entry, turn))
}

function isMessageOf(entry: HistoryPlace, turn: number): boolean {
  return entry.turn === turn && entry.round === 0
}

/** The history of a request: the summary as a message of the user, then the entries. */
export function withSummary(
  entries: HistoryEntry[],
  summary: HistorySummary | undefined,
): HistoryEntry[] {
  if (summary === undefined) return entries
  const { conversation, throughTurn: turn, throughRound: round, text } = summary
  return [messageEntry({ conversation, turn, round }, text), ...entries]
}

/** An entry with a message of the user alone. */
export function messageEntry(place: RoundId, user: string): HistoryEntry {
  const none = { afterTurn: null, contents: [], response: null, nudge: null, note: null }
  return { type: 'history-entry', ...roundIdOf(place), user, results: [], redact: [], ...none }
}

/** The entries that leave, oldest first. Empty: nothing more can leave. */
export function leavingEntries(entries: HistoryEntry[], keep: Keep, turn: number): HistoryEntry[] {
  const rounds = entries.filter(({ round }) => round > 0)
  const least = rounds.at(-1)?.turn === turn ? 1 : 0
  const wanted = Math.max(least, roundsKept(rounds, keep))
  // The kept part itself is too large.
  const kept = wanted < rounds.length ? wanted : Math.max(least, Math.floor(rounds.length / 2))
  const first = rounds[rounds.length - kept]
  return entries.filter((entry) => {
    if (isMessageOf(entry, turn)) return false
    if (first === undefined) return true
    const isOfFirst = entry.turn === first.turn && entry.round === 0 && first.round === 1
    return comparedPlaces(entry, first) < 0 && !isOfFirst
  })
}

function roundsKept(rounds: HistoryEntry[], { rounds: count, tokens = 0 }: Keep): number {
  if (count !== undefined) return count
  let left = tokens * bytesOfToken
  let kept = 0
  for (const entry of rounds.toReversed()) {
    left -= historyBytes(entry)
    if (left < 0) break
    kept += 1
  }
  return kept
}

/** For the model. `text`: of the agent that summarises. */
export function summarisedText(text: string): string {
  const within = shortened(text.trim().toWellFormed(), limits.historySummaryBytesMax)
  return historySummary(within)
}

/** The request to the agent that summarises. Long texts are cut, so all of them fit. */
export function summaryTask(entries: HistoryEntry[], before: HistorySummary | undefined): string {
  const lines = entries.flatMap(linesOf)
  const bytesMax = Math.max(
    200,
    Math.floor(limits.historySummarisedBytesMax / Math.max(1, lines.length)),
  )
  const text = [before?.text ?? '', ...lines.map((line) => shortened(line, bytesMax))]
  return taskText(
    cutToBytes(text.filter((line) => line !== '').join('\n'), limits.historySummarisedBytesMax),
  )
}

function linesOf({ user, contents, response, results, note }: HistoryEntry): string[] {
  return [
    ...(user === null ? [] : [summaryLine.user(user)]),
    ...contents.map(contentNote),
    ...(response === null || response.text.trim() === '' ? [] : [summaryLine.agent(response.text)]),
    ...(response?.calls ?? []).map((call) => summaryLine.call(call.name, argumentText(call))),
    ...results.map(({ status, text }) => summaryLine.result(status, text)),
    ...(note === null ? [] : [`(${note})`]),
  ].map((line) => line.toWellFormed())
}
