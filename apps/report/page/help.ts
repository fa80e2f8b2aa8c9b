// The help of the page: keys and marks.

import { element } from './element.ts'
import { icon } from './icons.ts'
import { lanes } from './spans.ts'
import { legend } from './tones.ts'

const keys: [string, string][] = [
  ['j, k', 'the next row, the one before'],
  ['Enter', 'opens and closes it'],
  ['n, p', 'the next intervention or failure, the one before'],
  ['/', 'search'],
  ['Escape', 'closes open rows, ends the search'],
  ['?', 'this help'],
]

const laneWords = {
  model: 'from a request to its answer',
  checks: 'reading, checking and judging an answer',
  guards: 'guards that calls waited for; hollow: only watched',
  tools: 'tools at work',
  waits: 'for a person, another attempt, another turn',
}

export function helpDialog(): HTMLDialogElement {
  const close = element(
    'button',
    { type: 'button', class: 'quiet', 'aria-label': 'Close' },
    'Close',
  )
  const dialog = element(
    'dialog',
    { class: 'help', 'aria-labelledby': 'help-title' },
    element('header', {}, element('h2', { id: 'help-title' }, 'How to read this'), close),
    element(
      'p',
      {},
      'An agent works in rounds. Each round sends a request to the model, which answers with text or with tool calls. Weir checks and runs the calls, and the next round begins. This is the log of Weir.',
    ),
    element('h3', {}, 'Keys'),
    element(
      'dl',
      { class: 'pairs' },
      keys.map(([key, action]) => [
        element('dt', {}, element('kbd', {}, key)),
        element('dd', {}, action),
      ]),
    ),
    element('h3', {}, 'Lanes of time'),
    element(
      'dl',
      { class: 'pairs' },
      element('dt', {}, 'rounds'),
      element(
        'dd',
        {},
        'one beside the other, red where something failed or was stopped; a loop is folded into one block, as wide as it lasted',
      ),
      lanes.map((lane) => [
        element('dt', {}, element('span', { class: `swatch ${lane}` }), lane),
        element('dd', {}, laneWords[lane]),
      ]),
    ),
    element(
      'p',
      {},
      'A zigzag line: the scale is broken here. The text above, in amber, shows the length of the gap.',
    ),
    element('h3', {}, 'Marks'),
    element(
      'ul',
      { class: 'legend' },
      legend.map((mark) => element('li', {}, icon(mark, false), mark.word)),
    ),
  )
  close.addEventListener('click', () => dialog.close())
  return dialog
}
