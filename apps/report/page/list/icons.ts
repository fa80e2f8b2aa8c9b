// The marks as small drawings. They look the same in every font and theme, and on paper.

import { type Child, html } from '../../../page/kit/html.ts'
import type { Mark, MarkName } from './tones.ts'

/** In a box of 16 by 16; lines, no areas. */
const drawings: Record<MarkName, string> = {
  check: 'M3.5 8.5 6.5 11.5 12.5 4.5',
  barred: 'M8 2.5a5.5 5.5 0 1 0 0 11a5.5 5.5 0 1 0 0-11M4.2 11.8 11.8 4.2',
  shield: 'M8 2.2 13 4v4c0 3-2.2 5-5 6c-2.800-1-5-3-5-6V4ZM6 6l4 4M10 6l-4 4',
  cross: 'M4 4 12 12M12 4 4 12',
  clock: 'M8 2.500a5.5 5.5 0 1 0 0 11a5.5 5.5 0 1 0 0-11M8 5v3.200l2 1.500',
  dash: 'M3.500 8h9',
  question: 'M5.500 6a2.500 2.500 0 1 1 3.600 2.200c-.8.4-1.100.8-1.100 1.600M8 12.300v.2',
  speech: 'M3 4.500h10M3 8h10M3 11.500h6',
  hollow:
    'M8 2.500a5.500 5.500 0 0 1 2.700.7M13 6a5.500 5.500 0 0 1 0 4M10.700 12.800a5.500 5.500 0 0 1-5.400 0M3 10a5.500 5.500 0 0 1 0-4M5.300 3.200a5.500 5.500 0 0 1 2.700-.7',
  alarm: 'M8 2.500 14 13H2ZM8 6.500v3M8 11.200v.2',
  dots: 'M3.500 8h.2M8 8h.2M12.300 8h.2',
  hourglass: 'M4 2.500h8M4 13.500h8M5 2.500c0 3 6 8 6 11M11 2.500c0 3-6 8-6 11',
  hand: 'M3 13.500V3M3 3.500h9l-2.500 2.700L12 9H3',
}

/** `named`: adds its word for screen readers. */
export function icon({ name, tone, word }: Mark, named = true): Child {
  return html`<span
    class=${`mark ${tone}`} title=${word} role=${named ? 'img' : undefined} aria-label=${named ? word : undefined}
  >
    <svg viewBox="0 0 16 16" aria-hidden="true" class="icon"><path d=${drawings[name]} /></svg>
  </span>`
}
