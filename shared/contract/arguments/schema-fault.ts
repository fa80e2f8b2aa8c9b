// Turns the errors of Ajv into sentences for the model: the argument, the problem, the accepted
// values. The same mistake has the same sentence for every value, because loop keys contain it.

import type { ErrorObject } from 'ajv'
import * as texts from '../../model-texts/arguments.ts'
import { listed, quoted, shownName, visible } from './name-text.ts'
import { nearestNames } from './tool-name.ts'

/** `fields`: the arguments to correct. Empty: the arguments as a whole. */
export type SchemaFault = { words: string; fields: string[] }

const wordsCharactersMax = 200

export function schemaFault({
  keyword,
  instancePath,
  propertyName,
  params,
  message,
}: ErrorObject): SchemaFault {
  const path = pathOf(instancePath)
  const subject =
    propertyName === undefined
      ? subjectAt(path)
      : `the name of field '${below(path, propertyName)}'`
  const fields = path === '' ? [] : [path]
  switch (keyword) {
    case 'required': {
      const missing = below(path, String(params.missingProperty))
      return { words: `missing required field '${missing}'`, fields: [missing] }
    }
    case 'additionalProperties':
    case 'unevaluatedProperties':
      return { words: `unknown field '${below(path, unknownName(params))}'`, fields: [] }
    case 'propertyNames':
      return {
        words: `the name of field '${below(path, String(params.propertyName))}' is not accepted`,
        fields: [],
      }
    case 'type':
      return { words: `${subject} must be ${listOf(params.type)}`, fields }
    case 'enum':
      return { words: `${subject} must be one of ${valuesOf(params.allowedValues)}`, fields }
    case 'const':
      return { words: `${subject} must be ${valuesOf([params.allowedValue])}`, fields }
    case 'format':
      return { words: bounded(`${subject} ${message ?? 'has the wrong format'}`), fields }
    default:
      return { words: bounded(`${subject} ${message ?? `breaks "${keyword}"`}`), fields }
  }
}

/**
 * A sentence that helps and may differ with the value. It may search all names of the schema, so
 * call it only for the error that is shown.
 */
export function schemaHint({
  keyword,
  instancePath,
  params,
  data,
  parentSchema,
}: ErrorObject): string | undefined {
  switch (keyword) {
    case 'additionalProperties':
    case 'unevaluatedProperties':
      return meant(unknownName(params), Object.keys(parentSchema?.properties ?? {}))
    case 'type':
      return texts.sentKind(kindOf(data), subjectAt(pathOf(instancePath)))
    case 'enum':
      return meant(data, params.allowedValues)
    case 'format': {
      const example = examples[String(params.format)]
      return example === undefined ? undefined : texts.forExample(example)
    }
    default:
      return undefined
  }
}

function subjectAt(path: string): string {
  return path === '' ? 'the arguments' : `field '${path}'`
}

function unknownName(params: ErrorObject['params']): string {
  return String(params.additionalProperty ?? params.unevaluatedProperty)
}

const examples: Record<string, string> = {
  date: '2026-01-31',
  'date-time': '2026-01-31T09:30:00Z',
  time: '09:30:00Z',
  duration: 'PT15M',
  email: 'name@example.com',
  uri: 'https://example.com/page',
  uuid: '123e4567-e89b-42d3-a456-426614174000',
  ipv4: '192.0.2.1',
  ipv6: '2001:db8::1',
}

/** A shorter text is near to every name. */
const sentCharactersMin = 3

/** The nearest allowed value. */
function meant(sent: unknown, allowed: unknown): string | undefined {
  if (typeof sent !== 'string' || sent.length < sentCharactersMin || !Array.isArray(allowed))
    return undefined
  const [near] = nearestNames(
    sent,
    allowed.filter((value) => typeof value === 'string'),
  )
  return near === undefined ? undefined : texts.didYouMean(quoted(near))
}

function kindOf(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'an array'
  if (typeof value === 'object') return 'an object'
  if (typeof value === 'number' && !Number.isFinite(value)) return 'a number that is too large'
  return typeof value === 'number' && !Number.isInteger(value)
    ? 'a number with a fraction'
    : `a ${typeof value}`
}

/** "Accepted fields: 'a', 'b'.", where a schema lists them. */
export function acceptedFields({ properties }: Record<string, unknown>): string[] {
  if (typeof properties !== 'object' || properties === null) return []
  const names = Object.keys(properties)
  return names.length === 0
    ? [texts.noFieldsAccepted]
    : [texts.fieldsAccepted(listed(names.map(quoted)))]
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
  return bounded(
    Array.isArray(values) ? values.map((value) => JSON.stringify(value)).join(', ') : '',
  )
}

function bounded(words: string): string {
  return visible(
    words.length > wordsCharactersMax
      ? `${words.slice(0, wordsCharactersMax).toWellFormed()}…`
      : words,
  )
}
