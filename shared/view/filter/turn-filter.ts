// The one language for conditions on turns: `--where` of the command line, `where` of a program, the
// HTTP API and the console. One list has its keys. Pure; client/search answers it.
// One turn must meet all conditions, except those on tokens and cost, which are about
// its whole conversation. Of several values of one key, one is enough. Of several texts, all count.

import { rules } from '../../../services/loop-detector/rules.ts'
import type { Cap, FailureClass, InterventionAction, TurnOutcome } from '../../contract/messages.ts'
import type { Milliseconds } from '../../lib/clock.ts'
import { durationOf } from '../../lib/duration.ts'
import { usageError } from '../../lib/errors.ts'
import { onOneLine } from '../../lib/text-cut.ts'
import { nearestName } from '../../settings/nearest-name.ts'
import type { TurnView } from '../turn-view.ts'
import { instantOf } from './instant.ts'
import { searchedWords } from './searched-words.ts'
import { type TurnSummary, turnSummary } from './summary.ts'

export type ValueKey =
  | 'tool'
  | 'rule'
  | 'guard'
  | 'outcome'
  | 'agent'
  | 'tenant'
  | 'tree'
  | 'intervention'
  | 'call'
  | 'failureClass'
  | 'cap'
type BoundKey = 'minTokens' | 'minCost' | 'longerThan' | 'since' | 'until'
export type FilterKey = 'text' | ValueKey | BoundKey

/** `minCost`: in billionths of a US dollar. `since`, `until`: a turn was active in this time. */
export type TurnFilter = {
  text: string[]
  values: Map<ValueKey, Set<string>>
} & Partial<Record<BoundKey, number>>

export function emptyFilter(): TurnFilter {
  return { text: [], values: new Map() }
}

/** Whether each turn matches. */
export function isEmptyFilter({ text, values, ...bounds }: TurnFilter): boolean {
  return text.length === 0 && values.size === 0 && Object.keys(bounds).length === 0
}

/** The newest, the most expensive, the most tokens or the longest turn first. */
export const sorts = ['time', 'cost', 'tokens', 'duration'] as const
export type Sort = (typeof sorts)[number]

/** The value of `intervention` for each action. */
const anyAction = 'any'

/** The keys. The type demands each symbol of the schema. */
function everyOf<Symbol extends string>(symbols: Record<Symbol, true>): string[] {
  return Object.keys(symbols)
}

const failureClasses = everyOf<FailureClass>({
  deterministic: true,
  transient: true,
  no_progress: true,
  budget: true,
  refused: true,
  provider: true,
  internal: true,
  cancelled: true,
  context_full: true,
  degenerate: true,
  stopped: true,
})
const outcomes = everyOf<TurnOutcome | 'open'>({
  answered: true,
  capped: true,
  failed: true,
  cancelled: true,
  open: true,
})
const caps = everyOf<Cap>({ rounds: true, calls: true, wall: true, tokens: true })
const actions = everyOf<InterventionAction>({ nudge: true, text_only: true, end: true })

/** `accepted`: null: the values that the log has. `of`: those of a turn. */
type Values = { accepted: readonly string[] | null; of: (turn: TurnSummary) => string[] }

/** `guard`: a guard that stopped a call. `call`: the decision on a call before it could run. */
const valueKeys: Record<ValueKey, Values> = {
  outcome: { accepted: outcomes, of: ({ outcome }) => [outcome] },
  intervention: {
    accepted: [anyAction, ...actions],
    of({ facts: { actions } }) {
      const found = Object.keys(actions)
      return found.length === 0 ? [] : [...found, anyAction]
    },
  },
  rule: {
    accepted: [...rules.map(({ name }) => name), 'guard'],
    of: ({ facts }) => Object.keys(facts.rules),
  },
  guard: { accepted: null, of: ({ facts }) => Object.keys(facts.denials) },
  tool: { accepted: null, of: ({ tools }) => tools },
  agent: { accepted: null, of: ({ agent }) => (agent === null ? [] : [agent]) },
  tenant: { accepted: null, of: ({ tenant }) => (tenant === null ? [] : [tenant]) },
  tree: { accepted: null, of: ({ tree }) => (tree === null ? [] : [tree]) },
  call: {
    accepted: ['denied', 'allowed', 'pending'],
    of({ facts: { denials, deniedByChecks, approvals } }) {
      return [
        ...(Object.keys(denials).length > 0 || deniedByChecks > 0 ? ['denied'] : []),
        ...((approvals.allow ?? 0) > 0 ? ['allowed'] : []),
        ...((approvals.pending ?? 0) > 0 ? ['pending'] : []),
      ]
    },
  },
  failureClass: {
    accepted: failureClasses,
    of: ({ failureClass }) => (failureClass === null ? [] : [failureClass]),
  },
  cap: { accepted: caps, of: ({ cap }) => (cap === null ? [] : [cap]) },
}

/** `read`: undefined for a bad text. `form`: the accepted texts. */
type Bound = { read: (text: string, now: Milliseconds) => number | undefined; form: string }

const time: Bound = {
  read: (text, now) => milliseconds(text) ?? instantOf(text, now),
  form: "a time such as 2026-07-29T10:12:03Z or '10m ago' (ms, s, m, h, d)",
}
const boundKeys: Record<BoundKey, Bound> = {
  minTokens: {
    read: (text) => (/^\d{1,15}$/.test(text) ? Number(text) : undefined),
    form: 'a whole number of tokens, such as 100000',
  },
  minCost: { read: billionths, form: 'an amount such as 5 or 0.5USD' },
  longerThan: {
    read: (text) => milliseconds(text) ?? durationOf(text),
    form: 'a duration such as 90s or 5m (ms, s, m, h, d)',
  },
  since: time,
  until: time,
}

function milliseconds(text: string): number | undefined {
  return /^\d{1,15}$/.test(text) ? Number(text) : undefined
}

function billionths(text: string): number | undefined {
  const [, amount] = /^(\d{1,6}(?:\.\d{1,9})?)\s*(?:USD)?$/i.exec(text) ?? []
  return amount === undefined ? undefined : Math.round(Number(amount) * 1e9)
}

/** All keys in the order of a form. */
export const filterKeys = ['text', ...Object.keys(valueKeys), ...Object.keys(boundKeys)] as [
  FilterKey,
  ...FilterKey[],
]

export function isValueKey(key: string): key is ValueKey {
  return Object.hasOwn(valueKeys, key)
}

/** Null: the values that the log has. */
export function acceptedValues(key: ValueKey): readonly string[] | null {
  return valueKeys[key].accepted
}

/** Each value of the turn by which a filter finds it. */
export function valuesOf(view: TurnView): [ValueKey, string][] {
  const turn = turnSummary(view)
  const pairs = Object.entries(valueKeys) as [ValueKey, Values][]
  return pairs.flatMap(([key, { of }]) => of(turn).map((value): [ValueKey, string] => [key, value]))
}

/** `place`: the name of the value in an error: `--since`, `where.agent`. */
export type Condition = { key: string; value: string; place: string }

/** Throws `usage` with the accepted keys and values. */
export function filterFrom(conditions: readonly Condition[], now: Milliseconds): TurnFilter {
  const filter = emptyFilter()
  for (const { key: given, value, place } of conditions) {
    const key = keyNamed(given, place)
    if (key === 'text') {
      filter.text.push(textIn(value, place))
      searchedWords(filter.text, place) // throws for too many
    } else if (isValueKey(key))
      filter.values.set(
        key,
        (filter.values.get(key) ?? new Set()).add(valueNamed(key, value, place)),
      )
    else {
      if (filter[key] !== undefined) throw usageError(`${place} is given twice; give it once`)
      filter[key] = boundIn(key, value, { place, now })
    }
  }
  const { since = 0, until = Number.POSITIVE_INFINITY } = filter
  if (since >= until) {
    const [from, to] = ['since', 'until'].map((key) => conditions.find((one) => one.key === key))
    throw usageError(`${from?.place} ${from?.value} is not before ${to?.place} ${to?.value}`)
  }
  return filter
}

/** Of `--where KEY=VALUE`. Throws `usage`. */
export function conditionsOf(where: readonly string[]): Condition[] {
  return where.map((one) => {
    const [, key = '', value = ''] = /^([^=]*)=(.*)$/s.exec(one) ?? []
    if (key === '' || !isKey(key))
      throw usageError(
        `--where is '${onOneLine(one)}'; must be KEY=VALUE with a key of ${keyNames(key)}`,
      )
    return { key, value, place: `--where ${key}` }
  })
}

/** Of a program's object, or of a query. Throws `usage`. */
export function conditionsIn(
  where: Readonly<Record<string, string | number | readonly string[] | undefined>>,
): Condition[] {
  return Object.entries(where).flatMap(([key, values]) => {
    if (!isKey(key))
      throw usageError(`where has the key '${onOneLine(key)}'; its keys are ${keyNames(key)}`)
    return [values ?? []]
      .flat()
      .map((value) => ({ key, value: String(value), place: `where.${key}` }))
  })
}

/** Throws `usage`. */
export function sortNamed(text: string, place: string): Sort {
  return oneOf(sorts, text, place) as Sort
}

function isKey(name: string): name is FilterKey {
  return (filterKeys as string[]).includes(name)
}

function keyNamed(name: string, place: string): FilterKey {
  if (isKey(name)) return name
  throw usageError(`${place}: the keys are ${keyNames(name)}`)
}

/** The list of keys, with the nearest one of an unknown name. */
function keyNames(unknown: string): string {
  const near = nearestName(unknown, filterKeys)
  return `${filterKeys.join(', ')}${near === undefined ? '' : `. Did you mean ${near}?`}`
}

function textIn(text: string, place: string): string {
  if (text.trim() === '') throw usageError(`${place} is empty: give words to find`)
  return text
}

function boundIn(
  key: BoundKey,
  text: string,
  { place, now }: { place: string; now: Milliseconds },
): number {
  const value = boundKeys[key].read(text.trim(), now)
  if (value !== undefined) return value
  throw usageError(`${place} is '${onOneLine(text)}': give ${boundKeys[key].form}`)
}

/** Accepts `no-progress` for `no_progress`. */
function valueNamed(key: ValueKey, given: string, place: string): string {
  const { accepted } = valueKeys[key]
  if (accepted === null) return given
  return oneOf(accepted, given, place)
}

function oneOf(accepted: readonly string[], given: string, place: string): string {
  const value = accepted.find((one) => one === given || one === given.replaceAll('-', '_'))
  if (value !== undefined) return value
  const near = nearestName(given, accepted)
  const meant = near === undefined ? '' : ` Did you mean ${near}?`
  throw usageError(
    `${place} is '${onOneLine(given)}'.${meant} It must be one of ${accepted.join(', ')}`,
  )
}

/** The error for values that no turn has. `known`: those that turns have. */
export function unknownValue(key: ValueKey, given: Iterable<string>, known: readonly string[]) {
  const values = [...given].map((one) => `'${onOneLine(one)}'`).join(' or ')
  const near = nearestName([...given][0] ?? '', known)
  const meant = near === undefined ? '' : ` Did you mean ${onOneLine(near)}?`
  const there = known.length === 0 ? 'none' : known.map((one) => onOneLine(one)).join(', ')
  return usageError(`no turn has the ${key} ${values}.${meant} The log has ${there}`)
}
