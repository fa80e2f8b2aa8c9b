// `--sweep` tries one threshold at several values, and prints a table with bars: the savings at
// most, and the good calls lost.

import { painted } from '../terminal/paint.ts'
import { printableJson } from '../terminal/text/printable.ts'
import { count } from '../terminal/text/quantities.ts'
import {
  cellsOf,
  headsOf,
  isUnknown,
  notesOf,
  type SweepPage,
  type SweepRow,
} from './sweep-table.ts'
import { type Change, totalsOf } from './what-if/change.ts'
import type { Sweep } from './what-if/policy-flags.ts'

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
      denied,
    } = totalsOf(changes[index] ?? [])
    const falseAlarms = denied.length
    return { value, touched, roundsSaved, tokensSaved, milder, roundsLater, falseAlarms }
  })
  return { key, conversations, rows }
}

const barMax = 30

export function printSweep({ key, conversations, rows }: SweepPage, out: NodeJS.WriteStream): void {
  const heads = headsOf(key)
  const cells = rows.map(cellsOf)
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
  out.write(`\n${notesOf({ key, conversations, rows }).join('\n')}\n`)
}

function bar(value: number, most: number): string {
  const eighths = Math.round((value / most) * barMax * 8)
  return `${'█'.repeat(Math.floor(eighths / 8))}${['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'][eighths % 8]}`
}

export function sweepJson(page: SweepPage): string {
  return printableJson(page)
}
