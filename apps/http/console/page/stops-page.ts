// The stop switch: the stops in force, a new stop, and a release.

import { shellWord } from '../../../terminal/shell-word.ts'
import { personName, span } from './ago.ts'
import type { Change, Confirmations } from './confirmation.ts'
import { html } from './html.ts'
import type { StopsData } from './operator-state.ts'
import { polled } from './poll.ts'
import { send } from './server.ts'

export type StopsPage = { open(): void; leave(): void; view(now: number): unknown }

type Stop = StopsData['stops'][number]
type Scope = NonNullable<Stop['scope']>

const refreshMs = 2_000

const scopes: Record<Scope, { label: string; field: string; effect: string }> = {
  all: { label: 'All agents', field: '', effect: 'No model request and no call starts.' },
  tenant: {
    label: 'One tenant',
    field: 'Tenant',
    effect: 'No model request and no call of its conversations starts.',
  },
  agent: {
    label: 'One agent',
    field: 'Agent',
    effect: 'No model request and no call of this agent starts.',
  },
  tool: {
    label: 'Tools',
    field: 'Pattern of tool names, such as pay_*',
    effect: 'Calls of these tools are rejected. Turns go on without them.',
  },
  conversation: {
    label: 'One conversation',
    field: 'Conversation',
    effect: 'No model request and no call of this conversation starts.',
  },
}

export function stopsPage(onChange: () => void, confirmations: Confirmations): StopsPage {
  const polling = polled<StopsData>(onChange, refreshMs)

  return {
    open: () => polling.open('stops'),
    leave: () => polling.leave(),
    view(now) {
      const { data, problem } = polling
      const stops = data?.stops ?? []
      const released = data?.released ?? []
      return html`<main class="operator">
        <h1 class="title">${titleOf(data)}</h1>
        <p class="faint">
          A stop counts within a second, on every process of the deployment, and until its release.
          The reason is for users, models and colleagues.
        </p>
        ${confirmations.note !== null && html`<p class="good" role="status">${confirmations.note}</p>`}
        ${problem !== null && html`<p class="bad" role="alert">${problem}</p>`}
        <div class="waiting" role="list" aria-label="Stops in force">
          ${stops.map((stop) => card(stop, now))}
        </div>
        <section aria-labelledby="new-stop">
          <h2 id="new-stop">Stop</h2>
          <p class="buttons">
            ${(Object.keys(scopes) as Scope[]).map((scope) => html`<button type="button" class="reject" onClick=${() => confirmations.open(newStop(scope, '', polling.refresh))}>${scopes[scope].label}…</button>`)}
          </p>
        </section>
        ${
          released.length > 0 &&
          html`<section aria-labelledby="released">
            <h2 id="released">Released lately</h2>
            <ul class="decided">
              ${released.map((one) => html`<li key=${one.id} data-released=${one.id}><code>${one.id}</code> <span>by ${personName(one.releasedBy)}</span> <span class="faint">${span(now - one.releasedAt)} ago</span></li>`)}
            </ul>
          </section>`
        }
      </main>`
    },
  }

  function card(stop: Stop, now: number) {
    const { id, mode, reason, setBy, setAt } = stop
    const title = `stop-${id}`
    return html`<article class="card stopped" role="listitem" key=${id} data-stop=${id} aria-labelledby=${title}>
      <header>
        <h2 id=${title}><code>${id}</code></h2>
        ${mode !== null && html`<span class="badge">${mode}</span>`}
        ${setAt !== null && html`<span class="faint deadline">${span(now - setAt)} ago by ${personName(setBy ?? '')}</span>`}
      </header>
      <p class="reason">${reason ?? 'The record cannot be read. Nothing starts until it is released.'}</p>
      <p class="buttons">
        <button type="button" onClick=${() => confirmations.open(release(id, polling.refresh))}>Release…</button>
      </p>
    </article>`
  }
}

/** `name`: the first value of its field. */
export function newStop(scope: Scope, name: string, onChanged: () => void): Change {
  const { label, field, effect } = scopes[scope]
  const text = { kind: 'text', values: null } as const
  return {
    title: `Stop: ${label.toLowerCase()}?`,
    text: effect,
    fields: [
      ...(field === '' ? [] : [{ ...text, name: 'name', label: field, value: name }]),
      { ...text, name: 'reason', label: 'Reason', value: '' },
      {
        name: 'mode',
        label: 'Running tools and model requests',
        kind: 'text',
        values: ['drain', 'now'],
        value: 'drain',
      },
    ],
    label: 'Stop',
    command: ({ name: given = '', reason = '', mode = '' }) =>
      `weir stop --${scope}${scope === 'all' ? '' : ` ${shellWord(given)}`} --${mode} --reason ${shellWord(reason)}`,
    async send({ name: given = '', reason = '', mode = '' }) {
      await send('stop', { scope, name: given, reason, mode })
      onChanged()
      return `${scope === 'all' ? 'All agents are' : `The ${scope} ${given} is`} stopped.`
    },
  }
}

function release(id: string, onChanged: () => void): Change {
  return {
    title: `Release ${id}?`,
    text: 'New questions run again. Turns that have ended stay ended.',
    fields: [],
    label: 'Release',
    command: () => `weir release ${shellWord(id)}`,
    async send() {
      await send('release', { id })
      onChanged()
      return `${id} is released.`
    },
  }
}

function titleOf(data: StopsData | undefined): string {
  if (data === undefined) return 'Stops'
  const { length } = data.stops
  return length === 0
    ? 'Nothing is stopped'
    : `${length} ${length === 1 ? 'stop is' : 'stops are'} in force`
}
