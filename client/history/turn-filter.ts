// Conditions on turns: `--where KEY=VALUE` of `weir export` and `weir conversations`, and `where` of
// weir.conversations. Checked before a log is opened.
// TURN-FILTER-1. One turn must meet all conditions. Of several values of one key, one is enough.

import { rules } from '../../services/loop-detector/rules.ts'
import type {
  Cap,
  FailureClass,
  InterventionAction,
  TurnOutcome,
} from '../../shared/contract/messages.ts'
import { usageError } from '../../shared/lib/errors.ts'
import { onOneLine } from '../../shared/lib/text-cut.ts'
import { nearestName } from '../../shared/settings/nearest-name.ts'
import type { TurnSummary } from '../../shared/view/summary.ts'

export type WhereKey =
  | 'failureClass'
  | 'outcome'
  | 'cap'
  | 'agent'
  | 'tenant'
  | 'intervention'
  | 'rule'
  | 'guard'
  | 'call'

/** A turn must match one value of each key. */
export type Where = Map<WhereKey, Set<string>>

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

/**
 * `accepted`: null: any value. `of`: the values of a turn. `guard`: a guard that stopped a call.
 * `call`: the decision on one of its calls before it could run.
 */
const keys: Record<
  WhereKey,
  { accepted: readonly string[] | null; of: (turn: TurnSummary) => string[] }
> = {
  failureClass: {
    accepted: failureClasses,
    of: ({ failureClass }) => (failureClass === null ? [] : [failureClass]),
  },
  outcome: {
    accepted: outcomes,
    of: ({ outcome }) => [outcome],
  },
  cap: {
    accepted: caps,
    of: ({ cap }) => (cap === null ? [] : [cap]),
  },
  agent: { accepted: null, of: ({ agent }) => (agent === null ? [] : [agent]) },
  tenant: { accepted: null, of: ({ tenant }) => (tenant === null ? [] : [tenant]) },
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
}

/** The accepted values of each key. Null: any value. */
export function acceptedValues(): Record<WhereKey, readonly string[] | null> {
  const accepted = Object.entries(keys).map(([key, { accepted }]) => [key, accepted])
  return Object.fromEntries(accepted) as Record<WhereKey, readonly string[] | null>
}

/** Of `--where KEY=VALUE`. Throws `usage` with the accepted keys and values. */
export function whereOf(given: readonly string[]): Where {
  return whereFrom(
    given.map((one) => {
      const [, name = '', value = ''] = /^([^=]*)=(.*)$/s.exec(one) ?? []
      return { name, value, subject: `--where is '${onOneLine(one)}'` }
    }),
    {
      unknownKey: 'must be KEY=VALUE with a key of',
      valueOf: (key) => `--where ${key}`,
    },
  )
}

/** Of a program's object. Throws like `whereOf`. */
export function whereIn(
  conditions: Partial<Record<WhereKey, string | readonly string[]>>,
  otherKeys: readonly string[],
): Where {
  const given = Object.entries(conditions).flatMap(([name, values]) =>
    [values].flat().map((value) => ({
      name,
      value: String(value),
      subject: `where has the key '${onOneLine(name)}'`,
    })),
  )
  const unknownKey = `its keys are ${otherKeys.join(', ')},`
  return whereFrom(given, { unknownKey, valueOf: (key) => `where.${key}` })
}

/** The words of an error: before the list of keys, and the place of a key's value. */
type Words = { unknownKey: string; valueOf: (key: WhereKey) => string }

function whereFrom(
  given: readonly { name: string; value: string; subject: string }[],
  words: Words,
): Where {
  const where: Where = new Map()
  for (const { name, value, subject } of given) {
    const key = keyNamed(name, `${subject}; ${words.unknownKey}`)
    const accepted = valueNamed(key, value, words.valueOf(key))
    where.set(key, (where.get(key) ?? new Set()).add(accepted))
  }
  return where
}

/** Keeps TURN-FILTER-1. True without conditions. */
export function matches(where: Where, turn: TurnSummary): boolean {
  return [...where].every(([key, wanted]) => keys[key].of(turn).some((value) => wanted.has(value)))
}

/** The turn's values of this key. */
export function valuesOf(key: WhereKey, turn: TurnSummary): string[] {
  return keys[key].of(turn)
}

function keyNamed(name: string, problem: string): WhereKey {
  const names = Object.keys(keys) as WhereKey[]
  const key = names.find((one) => one === name)
  if (key !== undefined) return key
  const near = nearestName(name, names)
  const meant = near === undefined ? '' : ` Did you mean ${near}?`
  throw usageError(`${problem} ${names.join(', ')}.${meant}`)
}

/** Accepts `no-progress` for `no_progress`. */
function valueNamed(key: WhereKey, given: string, place: string): string {
  const { accepted } = keys[key]
  if (accepted === null) return given
  const value = accepted.find((one) => one === given || one === given.replaceAll('-', '_'))
  if (value !== undefined) return value
  const near = nearestName(given, accepted)
  const meant = near === undefined ? '' : ` Did you mean ${near}?`
  throw usageError(
    `${place} is '${onOneLine(given)}'.${meant} It must be one of ${accepted.join(', ')}`,
  )
}
