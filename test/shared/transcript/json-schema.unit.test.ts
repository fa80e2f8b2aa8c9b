// The schemas of tools, of the libraries that frameworks accept.

import { expect, it } from '@jest/globals'
import { type } from 'arktype'
import { z } from 'zod'
import { jsonSchemaOf } from '../../../shared/transcript/json-schema.ts'

const expected = { type: 'object', required: ['command'] }

it.each([
  ['JSON Schema', { type: 'object', required: ['command'] }],
  ['zod', z.object({ command: z.string() })],
  ['the JSON Schema that zod makes', z.toJSONSchema(z.object({ command: z.string() }))],
  ['arktype', type({ command: 'string' })],
])('a schema of %s becomes JSON Schema', (_, schema) => {
  expect(jsonSchemaOf(schema)).toMatchObject(expected)
})

it.each([
  ['a missing schema', undefined],
  ['a schema of zod 3', { _def: {}, parse: () => {} }],
  ['a schema that JSON Schema cannot express', z.object({ at: z.date() })],
  ['a library without JSON Schema', { '~standard': { version: 1, vendor: 'x' } }],
])('%s is unknown', (_, schema) => {
  expect(jsonSchemaOf(schema)).toBeUndefined()
})
