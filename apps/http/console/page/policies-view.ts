// The policy of an agent: each value with its origin, and a change behind a confirmation.

import { shellWord } from '../../../terminal/shell-word.ts'
import { personName } from './ago.ts'
import type { Confirmations, Field } from './confirmation.ts'
import { html } from './html.ts'
import type { PoliciesData } from './operator-state.ts'
import { send } from './server.ts'

export type PoliciesContext = {
  confirmations: Confirmations
  onAgent(agent: string): void
  onChanged(): void
}

type Value = NonNullable<PoliciesData['policy']['effective']>[string]

const everyAgent = '*'

const origins: Record<Value['origin'], string> = {
  operator: 'set for this agent',
  'operator-all': 'set for all agents',
  'operator-limits': "the operator's caps",
  'agent-file': 'agent file',
  log: "the agent's newest message",
  default: 'default',
  'each-agent': "each agent's own value",
  unknown: "unknown: the agent's own value",
}

export function agentName(agent: string): string {
  return agent === everyAgent ? 'all agents' : agent
}

export function policiesView({ agent, policy }: PoliciesData, context: PoliciesContext) {
  const entries = Object.entries(policy.effective ?? {})
  return html`<div class="wide" tabindex="0" role="region" aria-label="Values of the policy">
    <table class="policy">
      <thead>
        <tr>
          <th scope="col">key</th><th scope="col">value</th>
          <th scope="col"><span class="unseen">change</span></th><th scope="col">origin</th>
        </tr>
      </thead>
      <tbody>
        ${entries.map(
          ([
            key,
            value,
          ]) => html`<tr key=${key} class=${value.origin.startsWith('operator') ? 'set' : ''}>
            <td><code>${key}</code></td>
            <td>${valueText(value)}</td>
            <td>
              <button type="button" class="quiet" data-key=${key} onClick=${() => context.confirmations.open(valueChange(agent, key, { value: value.value, context }))}>Change…</button>
              ${Object.hasOwn(policy.set, key) && html` <button type="button" class="quiet" onClick=${() => context.confirmations.open(valueRemoval(agent, key, context))}>Unset…</button>`}
            </td>
            <td class="faint">${origins[value.origin]}</td>
          </tr>`,
        )}
      </tbody>
    </table>
  </div>
  <p class="faint">
    ${policy.setBy === null ? 'Nothing is set for it by an operator.' : `Last set by ${personName(policy.setBy)}, ${new Date(policy.setAt ?? 0).toLocaleString()}.`}
    ${policy.leftAside.map(({ key, text }) => html` <span class="bad">Ignored: ${key} ${text}.</span>`)}
  </p>`
}

function valueText({ value, origin, atMost }: Value): string {
  if (origin === 'unknown' || origin === 'each-agent') return '?'
  if (value === null) return 'not capped'
  return atMost === true ? `at most ${value}` : value
}

/** `value`: the first value of the field. */
export function valueChange(
  agent: string,
  key: string,
  { value, context }: { value: string | null; context: PoliciesContext },
) {
  return {
    title: `Change ${key} for ${agentName(agent)}?`,
    text: 'It counts from the next model response on, without a restart.',
    fields: [fieldOf(key, value)],
    label: 'Set the value',
    command: (values: Record<string, string>) =>
      `weir policy set ${shellWord(agent)} ${shellWord(`${key}=${values.value ?? ''}`)}`,
    async send(values: Record<string, string>) {
      await send('policy', { agent, key, value: values.value ?? '' })
      context.onChanged()
      return `${key} is ${values.value} for ${agentName(agent)}.`
    },
  }
}

function valueRemoval(agent: string, key: string, { onChanged }: PoliciesContext) {
  return {
    title: `Unset ${key} for ${agentName(agent)}?`,
    text: 'The value of the agent file applies again, from the next model response on.',
    fields: [],
    label: 'Unset the value',
    command: () => `weir policy unset ${shellWord(agent)} ${shellWord(key)}`,
    async send() {
      await send('policy-unset', { agent, key })
      onChanged()
      return `${key} is no longer set for ${agentName(agent)}.`
    },
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
export function isThreshold(key: string): boolean {
  return fieldOf(key, null).values === null
}
