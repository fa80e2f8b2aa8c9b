// agent.schema.json: the one list of the keys, types and bounds of agent files. It has two special keywords:
// `x-accepted` describes the accepted values, and no message shows the value of an `x-secret`.

import { readFileSync } from 'node:fs'
import { Ajv, type AnySchemaObject, type CodeOptions } from 'ajv'

export type Schema = {
  type?: string
  description?: string
  enum?: string[]
  minimum?: number
  maximum?: number
  properties?: Record<string, Schema>
  oneOf?: Branch[]
  anyOf?: Branch[]
  'x-accepted'?: string
  'x-secret'?: boolean
}

/** The keys that an alternative requires. */
export type Branch = { required: string[] }

export const agentSchema: AnySchemaObject & Schema = JSON.parse(
  readFileSync(new URL('agent.schema.json', import.meta.url), 'utf8'),
)

export function agentAjv(schema: AnySchemaObject, code: CodeOptions): [ajv: Ajv, id: string] {
  const ajv = new Ajv({
    allErrors: true,
    verbose: true,
    ownProperties: true,
    logger: false,
    strictTypes: false,
    keywords: ['x-accepted', 'x-secret'],
    // A test checks the schema against its dialect. At each start, checking it and generating fast
    // code for one file would take longer than the rest.
    validateSchema: false,
    meta: false,
    code: { optimize: false, ...code },
  })
  return [ajv.addSchema(schema, 'agent'), 'agent']
}
