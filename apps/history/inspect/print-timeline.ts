// Prints a timeline as a page for people.

import { contentNote } from '../../../shared/contract/call/contents.ts'
import type {
  LooseMessage,
  RoundTimeline,
  SummaryTimeline,
  Timeline,
  TurnEnd,
  TurnTimeline,
} from '../../../shared/view/timeline.ts'
import { inputTokensOf } from '../../../shared/view/totals.ts'
import { count, elapsed, instant, number } from '../../terminal/text/quantities.ts'
import { factTexts } from '../facts-text.ts'
import { createPage, type Page, type PageOptions } from './page.ts'
import { printRound } from './print-round.ts'

export function pageOf(timeline: Timeline, options: PageOptions): Page {
  const page = createPage(options)
  const { conversation, state, turns, messages, troubles, unreadable } = timeline
  page.line(0, `Conversation ${conversation}: ${state}, ${count(turns.length, 'turn')}`, 'title')
  if (timeline.title !== null) page.line(0, timeline.title)
  if (timeline.forkedFrom !== null)
    page.line(0, `Its history begins with turns of ${timeline.forkedFrom}`, 'faint')
  for (const turn of turns) printTurn(page, turn)
  if (timeline.summary !== null) printSummary(page, timeline.summary)
  for (const message of messages) printMessage(page, message)
  for (const { at, stage, reason, topic, partition, offset } of troubles) {
    page.blank()
    const where = topic === null ? '' : ` (dead-letters; read at ${topic}/${partition}/${offset})`
    page.line(0, `Failure in ${stage}, ${instant(at)}: ${reason}${where}`, 'bad')
  }
  if (unreadable > 0) {
    page.blank()
    page.line(
      0,
      `${count(unreadable, 'record')} of it cannot be read: encrypted without the key of its tenant, written by a newer Weir, or damaged`,
      'bad',
    )
  }
  return page
}

function printSummary(page: Page, summary: SummaryTimeline): void {
  const { at, turn, round, entries, by, text, note } = summary
  page.blank()
  page.line(0, `Shortened history, turn ${turn}, round ${round}, ${instant(at)}`, 'title')
  const what = by === null ? 'left out without a summary' : `summarised by ${by}`
  page.entry(2, 'entries', `${entries} ${what}${note === null ? '' : `: ${note}`}`, 'warning')
  page.quote(2, text)
}

function printTurn(page: Page, turn: TurnTimeline): void {
  const { agent, messageId, text, messageAt, startedAt, rounds, cancelRequestedAt, failures, end } =
    turn
  page.blank()
  page.line(0, `Turn ${turn.number}, agent ${agent}, ${instant(startedAt)}`, 'title')
  const waited = messageAt === null ? 0 : startedAt - messageAt
  page.entry(
    2,
    'message',
    `${messageId}${waited < 100 ? '' : `, waited ${elapsed(waited)} for its turn`}; offset ${turn.turn}`,
    'faint',
  )
  page.quote(2, text ?? '(its text is no longer in the log)')
  for (const content of turn.contents) page.entry(2, 'content', contentNote(content))
  for (const [index, round] of rounds.entries()) {
    page.blank()
    const policyBefore = rounds[index - 1]?.policy?.version
    printRound(page, round, {
      startedAt,
      nextNudge: rounds[index + 1]?.nudge ?? null,
      policyBefore,
    })
  }
  page.blank()
  if (cancelRequestedAt !== null)
    page.entry(2, 'cancel', `requested at ${instant(cancelRequestedAt)}`, 'warning')
  for (const { stage, reason } of failures)
    page.entry(2, 'failure', `in ${stage}: ${reason}`, 'bad')
  const facts = factTexts(turn.facts)
  if (facts.length > 0) page.entry(2, 'notable', facts.join('; '), 'warning')
  if (end === null) page.line(2, 'open: no end yet', 'warning')
  else printEnd(page, end, rounds)
}

/** A reply equal to the text of the last round is not printed again. */
function printEnd(
  page: Page,
  { outcome, class: failureClass, cap, reason, reply, totals }: TurnEnd,
  shown: readonly RoundTimeline[],
): void {
  const { rounds, calls, wallMs } = totals
  const tokens = tokensText(totals, shown)
  const why = [failureClass, cap === null ? null : `cap: ${cap}`].filter((part) => part !== null)
  const after = `${outcome} after ${elapsed(wallMs)}${why.length === 0 ? '' : ` (${why.join(', ')})`}: ${reason}`
  page.line(2, after, outcome === 'answered' ? 'good' : 'bad')
  if (reply !== shown.at(-1)?.response?.text) page.quote(2, reply)
  page.entry(2, 'totals', `${count(rounds, 'round')}, ${count(calls, 'call')}, ${tokens}`, 'faint')
}

/** Its own, as in lists and trees, and those of agents that its calls ran. Without a round, only the sum is known. */
function tokensText(
  { rounds, inputTokens, outputTokens }: TurnEnd['totals'],
  shown: readonly RoundTimeline[],
): string {
  if (rounds > 0 && inputTokens + outputTokens === 0) return 'tokens not known'
  const usages = shown.flatMap(({ response }) => response?.usage ?? [])
  const input = usages.reduce((sum, usage) => sum + inputTokensOf(usage), 0)
  const output = usages.reduce((sum, usage) => sum + usage.outputTokens, 0)
  const ofAgents = inputTokens + outputTokens - input - output
  if (usages.length < rounds || ofAgents <= 0) return sumText(inputTokens, outputTokens)
  return `${sumText(input, output)}, ${number(inputTokens - input)} + ${number(outputTokens - output)} of agents below`
}

function sumText(input: number, output: number): string {
  return `${number(input)} + ${number(output)} tokens`
}

function printMessage(page: Page, { messageId, text, at, end }: LooseMessage): void {
  page.blank()
  page.line(0, `Message ${messageId}${at === null ? '' : `, ${instant(at)}`}`, 'title')
  if (text !== null) page.quote(2, text)
  if (end === null) page.line(2, 'waits for its turn', 'warning')
  else
    page.line(
      2,
      `opened no turn, ${end.outcome}${end.class === null ? '' : ` (${end.class})`}: ${end.reason}`,
      'bad',
    )
}
