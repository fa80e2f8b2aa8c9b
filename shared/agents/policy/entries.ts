// What of a policy is set outside of agent files, key by key: by an operator's record in the table
// `policies`, by `weir policy`, by `--set`. The keys are those of agent files,
// `loop.identicalFailures`; the mode of a rule is `rule.cycle`. agent.schema.json has their types
// and bounds.

import type { Caps, EmptyAllowance, LoopThresholds, PolicyEntry } from '../../contract/messages.ts'
import { alternatives } from '../../settings/mistake.ts'
import { nearestName } from '../../settings/nearest-name.ts'
import type { RuleMode } from '../file/content.ts'
import { keysAt, schemaMistakes } from '../file/schema-mistakes.ts'

/**
 * What entries say, where it is of the right type and within its bounds; a key that is not there is
 * not set.
 */
export type PolicyContent = {
  loop: Partial<LoopThresholds>
  empty: Partial<EmptyAllowance>
  caps: Partial<Caps>
  rules: Record<string, RuleMode | undefined>
}

/** `text` completes the key to a sentence. */
export type EntryFault = { key: string; text: string }

const rulePrefix = 'rule.'

/** All keys, in the order of agent.schema.json. */
export const policyKeys: readonly string[] = [
  ...keysAt('loop').flatMap((name) => (name === 'rules' ? [] : [`loop.${name}`])),
  ...keysAt('empty').map((name) => `empty.${name}`),
  ...keysAt('caps').map((name) => `caps.${name}`),
  ...keysAt('loop', 'rules').map((name) => rulePrefix + name),
]

/** The key that is meant: its singular is as good (`loop.identicalFailure`). Undefined: none. */
export function policyKey(given: string): string | undefined {
  return (
    policyKeys.find((key) => key === given) ?? policyKeys.find((key) => singularOf(key) === given)
  )
}

/**
 * Of a count: `identicalFailure`, `identicalSuccess`. Undefined: it is none, such as `wallMs` and
 * the modes of rules.
 */
function singularOf(key: string): string | undefined {
  if (key.startsWith(rulePrefix) || !key.endsWith('s') || key.endsWith('Ms')) return undefined
  return key.slice(0, key.endsWith('sses') ? -2 : -1)
}

/** What is wrong with a key that is none of `keys`: the nearest, and those that there are. */
export function unknownKey(given: string, keys: readonly string[] = policyKeys): string {
  const ofSection = keys.filter((key) => sectionOf(key) === sectionOf(given))
  const near = nearestName(given, keys) ?? ofSection.find((key) => isLonger(given, key))
  const meant = near === undefined ? '; there are' : `; did you mean ${near}? There are`
  const isRule = given.startsWith(rulePrefix)
  const alike = keys.filter((key) => key.startsWith(rulePrefix) === isRule)
  return `names no ${isRule ? 'rule' : 'threshold'}${meant} ${alternatives(near === undefined && ofSection.length > 0 ? ofSection : alike, 'and')}`
}

function sectionOf(key: string): string {
  return key.split('.', 1)[0] ?? ''
}

/** `caps.wallTimeMs`, of which `caps.wallMs` is a shorter form. */
function isLonger(given: string, key: string): boolean {
  const [name, shorter] = [given, key].map((one) => one.slice(sectionOf(one).length)) as [
    string,
    string,
  ]
  return nearestName(shorter, [name]) !== undefined
}

/** Of a key that is there twice the last entry counts. */
export function readEntries(entries: readonly PolicyEntry[]): {
  content: PolicyContent
  faults: EntryFault[]
} {
  const faults: EntryFault[] = []
  const given: Record<'loop' | 'empty' | 'caps', Record<string, unknown>> = {
    loop: {},
    empty: {},
    caps: {},
  }
  const rules: Record<string, unknown> = {}
  for (const { key, value } of entries) {
    const known = policyKey(key)
    if (known === undefined) faults.push({ key, text: unknownKey(key) })
    else if (known.startsWith(rulePrefix)) rules[known.slice(rulePrefix.length)] = readValue(value)
    else {
      const [section, name] = known.split('.') as [keyof typeof given, string]
      given[section][name] = readValue(value)
    }
  }
  const { complaints, content } = schemaMistakes({ ...given, loop: { ...given.loop, rules } })
  for (const { path, text } of complaints)
    if (path.length > 1) faults.push({ key: keyOf(path.map(String)), text })
  const { rules: modes, ...loop } = content.loop ?? {}
  return {
    content: {
      loop: taken(loop),
      empty: taken(content.empty),
      caps: taken(content.caps),
      rules: taken(modes),
    },
    faults,
  }
}

/**
 * A text that is no number and no truth value stays one, for the schema to refuse or to take as a
 * mode.
 */
function readValue(text: string): unknown {
  if (/^\d{1,15}$/.test(text)) return Number(text)
  return text === 'true' ? true : text === 'false' ? false : text
}

/** Of a path in an agent file. */
function keyOf([section = '', ...names]: string[]): string {
  return names[0] === 'rules'
    ? rulePrefix + names.slice(1).join('.')
    : [section, ...names].join('.')
}

/** Without what the schema refused. */
function taken<T extends object>(given: T | undefined): T {
  return Object.fromEntries(
    Object.entries(given ?? {}).filter(([, value]) => value !== undefined),
  ) as T
}
