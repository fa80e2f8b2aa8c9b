// The thresholds of the loop-detector that people set: default, bounds and description of each.
// They live here because records carry them, rules share them, and four places check or show them:
// agent files, `weir policy`, the admission of a message and the docs of rules.
// The order is that of the wire type: the version of a policy is made of its text.
// The compiler asks for an entry when schemas/types/loop-thresholds.avsc gets a field.

import type { EmptyAllowance, LoopThresholds } from './messages.ts'

/** A number counts model rounds, responses or minutes; a boolean switches something on. */
type Threshold<Value> = { description: string; default: Value } & (Value extends number
  ? { min: number; max: number }
  : unknown)

type Section<Values> = { readonly [Name in keyof Values]: Threshold<Values[Name]> }

const max = 1000

export const thresholds: { loop: Section<LoopThresholds>; empty: Section<EmptyAllowance> } = {
  loop: {
    identicalFailures: {
      description: 'Rounds with the same failing call, by arguments or by error.',
      default: 3,
      min: 1,
      max,
    },
    identicalSuccesses: {
      description: 'Rounds with the same call and the same result.',
      default: 5,
      min: 1,
      max,
    },
    cycleLaps: {
      description: 'Laps in a cycle with several rounds and nothing new.',
      default: 3,
      min: 1,
      max,
    },
    schemaFailures: {
      description:
        "Consecutive calls that break a tool's schema, before the error is worded more sharply.",
      default: 3,
      min: 1,
      max,
    },
    schemaFailureEndsTurn: {
      description: 'Whether reaching schemaFailures ends the turn as a deterministic failure.',
      default: false,
    },
    waitMinutes: {
      description: 'Minutes that a wait may last without news before the model is reminded.',
      default: 60,
      min: 1,
      max: 1440,
    },
  },
  empty: {
    beforeTools: {
      description: 'Empty responses in a row that get a nudge, before the first tool call.',
      default: 2,
      min: 0,
      max,
    },
    afterTools: {
      description: 'Empty responses in a row that get a nudge, after a tool call.',
      default: 3,
      min: 0,
      max,
    },
    perTurn: {
      description: 'Empty responses in a turn that get a nudge.',
      default: 10,
      min: 0,
      max,
    },
  },
}

/** As `weir policy` and `--set` name it. */
export type ThresholdKey = `loop.${keyof LoopThresholds}` | `empty.${keyof EmptyAllowance}`

export function defaultsOf<Values>(section: Section<Values>): Values {
  return valuesOf(section, (threshold) => threshold.default)
}

/** Every count of the section at `value`, and every switch at its default. */
export function countsAt<Values>(section: Section<Values>, value: number): Values {
  return valuesOf(section, (threshold) => (isCount(threshold) ? value : threshold.default))
}

function valuesOf<Values>(
  section: Section<Values>,
  read: (threshold: Threshold<unknown>) => unknown,
): Values {
  const entries = Object.entries<Threshold<unknown>>(section)
  return Object.fromEntries(entries.map(([name, one]) => [name, read(one)])) as Values
}

type Sections = { loop: LoopThresholds; empty: EmptyAllowance }
type Count = { key: ThresholdKey; min: number; max: number; valueIn: (policy: Sections) => number }

/** Every count of both sections. */
export function countThresholds(): Count[] {
  return [
    ...countsOf('loop', thresholds.loop, ({ loop }) => loop),
    ...countsOf('empty', thresholds.empty, ({ empty }) => empty),
  ]
}

function countsOf<Values>(
  name: keyof Sections,
  section: Section<Values>,
  valuesIn: (policy: Sections) => Values,
): Count[] {
  return Object.entries<Threshold<unknown>>(section).flatMap(([field, threshold]): Count[] => {
    if (!isCount(threshold)) return []
    const { min, max } = threshold
    const key = `${name}.${field}` as ThresholdKey
    return [{ key, min, max, valueIn: (policy) => Number(valuesIn(policy)[field as keyof Values]) }]
  })
}

function isCount(threshold: Threshold<unknown>): threshold is Threshold<number> {
  return typeof threshold.default === 'number'
}
