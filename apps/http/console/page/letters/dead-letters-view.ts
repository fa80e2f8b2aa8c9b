// Dead letters: the records that no stage could process, each with its reason, its record, and a retry
// after a confirmation.
// Here: the page only. Not here: reading and retrying letters (apps/history/dead-letters).

import type { ListedLetter, ShownLetter } from '../../../../history/dead-letters/list.ts'
import { html } from '../../../../page/kit/html.ts'
import { alert, card, cards, readingPage, status } from '../../../../page/kit/parts.ts'
import { count, wholeDuration } from '../../../../terminal/text/quantities.ts'
import { linkTo } from '../parts/ago.ts'
import type { Confirmations } from '../parts/confirmation.ts'
import type { DeadLetters } from './dead-letters.ts'

export type LettersContext = { now: number; confirmations: Confirmations }

export function deadLettersView(letters: DeadLetters, context: LettersContext) {
  const { list, problem } = letters
  if (list === undefined && problem === null)
    return readingPage('Dead letters', 'Reading the dead letters.')
  if (list === undefined)
    return html`<main><h1 class="title">Dead letters</h1>${alert(problem)}</main>`
  const hidden = list.total - list.letters.length
  return html`<main class="letters">
    <h1 class="title">${list.total === 0 ? 'No dead letter' : count(list.total, 'dead letter')}</h1>
    <p class="faint">
      A dead letter is a record that a stage could not process. Once its cause is fixed, you can write
      a record from outside again.
    </p>
    ${alert(problem)}
    ${cards(
      'Dead letters',
      list.letters.map((one) => letterCard(one, letters, context)),
    )}
    ${hidden > 0 && html`<p class="warning">${count(hidden, 'older dead letter')} not shown: weir dead-letters list prints all of them.</p>`}
  </main>`
}

function letterCard(letter: ListedLetter, letters: DeadLetters, context: LettersContext) {
  const { place, at, conversation, origin, stage, code, reason, bytes } = letter
  const isOpen = letters.place === place
  return card(
    {
      kind: 'letter',
      id: place,
      name: code,
      head: html`<span class="faint">dead letter ${place}, by ${stage}</span>
        <span class="faint deadline">${wholeDuration(context.now - Date.parse(at))} ago</span>`,
    },
    html`<p class="reason">${reason}</p>
      <p class="where faint">
        ${linkTo(conversation)}
        <span>${origin.topic}/${origin.partition}/${origin.offset}</span>
        <span>${count(bytes, 'byte')}</span>
      </p>
      <button type="button" data-place=${place} aria-expanded=${isOpen ? 'true' : 'false'} onClick=${() => letters.toggle(place)}>
        ${isOpen ? 'Hide the record' : 'Show the record'}
      </button>
      ${isOpen && letters.open !== undefined && record(letters.open, letters, context)}
      ${status(letters.notes.get(place))}`,
  )
}

function record(
  { place, message, base64, retry }: ShownLetter,
  letters: DeadLetters,
  { confirmations }: LettersContext,
) {
  const confirm = () =>
    confirmations.open({
      title: `Write the record of ${place} again?`,
      text: 'A stage processes it as a new record. A record that was already written again stays as it is.',
      fields: [],
      label: 'Write it again',
      command: () => `weir dead-letters retry ${place}`,
      path: 'retry-dead-letter',
      body: () => ({ place }),
      done: (_, answer) => letters.onRetried(place, answer),
    })
  return html`<div class="letter-record">
    <h3>${message === null ? 'Its first bytes, in base64' : 'The record'}</h3>
    <pre class="quote" tabindex="0" dir="ltr" aria-label="Record">${message === null ? (base64 ?? '') : JSON.stringify(message, null, 2)}</pre>
    ${
      retry === null
        ? html`<p><button type="button" class="danger" onClick=${confirm}>Retry…</button></p>`
        : html`<p class="warning">You cannot write it again: ${retry}</p>`
    }
    <p class="faint">In a terminal: <code>weir dead-letters ${retry === null ? 'retry' : 'show'} ${place}</code></p>
  </div>`
}
