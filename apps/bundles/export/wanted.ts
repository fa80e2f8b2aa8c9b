// What `weir export` was asked for: conversations, a stretch of time, how turns ended. Judged
// before anything is opened.

import type { Message } from '../../../shared/contract/messages.ts'
import type { Milliseconds } from '../../../shared/lib/clock.ts'
import { WeirError } from '../../../shared/lib/errors.ts'
import { nearestName } from '../../../shared/settings/nearest-name.ts'
import { instantOfFlag } from '../../terminal/instant-text.ts'
import { printable } from '../../terminal/printable.ts'

export type WantedOptions = {
  conversation?: string[]
  since?: string
  until?: string
  where?: string[]
}

/** Values of a key are alternatives, keys are conditions. */
export type Where = Map<WhereKey, Set<string>>

export type Wanted = {
  /** Empty: all. */
  conversations: ReadonlySet<string>
  since: Milliseconds
  until: Milliseconds
  where: Where
  /**
   * Nothing but perhaps conversations is named: they are wanted from their first record to their
   * last.
   */
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
]

/** What a key may be; null: anything. */
const whereValues: Record<WhereKey, string[] | null> = {
  failureClass: classes,
  outcome: ['answered', 'capped', 'failed', 'cancelled', 'open'],
  cap: ['rounds', 'calls', 'wall', 'tokens'],
  agent: null,
}

/** Throws `usage` with what would be taken. */
export function wantedOf(
  { conversation = [], since, until, where = [] }: WantedOptions,
  now: Milliseconds,
): Wanted {
  const wanted = {
    conversations: new Set(conversation),
    since: since === undefined ? 0 : instantOfFlag('--since', since, now),
    until: until === undefined ? Number.POSITIVE_INFINITY : instantOfFlag('--until', until, now),
    where: whereOf(where),
    isWhole: since === undefined && until === undefined && where.length === 0,
  }
  if (wanted.since >= wanted.until)
    throw new WeirError(
      'usage',
      `--since ${since} is not before --until ${until}: nothing lies between them`,
    )
  return wanted
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

/** `no-progress` and `no_progress` are the same. */
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

/**
 * What this record of the activity says of a turn that somebody asked for: the conditions that it
 * fulfils.
 */
export function fulfilledBy(where: Where, message: Message): WhereKey[] {
  const asked = saidBy(message).filter(([key]) => where.has(key))
  // All of them of the same turn: one that failed and another that was capped are not what was
  // asked for.
  return asked.every(([key, value]) => where.get(key)?.has(value ?? ''))
    ? asked.map(([key]) => key)
    : []
}

/** What it says of its turn; null: nothing of that kind. */
export function saidBy(message: Message): [WhereKey, string | null][] {
  if (message.type === 'turn-started') return [['agent', message.agent]]
  if (message.type !== 'turn-finished') return []
  return [
    ['failureClass', message.class],
    ['outcome', message.outcome],
    ['cap', message.cap],
  ]
}
