// `--sweep`: one threshold at several values, as a table and a plot: what each would have saved at most, and the good calls that it would have cost.

import { painted } from '../terminal/paint.ts'
import { printableJson } from '../terminal/printable.ts'
import { count } from '../terminal/quantities.ts'
import type { Sweep } from './what-if/asked.ts'
import type { Change } from './what-if/change.ts'
import { totalsOf } from './what-if/change.ts'

export type SweepRow = { value: number; touched: number; roundsSaved: number; tokensSaved: number; falseAlarms: number }

export type SweepPage = { key: string; conversations: number; rows: SweepRow[] }

export function sweepPage({ key, values }: Sweep, { changes, conversations }: { changes: Change[][]; conversations: number }): SweepPage {
  const rows = values.map((value, index): SweepRow => {
    const { conversations: touched, roundsSaved, tokensSaved, refused } = totalsOf(changes[index] ?? [])
    return { value, touched, roundsSaved, tokensSaved, falseAlarms: refused.length }
  })
  return { key, conversations, rows }
}

const barMax = 30

export function printSweep({ key, conversations, rows }: SweepPage, out: NodeJS.WriteStream): void {
  const heads = [key, 'conversations', 'rounds saved', 'tokens saved', 'false alarms']
  const cells = rows.map(({ value, touched, roundsSaved, tokensSaved, falseAlarms }) =>
    [value, touched, `≤ ${roundsSaved}`, `≤ ${tokensSaved}`, falseAlarms].map(String),
  )
  const widths = heads.map((head, column) => Math.max(head.length, ...cells.map((row) => row[column]?.length ?? 0)))
  const text = (row: string[]) => row.map((cell, column) => cell.padStart(widths[column] ?? 0)).join('  ')
  out.write(`${painted(out, 'title', text(heads))}\n${cells.map((row) => `${text(row)}\n`).join('')}\n`)
  const most = Math.max(1, ...rows.flatMap(({ roundsSaved, falseAlarms }) => [roundsSaved, falseAlarms]))
  for (const { value, roundsSaved, falseAlarms } of rows) {
    out.write(`${`${value}`.padStart(6)}  ${painted(out, 'good', bar(roundsSaved, most))} ${roundsSaved} rounds\n`)
    out.write(`        ${painted(out, 'bad', bar(falseAlarms, most))} ${falseAlarms} false alarms\n`)
  }
  out.write(
    `\nof ${count(conversations, 'conversation')}; rounds and tokens are saved at most: after the first changed decision nothing is known\n`,
  )
}

function bar(value: number, most: number): string {
  const eighths = Math.round((value / most) * barMax * 8)
  return `${'█'.repeat(Math.floor(eighths / 8))}${['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'][eighths % 8]}`
}

export function sweepJson(page: SweepPage): string {
  return printableJson(page)
}

const size = { width: 640, height: 360, left: 64, right: 24, top: 48, bottom: 56 }

/** Two lines over the values, with a label at each point. Colours that read on light and on dark. */
export function sweepSvg({ key, conversations, rows }: SweepPage): string {
  const most = Math.max(1, ...rows.flatMap(({ roundsSaved, falseAlarms }) => [roundsSaved, falseAlarms]))
  const [first = 0, last = 1] = [rows[0]?.value, rows.at(-1)?.value]
  const x = (value: number) => size.left + ((value - first) / Math.max(1, last - first)) * (size.width - size.left - size.right)
  const y = (value: number) => size.height - size.bottom - (value / most) * (size.height - size.top - size.bottom)
  const series = [
    { name: 'rounds saved, at most', colour: '#2e8b57', dash: '', of: (row: SweepRow) => row.roundsSaved, lift: -8 },
    { name: 'good calls refused', colour: '#d9534f', dash: ' stroke-dasharray="6 4"', of: (row: SweepRow) => row.falseAlarms, lift: 18 },
  ]
  const lines = series.map(({ name, colour, dash, of, lift }, index) => {
    const points = rows.map((row) => `${round(x(row.value))},${round(y(of(row)))}`)
    const labels = rows.map(
      (row) => `<text x="${round(x(row.value))}" y="${round(y(of(row)) + lift)}" text-anchor="middle" fill="${colour}">${of(row)}</text>`,
    )
    const dots = rows.map((row) => `<circle cx="${round(x(row.value))}" cy="${round(y(of(row)))}" r="3.5" fill="${colour}"/>`)
    const legend = `<text x="${size.left + index * 220}" y="28" fill="${colour}">${name}</text>`
    return [
      `<polyline fill="none" stroke="${colour}" stroke-width="2"${dash} points="${points.join(' ')}"/>`,
      ...dots,
      ...labels,
      legend,
    ].join('\n')
  })
  const ticks = rows.map(
    (row) => `<text x="${round(x(row.value))}" y="${size.height - size.bottom + 22}" text-anchor="middle">${row.value}</text>`,
  )
  const base = size.height - size.bottom
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${size.width} ${size.height}" font-family="system-ui, sans-serif" font-size="13" fill="#7a7a7a">
<title>${key}: what each value would have saved at most, and the good calls that it would have refused, of ${count(conversations, 'conversation')}</title>
<path d="M${size.left} ${base}H${size.width - size.right}" stroke="#7a7a7a"/>
${ticks.join('\n')}
<text x="${(size.left + size.width - size.right) / 2}" y="${size.height - 12}" text-anchor="middle">${key}</text>
${lines.join('\n')}
</svg>
`
}

function round(value: number): number {
  return Math.round(value * 10) / 10
}
