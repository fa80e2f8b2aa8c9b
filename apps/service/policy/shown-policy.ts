// `weir policy get` and `weir policy diff`: the values set for agents, the effective values, and the
// effect of a change. They change nothing and work next to a running Weir.

import type { AgentPolicy } from '../../../shared/contract/messages.ts'
import { everyAgent } from '../../../shared/contract/topology.ts'
import type { Settings } from '../../../shared/settings/settings.ts'
import {
  type EffectiveValue,
  effective,
  faultsOf,
  type OwnPolicy,
} from '../../history/effective.ts'
import { withLog } from '../../history/open-log.ts'
import { valueText } from '../../history/policy-texts.ts'
import { painted, type Tone } from '../../terminal/paint.ts'
import { printable, printableJson } from '../../terminal/text/printable.ts'
import { instant } from '../../terminal/text/quantities.ts'
import { nameOf } from '../operator-settings.ts'
import type { SettingList } from '../setting-command.ts'
import { differenceLines, differencesOf } from './difference.ts'
import { type OwnPolicyOptions, policyInFile, type ReadLayers, readLayers } from './layers.ts'
import { changed, checkAgent, type NamedChange } from './named-agent.ts'
import { type OwnSource, originText, ownText } from './words.ts'

/**
 * `--json`: one object per line. `set`: the values of the agent, by key. `effective`: all keys, if an
 * agent was named. `own`: the source of the agent's own values, if one agent was named. Null: there
 * is none, and `effective` shows these values as unknown. `leftAside`: ignored entries. `setAt`:
 * milliseconds since 1970; null: nothing is set.
 */
export type ShownPolicy = {
  agent: string
  set: Record<string, string>
  effective?: Record<string, EffectiveValue>
  own?: OwnSource | null
  leftAside: { key: string; text: string }[]
  setBy: string | null
  setAt: number | null
}

/** Without an agent, it shows all records. Throws `usage`. */
export const policyList: SettingList<OwnPolicyOptions & { agent?: string }, ShownPolicy> = {
  read({ agent, agentFile }) {
    if (agent !== undefined) checkAgent(agent)
    if (agentFile !== undefined) policyInFile(agent, agentFile)
    return async (log) => {
      const layers = await readLayers(agent, { agentFile }, log)
      return agent === undefined
        ? [...layers.stored.values()].map((policy) => shownOf(policy.agent, policy))
        : [effectiveOf(agent, layers)]
    }
  },
  lines: policyLines,
  none: 'nothing is set for any agent: the agent files apply (weir policy set)',
}

/**
 * Shows the effect of the agent's record, or of a given change on it. Resolves to the exit code: 1
 * if something differs. Throws `usage`.
 */
export async function diffPolicy(
  { agent, json = false, agentFile, ...change }: NamedChange & { json?: boolean },
  settings: Settings,
  out: NodeJS.WriteStream,
): Promise<0 | 1> {
  checkAgent(agent)
  changed([], change) // checks the change before the log is opened
  if (agentFile !== undefined) policyInFile(agent, agentFile)
  const layers = await withLog(settings, (log) => readLayers(agent, { agentFile }, log))
  const stored = layers.stored.get(agent)?.entries ?? []
  const isChange = change.file !== undefined || change.changes.length > 0
  const differences = differencesOf(
    agent,
    isChange ? [stored, changed(stored, change)] : [[], stored],
    layers,
  )
  if (json) for (const difference of differences) out.write(`${printableJson(difference)}\n`)
  else if (differences.length === 0) out.write(`no difference for ${printable(nameOf(agent))}\n`)
  else for (const line of differenceLines(differences)) out.write(`${printable(line)}\n`)
  return differences.length === 0 ? 0 : 1
}

function shownOf(agent: string, policy: AgentPolicy | undefined): ShownPolicy {
  const set = Object.fromEntries((policy?.entries ?? []).map(({ key, value }) => [key, value]))
  return {
    agent,
    set,
    leftAside: faultsOf(policy),
    setBy: policy?.setBy ?? null,
    setAt: policy?.setAt ?? null,
  }
}

export function effectiveOf(agent: string, layers: ReadLayers): ShownPolicy {
  const stored = layers.stored.get(agent)
  return {
    ...shownOf(agent, stored),
    effective: Object.fromEntries(effective(agent, stored?.entries ?? [], layers)),
    ...(agent !== everyAgent && { own: sourceOf(layers.own) }),
  }
}

function sourceOf(own: OwnPolicy | undefined): OwnSource | null {
  if (own === undefined) return null
  return own.from === 'log' ? { from: 'log', at: own.at } : { from: 'agent-file', file: own.file }
}

function policyLines(
  { agent, set, effective, own, leftAside, setBy, setAt }: ShownPolicy,
  out: NodeJS.WriteStream,
): string[] {
  const painting = (tone: Tone, text: string) => painted(out, tone, printable(text))
  const when = setAt === null ? 'nothing is set' : `set by ${setBy}, ${instant(setAt)}`
  const values =
    effective === undefined
      ? Object.entries(set).map(([key, value]) => printable(`  ${key.padEnd(28)} ${value}`))
      : Object.entries(effective).map(([key, value]) => {
          const line = `  ${key.padEnd(28)} ${valueText(key, value).padEnd(18)} ${originText(key, value)}`
          return painting(value.origin === 'default' ? 'faint' : 'plain', line)
        })
  return [
    painting('title', `${nameOf(agent)}: ${when}`),
    ...(own === undefined ? [] : [`  ${painting('faint', ownText(own))}`]),
    ...values,
    ...leftAside.map(({ key, text }) => painting('bad', `  ignored: ${key} ${text}`)),
  ]
}
