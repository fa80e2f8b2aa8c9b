// Dead letters: the records that no stage could process, each with its reason, its record, and a retry
// behind a confirmation.

import type { ListedLetter, ShownLetter } from '../../../history/dead-letters/list.ts'
import { conversationLink, counted, span } from './ago.ts'
import type { DeadLetters } from './dead-letters.ts'
import { html } from './html.ts'

export function deadLettersView(letters: DeadLetters, now: number) {
  const { list, problem, isConfirming } = letters
  const fault = problem !== null && html`<p class="bad" role="alert">${problem}</p>`
  if (list === undefined)
    return html`<main>${fault || html`<p class="faint">Reading the dead letters.</p>`}</main>`
  const hidden = list.total - list.letters.length
  return html`<main class="letters">
    <h1 class="title">${list.total === 0 ? 'No dead letter' : counted(list.total, 'dead letter')}</h1>
    <p class="faint">
      A dead letter is a record that a stage could not process. Once its cause is fixed, you can write
      a record from outside again.
    </p>
    ${fault}
    <div class="waiting" role="list" aria-label="Dead letters">
      ${list.letters.map((one) => card(one, letters, now))}
    </div>
    ${hidden > 0 && html`<p class="warning">${counted(hidden, 'older dead letter')} not shown: weir dead-letters list prints all of them.</p>`}
    ${isConfirming && confirmation(letters)}
  </main>`
}

function card(letter: ListedLetter, letters: DeadLetters, now: number) {
  const { place, at, conversation, origin, stage, code, reason, bytes } = letter
  const isOpen = letters.place === place
  const title = `letter-${place}`
  const note = letters.notes.get(place)
  return html`<article class="card letter" role="listitem" key=${place} data-letter=${place} aria-labelledby=${title}>
    <header>
      <h2 id=${title}><code>${code}</code></h2>
      <span class="faint">dead letter ${place}, by ${stage}</span>
      <span class="faint deadline">${span(now - Date.parse(at))} ago</span>
    </header>
    <p class="reason">${reason}</p>
    <p class="where faint">
      <a href=${conversationLink(conversation)}>${conversation}</a>
      <span>${origin.topic}/${origin.partition}/${origin.offset}</span>
      <span>${counted(bytes, 'byte')}</span>
    </p>
    <button type="button" data-place=${place} aria-expanded=${isOpen ? 'true' : 'false'} onClick=${() => letters.toggle(place)}>
      ${isOpen ? 'Hide the record' : 'Show the record'}
    </button>
    ${isOpen && letters.open !== undefined && record(letters.open, letters)}
    ${note !== undefined && html`<p class="warning" role="status">${note}</p>`}
  </article>`
}

function record({ place, message, base64, retry }: ShownLetter, letters: DeadLetters) {
  return html`<div class="letter-record">
    <h3>${message === null ? 'Its first bytes, in base64' : 'The record'}</h3>
    <pre class="quote" tabindex="0" dir="ltr" aria-label="Record">${message === null ? (base64 ?? '') : JSON.stringify(message, null, 2)}</pre>
    ${
      retry === null
        ? html`<p><button type="button" class="reject" onClick=${() => letters.confirm(true)}>Retry…</button></p>`
        : html`<p class="warning">You cannot write it again: ${retry}</p>`
    }
    <p class="faint">In a terminal: <code>weir dead-letters ${retry === null ? 'retry' : 'show'} ${place}</code></p>
  </div>`
}

function confirmation(letters: DeadLetters) {
  const { place, isBusy } = letters
  return html`<dialog
    class="help stop" aria-labelledby="retry-title" onClose=${() => letters.confirm(false)}
    ref=${(node: HTMLDialogElement | null) => {
      if (node !== null && !node.open) node.showModal()
    }}
  >
    <header><h2 id="retry-title">Write the record of ${place} again?</h2></header>
    <p>A stage processes it as a new record. A record that was already written again stays as it is.</p>
    <div class="choice">
      <button type="button" class="reject" disabled=${isBusy} onClick=${() => letters.retry()}>Write it again</button>
    </div>
    <form method="dialog"><button class="quiet" autofocus>Close</button></form>
  </dialog>`
}
