// The help of the page: keys and marks.

import { type Child, html } from '../../../page/kit/html.ts'
import { closeButton, dialog, pairs } from '../../../page/kit/parts.ts'
import { lanes } from '../axis/spans.ts'
import { icon } from './icons.ts'
import { legend } from './tones.ts'

const keys = [
  ['j, k', 'the next row, the one before'],
  ['Enter', 'opens and closes it'],
  ['n, p', 'the next intervention or failure, the one before'],
  ['/', 'search'],
  ['Escape', 'closes open rows, ends the search'],
  ['?', 'this help'],
] as const

const roundsWords =
  'side by side, red where something failed or was stopped; a loop is folded into one block, as wide as it lasted'

const laneWords = {
  model: 'from a request to its answer',
  checks: 'reading, checking and judging an answer',
  guards: 'guards that calls waited for; hollow: only watched',
  tools: 'tools at work',
  waits: 'for a person, another attempt, another turn, or in a call that only waits',
}

export function helpDialog(onClose: () => void): Child {
  return dialog(
    { kind: '', title: 'How to read this', onClose, head: closeButton() },
    html`<p>
        An agent works in rounds. Each round sends a request to the model, which answers with text or
        with tool calls. Weir checks and runs the calls, and the next round begins. This is the log
        of Weir.
      </p>
      <h3>Keys</h3>
      ${pairs(keys.map(([key, action]) => [html`<kbd>${key}</kbd>`, action]))}
      <h3>Lanes of time</h3>
      ${pairs([
        ['rounds', roundsWords],
        ...lanes.map(
          (lane) =>
            [html`<span class=${`swatch ${lane}`}></span>${lane}`, laneWords[lane]] as const,
        ),
      ])}
      <p>
        A zigzag line: the scale is broken here. The text above, in amber, shows the length of the
        gap.
      </p>
      <h3>Marks</h3>
      <ul class="legend">${legend.map((mark) => html`<li>${icon(mark, false)}${mark.word}</li>`)}</ul>`,
  )
}
