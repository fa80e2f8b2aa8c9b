// Parses a tool's schema for an SDK, once per declaration: every request offers the same objects.

import type { Declaration } from '../../contract/messages.ts'

const parsed = new WeakMap<Declaration, Record<string, unknown>>()

/** Callers must not change the result. Throws if the schema is not JSON, in an unchecked agent. */
export function parsedSchema(declaration: Declaration): Record<string, unknown> {
  const known = parsed.get(declaration)
  if (known !== undefined) return known
  const schema = JSON.parse(declaration.schema) as Record<string, unknown>
  parsed.set(declaration, schema)
  return schema
}
