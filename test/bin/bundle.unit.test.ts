// The generated validators of the package (keeps BUNDLE-3).

import { createRequire } from 'node:module'
import { join } from 'node:path'
import { expect, it } from '@jest/globals'
import type { ValidateFunction } from 'ajv'
import { ahead, validatorCode } from '../../bin/bundle.ts'
import type { Ahead } from '../../shared/lib/json/ahead.ts'

const root = join(import.meta.dirname, '..', '..')

const look = { name: 'look', description: 'looks', command: ['ls'] }
const tool = { ...look, schema: { type: 'object' } }
const model = { provider: 'anthropic', name: 'm', maxOutputTokens: 9 }

/** Schemas of arguments, agents of files and agents of programs, with and without mistakes. */
const values = [
  true,
  { type: 'object', properties: { a: { type: 'string', minLength: 1 } }, required: ['a'] },
  { type: 'objekt' },
  { items: [{ type: 'string' }] },
  { $defs: { a: { anyOf: [{ not: { minimum: 'x' } }] } }, required: ['a', 'a'] },
  { name: 'agent', system: 'Help.', model, tools: [tool] },
  { name: 'agent', system: 'Help.', model, tools: [{ ...look, parameters: {} }] },
  { name: 'agent', system: 'Help.', model, tools: [{ ...tool, parameters: {}, http: 7 }] },
  { systemFile: 'a.md', modell: model, caps: { rounds: 0 }, tools: [{ name: '' }] },
]

it.each(ahead)(
  'judge each value as the checkout does, with the same mistakes: %s',
  async (file) => {
    const validators: Record<string, Ahead> = await import(join(root, file))
    for (const [name, validator] of Object.entries(validators)) {
      const code = validatorCode(name, validator.create).replace('export const', 'const')
      const packaged: ValidateFunction = new Function('require', `${code}\nreturn ${name}()`)(
        createRequire(import.meta.url),
      )
      const judged = (validate: ValidateFunction) =>
        values.map((value) => ({ isValid: validate(value), errors: validate.errors }))
      expect(judged(packaged)).toEqual(judged(validator()))
      expect(new Set(judged(packaged).map(({ isValid }) => isValid))).toEqual(
        new Set([true, false]),
      )
    }
  },
)
