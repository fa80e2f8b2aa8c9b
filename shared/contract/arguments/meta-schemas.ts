// The form of a JSON Schema, by the schema of its dialect.

import { Ajv } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { ahead } from '../../lib/json/ahead.ts'

const options = { strict: false, logger: false } as const

export const draft2020Form = ahead((code) => [
  new Ajv2020({ ...options, code }),
  'https://json-schema.org/draft/2020-12/schema',
])

export const draft07Form = ahead((code) => [
  new Ajv({ ...options, code }),
  'http://json-schema.org/draft-07/schema',
])
