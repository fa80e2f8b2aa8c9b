// Prints the changed decisions of a what-if, for people and as JSON.

import type { TurnId } from '../../shared/contract/ids.ts'
import { type NumberOf, turnText } from '../history/turn-numbers.ts'
import { columnsToCut, painted } from '../terminal/paint.ts'
import { printable, printableJson } from '../terminal/text/printable.ts'
import { count } from '../terminal/text/quantities.ts'
import { addressText } from './difference.ts'
import { cut } from './record-members.ts'
import { type Change, type Decision, type Totals, totalsOf } from './what-if/change.ts'

/** The limit for each list without --full. */
const shownMax = 20

/**
 * `asked`: the question in words. `conversations`: the number with a judged round. `numberOf`: the
 * number of a turn for people.
 */
export type WhatIfPage = {
  asked: string
  conversations: number
  changes: readonly Change[]
  numberOf: NumberOf
  /** Rounds of an external guard for which the log has no verdict. */
  unrecorded: number
}

export function printWhatIf(
  { asked, conversations, changes, numberOf, unrecorded }: WhatIfPage,
  { full }: { full: boolean },
  out: NodeJS.WriteStream,
): void {
  const line = (tone: Parameters<typeof painted>[1], text: string): boolean =>
    out.write(`${painted(out, tone, printable(text))}\n`)
  const shown = full ? changes : changes.slice(0, shownMax)
  line('title', `What if ${asked}`)
  const width = full ? Number.POSITIVE_INFINITY : columnsToCut(out)
  for (const change of shown) {
    const { conversation, round, was, is, at } = change
    line('plain', '')
    line(
      'plain',
      `${conversation}, ${turnText(numberOf, change)}, round ${round}  (${addressText(at)})`,
    )
    line('faint', cut(wasText(was), width))
    line('warning', cut(wouldBeText(is), width))
    line('faint', `  unknown from here${effectText(change)}`)
  }
  if (shown.some(({ was, is }) => wasText(was).length > width || wouldBeText(is).length > width))
    line('faint', '  cut to the width of the terminal: --full shows the reasons whole')
  if (shown.length < changes.length)
    line('faint', `… and ${changes.length - shown.length} more (--full)`)
  line('plain', '')
  if (unrecorded > 0)
    line(
      'warning',
      `${count(unrecorded, 'round')} not judged: the log has no verdict of this external guard on ${unrecorded === 1 ? 'it' : 'them'}, and a replay calls no service`,
    )
  printTotals(totalsOf(changes), { conversations, full, numberOf }, line)
}

function wasText(decision: Decision | null): string {
  return `  was      ${decisionText(decision)}`
}

function wouldBeText(decision: Decision | null): string {
  return `  would be ${decisionText(decision)}`
}

function printTotals(
  {
    conversations: touched,
    roundsSaved,
    tokensSaved,
    milder,
    roundsLater,
    denied,
    approvals,
  }: Totals,
  { conversations, full, numberOf }: { conversations: number; full: boolean; numberOf: NumberOf },
  line: (tone: 'title' | 'plain' | 'good' | 'bad', text: string) => void,
): void {
  line('title', `${touched} of ${count(conversations, 'conversation')} would have gone another way`)
  line(
    'plain',
    `saved at most   ${count(roundsSaved, 'round')}, ${count(tokensSaved, 'token')} in ${touched === 1 ? 'that turn' : 'those turns'}; later turns are unknown`,
  )
  if (milder > 0)
    line(
      'plain',
      `later by        at least ${count(roundsLater, 'round')}, in ${count(milder, 'conversation')} with a milder decision; their cost is unknown`,
    )
  if (approvals > 0)
    line('plain', `approvals       ${count(approvals, 'call')} would have waited for a person`)
  if (denied.length === 0)
    return line('good', 'false alarms    none: no call that had succeeded would have been denied')
  line(
    'bad',
    `false alarms    ${count(denied.length, 'call')} that had succeeded would have been denied:`,
  )
  const repeated = denied.filter(({ repeats }) => repeats).length
  if (repeated > 0)
    line(
      'plain',
      `                ${repeated} of them only repeated a call of the same turn, with the same result: calls in a loop do that`,
    )
  for (const call of full ? denied : denied.slice(0, shownMax)) {
    const { conversation, round, ordinal, tool, at } = call
    line(
      'plain',
      `  ${addressText(at)}  ${tool}, call ${ordinal} of ${conversation}, ${turnText(numberOf, call)}, round ${round}`,
    )
  }
  if (!full && denied.length > shownMax)
    line('plain', `  … and ${denied.length - shownMax} more (--full)`)
}

export function decisionText(decision: Decision | null): string {
  if (decision === null) return 'go on'
  const { action, rule, reason } = decision
  return `${actionTexts[action]} by ${rule}: ${reason}`
}

const actionTexts: Record<Decision['action'], string> = {
  nudge: 'a nudge',
  deny: 'a denial',
  ask: 'a wait for approval',
  text_only: 'one more request, for text only',
  end: 'the end of the turn',
}

function effectText({ roundsSaved, tokensSaved, roundsLater }: Change): string {
  if (roundsLater > 0)
    return `; milder, so Weir steps in later by at least ${count(roundsLater, 'round')}, at an unknown cost`
  return roundsSaved === 0
    ? ''
    : `; saves at most ${count(roundsSaved, 'round')}, ${count(tokensSaved, 'token')} in that turn`
}

/**
 * The output of `weir replay --set … --json`. Savings cover only the turn of each change.
 * Fields are added, and none changes its meaning.
 */
export function whatIfJson({
  asked,
  conversations,
  changes,
  numberOf,
  unrecorded,
}: WhatIfPage): string {
  const { roundsSaved, tokensSaved, milder, roundsLater, denied, approvals } = totalsOf(changes)
  const numbered = <T extends TurnId>(one: T) => ({ ...one, turnNumber: numberOf(one) ?? null })
  const totals = {
    conversations,
    touched: changes.length,
    roundsSavedAtMost: roundsSaved,
    tokensSavedAtMost: tokensSaved,
    milder,
    roundsLaterAtLeast: roundsLater,
    falseAlarms: denied.map(numbered),
    approvals,
    unrecorded,
  }
  return printableJson({
    asked,
    totals,
    changes: changes.map(({ denied: _, ...change }) => numbered(change)),
  })
}
