// The help of the page: its keys and its marks.

import { element } from './element.ts'
import { icon } from './icons.ts'
import { lanes } from './spans.ts'
import { legend } from './tones.ts'

const keys: [string, string][] = [
  ['j, k', 'the next row, the one before'],
  ['Enter', 'opens and closes it'],
  ['n, p', 'the next intervention or failure, the one before'],
  ['/', 'search'],
  ['Escape', 'closes what is open, ends the search'],
  ['?', 'this'],
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
      'An agent works in rounds: the model is asked, it answers with text or with calls of tools, the calls are checked and run, and it is asked again. Weir stands in between, and this is its log.',
    ),
    element('h3', {}, 'Keys'),
    element(
      'dl',
      { class: 'pairs' },
      keys.map(([key, what]) => [
        element('dt', {}, element('kbd', {}, key)),
        element('dd', {}, what),
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
      'A zigzag line: here the scale is broken. What is left out stands above it, in amber.',
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
