// The policy of an agent: each value with its origin, and a change after a confirmation.

import { shellWord } from '../../../../../shared/lib/text/shell-word.ts'
import { originTexts, valueText } from '../../../../history/policy-texts.ts'
import { html } from '../../../../page/kit/html.ts'
import { wideTable } from '../../../../page/kit/parts.ts'
import { second } from '../../../../terminal/text/quantities.ts'
import type { PoliciesData } from '../operator-state.ts'
import { personName } from '../parts/ago.ts'
import type { Change, Confirmations, Field } from '../parts/confirmation.ts'

export type PoliciesContext = {
  confirmations: Confirmations
  onAgent(agent: string): void
  onChanged(): void
}

const everyAgent = '*'

export function agentName(agent: string): string {
  return agent === everyAgent ? 'all agents' : agent
}

export function policiesView({ agent, policy, meanings }: PoliciesData, context: PoliciesContext) {
  const { effective, set, setBy, setAt, leftAside } = policy
  const { confirmations } = context
  const buttons = (key: string, value: string | null) => {
    const change = () => confirmations.open(valueChange(agent, key, { value, context }))
    const unset = () => confirmations.open(valueRemoval(agent, key, context))
    return html`
      <button type="button" class="quiet" data-key=${key} onClick=${change}>Change…</button>
      ${Object.hasOwn(set, key) && html` <button type="button" class="quiet" onClick=${unset}>Unset…</button>`}`
  }
  return html`
    ${wideTable('Values of the policy', {
      class: 'policy',
      rows: Object.entries(effective ?? {}),
      row: ([key, { origin }]) => ({ key, class: origin.startsWith('operator') ? 'set' : '' }),
      columns: [
        {
          title: 'key',
          class: () => 'meant',
          cell: ([key]) => html`<code>${key}</code><span class="faint">${meanings[key]}</span>`,
        },
        { title: 'value', cell: ([key, value]) => valueText(key, value) },
        {
          title: html`<span class="unseen">change</span>`,
          cell: ([key, { value }]) => buttons(key, value),
        },
        { title: 'origin', class: 'faint detail', cell: ([, { origin }]) => originTexts[origin] },
      ],
    })}
    <p class="faint">
      ${setBy === null ? 'Nothing is set for it by an operator.' : `Last set by ${personName(setBy)}, ${second(setAt ?? 0)}.`}
      ${leftAside.map(({ key, text }) => html` <span class="bad">Ignored: ${key} ${text}.</span>`)}
    </p>`
}

/** `value`: the first value of the field. */
export function valueChange(
  agent: string,
  key: string,
  { value, context }: { value: string | null; context: PoliciesContext },
): Change {
  return {
    title: `Change ${key} for ${agentName(agent)}?`,
    text: 'It counts from the next model response on, without a restart.',
    fields: [fieldOf(key, value)],
    label: 'Set the value',
    command: ({ value = '' }) =>
      `weir policy set ${shellWord(agent)} ${shellWord(`${key}=${value}`)}`,
    path: 'policy',
    body: ({ value = '' }) => ({ agent, key, value }),
    done: ({ value = '' }) => `${key} is ${value} for ${agentName(agent)}.`,
    onChanged: context.onChanged,
  }
}

function valueRemoval(agent: string, key: string, { onChanged }: PoliciesContext): Change {
  return {
    title: `Unset ${key} for ${agentName(agent)}?`,
    text: 'The value of the agent file applies again, from the next model response on.',
    fields: [],
    label: 'Unset the value',
    command: () => `weir policy unset ${shellWord(agent)} ${shellWord(key)}`,
    path: 'policy-unset',
    body: () => ({ agent, key }),
    done: () => `${key} is no longer set for ${agentName(agent)}.`,
    onChanged,
  }
}

function fieldOf(key: string, value: string | null): Field {
  const common = { name: 'value', label: key, kind: 'number' } as const
  if (key.startsWith('rule.'))
    return { ...common, values: ['enforce', 'shadow'], value: value ?? 'shadow' }
  if (key === 'loop.schemaFailureEndsTurn')
    return { ...common, values: ['true', 'false'], value: value ?? 'true' }
  return { ...common, values: null, value: value ?? '' }
}

/** The keys that a slider can try. */
export function thresholdsIn(data: PoliciesData | undefined): string[] {
  const keys = Object.keys(data?.policy.effective ?? {})
  return keys.filter((key) => fieldOf(key, null).values === null)
}
