// Approvals: each waiting call with its exact arguments, its deadline, and the difference to the last
// allowed call of its tool. The keys act on the call that has the focus, and on no other.
// Here: the page only. Not here: the decision, which the server writes as `weir allow` does.

import type { InputField } from '../../../../../shared/contract/call/input-question.ts'
import { diffList } from '../../../../page/kit/diff-list.ts'
import { html } from '../../../../page/kit/html.ts'
import { argumentDiff } from '../../../../page/kit/member-diff.ts'
import { card, cards, status } from '../../../../page/kit/parts.ts'
import { count, number, wholeDuration } from '../../../../terminal/text/quantities.ts'
import type { CallContext, ConsoleState, Decision, WaitingCall } from '../console-state.ts'
import { linkTo, personName } from '../parts/ago.ts'

/** `text`: the values of an answer as JSON, or the reason of a denial. */
export type Decide = (call: WaitingCall, answer: 'allow' | 'deny', text: string) => void

/** `reasonOf`: undefined: it is not read yet. `busy`: ids whose decision is on its way. `notes`: the answers of the server, by id. */
export type InboxContext = {
  now: number
  reasonOf(call: WaitingCall): CallContext | undefined
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
      ${open === 0 ? 'No call waits for a person' : `${count(open, 'call')} ${open === 1 ? 'waits' : 'wait'} for a person`}
    </h1>
    ${
      open > 0 &&
      html`<p class="faint keys">
        <kbd>j</kbd> <kbd>k</kbd> next, previous · <kbd>a</kbd> allow · <kbd>r</kbd> deny with a
        reason
      </p>`
    }
    ${
      open > 0 &&
      others > 0 &&
      html`<p class="faint viewers">
        ${count(others, 'other page')} of the console ${others === 1 ? 'is' : 'are'} open: another person
        may decide too.
      </p>`
    }
    ${[...context.notes]
      .filter(([id]) => waiting.every((call) => call.id !== id))
      .map(([id, text]) => html`<p class="warning" role="status" key=${id}>${text}</p>`)}
    ${cards(
      'Waiting calls',
      waiting.map((call, place) => callCard(call, place, context)),
    )}
    ${more > 0 && html`<p class="warning">${count(more, 'further call')} not shown: weir approvals lists all of them.</p>`}
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

/** The cards further below have no reason, because each one reads a conversation. */
const reasonsShownMax = 50

function callCard(
  call: WaitingCall,
  place: number,
  { now, reasonOf, busy, notes, decide }: InboxContext,
) {
  const left = call.until - now
  const { program, question } = call
  return card(
    {
      kind: 'call',
      class: '',
      id: call.id,
      name: call.name,
      head: html`<span class="faint">${call.rule}</span>
        ${call.isText && html`<span class="warning">written as text by the model</span>`}
        <span class=${left < 300_000 ? 'warning deadline' : 'faint deadline'}>
          waits ${wholeDuration(now - call.since)} · ${left > 0 ? `${wholeDuration(left)} left` : 'its time is over'}
        </span>`,
    },
    html`
      ${place < reasonsShownMax && reasonPart(reasonOf(call))}
      ${
        call.rawArguments === null
          ? html`<p class="warning">
              The arguments have ${number(call.bytes)} bytes, too many for this page. weir approvals
              shows them, and weir allow ${call.id} decides.
            </p>`
          : html`<h3>Arguments, exactly <span class="faint">${number(call.bytes)} bytes</span></h3>
              <pre class="quote" tabindex="0" dir="ltr" aria-label="Arguments">${call.rawArguments}</pre>`
      }
      ${question === null && call.rawArguments !== null && difference(call.rawArguments, call.allowed)}
      ${question !== null && questionPart(question)}
      <p class="faint where">
        ${linkTo(call.conversation)}
        <span>agent ${call.agent}, round ${number(call.round)}</span>
        ${program !== null && program !== '' && html`<span>program ${program.slice(0, 12)}</span>`}
        <code>weir allow ${call.id}</code>
      </p>
      ${call.rawArguments !== null && decisionForm(call, busy.has(call.id), decide)}
      ${status(notes.get(call.id))}`,
    { tabindex: '0' },
  )
}

/** The user's message, and the model's last words. */
function reasonPart(reason: CallContext | undefined) {
  if (reason === undefined) return false
  const { question, words } = reason
  if (question === null && words === null) return false
  return html`<dl class="asked">
    ${question !== null && html`<dt>User</dt><dd dir="auto">${question}</dd>`}
    ${words !== null && html`<dt>Model</dt><dd dir="auto">${words}</dd>`}
  </dl>`
}

function decisionForm(call: WaitingCall, isBusy: boolean, decide: Decide) {
  const { question } = call
  const deny = (event: Event) => {
    event.preventDefault()
    decide(call, 'deny', textIn(event.currentTarget, 'reason'))
  }
  const allow = (event: Event) =>
    decide(call, 'allow', textIn((event.currentTarget as HTMLButtonElement).form, 'values'))
  return html`<form onSubmit=${deny}>
    ${
      question !== null &&
      question.url === null &&
      html`<label class="reason">
        <span class="unseen">Values, as a JSON object</span>
        <textarea name="values" rows="3" autocomplete="off" spellcheck="false">${valuesText(question.fields)}</textarea>
      </label>`
    }
    <button type="button" class="allow" disabled=${isBusy} onClick=${allow}>
      ${question === null ? 'Allow' : 'Answer'} <kbd>a</kbd>
    </button>
    <label class="reason">
      <span class="unseen">Reason, for the model</span>
      <input name="reason" type="text" maxlength="1000" autocomplete="off" placeholder="Reason, for the model" />
    </label>
    <button type="submit" class="danger" disabled=${isBusy}>Deny <kbd>r</kbd></button>
  </form>`
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
function valuesText(fields: readonly InputField[]): string {
  const values = fields.flatMap((field) =>
    field.default === undefined ? [] : [[field.name, field.default]],
  )
  return JSON.stringify(Object.fromEntries(values))
}

function difference(now: string, before: string | null) {
  if (before === null)
    return html`<p class="faint">No allowed call of this tool to compare with.</p>`
  if (before === now)
    return html`<p class="faint">Byte for byte the last allowed call of this tool.</p>`
  return html`<div class="difference">
    <h3>Compared with the last allowed call</h3>
    ${diffList(argumentDiff(before, now).members)}
  </div>`
}

/** Nobody's silence never looks like a person's no: other words, another mark, another colour. */
const outcomes: Record<Decision['outcome'], { mark: string; tone: string; text: string }> = {
  allow: { mark: '✓', tone: 'good', text: 'allowed' },
  deny: { mark: '✕', tone: 'bad', text: 'denied' },
  expired: { mark: '◷', tone: 'silent', text: 'nobody answered in time' },
  withdrawn: { mark: '–', tone: 'faint', text: 'no longer needed' },
}

function isClaimed({ outcome, identity }: Decision): boolean {
  return identity === 'claimed' && (outcome === 'allow' || outcome === 'deny')
}

function decidedLine(one: Decision, now: number) {
  const { mark, tone, text } = outcomes[one.outcome]
  const isPerson = one.outcome === 'allow' || one.outcome === 'deny'
  return html`<li key=${`${one.id}/${one.at}`} data-outcome=${one.outcome}>
    <span class=${`mark ${tone}`} aria-hidden="true">${mark}</span>
    <code>${one.name}</code>
    <span class=${tone}>${text}</span>
    ${isPerson && html`<span>by ${personName(one.by)}${isClaimed(one) && ' (claimed)'}</span>`}
    ${isPerson && one.reason !== '' && html`<span class="reason">“${one.reason}”</span>`}
    <span class="faint">${wholeDuration(now - one.at)} ago</span>
    ${linkTo(one.conversation, 'id')}
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
  if (card === null || call === undefined || call.rawArguments === null) return false
  if (key === 'a') decide(call, 'allow', textIn(card.querySelector('form'), 'values'))
  else if (key === 'r') card.querySelector<HTMLInputElement>('input[name=reason]')?.focus()
  else return false
  return true
}
