// What Ajv found, in words for a model: which argument, what is wrong with it, what would be accepted. The words are the same for the same mistake
// whatever the value was, because loop keys are made of them.

import type { ErrorObject } from 'ajv'
import { listed, quoted, shownName, visible } from './name-text.ts'

/** `fields`: what the model has to learn to do better; empty: the arguments as a whole. */
export type SchemaFault = { words: string; fields: string[] }

const wordsCharactersMax = 200

export function schemaFault({ keyword, instancePath, params, message }: ErrorObject): SchemaFault {
  const path = pathOf(instancePath)
  const subject = path === '' ? 'the arguments' : `field '${path}'`
  const fields = path === '' ? [] : [path]
  switch (keyword) {
    case 'required': {
      const missing = below(path, String(params.missingProperty))
      return { words: `missing required field '${missing}'`, fields: [missing] }
    }
    case 'additionalProperties':
    case 'unevaluatedProperties': {
      const name = String(params.additionalProperty ?? params.unevaluatedProperty)
      return { words: `unknown field '${below(path, name)}'`, fields: [] }
    }
    case 'type':
      return { words: `${subject} must be ${listOf(params.type)}`, fields }
    case 'enum':
      return { words: `${subject} must be one of ${valuesOf(params.allowedValues)}`, fields }
    case 'const':
      return { words: `${subject} must be ${valuesOf([params.allowedValue])}`, fields }
    default:
      return { words: bounded(`${subject} ${message ?? `breaks "${keyword}"`}`), fields }
  }
}

/** "Accepted fields: 'a', 'b'.", where a schema lists them. */
export function acceptedFields({ properties }: Record<string, unknown>): string[] {
  if (typeof properties !== 'object' || properties === null) return []
  const names = Object.keys(properties)
  return names.length === 0 ? ['This tool accepts no fields.'] : [`Accepted fields: ${listed(names.map(quoted))}.`]
}

/** A JSON pointer as people write it: "/items/0/name" is items[0].name. */
function pathOf(pointer: string): string {
  return pointer
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce(below, '')
}

function below(path: string, step: string): string {
  if (/^\d+$/.test(step) && path !== '') return `${path}[${step}]`
  return path === '' ? shownName(step) : `${path}.${shownName(step)}`
}

function listOf(types: unknown): string {
  return Array.isArray(types) ? types.join(' or ') : String(types).replaceAll(',', ' or ')
}

function valuesOf(values: unknown): string {
  return bounded(Array.isArray(values) ? values.map((value) => JSON.stringify(value)).join(', ') : '')
}

function bounded(words: string): string {
  return visible(words.length > wordsCharactersMax ? `${words.slice(0, wordsCharactersMax).toWellFormed()}…` : words)
}
