// Counts the references that judging a value follows, and its tests of patterns. The other costs are
// bounded by the size of the schema, but references in branches make it exponential. Twenty definitions, each with the
// next one twice in `anyOf`, are a million ways. Beyond the bound, the value is not judged.

import { _, type Ajv, type CodeKeywordDefinition } from 'ajv'

/**
 * References of a schema that are followed, and tests of patterns, to judge one call's arguments. A list of 100,000 items
 * needs as many, a careless `anyOf` far more.
 */
export const schemaStepsMax = 200_000

export class TooManySteps extends Error {}

/** Counts for one compiled schema, and throws TooManySteps beyond the bound. `begin` before each judgement. */
export type SchemaSteps = { begin(): void; take(steps: number): void }

/** The keywords that refer to another part of the schema. */
const references = ['$ref', '$dynamicRef']

export function schemaSteps(): SchemaSteps {
  let taken = 0
  return {
    begin() {
      taken = 0
    },
    take(steps) {
      taken += steps
      if (taken > schemaStepsMax) throw new TooManySteps()
    },
  }
}

/** From now on, each schema that this instance compiles counts its references. */
export function countReferences(ajv: Ajv, { take }: SchemaSteps): void {
  const step = () => take(1)
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
}
