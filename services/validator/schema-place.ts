// What a JSON Schema says of one place in the arguments, as far as it can be told without judging
// the rest of them.

import { pointedTo } from '../../shared/contract/arguments/schema-reference.ts'
import { isObject } from '../../shared/lib/json/json-object.ts'

type Schema = Record<string, unknown>

/** Schemas that are looked at for one place: one that branches more says nothing. */
const schemasMax = 64

/** Whether every type that the schema names for this place is `integer`, and it names one. */
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

/** With what they refer to and are made of. */
function spread(schemas: unknown[], root: Schema): Schema[] {
  const found = new Set<Schema>()
  for (const schema of schemas) if (isObject(schema)) found.add(schema)
  // A set also goes over what is added meanwhile.
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
