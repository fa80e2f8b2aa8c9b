// The stop switch: the stops in force, a new stop, and a release.

import { shellWord } from '../../../../../shared/lib/text/shell-word.ts'
import { html } from '../../../../page/kit/html.ts'
import { card } from '../../../../page/kit/parts.ts'
import { wholeDuration } from '../../../../terminal/text/quantities.ts'
import type { StopsData } from '../operator-state.ts'
import { personName } from '../parts/ago.ts'
import type { Change, Confirmations, Suggestion } from '../parts/confirmation.ts'
import { type OperatorPage, operatorPage } from './operator-page.ts'
import { removalButton } from './setting-removal.ts'

type Stop = StopsData['stops'][number]
/** A stop of a tree is one of its root, with all conversations below. */
type Scope = NonNullable<Stop['scope']> | 'tree'

/** `field`: null: the scope needs no name. */
type ScopeTexts = { label: string; field: string | null; suggests: Suggestion; effect: string }

const scopes: Record<Scope, ScopeTexts> = {
  all: {
    label: 'All agents',
    field: null,
    suggests: 'agent',
    effect: 'No model request and no call starts.',
  },
  tenant: {
    label: 'One tenant',
    field: 'Tenant',
    suggests: 'tenant',
    effect: 'No model request and no call of its conversations starts.',
  },
  agent: {
    label: 'One agent',
    field: 'Agent',
    suggests: 'agent',
    effect: 'No model request and no call of this agent starts.',
  },
  tool: {
    label: 'Tools',
    field: 'Tool, or a pattern such as pay_*',
    suggests: 'tool',
    effect: 'Calls of these tools are denied. Turns go on without them.',
  },
  conversation: {
    label: 'One conversation',
    field: 'Conversation',
    suggests: 'open',
    effect: 'No model request and no call of this conversation and of the agents below starts.',
  },
  tree: {
    label: 'A tree of agents',
    field: 'Any conversation of the tree',
    suggests: 'open',
    effect:
      'No model request and no call of any conversation in the tree starts, also of new agents.',
  },
}

const scopeNames = Object.keys(scopes) as Scope[]

export function stopsPage(onChange: () => void, confirmations: Confirmations): OperatorPage {
  return operatorPage<StopsData>(onChange, confirmations, {
    path: 'stops',
    refreshMs: 2_000,
    label: 'Stops in force',
    intro:
      'A stop counts within a second, on every process of the deployment, and until its release. The reason is for users, models and colleagues.',
    title: titleOf,
    cards: ({ stops }, { now, refresh }) =>
      stops.map((stop) => stopCard(stop, { now, confirmations, refresh })),
    below: (data, { now, refresh }) => html`
      <section aria-labelledby="new-stop">
        <h2 id="new-stop">Stop</h2>
        <p class="buttons">
          ${scopeNames.map((scope) => html`<button type="button" class="danger" onClick=${() => confirmations.open(newStop(scope, '', refresh))}>${scopes[scope].label}…</button>`)}
        </p>
      </section>
      ${releasedView(data?.released ?? [], now)}`,
  })
}

function stopCard(
  { id, mode, reason, setBy, setAt }: Stop,
  context: { now: number; confirmations: Confirmations; refresh: () => void },
) {
  const { now } = context
  return card(
    {
      kind: 'stop',
      class: 'stopped',
      id,
      head: html`${mode !== null && html`<span class="badge">${mode}</span>`}
        ${setAt !== null && html`<span class="faint deadline">${wholeDuration(now - setAt)} ago by ${personName(setBy ?? '')}</span>`}`,
    },
    html`<p class="reason">${reason ?? 'The record cannot be read. Nothing starts until it is released.'}</p>
      <p class="buttons">
        ${removalButton('stop', id, context)}
      </p>`,
  )
}

function releasedView(released: StopsData['released'], now: number) {
  if (released.length === 0) return false
  return html`<section aria-labelledby="released">
    <h2 id="released">Released lately</h2>
    <ul class="decided">
      ${released.map((one) => html`<li key=${one.id} data-released=${one.id}><code>${one.id}</code> <span>by ${personName(one.releasedBy)}</span> <span class="faint">${wholeDuration(now - one.releasedAt)} ago</span></li>`)}
    </ul>
  </section>`
}

/** `name`: the first value of its field. */
export function newStop(scope: Scope, name: string, onChanged: () => void): Change {
  const { label, field, suggests, effect } = scopes[scope]
  const text = { kind: 'text', values: null } as const
  return {
    title: `Stop ${label.toLowerCase()}?`,
    text: effect,
    fields: [
      ...(field === null
        ? []
        : [{ ...text, name: 'name', label: field, value: name, suggests: () => suggests }]),
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
    path: 'stop',
    body: ({ name: given = '', reason = '', mode = '' }) => ({ scope, name: given, reason, mode }),
    done: ({ name: given = '' }) =>
      `${scope === 'all' ? 'All agents are' : `The ${scope} ${given} is`} stopped.`,
    onChanged,
  }
}

function titleOf(data: StopsData | undefined): string {
  if (data === undefined) return 'Stops'
  const { length } = data.stops
  return length === 0
    ? 'Nothing is stopped'
    : `${length} ${length === 1 ? 'stop is' : 'stops are'} in force`
}
