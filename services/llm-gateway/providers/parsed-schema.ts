// The schema of a tool as the object that SDKs want. An agent's declarations stay the same objects,
// and each request offers them again.

import type { Declaration } from '../../../shared/contract/messages.ts'

/** A cache. */
const parsed = new WeakMap<Declaration, Record<string, unknown>>()

/** Nobody may change it. Throws where the schema is no JSON: the agent's file was not checked. */
export function parsedSchema(declaration: Declaration): Record<string, unknown> {
  const known = parsed.get(declaration)
  if (known !== undefined) return known
  const schema = JSON.parse(declaration.schema) as Record<string, unknown>
  parsed.set(declaration, schema)
  return schema
}
