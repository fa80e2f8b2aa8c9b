// The agent of a command and its entries, as KEY=VALUE or as a file.

import { schemaMistakes } from '../../../shared/agents/file/schema-mistakes.ts'
import { policyKey } from '../../../shared/agents/policy/entries.ts'
import type { PolicyEntry } from '../../../shared/contract/messages.ts'
import { everyAgent } from '../../../shared/contract/topology.ts'
import { WeirError } from '../../../shared/lib/errors.ts'
import { isObject } from '../../../shared/lib/json/json-object.ts'
import { readJson } from '../../../shared/settings/json-file.ts'
import { entriesOf } from '../../terminal/policy-pairs.ts'
import { printable } from '../../terminal/text/printable.ts'
import type { OwnPolicyOptions } from './layers.ts'

/**
 * `changes`: KEY=VALUE, added to the set values. `file`: replaces all set values; a JSON object by
 * key, as `set` of `weir policy get --json`.
 */
export type Change = { changes: readonly string[]; file?: string | undefined }

export type NamedChange = Change & OwnPolicyOptions & { agent: string }

const fileBytesMax = 64 * 1024

/**
 * Throws `usage` for a bad agent name and for a change in its place: no agent would ever read
 * values under such a name.
 */
export function checkAgent(agent: string): void {
  const at = agent.indexOf('=')
  if (at > 0 && policyKey(agent.slice(0, at)) !== undefined)
    throw new WeirError(
      'usage',
      `'${printable(agent)}' is in the place of the agent's name: name the agent first, or '*' for all`,
    )
  const mistake = agent === everyAgent ? undefined : nameMistake(agent)
  if (mistake !== undefined)
    throw new WeirError('usage', `the agent's name ${printable(mistake)}, or '*' for all`)
}

/** The mistake of such a name in an agent file. */
function nameMistake(name: string): string | undefined {
  return schemaMistakes({ name }).mistakes.find(({ path }) => path[0] === 'name')?.text
}

/** The entries of the agent after the change. Throws `usage`. */
export function changed(stored: readonly PolicyEntry[], { changes, file }: Change): PolicyEntry[] {
  if (file !== undefined && changes.length > 0)
    throw new WeirError('usage', 'give changes or --file: a file replaces all set values')
  const given =
    file === undefined ? entriesOf(changes) : entriesOf(pairsIn(file), { flag: `${file}: ` })
  const kept =
    file === undefined
      ? stored.filter(({ key }) => !given.some((entry) => entry.key === policyKey(key)))
      : []
  return [...kept, ...given].sort((a, b) => (a.key < b.key ? -1 : 1))
}

function pairsIn(file: string): string[] {
  const content = readJson(file, fileBytesMax)
  if (!isObject(content))
    throw new WeirError(
      'usage',
      `${file} must be a JSON object by key: {"loop.identicalFailures": 2, "rule.cycle": "shadow"}`,
    )
  return Object.entries(content).map(
    ([key, value]) => `${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
  )
}
