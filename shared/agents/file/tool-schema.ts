// The JSON Schema of a tool's arguments, from the agent file or from a separate file, as the text
// of a declaration.

import { dirname, join } from 'node:path'
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { limits } from '../../contract/limits.ts'
import { jsonFault } from '../../lib/json/json-fault.ts'
import { isObject } from '../../lib/json/json-object.ts'
import { protectOwnPath } from '../../lib/sandbox/own-paths.ts'
import { readDocument } from '../../settings/document.ts'
import { alternatives, kindOf, type Path, pathOf, shown } from '../../settings/mistake.ts'
import { readText } from '../../settings/text-file.ts'
import type { ToolContent } from './content.ts'
import { guess } from './schema-mistakes.ts'
import { exists, referred, type Source } from './source.ts'
import { hasVariable } from './variables.ts'

/** Empty after a mistake. */
export function schemaOf(source: Source, path: Path, { schema, schemaFile }: ToolContent): string {
  if (schema !== undefined)
    return checked(schema, source.checkSchema, (inner, text) =>
      source.refuse([...path, 'schema', ...inner], text),
    )
  return schemaFile === undefined ? '' : schemaIn(source, [...path, 'schemaFile'], schemaFile)
}

/** Mistakes in that file are reported at their places there. */
function schemaIn(source: Source, path: Path, written: string): string {
  const found = referred(source, path, written)
  if (found === undefined || !exists(source, path, found, 'file')) return ''
  const file = hasVariable(written) ? written : join(dirname(source.file), written)
  protectOwnPath(found.path, 'read-only')
  const read = readText(found.path, limits.schemaBytesMax)
  if ('fault' in read) {
    source.refuse(path, `refers to ${shown(found.name)}, which ${read.fault}`)
    return ''
  }
  const { document, mistakes } = readDocument(file, read.text)
  source.report(mistakes)
  if (document === undefined) return ''
  return checked(document.value, source.checkSchema, (inner, text) =>
    source.report([{ file, ...document.placeOf(inner), path: inner, text }]),
  )
}

type Refuse = (path: Path, text: string) => void

/** Its text, even after a mistake. */
function checked(schema: unknown, checkSchema: Source['checkSchema'], refuse: Refuse): string {
  if (!isObject(schema)) {
    refuse([], `is ${kindOf(schema)}; must be a mapping: the JSON Schema of the arguments`)
    return ''
  }
  const text = JSON.stringify(schema)
  const bytes = Buffer.byteLength(text)
  if (bytes > limits.schemaBytesMax) {
    refuse([], `is a schema of ${bytes} bytes; must have at most ${limits.schemaBytesMax}`)
    return text
  }
  if (jsonFault(text, limits.schemaDepthMax) !== undefined) {
    refuse([], `is nested deeper than ${limits.schemaDepthMax} levels`)
    return text
  }
  // The providers require it.
  if (schema.type !== 'object')
    refuse(
      Object.hasOwn(schema, 'type') ? ['type'] : [],
      'is not the schema of an object; must have type: object',
    )
  const reason = checkSchema?.(text)
  if (checkSchema !== undefined && reason === undefined) return text // then its form is right too
  const faults = formFaults(schema)
  for (const { path, text: fault } of faults) refuse(path, fault)
  if (reason !== undefined && faults.length === 0) refuse([], `is an unusable schema: ${reason}`)
  return text
}

// ── Its form, by the schema of its dialect ──

const draft2020 = 'https://json-schema.org/draft/2020-12/schema'
const draft07 = 'http://json-schema.org/draft-07/schema'

/**
 * Without `$schema` it may be of either dialect. The form of other dialects is not checked here.
 */
function formFaults(schema: Record<string, unknown>): { path: Path; text: string }[] {
  const { $schema } = schema
  const named =
    typeof $schema === 'string'
      ? $schema
          .trim()
          .replace(/#$/, '')
          .replace(/^https?/, '')
      : undefined
  const isEither = $schema === undefined
  if (isEither || named === draft2020.replace(/^https?/, '')) {
    const faults = faultsBy(judge2020(), schema)
    return isEither && faults.length > 0 && faultsBy(judge07(), schema).length === 0 ? [] : faults
  }
  return named === draft07.replace(/^https?/, '') ? faultsBy(judge07(), schema) : []
}

/** Reports only the innermost mistake at each place, and of several the plainest. */
function faultsBy(judge: ValidateFunction, schema: unknown): { path: Path; text: string }[] {
  if (judge(schema)) return []
  const errors = judge.errors ?? []
  const pointers = [...new Set(errors.map(({ instancePath }) => instancePath))]
  const innermost = pointers.filter(
    (pointer) => !pointers.some((other) => other.startsWith(`${pointer}/`)),
  )
  return innermost.map((pointer) => {
    const here = errors.filter(({ instancePath }) => instancePath === pointer)
    const error =
      here.find(({ keyword }) => keyword === 'enum') ??
      here.find(({ keyword }) => keyword === 'type') ??
      here[0]
    return {
      path: pathOf(pointer),
      text: error === undefined ? 'is not a JSON Schema' : wordsOf(error),
    }
  })
}

function wordsOf({ keyword, params, message, data }: ErrorObject): string {
  const value = `is ${shown(data)}, which a JSON Schema cannot have here`
  if (keyword === 'enum')
    return `${value}; must be ${alternatives(params.allowedValues)}${guess(data, params.allowedValues)}`
  if (keyword === 'type')
    return `${value}; must be ${alternatives([params.type].flat().map((type) => typeNames[type] ?? type))}`
  return `${value}; ${message ?? 'correct it'}`
}

const typeNames: Record<string, string> = {
  object: 'a mapping',
  array: 'a list',
  string: 'a text',
  boolean: 'true or false',
  integer: 'a whole number',
  number: 'a number',
}

const options = { strict: false, logger: false, allErrors: true, verbose: true } as const
const judge2020 = metaSchema(() => new Ajv2020(options), draft2020)
const judge07 = metaSchema(() => new Ajv(options), draft07)

/** Compiled on first use, usually for a mistake, because that takes a tenth of a second. */
function metaSchema(create: () => Ajv, id: string): () => ValidateFunction {
  let judge: ValidateFunction | undefined
  return () => {
    judge ??= create().getSchema(id)
    if (judge === undefined) throw new Error(`Ajv does not know ${id}`)
    return judge
  }
}
