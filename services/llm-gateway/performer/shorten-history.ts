// Shortens the history of a request that fills the model's context, if its agent wants it: writes a
// summary that stands for the beginning from the next request on.
// The summary is acknowledged before the attempt fails, so the next attempt, in
// any process, has it.
// A failure of the summarising agent loses no turn: the beginning is left out
// without a summary, and the record has the reason.

import type { Agent, Agents } from '../../../shared/agents/agents.ts'
import { leavesOut } from '../../../shared/contract/history/history-path.ts'
import type { ConversationId } from '../../../shared/contract/ids.ts'
import type { HistoryEntry, HistorySummary } from '../../../shared/contract/messages.ts'
import type { HistoryPlace, PerformerContext } from '../../../shared/contract/performer.ts'
import { summaryKey } from '../../../shared/contract/topology.ts'
import type { WorkLog } from '../../../shared/lib/log/lazy-log.ts'
import { historyDropped } from '../../../shared/model-texts/requests.ts'
import type { Failed, ProviderRequest } from '../../../shared/wire/exchange.ts'
import { shortReason } from '../../../shared/wire/faults/short-reason.ts'
import type { AttemptTask } from '../reducer.ts'
import { historyShorteningsMax } from '../reducer.ts'
import { PartWriter, streamAnswer } from './answer.ts'
import type { Reservation } from './budgets/reservation.ts'
import {
  entriesAfter,
  laterSummary,
  leavingEntries,
  messageEntry,
  summarisedText,
  summaryTask,
  throughOf,
} from './history-summary.ts'
import type { Connect } from './providers/providers.ts'
import { stopped } from './wire/abortable-wait.ts'

/** Summaries that a gateway remembers until its copy of the table has them. */
const historySummariesKeptMax = 256

/** The newest summaries that this process wrote. Its copy of the table may lag behind them. */
export type WrittenSummaries = Map<ConversationId, HistorySummary>

export type Shortening = {
  agents: Agents
  connect: Connect
  summaries: WrittenSummaries
  context: PerformerContext
  task: AttemptTask
  stop: AbortSignal
  log: WorkLog
  /** Reserves the request for a summary under the budgets of the turn. A failure: it may not start. */
  reserve: (asked: {
    agent: Agent
    request: ProviderRequest
  }) => Promise<Reservation | Failed | undefined>
}

/** `entries`: those that the summary does not stand for. */
export type Shortened = { entries: HistoryEntry[]; summary: HistorySummary | undefined }

type Reading = Pick<Shortening, 'context' | 'summaries' | 'task'>

/** The history of a request as far as no summary stands for it. */
export async function shortenedHistory(
  shortening: Reading,
  agent: Agent,
  history: HistoryEntry[],
): Promise<Shortened> {
  const newest = await summaryOf(shortening, agent)
  const summary = newest && leavesOut(history, throughOf(newest)) ? undefined : newest
  return { entries: entriesAfter(history, summary, shortening.task.request.turn), summary }
}

/** The last entry for which a summary stands. Undefined: there is no summary. */
export async function summarisedThrough(
  shortening: Reading,
  agent: Agent,
): Promise<HistoryPlace | undefined> {
  const summary = await summaryOf(shortening, agent)
  return summary && throughOf(summary)
}

async function summaryOf(
  { context, summaries, task: { request } }: Reading,
  agent: Agent,
): Promise<HistorySummary | undefined> {
  if (agent.history === undefined) return undefined
  const inTable = await context.kept(summaryKey(request.conversation), 0)
  return laterSummary(
    summaries.get(request.conversation),
    inTable?.type === 'history-summary' ? inTable : undefined,
  )
}

/**
 * The failure of a full context, after a shortening with `historyShortened`. The failure itself: the
 * agent wants none, or nothing more can leave. Rejects if the summary cannot be written.
 */
export async function afterShortening(
  shortening: Shortening,
  agent: Agent,
  { entries, summary }: Shortened,
  failed: Failed,
): Promise<Failed> {
  const { context, task, summaries, stop, log } = shortening
  const { conversation, turn, round } = task.request
  const isSpent = (task.shortened ?? 0) >= historyShorteningsMax
  if (failed.class !== 'context_full' || agent.history === undefined || isSpent) return failed
  const leaving = leavingEntries(entries, agent.history.keep, turn)
  const last = leaving.at(-1)
  if (last === undefined) return failed
  // In later turns the summary stands for the open turn's message, too.
  const told = last.turn === turn ? entries.filter((one) => isTold(one, leaving, turn)) : leaving
  const made = await madeSummary(shortening, agent.history.summarise, told, summary)
  if (stop.aborted) return failed
  // The history stays whole, so the turn can go on once the request may start.
  if ('kind' in made) return made
  const count = leaving.length + (summary?.entries ?? 0)
  const next: HistorySummary = {
    type: 'history-summary',
    conversation,
    turn,
    round,
    entries: count,
    throughTurn: last.turn,
    throughRound: last.round,
    ...('text' in made
      ? { by: made.by, text: summarisedText(made.text), note: '' }
      : { by: '', text: historyDropped(count), note: made.note }),
  }
  await context.write('history', [next])
  remember(summaries, next)
  log.info({ entries: leaving.length, by: next.by, note: next.note }, 'shortened the history')
  return { ...failed, historyShortened: true, reason: reasonOf(leaving.length, next) }
}

function isTold(entry: HistoryEntry, leaving: HistoryEntry[], turn: number): boolean {
  return leaving.includes(entry) || (entry.turn === turn && entry.round === 0)
}

function reasonOf(count: number, { by, note }: HistorySummary): string {
  const done = by === '' ? 'are left out' : `are summarised by the agent '${by}'`
  const why = note === '' ? '' : ` (${note})`
  return `the model's context is full; ${count} messages and answers of the history ${done}${why}, and the rest is sent`
}

function remember(summaries: WrittenSummaries, summary: HistorySummary): void {
  summaries.delete(summary.conversation)
  summaries.set(summary.conversation, summary)
  const [oldest] = summaries.keys()
  if (summaries.size > historySummariesKeptMax && oldest !== undefined) summaries.delete(oldest)
}

type Made = { by: string; text: string } | { note: string }

/** Never rejects. */
async function madeSummary(
  shortening: Shortening,
  by: string,
  leaving: HistoryEntry[],
  before: HistorySummary | undefined,
): Promise<Made | Failed> {
  if (by === 'drop') return { note: '' }
  const agent = shortening.agents.get(by)
  if (agent === undefined) return { note: `there is no agent '${by}' for the summary` }
  try {
    return await answerOf(shortening, agent, summaryTask(leaving, before))
  } catch (error) {
    shortening.log.error({ err: error, agent: by }, 'the summary of a history failed')
    return { note: `the agent '${by}' failed to summarise` }
  }
}

async function answerOf(
  { connect, context, stop, log, task, reserve }: Shortening,
  agent: Agent,
  text: string,
): Promise<Made | Failed> {
  const { conversation, turn } = task.request
  const { stallMs, firstByteMs } = agent.settings
  const history = [messageEntry({ conversation, turn, round: 0 }, text)]
  const request = { nudge: null, tools: [], textOnly: false, history, rebuilt: false }
  const reservation = await reserve({ agent, request })
  if (reservation?.kind === 'failed') return reservation
  if (stop.aborted) return { note: 'the summary was stopped' }
  const parts = new PartWriter(context.clock, async () => {})
  const answer = await streamAnswer({
    connect,
    agent,
    stallMs,
    firstByteMs,
    clock: context.clock,
    parts,
    stop,
    log,
    request,
  })
  await parts.stop()
  const isWhole = answer !== stopped && answer.kind === 'finished' && answer.stop !== 'cut'
  if (isWhole) await reservation?.settle(answer.usage)
  if (answer === stopped) return { note: 'the summary was stopped' }
  if (answer.kind === 'finished' && answer.isReply && answer.stop !== 'cut')
    return { by: agent.name, text: answer.text }
  const fault = answer.kind === 'failed' ? answer.reason : 'its answer has no text'
  return { note: shortReason(`the agent '${agent.name}' gave no summary: ${fault}`) }
}
