// The bars of a lane. Their number depends on the pixels, not on the rounds and turns: spans on one
// pixel become one bar.

import { type Child, html } from '../../../page/kit/html.ts'
import { elapsed } from '../../../terminal/text/quantities.ts'
import { type Piece, xOf } from './axis.ts'
import { barHeight } from './layout.ts'
import type { Lane, Span } from './spans.ts'

/** `filled`: the sum of the widths of its spans. */
type Bar = {
  x: number
  width: number
  filled: number
  tone: Span['tone']
  lane: Lane
  label: string
  spans: number
}

const widthMin = 1.5

/** The bars of one lane, for all turns. `middle`: the y position of the lane. */
export function barsOf(spans: Span[], pieces: Piece[], middle: number): Child[] {
  return merged(spans, pieces).map((bar) => barView(bar, middle - barHeight / 2))
}

function merged(spans: Span[], pieces: Piece[]): Bar[] {
  const bars: Bar[] = []
  for (const { from, to, tone, lane, label } of spans.toSorted((a, b) => a.from - b.from)) {
    const x = xOf(pieces, from)
    const exact = xOf(pieces, to) - x
    const width = Math.max(widthMin, exact)
    const last = bars.at(-1)
    if (
      last !== undefined &&
      last.tone === tone &&
      x <= last.x + last.width + 0.5 &&
      (width <= 3 || last.width <= 3 || last.spans > 1)
    ) {
      last.width = Math.max(last.width, x + width - last.x)
      last.filled += exact
      last.spans += 1
    } else {
      const text = `${label}, ${elapsed(Math.max(0, to - from))}`
      bars.push({ x, width, filled: exact, tone, lane, label: text, spans: 1 })
    }
  }
  return bars
}

/** In a bar of many spans, the depth of the colour shows their share of the time. */
function barView({ x, width, filled, tone, lane, label, spans }: Bar, y: number): Child {
  const opacity = spans === 1 ? undefined : Math.min(1, 0.3 + (0.7 * filled) / width).toFixed(2)
  return html`<rect
    class=${`span ${lane} ${tone}`} x=${x} y=${y} width=${width} height=${barHeight}
    rx=${Math.min(2.5, width / 2)} opacity=${opacity}
  >
    <title>${spans === 1 ? label : `${spans} times ${lane}`}</title>
  </rect>`
}
