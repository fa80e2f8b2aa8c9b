// Approvals: each waiting call with its exact arguments, its deadline, and the difference to the last
// approved call of its tool. The keys act on the call that has the focus, and on no other.

import { memberLine } from '../../../report/page/call-details.ts'
import { fill } from '../../../report/page/element.ts'
import { argumentDiff } from '../../../report/page/member-diff.ts'
import { conversationLink, counted, number, personName, span } from './ago.ts'
import type { ConsoleState, Decision, QuestionField, WaitingCall } from './console-state.ts'
import { html } from './html.ts'

/** `text`: the values of an answer as JSON, or the reason of a rejection. */
export type Decide = (call: WaitingCall, answer: 'approve' | 'reject', text: string) => void

/** `busy`: ids whose decision is on its way. `notes`: the answers of the server, by id. */
export type InboxContext = {
  now: number
  busy: ReadonlySet<string>
  notes: ReadonlyMap<string, string>
  decide: Decide
}

export function inboxView({ inbox, health }: ConsoleState, context: InboxContext) {
  const others = health.viewers - 1
  const { waiting, more, decided } = inbox
  const open = waiting.length + more
  return html`<main class="inbox">
    <h1 class="title">
      ${open === 0 ? 'No call waits for a person' : `${counted(open, 'call')} ${open === 1 ? 'waits' : 'wait'} for a person`}
    </h1>
    ${
      open > 0 &&
      html`<p class="faint keys">
        <kbd>j</kbd> <kbd>k</kbd> next, previous · <kbd>a</kbd> approve · <kbd>r</kbd> reject with a
        reason
      </p>`
    }
    ${
      open > 0 &&
      others > 0 &&
      html`<p class="faint viewers">
        ${counted(others, 'other page')} of the console ${others === 1 ? 'is' : 'are'} open: another person
        may decide too.
      </p>`
    }
    ${[...context.notes]
      .filter(([id]) => waiting.every((call) => call.id !== id))
      .map(([id, text]) => html`<p class="warning" role="status" key=${id}>${text}</p>`)}
    <div class="waiting" role="list" aria-label="Waiting calls">
      ${waiting.map((call) => card(call, context))}
    </div>
    ${more > 0 && html`<p class="warning">${counted(more, 'further call')} not shown: weir approvals lists all of them.</p>`}
    <section aria-labelledby="decided">
      <h2 id="decided">Decided lately</h2>
      ${decided.length === 0 && html`<p class="faint">Nothing yet.</p>`}
      ${decided.some(isClaimed) && html`<p class="faint">Nothing proves a name with “(claimed)”.</p>`}
      <ol class="decided">
        ${decided.map((one) => decidedLine(one, context.now))}
      </ol>
    </section>
  </main>`
}

function card(call: WaitingCall, { now, busy, notes, decide }: InboxContext) {
  const left = call.until - now
  const isBusy = busy.has(call.id)
  const note = notes.get(call.id)
  const title = `call-${call.id}`
  return html`<article class="card" role="listitem" tabindex="0" key=${call.id} data-call=${call.id} aria-labelledby=${title}>
    <header>
      <h2 id=${title}><code>${call.tool}</code></h2>
      <span class="faint">${call.rule}</span>
      ${call.isText && html`<span class="warning">written as text by the model</span>`}
      <span class=${left < 300_000 ? 'warning deadline' : 'faint deadline'}>
        waits ${span(now - call.since)} · ${left > 0 ? `${span(left)} left` : 'its time is over'}
      </span>
    </header>
    ${
      call.arguments === null
        ? html`<p class="warning">
            The arguments have ${number(call.bytes)} bytes, too many for this page. weir approvals shows
            them, and weir approve ${call.id} decides.
          </p>`
        : html`<h3>Arguments, exactly <span class="faint">${number(call.bytes)} bytes</span></h3>
            <pre class="quote" tabindex="0" dir="ltr" aria-label="Arguments">${call.arguments}</pre>`
    }
    ${call.question === null && call.arguments !== null && difference(call.arguments, call.approved)}
    ${call.question !== null && questionPart(call.question)}
    <p class="faint where">
      <a href=${conversationLink(call.conversation)}>${call.conversation}</a>
      <span>agent ${call.agent}, round ${number(call.round)}</span>
      ${call.program !== null && call.program !== '' && html`<span>program ${call.program.slice(0, 12)}</span>`}
      <code>weir approve ${call.id}</code>
    </p>
    ${
      call.arguments !== null &&
      html`<form
        onSubmit=${(event: Event) => {
          event.preventDefault()
          decide(call, 'reject', textIn(event.currentTarget, 'reason'))
        }}
      >
        ${
          call.question !== null &&
          call.question.url === null &&
          html`<label class="reason">
            <span class="unseen">Values, as a JSON object</span>
            <textarea name="values" rows="3" autocomplete="off" spellcheck="false">${valuesText(call.question.fields)}</textarea>
          </label>`
        }
        <button
          type="button"
          class="approve"
          disabled=${isBusy}
          onClick=${(event: Event) => decide(call, 'approve', textIn((event.currentTarget as HTMLButtonElement).form, 'values'))}
        >
          ${call.question === null ? 'Approve' : 'Answer'} <kbd>a</kbd>
        </button>
        <label class="reason">
          <span class="unseen">Reason, for the model</span>
          <input name="reason" type="text" maxlength="1000" autocomplete="off" placeholder="Reason, for the model" />
        </label>
        <button type="submit" class="reject" disabled=${isBusy}>Reject <kbd>r</kbd></button>
      </form>`
    }
    ${note !== undefined && html`<p class="warning" role="status">${note}</p>`}
  </article>`
}

function textIn(form: EventTarget | null, name: 'reason' | 'values'): string {
  return form instanceof HTMLFormElement ? String(new FormData(form).get(name) ?? '') : ''
}

/** The address is a text, so nobody follows it by mistake. */
function questionPart({ url, fields }: NonNullable<WaitingCall['question']>) {
  if (url !== null)
    return html`<h3>Open this address, then answer</h3>
      <pre class="quote" tabindex="0" dir="ltr" aria-label="Address">${url}</pre>`
  return html`<h3>Its fields</h3>
    <ul>
      ${fields.map(
        ({ name, type, description, isRequired }) =>
          html`<li><code>${name}</code> ${type}${isRequired ? ', required' : ''} <span class="faint">${description}</span></li>`,
      )}
    </ul>`
}

/** The defaults, which a person completes. */
function valuesText(fields: readonly QuestionField[]): string {
  const values = fields.flatMap((field) =>
    field.default === undefined ? [] : [[field.name, field.default]],
  )
  return JSON.stringify(Object.fromEntries(values))
}

function difference(now: string, before: string | null) {
  if (before === null)
    return html`<p class="faint">No approved call of this tool to compare with.</p>`
  if (before === now)
    return html`<p class="faint">Byte for byte the last approved call of this tool.</p>`
  const key = `${before.length}/${now.length}`
  return html`<div class="difference" key=${key}>
    <h3>Compared with the last approved call</h3>
    <ul
      class="diff"
      ref=${(node: HTMLElement | null) => {
        if (node === null || node.childElementCount > 0) return
        fill(node, argumentDiff(before, now).members.map(memberLine))
      }}
    ></ul>
  </div>`
}

/** Nobody's silence never looks like a person's no: other words, another mark, another colour. */
const outcomes: Record<Decision['outcome'], { mark: string; tone: string; text: string }> = {
  approved: { mark: '✓', tone: 'good', text: 'approved' },
  rejected: { mark: '✕', tone: 'bad', text: 'rejected' },
  expired: { mark: '◷', tone: 'silent', text: 'nobody answered in time' },
  withdrawn: { mark: '–', tone: 'faint', text: 'no longer needed' },
}

function isClaimed({ outcome, identity }: Decision): boolean {
  return identity === 'claimed' && (outcome === 'approved' || outcome === 'rejected')
}

function decidedLine(one: Decision, now: number) {
  const { mark, tone, text } = outcomes[one.outcome]
  const isPerson = one.outcome === 'approved' || one.outcome === 'rejected'
  return html`<li key=${`${one.id}/${one.at}`} data-outcome=${one.outcome}>
    <span class=${`mark ${tone}`} aria-hidden="true">${mark}</span>
    <code>${one.tool}</code>
    <span class=${tone}>${text}</span>
    ${isPerson && html`<span>by ${personName(one.by)}${isClaimed(one) && ' (claimed)'}</span>`}
    ${isPerson && one.reason !== '' && html`<span class="reason">“${one.reason}”</span>`}
    <span class="faint">${span(now - one.at)} ago</span>
    <a class="id" href=${conversationLink(one.conversation)}>${one.conversation}</a>
  </li>`
}

/** Keys of the inbox. True: the key is used. */
export function inboxKey(key: string, calls: readonly WaitingCall[], decide: Decide): boolean {
  const cards = [...document.querySelectorAll<HTMLElement>('[data-call]')]
  const card = document.activeElement?.closest<HTMLElement>('[data-call]') ?? null
  const place = card === null ? -1 : cards.indexOf(card)
  const call = calls.find(({ id }) => id === card?.dataset.call)
  if (key === 'j' || key === 'k') {
    const next = cards[key === 'j' ? place + 1 : Math.max(0, place - 1)]
    next?.focus()
    next?.scrollIntoView({ block: 'nearest' })
    return true
  }
  if (card === null || call === undefined || call.arguments === null) return false
  if (key === 'a') decide(call, 'approve', textIn(card.querySelector('form'), 'values'))
  else if (key === 'r') card.querySelector<HTMLInputElement>('input[name=reason]')?.focus()
  else return false
  return true
}
