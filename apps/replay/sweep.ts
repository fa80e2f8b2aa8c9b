// `--sweep` tries one threshold at several values, and prints a table with bars: the savings at
// most, and the good calls lost.

import { painted } from '../terminal/paint.ts'
import { printableJson } from '../terminal/text/printable.ts'
import { count } from '../terminal/text/quantities.ts'
import { type Change, totalsOf } from './what-if/change.ts'
import type { Sweep } from './what-if/policy-flags.ts'

/**
 * Savings cover only one turn of each conversation, the one with its first changed decision
 * (WHAT-IF-CHANGE-1 of what-if/change.ts).
 */
export type SweepRow = {
  value: number
  touched: number
  roundsSaved: number
  tokensSaved: number
  /** Conversations with a milder decision. Their cost is then unknown. */
  milder: number
  /** The rounds by which Weir steps in later there, at least. */
  roundsLater: number
  falseAlarms: number
}

export type SweepPage = { key: string; conversations: number; rows: SweepRow[] }

export function sweepPage(
  { key, values }: Sweep,
  { changes, conversations }: { changes: Change[][]; conversations: number },
): SweepPage {
  const rows = values.map((value, index): SweepRow => {
    const {
      conversations: touched,
      roundsSaved,
      tokensSaved,
      milder,
      roundsLater,
      refused,
    } = totalsOf(changes[index] ?? [])
    const falseAlarms = refused.length
    return { value, touched, roundsSaved, tokensSaved, milder, roundsLater, falseAlarms }
  })
  return { key, conversations, rows }
}

const barMax = 30

export function printSweep({ key, conversations, rows }: SweepPage, out: NodeJS.WriteStream): void {
  const heads = [
    key,
    'conversations',
    'rounds saved',
    'tokens saved',
    'rounds later',
    'false alarms',
  ]
  const cells = rows.map((row) =>
    [
      ...[row.value, row.touched, saved(row, row.roundsSaved), saved(row, row.tokensSaved)],
      ...[row.milder === 0 ? 0 : `≥ ${row.roundsLater}`, row.falseAlarms],
    ].map(String),
  )
  const widths = heads.map((head, column) =>
    Math.max(head.length, ...cells.map((row) => row[column]?.length ?? 0)),
  )
  const text = (row: string[]) =>
    row.map((cell, column) => cell.padStart(widths[column] ?? 0)).join('  ')
  out.write(
    `${painted(out, 'title', text(heads))}\n${cells.map((row) => `${text(row)}\n`).join('')}\n`,
  )
  const most = Math.max(
    1,
    ...rows.flatMap(({ roundsSaved, falseAlarms }) => [roundsSaved, falseAlarms]),
  )
  for (const row of rows) {
    const { value, roundsSaved, roundsLater, falseAlarms } = row
    const text = isUnknown(row)
      ? `unknown, at least ${count(roundsLater, 'round')} later`
      : count(roundsSaved, 'round')
    out.write(
      `${`${value}`.padStart(6)}  ${painted(out, 'good', bar(roundsSaved, most))} ${text}\n`,
    )
    out.write(
      `        ${painted(out, 'bad', bar(falseAlarms, most))} ${count(falseAlarms, 'false alarm')}\n`,
    )
  }
  out.write(
    `\nof ${count(conversations, 'conversation')}; savings are upper limits, ` +
      "and only of the turn of a conversation's first changed decision: later turns are unknown\n",
  )
  if (rows.some(({ milder }) => milder > 0))
    out.write(
      'rounds later: a milder value lets that many rounds more run at least; what they would cost is unknown\n',
    )
}

function saved(row: SweepRow, amount: number): string {
  return isUnknown(row) ? 'unknown' : `≤ ${amount}`
}

/** All changed decisions are milder: nothing is saved, and the cost is unknown. */
export function isUnknown({ touched, milder }: SweepRow): boolean {
  return milder > 0 && milder === touched
}

function bar(value: number, most: number): string {
  const eighths = Math.round((value / most) * barMax * 8)
  return `${'█'.repeat(Math.floor(eighths / 8))}${['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'][eighths % 8]}`
}

export function sweepJson(page: SweepPage): string {
  return printableJson(page)
}
