// The filter of `weir export`: conversations, a stretch of time, and endings of turns. Checked
// before a log is opened.

import type { Message } from '../../../shared/contract/messages.ts'
import type { Milliseconds } from '../../../shared/lib/clock.ts'
import { WeirError } from '../../../shared/lib/errors.ts'
import { nearestName } from '../../../shared/settings/nearest-name.ts'
import { instantOfFlag } from '../../terminal/instant-text.ts'
import { printable } from '../../terminal/printable.ts'

export type FilterOptions = {
  conversation?: string[]
  since?: string
  until?: string
  where?: string[]
}

/** A turn must match one value of each key. */
export type Where = Map<WhereKey, Set<string>>

export type ExportFilter = {
  /** Empty: all. */
  conversations: ReadonlySet<string>
  since: Milliseconds
  until: Milliseconds
  where: Where
  /** No time and no condition is given: each conversation is exported as a whole. */
  isWhole: boolean
}

export type WhereKey = 'failureClass' | 'outcome' | 'cap' | 'agent'

const classes = [
  'deterministic',
  'transient',
  'no_progress',
  'budget',
  'refused',
  'provider',
  'internal',
  'cancelled',
  'context_full',
  'degenerate',
]

/** The values of each key; null: any. */
const whereValues: Record<WhereKey, string[] | null> = {
  failureClass: classes,
  outcome: ['answered', 'capped', 'failed', 'cancelled', 'open'],
  cap: ['rounds', 'calls', 'wall', 'tokens'],
  agent: null,
}

/** Throws `usage` with the accepted values. */
export function filterOf(
  { conversation = [], since, until, where = [] }: FilterOptions,
  now: Milliseconds,
): ExportFilter {
  const filter = {
    conversations: new Set(conversation),
    since: since === undefined ? 0 : instantOfFlag('--since', since, now),
    until: until === undefined ? Number.POSITIVE_INFINITY : instantOfFlag('--until', until, now),
    where: whereOf(where),
    isWhole: since === undefined && until === undefined && where.length === 0,
  }
  if (filter.since >= filter.until)
    throw new WeirError('usage', `--since ${since} is not before --until ${until}`)
  return filter
}

function whereOf(given: string[]): Where {
  const where: Where = new Map()
  for (const one of given) {
    const [, name = '', value = ''] = /^([^=]*)=(.*)$/s.exec(one) ?? []
    const key = keyNamed(one, name)
    where.set(key, (where.get(key) ?? new Set()).add(valueNamed(key, value)))
  }
  return where
}

function keyNamed(given: string, name: string): WhereKey {
  const keys = Object.keys(whereValues) as WhereKey[]
  const key = keys.find((one) => one === name)
  if (key !== undefined) return key
  const near = nearestName(name, keys)
  const meant = near === undefined ? '' : ` Did you mean ${near}?`
  throw new WeirError(
    'usage',
    `--where is '${printable(given)}'; must be KEY=VALUE with a key of ${keys.join(', ')}.${meant}`,
  )
}

/** Accepts `no-progress` for `no_progress`. */
function valueNamed(key: WhereKey, given: string): string {
  const values = whereValues[key]
  if (values === null) return given
  const value = values.find((one) => one === given.replaceAll('-', '_'))
  if (value !== undefined) return value
  const near = nearestName(given, values)
  const meant = near === undefined ? '' : ` Did you mean ${near}?`
  throw new WeirError(
    'usage',
    `--where ${key} is '${printable(given)}'.${meant} It must be one of ${values.join(', ')}`,
  )
}

/** The conditions that the turn of this activity record matches. */
export function matchedBy(where: Where, message: Message): WhereKey[] {
  const values = valuesOf(message).filter(([key]) => where.has(key))
  // All conditions must match the same turn.
  return values.every(([key, value]) => where.get(key)?.has(value ?? ''))
    ? values.map(([key]) => key)
    : []
}

/** The values of a record's turn; null: none for this key. */
export function valuesOf(message: Message): [WhereKey, string | null][] {
  if (message.type === 'turn-started') return [['agent', message.agent]]
  if (message.type !== 'turn-finished') return []
  return [
    ['failureClass', message.class],
    ['outcome', message.outcome],
    ['cap', message.cap],
  ]
}
