// The fields that approval rules look at, as JSON Schemas. Approval rules are data of the
// registration, so other stages can read them without the approval stage.

import { stepsOf } from '../../contract/arguments/argument-path.ts'
import type { Schema } from '../../contract/arguments/schema-place.ts'
import { isObject, jsonIn } from '../../lib/json/json-object.ts'
import { matchesPattern } from './tool-pattern.ts'

/**
 * One schema for each condition of the rules on this tool. A schema has a rule at exactly the
 * places that its condition looks at. `rules`: the text of the registration. An unreadable text
 * gives none: with it the approval stage denies every call.
 */
export function ruledFields(rules: string, tool: string): Schema[] {
  const parsed = jsonIn(rules)
  return (Array.isArray(parsed) ? parsed : []).flatMap((rule: unknown) => {
    if (!isObject(rule) || !Array.isArray(rule.tools)) return []
    const isMet = rule.tools.some(
      (pattern) => typeof pattern === 'string' && matchesPattern(pattern, tool),
    )
    if (!isMet) return []
    const { arguments: condition, pattern } = rule
    return [
      ...(isObject(condition) ? [condition] : []),
      ...(isObject(pattern) && typeof pattern.path === 'string' ? [schemaAt(pattern.path)] : []),
    ]
  })
}

/** `enum` marks the place: everything below it is compared too. */
function schemaAt(path: string): Schema {
  return stepsOf(path).reduceRight<Schema>(
    (inner, step) => ({ properties: { [step]: inner }, items: inner }),
    { enum: [] },
  )
}
