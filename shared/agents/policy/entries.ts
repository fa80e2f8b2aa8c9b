// The settings of a policy that are set outside agent files, key by key: by an operator's record in
// the table `policies`, by `weir policy`, or by `--set`. Keys are those of agent files, such as
// `loop.identicalFailures`. The mode of a rule is `rule.cycle`. agent.schema.json has their types
// and bounds.

import type {
  Caps,
  EmptyAllowance,
  LoopThresholds,
  PolicyEntry,
  TreeCaps,
} from '../../contract/messages.ts'
import { alternatives } from '../../settings/mistake.ts'
import { nearestName } from '../../settings/nearest-name.ts'
import type { RuleMode } from '../file/content.ts'
import { meaningsAt, schemaMistakes } from '../file/schema-mistakes.ts'

/**
 * The usable values of the entries: of the right type and within bounds. A missing key is not set.
 */
export type PolicyContent = {
  loop: Partial<LoopThresholds>
  empty: Partial<EmptyAllowance>
  caps: Partial<Caps>
  tree: Partial<TreeCaps>
  rules: Record<string, RuleMode | undefined>
}

/** `text` completes the key to a sentence. */
export type EntryFault = { key: string; text: string }

const rulePrefix = 'rule.'

function under(prefix: string, meanings: [string, string][]): [string, string][] {
  return meanings.map(([name, meaning]) => [prefix + name, meaning])
}

/** All keys with their meanings for people, in the order of agent.schema.json. */
export const policyMeanings: Readonly<Record<string, string>> = Object.fromEntries([
  ...under('loop.', meaningsAt('loop')).filter(([key]) => key !== 'loop.rules'),
  ...under('empty.', meaningsAt('empty')),
  ...under('caps.', meaningsAt('caps')),
  ...under('tree.', meaningsAt('tree')),
  ...under(rulePrefix, meaningsAt('loop', 'rules')),
])

export const policyKeys: readonly string[] = Object.keys(policyMeanings)

/**
 * The key for this spelling. The singular is allowed (`loop.identicalFailure`). Undefined: none.
 */
export function policyKey(given: string): string | undefined {
  return (
    policyKeys.find((key) => key === given) ?? policyKeys.find((key) => singularOf(key) === given)
  )
}

/**
 * The singular of a count, such as `identicalFailure`. Undefined for other keys, such as `wallMs`
 * and modes of rules.
 */
function singularOf(key: string): string | undefined {
  if (key.startsWith(rulePrefix) || !key.endsWith('s') || key.endsWith('Ms')) return undefined
  return key.slice(0, key.endsWith('sses') ? -2 : -1)
}

/** The fault of a key that is not in `keys`, with the nearest key and the known ones. */
export function unknownKey(given: string, keys: readonly string[] = policyKeys): string {
  const ofRule = ruleIn(given)
  const isRule = ofRule !== undefined
  const alike = keys.filter((key) => key.startsWith(rulePrefix) === isRule)
  const ofSection = keys.filter((key) => sectionOf(key) === sectionOf(given))
  const nearRule = ofRule ? nearestName(rulePrefix + ofRule, alike) : undefined
  const near = isRule
    ? nearRule
    : (nearestName(given, keys) ?? ofSection.find((key) => isLonger(given, key)))
  const meant = near === undefined ? '; there are' : `; did you mean ${near}? There are`
  const known = !isRule && near === undefined && ofSection.length > 0 ? ofSection : alike
  return `names no ${isRule ? 'rule' : 'threshold'}${meant} ${alternatives(known, 'and')}`
}

/**
 * The name in a key that is meant for the mode of a rule: `rule.NAME`, or `loop.rules.NAME` as in an
 * agent file, perhaps misspelt. Undefined: the key is not.
 */
function ruleIn(given: string): string | undefined {
  const parts = given.split('.')
  const names = parts[0] === 'loop' ? parts.slice(1) : parts
  const isSection = nearestName(names[0] ?? '', ['rule', 'rules']) !== undefined
  return isSection ? names.slice(1).join('.') : undefined
}

function sectionOf(key: string): string {
  return key.split('.', 1)[0] ?? ''
}

/** Whether `key` is a shorter form of `given`, as `caps.wallMs` is of `caps.wallTimeMs`. */
function isLonger(given: string, key: string): boolean {
  const [name, shorter] = [given, key].map((one) => one.slice(sectionOf(one).length)) as [
    string,
    string,
  ]
  return nearestName(shorter, [name]) !== undefined
}

/** If a key occurs twice, the last entry counts. */
export function readEntries(entries: readonly PolicyEntry[]): {
  content: PolicyContent
  faults: EntryFault[]
} {
  const faults: EntryFault[] = []
  const given: Record<'loop' | 'empty' | 'caps' | 'tree', Record<string, unknown>> = {
    loop: {},
    empty: {},
    caps: {},
    tree: {},
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
  const { mistakes, content } = schemaMistakes({ ...given, loop: { ...given.loop, rules } })
  for (const { path, text } of mistakes)
    if (path.length > 1) faults.push({ key: keyOf(path.map(String)), text })
  const { rules: modes, ...loop } = content.loop ?? {}
  return {
    content: {
      loop: accepted(loop),
      empty: accepted(content.empty),
      caps: accepted(content.caps),
      tree: accepted(content.tree),
      rules: accepted(modes),
    },
    faults,
  }
}

/**
 * A text that is neither a number nor a boolean stays a text. The schema refuses it or accepts it
 * as a mode.
 */
function readValue(text: string): unknown {
  if (/^\d{1,15}(\.\d{1,9})?$/.test(text)) return Number(text)
  if (text === 'true') return true
  return text === 'false' ? false : text
}

/** The key of a path in an agent file. */
function keyOf([section = '', ...names]: string[]): string {
  return names[0] === 'rules'
    ? rulePrefix + names.slice(1).join('.')
    : [section, ...names].join('.')
}

/** Without the values that the schema refused. */
function accepted<T extends object>(given: T | undefined): T {
  return Object.fromEntries(
    Object.entries(given ?? {}).filter(([, value]) => value !== undefined),
  ) as T
}
