// The JSON Schema of a framework's tool, which may be an object of a schema library.

import { isObject } from '../lib/json/json-object.ts'

/**
 * Undefined: it is unknown, and every argument fits. zod, valibot and arktype convert a schema by
 * `~standard`, which zod also puts on the JSON Schema that it makes.
 */
export function jsonSchemaOf(schema: unknown): unknown {
  if (typeof schema !== 'function' && !isObject(schema)) return undefined
  const standard: unknown = Reflect.get(schema, '~standard')
  if (!isObject(standard)) return '_def' in schema ? undefined : schema // zod 3 has only `_def`
  const { jsonSchema } = standard
  if (!isObject(jsonSchema) || typeof jsonSchema.input !== 'function') return undefined
  try {
    return jsonSchema.input({ target: 'draft-07' })
  } catch {
    return undefined // a schema that JSON Schema cannot express
  }
}
