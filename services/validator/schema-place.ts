// Reads a JSON Schema's rules for one place in the arguments, without judging the rest of them.

import { pointedTo } from '../../shared/contract/arguments/schema-reference.ts'
import { isObject } from '../../shared/lib/json/json-object.ts'

type Schema = Record<string, unknown>

/** Bound on the schemas read for one place. With more branches than that, the answer is no. */
const schemasMax = 64

/** Whether the schema names at least one type for this place, and every one is `integer`. */
export function isWholeAt(path: readonly (string | number)[], root: Schema): boolean {
  let here = spread([root], root)
  for (const step of path)
    here = spread(
      here.flatMap((schema) => below(schema, step)),
      root,
    )
  const types = here.flatMap(({ type }) =>
    Array.isArray(type) ? type : type === undefined ? [] : [type],
  )
  return types.includes('integer') && !types.includes('number')
}

/** Adds the schemas that they refer to and consist of. */
function spread(schemas: unknown[], root: Schema): Schema[] {
  const found = new Set<Schema>()
  for (const schema of schemas) if (isObject(schema)) found.add(schema)
  // Iterating over a set includes the items added meanwhile.
  for (const { $ref, allOf, anyOf, oneOf } of found) {
    if (found.size > schemasMax) return []
    const parts = [
      typeof $ref === 'string' ? pointedTo($ref, root) : undefined,
      allOf,
      anyOf,
      oneOf,
    ].flat()
    for (const part of parts) if (isObject(part)) found.add(part)
  }
  return found.size > schemasMax ? [] : [...found]
}

function below(
  { properties, additionalProperties, items, prefixItems }: Schema,
  step: string | number,
): unknown[] {
  if (typeof step === 'string')
    return [
      isObject(properties) && Object.hasOwn(properties, step)
        ? properties[step]
        : additionalProperties,
    ]
  const listed = Array.isArray(items) ? items : prefixItems
  return [Array.isArray(listed) && step < listed.length ? listed[step] : items]
}
