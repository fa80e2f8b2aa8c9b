// How much work judging one value may be. What one part of a schema costs is bounded by its size;
// what makes it exponential are references in branches: twenty definitions, each `anyOf` the next
// one twice, are a million ways, and a recursive schema of two branches doubles with each level of
// the value. So it is counted how often a reference is followed, and beyond the bound nobody
// judges, whatever the verdict would have been.

import { _, type Ajv, type CodeKeywordDefinition } from 'ajv'
import { limits } from '../limits.ts'

export class TooManySteps extends Error {}

/** Counts for one compiled schema. `begin` before each judgement. */
export type SchemaSteps = { begin(): void }

/** The keywords by which a schema goes on in another of its parts. */
const references = ['$ref', '$dynamicRef']

/**
 * Makes every schema that this instance compiles from now on count, and throw TooManySteps beyond
 * the bound.
 */
export function countSteps(ajv: Ajv): SchemaSteps {
  let taken = 0
  const step = () => {
    taken += 1
    if (taken > limits.schemaStepsMax) throw new TooManySteps()
  }
  for (const keyword of references) {
    const rule = ajv.RULES.all[keyword]
    if (typeof rule !== 'object' || !('code' in rule.definition)) continue
    const definition: CodeKeywordDefinition = rule.definition
    const { code } = definition
    definition.code = (context, ruleType) => {
      const counted = context.gen.scopeValue('func', { ref: step })
      context.gen.code(_`${counted}()`)
      code(context, ruleType)
    }
  }
  return {
    begin() {
      taken = 0
    },
  }
}
