// `--sweep … -o FILE` draws two labelled lines over the values as SVG, in colours for light and
// dark backgrounds.
// SWEEP-PLOT-1. No label covers another one, a value of the axis or the legend, if the values leave
//     enough room.

import { count } from '../terminal/text/quantities.ts'
import { isUnknown, type SweepPage, type SweepRow } from './sweep.ts'

const size = { width: 640, height: 376, left: 64, right: 40, top: 64, bottom: 56 }
const base = size.height - size.bottom

/**
 * The distance of a label's foot from its point (above, below, beside) and from the foot of the
 * label below.
 */
const over = 8
const under = 18
const beside = 6
const lineHeight = 13
/** Nearer points leave no room for a label between them. */
const apart = 24

/** `text`: the label of a point; default: its number. */
type Line = {
  name: string
  colour: string
  dash: string
  of: (row: SweepRow) => number
  text?: (row: SweepRow) => string
}

const saved: Line = {
  name: 'rounds saved in that turn, at most',
  colour: '#2e8b57',
  dash: '',
  of: (row) => row.roundsSaved,
  text: (row) => (isUnknown(row) ? '?' : `${row.roundsSaved}`),
}
const refused: Line = {
  name: 'good calls refused',
  colour: '#d9534f',
  dash: ' stroke-dasharray="6 4"',
  of: (row) => row.falseAlarms,
}

export function sweepSvg({ key, conversations, rows }: SweepPage): string {
  const most = Math.max(
    1,
    ...rows.flatMap(({ roundsSaved, falseAlarms }) => [roundsSaved, falseAlarms]),
  )
  const [first = 0, last = 1] = [rows[0]?.value, rows.at(-1)?.value]
  const x = (value: number) =>
    size.left +
    ((value - first) / Math.max(1, last - first)) * (size.width - size.left - size.right)
  const y = (value: number) => base - (value / most) * (base - size.top)
  const lines = [saved, refused].map(({ name, colour, dash, of }, index) => {
    const points = rows.map((row) => `${round(x(row.value))},${round(y(of(row)))}`)
    const dots = rows.map(
      (row) =>
        `<circle cx="${round(x(row.value))}" cy="${round(y(of(row)))}" r="3.5" fill="${colour}"/>`,
    )
    const legend = `<text x="${size.left + index * 280}" y="28" fill="${colour}">${name}</text>`
    return [
      `<polyline fill="none" stroke="${colour}" stroke-width="2"${dash} points="${points.join(' ')}"/>`,
      ...dots,
      legend,
    ].join('\n')
  })
  const labels = rows.flatMap((row) => labelsOf(row, { x: x(row.value), y }))
  const ticks = rows.map(
    (row) =>
      `<text x="${round(x(row.value))}" y="${base + 22}" text-anchor="middle">${row.value}</text>`,
  )
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${size.width} ${size.height}" font-family="system-ui, sans-serif" font-size="13" fill="#7a7a7a">
<title>${key}: what each value would have saved at most in the turn of the first changed decision, and the good calls that it would have refused, of ${count(conversations, 'conversation')}</title>
<path d="M${size.left} ${base}H${size.width - size.right}" stroke="#7a7a7a"/>
${ticks.join('\n')}
<text x="${(size.left + size.width - size.right) / 2}" y="${size.height - 12}" text-anchor="middle">${key}</text>
${lines.join('\n')}
${labels.join('\n')}
</svg>
`
}

/**
 * The higher label goes above its point, the lower one below. If that would reach the axis, it goes
 * above as well, clear of the other one.
 */
function labelsOf(row: SweepRow, { x, y }: { x: number; y: (value: number) => number }): string[] {
  const [high, low] = refused.of(row) > saved.of(row) ? [refused, saved] : [saved, refused]
  const [highAt, lowAt] = [y(high.of(row)), y(low.of(row))]
  if (lowAt + under < base)
    return [label(high, row, { x, y: highAt - over }), label(low, row, { x, y: lowAt + under })]
  const isBetween = highAt < lowAt && lowAt - highAt < apart
  return [
    label(high, row, { x, y: Math.min(highAt, lowAt - lineHeight) - over }),
    isBetween
      ? label(low, row, { x: x + beside, y: lowAt - over, anchor: 'start' })
      : label(low, row, { x, y: lowAt - over }),
  ]
}

function label(
  { colour, of, text }: Line,
  row: SweepRow,
  { x, y, anchor = 'middle' }: { x: number; y: number; anchor?: string },
): string {
  return `<text x="${round(x)}" y="${round(y)}" text-anchor="${anchor}" fill="${colour}">${text?.(row) ?? of(row)}</text>`
}

function round(value: number): number {
  return Math.round(value * 10) / 10
}
