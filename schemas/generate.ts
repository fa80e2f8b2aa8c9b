// Generator: turns schemas/**/*.avsc into the types of the code and the registry of the codec.
//
//   node schemas/generate.ts             Write shared/contract/messages.ts and schemas/lock.json.
//   node schemas/generate.ts --check     Write nothing. Exit with 1 at the first file that differs.
//   node schemas/generate.ts --release   Also mark every schema as released: records may use its id.
//
// Owns: reading and checking the .avsc files, the TypeScript text, the rules of changes to the
// lock. Does not own: reading and writing records (shared/codec/codec.ts), the allowed changes
// between two versions (compatibility.ts).
//
// The id of a released schema never changes its meaning. Records outlive their code.
// Each schema in the lock is self-contained, so a reader needs no .avsc file.
// The same files and lock give the same output, byte for byte.

import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import avro from 'avsc'
import { incompatibilities } from './compatibility.ts'
import type { LockEntry, NamedSchema, RecordSchema, Schema } from './lock-entry.ts'

const namespace = 'weir'
const lineWidth = 100

/** The content of the .avsc files. All names are full names. */
export type Schemas = {
  /** By message type: 'user-message'. */
  messages: Map<string, Definition<RecordSchema>>
  /** Every named type by its full name, the messages' records too. */
  types: Map<string, Definition<NamedSchema>>
}
type Definition<S> = { file: string; schema: S }

export type SourceFile = { path: string; text: string }

class SchemaError extends Error {
  override name = 'SchemaError'
}

// ---- Reading ----

/**
 * Paths are relative to the folder of the schemas: `user-message.avsc` is a message,
 * `types/response.avsc` is a shared type.
 */
export function parseSchemas(files: SourceFile[]): Schemas {
  const schemas: Schemas = { messages: new Map(), types: new Map() }
  for (const { path, text } of [...files].sort((a, b) => (a.path < b.path ? -1 : 1))) {
    const schema = define(schemas, path, parseJson(path, text))
    if (dirname(path) === '.') addMessage(schemas, path, schema)
  }
  for (const { file, schema } of schemas.types.values()) {
    if (schema.type === 'record')
      for (const field of schema.fields)
        checkReferences(schemas, `${file}: ${schema.name}.${field.name}`, field.type)
  }
  refuseCycles(schemas)
  for (const { file, schema } of schemas.types.values())
    checkWithAvro(file, selfContained(schemas, schema))
  return schemas
}

/**
 * The whole schema of a named type without docs. Each type in it is spelled out at its first use
 * and named afterwards, as Avro requires.
 */
export function selfContained<S extends NamedSchema>(schemas: Schemas, root: S): S {
  const spelledOut = new Set<string>()
  const inline = (schema: Schema): Schema => {
    if (Array.isArray(schema)) return schema.map(inline)
    if (typeof schema === 'string') {
      const definition = schemas.types.get(schema)
      return definition === undefined || spelledOut.has(schema) ? schema : inline(definition.schema)
    }
    if (schema.type === 'array') return { type: 'array', items: inline(schema.items) }
    if (schema.type === 'map') return { type: 'map', values: inline(schema.values) }
    spelledOut.add(schema.name)
    const { doc: _doc, namespace: _namespace, type, ...rest } = schema
    if (type !== 'record') return { type, ...rest } as NamedSchema
    return {
      type,
      ...rest,
      fields: schema.fields.map(({ doc: _, ...field }) => ({ ...field, type: inline(field.type) })),
    } as RecordSchema
  }
  return inline(root) as S
}

function parseJson(path: string, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new SchemaError(`${path} is not JSON: ${(cause as Error).message}`, { cause })
  }
}

/**
 * Notes a named type and all that are defined inside it, and returns it with full names in place of
 * short ones and of inner definitions.
 */
function define(schemas: Schemas, file: string, json: unknown): NamedSchema {
  const named = json as NamedSchema
  if (typeof json !== 'object' || json === null || !isNamed(named)) {
    throw new SchemaError(
      `${file} holds ${brief(json)}. Write one record, enum or fixed with a name.`,
    )
  }
  const name = fullName(named.name)
  if (!name.startsWith(`${namespace}.`) || (named.namespace ?? namespace) !== namespace) {
    throw new SchemaError(
      `${file}: ${named.name} is not in the namespace ${namespace}. Set "namespace": "${namespace}".`,
    )
  }
  const twin = schemas.types.get(name)
  if (twin !== undefined)
    throw new SchemaError(
      `${file} defines ${name}, which ${twin.file} defines already. Rename one, or refer to it by name.`,
    )
  if (!/^weir\.[A-Z][A-Za-z0-9]*$/.test(name))
    throw new SchemaError(`${file}: the name ${name} is not in PascalCase.`)

  const schema = { ...named, name } as NamedSchema
  schemas.types.set(name, { file, schema })
  if (schema.type === 'record') {
    if (!Array.isArray(schema.fields))
      throw new SchemaError(`${file}: ${name} has no list of fields.`)
    schema.fields = schema.fields.map((field) => {
      const place = `${file}: field ${name.slice(namespace.length + 1)}.${field.name}`
      if (!/^[a-z][A-Za-z0-9]*$/.test(field.name))
        throw new SchemaError(`${place} is not in camelCase.`)
      if (typeof field.doc !== 'string' || field.doc.trim() === '') {
        throw new SchemaError(`${place} has no doc. Describe its meaning, its unit and its writer.`)
      }
      return { ...field, type: hoist(schemas, file, place, field.type) }
    })
  }
  return schema
}

function hoist(schemas: Schemas, file: string, place: string, schema: Schema): Schema {
  if (typeof schema === 'string') return primitives.has(schema) ? schema : fullName(schema)
  if (Array.isArray(schema)) return schema.map((branch) => hoist(schemas, file, place, branch))
  if (typeof schema !== 'object' || schema === null)
    throw new SchemaError(`${place} has the type ${brief(schema)}, which is not an Avro type.`)
  if (schema.type === 'array')
    return { type: 'array', items: hoist(schemas, file, place, schema.items) }
  if (schema.type === 'map')
    return { type: 'map', values: hoist(schemas, file, place, schema.values) }
  if (isNamed(schema)) return define(schemas, file, schema).name
  const { type } = schema as { type: Schema }
  if (typeof type === 'string' && Object.keys(schema).length === 1)
    return hoist(schemas, file, place, type)
  throw new SchemaError(
    `${place} has the type ${brief(schema)}. Use a primitive, a union, an array, a map or a named type, without other attributes.`,
  )
}

function addMessage(schemas: Schemas, path: string, schema: NamedSchema): void {
  const type = basename(path, '.avsc')
  const name = fullName(type.split('-').map(capitalized).join(''))
  if (schema.type !== 'record')
    throw new SchemaError(
      `${path} is a message, but holds an ${schema.type}. A message is a record; move it to types/.`,
    )
  if (schema.name !== name)
    throw new SchemaError(
      `${path} holds ${schema.name}, but its file name requires ${name}. Rename one of them.`,
    )
  if (schema.fields.some((field) => field.name === 'type')) {
    throw new SchemaError(
      `${path}: field type. That property is the message's own name ('${type}') in TypeScript; rename the field.`,
    )
  }
  schemas.messages.set(type, { file: path, schema })
}

function checkReferences(schemas: Schemas, place: string, schema: Schema): void {
  if (typeof schema === 'string') {
    // A float would give back another number than was written; a round trip has to hold.
    if (schema === 'float')
      throw new SchemaError(
        `${place} is a float. Use a double: it gives back exactly what was written.`,
      )
    if (!primitives.has(schema) && !schemas.types.has(schema)) {
      throw new SchemaError(
        `${place} refers to ${schema}, which no file defines. Known: ${[...schemas.types.keys()].sort().join(', ')}.`,
      )
    }
    return
  }
  if (Array.isArray(schema)) {
    const kinds = schema.map((branch) => kindOf(schemas, branch))
    const twice = kinds.find((kind, index) => kinds.indexOf(kind) !== index)
    if (twice !== undefined) {
      throw new SchemaError(
        `${place} is a union with two branches that are both '${twice}' in JavaScript, so a value cannot show its branch. ` +
          'Use one record with an enum that tells them apart and fields that may be null.',
      )
    }
    for (const branch of schema) checkReferences(schemas, place, branch)
    return
  }
  if (schema.type === 'map') return checkReferences(schemas, place, schema.values)
  if (schema.type !== 'array') return
  // The codec trusts no count that is larger than the bytes that follow (shared/codec/codec.ts),
  // so an item has at least one byte.
  if (isEmpty(schemas, schema.items))
    throw new SchemaError(
      `${place} is an array of items without content. Count them in a long instead.`,
    )
  checkReferences(schemas, place, schema.items)
}

function isEmpty(schemas: Schemas, schema: Schema): boolean {
  if (schema === 'null') return true
  const definition = typeof schema === 'string' ? schemas.types.get(schema)?.schema : undefined
  return (
    definition?.type === 'record' &&
    definition.fields.every((field) => isEmpty(schemas, field.type))
  )
}

function kindOf(schemas: Schemas, schema: Schema): string {
  if (Array.isArray(schema)) return 'union'
  if (typeof schema !== 'string') return schema.type === 'array' ? 'list' : 'object'
  if (schema === 'int' || schema === 'long' || schema === 'float' || schema === 'double')
    return 'number'
  if (schema === 'null' || schema === 'boolean' || schema === 'string') return schema
  const named = schemas.types.get(schema)?.schema.type
  if (named === 'record') return 'object'
  return named === 'enum' ? 'string' : 'buffer'
}

function refuseCycles(schemas: Schemas): void {
  const finished = new Set<string>()
  const visit = (name: string, path: string[]): void => {
    if (path.includes(name)) {
      throw new SchemaError(
        `${schemas.types.get(name)?.file}: ${[...path.slice(path.indexOf(name)), name].join(' -> ')} is a cycle. ` +
          'A record may not contain itself: its depth would have no limit. Flatten it into a list.',
      )
    }
    const definition = schemas.types.get(name)
    if (definition === undefined || finished.has(name)) return
    if (definition.schema.type === 'record') {
      for (const field of definition.schema.fields)
        for (const inner of namesIn(field.type)) visit(inner, [...path, name])
    }
    finished.add(name)
  }
  for (const name of schemas.types.keys()) visit(name, [])
}

function namesIn(schema: Schema): string[] {
  if (typeof schema === 'string') return [schema]
  if (Array.isArray(schema)) return schema.flatMap(namesIn)
  if (schema.type === 'array') return namesIn(schema.items)
  return schema.type === 'map' ? namesIn(schema.values) : []
}

/** Finds the faults that only avsc checks: a wrong default, a symbol twice, a field twice. */
function checkWithAvro(file: string, schema: NamedSchema): void {
  try {
    avro.Type.forSchema(schema as Parameters<typeof avro.Type.forSchema>[0], {
      wrapUnions: 'never',
    })
  } catch (cause) {
    throw new SchemaError(`${file}: ${(cause as Error).message}`, { cause })
  }
}

const primitives = new Set(['null', 'boolean', 'int', 'long', 'float', 'double', 'bytes', 'string'])
function isNamed(schema: { type?: unknown; name?: unknown }): boolean {
  return (
    typeof schema.name === 'string' &&
    (schema.type === 'record' || schema.type === 'enum' || schema.type === 'fixed')
  )
}
function fullName(name: string): string {
  return name.includes('.') ? name : `${namespace}.${name}`
}

function shortName(name: string): string {
  return name.slice(name.lastIndexOf('.') + 1)
}

function capitalized(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1)
}

function brief(value: unknown): string {
  return (JSON.stringify(value) ?? String(value)).slice(0, 120)
}

// ---- TypeScript ----

export function typescriptOf(schemas: Schemas): string {
  const messages = [...schemas.messages].sort(byKey)
  const isMessage = new Set(messages.map(([, { schema }]) => schema.name))
  const shared = [...schemas.types].filter(([name]) => !isMessage.has(name)).sort(byKey)
  return `${[
    '// Generated from schemas/ by `node schemas/generate.ts`. Do not edit: change the .avsc file and run it again.',
    ...importOfIds([...schemas.types.values()].map(({ schema }) => schema)),
    union(
      'Message',
      messages.map(([, { schema }]) => shortName(schema.name)),
    ),
    `export type MessageType = Message['type']`,
    `export type MessageOf<T extends MessageType> = Extract<Message, { type: T }>`,
    ...messages.map(([type, { schema }]) => recordType(schema, [`  type: '${type}'`])),
    ...shared.map(([, { schema }]) => sharedType(schema)),
  ].join('\n\n')}\n`
}

/** The type of a text field by its name, from shared/contract/ids.ts. */
const idTypes = new Map([
  ['conversation', 'ConversationId'],
  ['messageId', 'MessageId'],
])

function idTypeOf({ name, type }: RecordSchema['fields'][number]): string | undefined {
  return type === 'string' ? idTypes.get(name) : undefined
}

/** The ids of shared/contract/ids.ts with their fields. A record has the first that fits. */
const ids = Object.entries({
  CallId: ['conversation', 'turn', 'round', 'ordinal'],
  AttemptId: ['conversation', 'turn', 'round', 'attempt'],
  RoundId: ['conversation', 'turn', 'round'],
  TurnId: ['conversation', 'turn'],
})

/** A field with another doc has a meaning that the id does not describe. */
const docsOfIds = new Set([
  'conversation: the conversation: the key of the record',
  'turn: the turn: the inbox offset of the record that opened it',
  'round: the model round in the turn, from 1',
  'ordinal: the call',
  'attempt: the attempt, random',
])

function idOf(schema: RecordSchema): { id: string; names: string[] } | undefined {
  const described = schema.fields
    .filter(({ name, doc }) => docsOfIds.has(`${name}: ${doc}`))
    .map(({ name }) => name)
  const [id, names] = ids.find((entry) => entry[1].every((name) => described.includes(name))) ?? []
  return id === undefined || names === undefined ? undefined : { id, names }
}

function importOfIds(schemas: NamedSchema[]): string[] {
  const used = new Set(
    schemas.flatMap((schema) => {
      if (schema.type !== 'record') return []
      const { id, names = [] } = idOf(schema) ?? {}
      const others = schema.fields.filter(({ name }) => !names.includes(name))
      return [id ?? [], ...others.map((field) => idTypeOf(field) ?? [])].flat()
    }),
  )
  return used.size === 0 ? [] : [`import type { ${[...used].sort().join(', ')} } from './ids.ts'`]
}

function sharedType(schema: NamedSchema): string {
  switch (schema.type) {
    case 'record':
      return recordType(schema, [])
    case 'enum':
      return (
        comment(schema.doc, '') +
        union(
          shortName(schema.name),
          schema.symbols.map((symbol) => `'${symbol}'`),
        )
      )
    case 'fixed':
      return `${comment(schema.doc, '')}export type ${shortName(schema.name)} = Uint8Array`
  }
}

function recordType(schema: RecordSchema, first: string[]): string {
  const { id, names = [] } = idOf(schema) ?? {}
  const fields = schema.fields
    .filter(({ name }) => !names.includes(name))
    .map(
      (field) =>
        `${comment(field.doc, '  ')}  ${field.name}: ${idTypeOf(field) ?? typeOf(field.type)}`,
    )
  const lines = [...first, ...fields]
  const body = lines.length === 0 ? 'Record<string, never>' : `{\n${lines.join('\n')}\n}`
  const ofId = id === undefined ? '' : `${id} & `
  return `${comment(schema.doc, '')}export type ${shortName(schema.name)} = ${ofId}${body}`
}

function typeOf(schema: Schema): string {
  if (typeof schema === 'string') return typescriptPrimitives[schema] ?? shortName(schema)
  if (Array.isArray(schema)) return nullLast(schema).map(typeOf).join(' | ')
  if (schema.type === 'array')
    return Array.isArray(schema.items) ? `(${typeOf(schema.items)})[]` : `${typeOf(schema.items)}[]`
  if (schema.type === 'map') return `Record<string, ${typeOf(schema.values)}>`
  return shortName(schema.name)
}

const typescriptPrimitives: Record<string, string | undefined> = {
  null: 'null',
  boolean: 'boolean',
  int: 'number',
  long: 'number',
  double: 'number',
  bytes: 'Uint8Array',
  string: 'string',
}

function nullLast(branches: Schema[]): Schema[] {
  return [
    ...branches.filter((branch) => branch !== 'null'),
    ...branches.filter((branch) => branch === 'null'),
  ]
}

function union(name: string, branches: string[]): string {
  if (branches.length === 0) return `export type ${name} = never`
  const line = `export type ${name} = ${branches.join(' | ')}`
  return line.length <= lineWidth
    ? line
    : `export type ${name} =\n${branches.map((branch) => `  | ${branch}`).join('\n')}`
}

function comment(doc: string | undefined, indent: string): string {
  if (doc === undefined || doc.trim() === '') return ''
  const text = doc.replaceAll('*/', '* /').trim()
  const line = `${indent}/** ${text} */\n`
  if (line.length <= lineWidth + 1 && !text.includes('\n')) return line
  const lines = text
    .split('\n')
    .flatMap((paragraph) => wrapped(paragraph, lineWidth - indent.length - 3))
  return `${indent}/**\n${lines.map((words) => `${indent} * ${words}`.trimEnd()).join('\n')}\n${indent} */\n`
}

function wrapped(paragraph: string, width: number): string[] {
  const lines = ['']
  for (const word of paragraph.split(/\s+/)) {
    const line = lines[lines.length - 1] as string
    if (line === '') lines[lines.length - 1] = word
    else if (line.length + 1 + word.length <= width) lines[lines.length - 1] = `${line} ${word}`
    else lines.push(word)
  }
  return lines
}

function byKey([a]: [string, unknown], [b]: [string, unknown]): number {
  return a < b ? -1 : 1
}

// ---- Lock ----

/**
 * The lock after this change of the schemas. Released entries do not change. After
 * them, each message has at most one draft.
 */
export function evolve(lock: LockEntry[], schemas: Schemas, { release = false } = {}): LockEntry[] {
  const released = lock.filter((entry) => entry.released)
  const gone = released.find(({ type }) => !schemas.messages.has(type))
  if (gone !== undefined) {
    throw new SchemaError(
      `${gone.type}.avsc is missing, but its schema ${gone.id} is released: records with it may exist. ` +
        'Restore the file. A message that no stage writes any more keeps its schema.',
    )
  }
  const drafts: LockEntry[] = []
  let nextId = Math.max(0, ...lock.map(({ id }) => id)) + 1
  for (const [type, { schema: record }] of [...schemas.messages].sort(byKey)) {
    const schema = selfContained(schemas, record)
    const newest = released
      .filter((entry) => entry.type === type)
      .sort(byVersion)
      .at(-1)
    if (newest !== undefined && same(newest.schema, schema)) continue
    const draft = lock.find((entry) => entry.type === type && !entry.released)
    if (draft === undefined) {
      drafts.push({
        id: nextId,
        type,
        version: (newest?.version ?? 0) + 1,
        released: false,
        schema,
      })
      nextId += 1
    } else {
      drafts.push({ ...draft, schema })
    }
  }
  const entries = [...released, ...drafts].sort((a, b) => a.id - b.id)
  return release ? entries.map((entry) => ({ ...entry, released: true })) : entries
}

function byVersion(a: LockEntry, b: LockEntry): number {
  return a.version - b.version
}

function same(a: Schema, b: Schema): boolean {
  return JSON.stringify(a) === JSON.stringify(b)
}

/** One line for each schema, so a diff shows one line for each changed schema. */
export function lockText(lock: LockEntry[]): string {
  return `[\n${lock.map((entry) => JSON.stringify(entry)).join(',\n')}\n]\n`
}

// ---- The command ----

export type Paths = { schemas: string; lock: string; messages: string }

/** Runs the generator and returns its exit code. */
export function generate(paths: Paths, flags: string[], print: (line: string) => void): number {
  const unknown = flags.find((flag) => flag !== '--check' && flag !== '--release')
  if (unknown !== undefined) {
    print(`unknown option ${unknown}. Options: --check, --release.`)
    return 1
  }
  const files = globSync('{*,types/*}.avsc', { cwd: paths.schemas }).map((path) => ({
    path,
    text: readFileSync(join(paths.schemas, path), 'utf8'),
  }))
  const committed = existsSync(paths.lock)
    ? (JSON.parse(readFileSync(paths.lock, 'utf8')) as LockEntry[])
    : []
  const schemas = parseSchemas(files)
  const lock = evolve(committed, schemas, { release: flags.includes('--release') })
  const problems = incompatibilities(lock)
  if (problems.length > 0) {
    for (const problem of problems) print(problem)
    return 1
  }
  for (const [path, text] of [
    [paths.messages, typescriptOf(schemas)],
    [paths.lock, lockText(lock)],
  ] as const) {
    if (existsSync(path) && readFileSync(path, 'utf8') === text) continue
    if (flags.includes('--check')) {
      print(
        `${relative('.', path)} does not match schemas/*.avsc. Run \`node schemas/generate.ts\` and commit the result.`,
      )
      return 1
    }
    writeFileSync(path, text)
    print(`wrote ${relative('.', path)}`)
  }
  return 0
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const here = import.meta.dirname
  const paths = {
    schemas: here,
    lock: join(here, 'lock.json'),
    messages: join(here, '../shared/contract/messages.ts'),
  }
  try {
    process.exitCode = generate(paths, process.argv.slice(2), (line) => console.error(line))
  } catch (error) {
    if (!(error instanceof SchemaError)) throw error
    console.error(error.message)
    process.exitCode = 1
  }
}
