// The table of a sweep, for a terminal and for the page of the plot. Pure.

import { count } from '../terminal/text/quantities.ts'
import type { Totals } from './what-if/change.ts'

/**
 * Savings cover only one turn of each conversation, the turn with its first changed decision
 * (what-if/change.ts).
 */
export type SweepRow = Pick<Totals, 'roundsSaved' | 'tokensSaved' | 'milder' | 'roundsLater'> & {
  value: number
  touched: number
  falseAlarms: number
}

export type SweepPage = { key: string; conversations: number; rows: SweepRow[] }

export function headsOf(key: string): string[] {
  return [key, 'conversations', 'rounds saved', 'tokens saved', 'rounds later', 'false alarms']
}

export function cellsOf(row: SweepRow): string[] {
  const { value, touched, roundsSaved, tokensSaved, milder, roundsLater, falseAlarms } = row
  const saved = (amount: number) => (isUnknown(row) ? 'unknown' : `≤ ${amount}`)
  const later = milder === 0 ? '0' : `≥ ${roundsLater}`
  return [`${value}`, `${touched}`, saved(roundsSaved), saved(tokensSaved), later, `${falseAlarms}`]
}

/** All changed decisions are milder: nothing is saved, and the cost is unknown. */
export function isUnknown({ touched, milder }: SweepRow): boolean {
  return milder > 0 && milder === touched
}

export function notesOf({ conversations, rows }: SweepPage): string[] {
  return [
    `of ${count(conversations, 'conversation')}; savings are upper limits, and only of the turn of a conversation's first changed decision: later turns are unknown`,
    ...(rows.some(({ milder }) => milder > 0)
      ? [
          'rounds later: a milder value lets that many rounds more run at least; what they would cost is unknown',
        ]
      : []),
  ]
}
