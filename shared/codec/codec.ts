// Codec: encodes messages to bytes and decodes them. Owns: the frame, the schema of a message, and
// the errors of bytes that do not match it. Does not own: Avro (avro-types.ts, avro-bytes.ts), the
// schemas and their ids (schemas/), records that cannot be decoded (the runtime: dead letters).
//
// The frame is that of Confluent's registry, so any Kafka tool reads our records: byte 0, the
// schema's id as a big-endian int32, Avro. The registry is a file, schemas/lock.json: one process
// less. A build learns the schemas of newer ones from the log (shared/bus/fleet).
//
// Decoding changes a few values. A lone surrogate becomes U+FFFD, because it has no UTF-8. Bytes
// become a Buffer, and an integer -0 becomes 0. A missing field gets its default, and properties
// that the schema does not name are dropped.
//
// A decoded message is deeply equal to the encoded one, but for the changes above.
// For any bytes, decode returns a message or throws a WeirError codec.*. It never hangs,
// and allocates at most a small multiple of the bytes, even if a length in them is false.
// A record of an older version decodes as the current one (Avro's schema resolution).
// lock.json keeps every released schema for that.

import { readFileSync } from 'node:fs'
import { inspect } from 'node:util'
import type { LockEntry } from '../../schemas/lock-entry.ts'
import type { Message, MessageOf, MessageType } from '../contract/messages.ts'
import { WeirError } from '../lib/errors.ts'
import { ByteReader, ByteWriter } from './avro-bytes.ts'
import { type CompiledType, compile, type Schema } from './avro-types.ts'
import { droppedRule } from './binding-parts.ts'
import { closedFormats, formatOf } from './formats.ts'
import { nameGuards } from './former-words.ts'
import { newerParts } from './newer-parts.ts'

export type Codec = {
  /**
   * For outputs of a fold, and for bytes outside the log. Writes the newest schema of a closed format that
   * has all parts of the message, otherwise the newest of this build. So the bytes are the same in every
   * process, and an older Weir reads an output of older inputs. Throws `codec.bad-message` if
   * the message does not fit its schema.
   */
  encode(message: Message): Buffer
  /**
   * As encode, with the newest schema of the format in force (`hold`): for observed records. Throws
   * `codec.newer-schema` if the type of the message begins after that format, or the format drops a rule
   * of it that forbids calls.
   */
  encodeInForce(message: Message): Buffer
  /** The reason why the format in force drops such a rule of these fields. Undefined: it does not. */
  ruleFault<Type extends MessageType>(
    type: Type,
    fields: Partial<MessageOf<Type>>,
  ): string | undefined
  /** Whether encodeInForce writes this field, or leaves it out because older processes run. */
  hasInForce<Type extends MessageType>(type: Type, field: keyof MessageOf<Type>): boolean
  decode(bytes: Uint8Array): Message
  /**
   * The message type in the frame, without reading the rest, which may be encrypted. Undefined: no
   * frame, or an unknown schema.
   */
  typeIn(bytes: Uint8Array): MessageType | undefined
  /** Adds schemas of a newer Weir, to read its records as this one's. Own schemas stay. */
  learn(schemas: readonly LearnedSchema[]): void
  /**
   * Whether a record can be read. `unreadable`: its schema is learned, and this Weir has no such type, or
   * the two versions do not fit. Bytes without a frame are `known`: their error is another one.
   */
  familiarity(bytes: Uint8Array): 'known' | 'unknown' | 'unreadable'
  /**
   * Limits encodeInForce to the schemas of this format, from now on. The lowest format of all holders
   * counts, which this returns; infinity without a holder. Undefined: the holder has no limit.
   */
  hold(holder: object, format: number | undefined): number
}

export type LearnedSchema = Pick<LockEntry, 'id' | 'type' | 'version' | 'schema'>

const magicByte = 0
/**
 * Instead of the magic byte: the value after the header is encrypted (shared/bus/encryption). The
 * schema's id stays readable.
 */
export const encryptedByte = 1
/** Of the magic byte and the schema's id. */
export const headerBytes = 5

/**
 * A codec for the schemas of one lock. Types are compiled on first use, because a process needs
 * only a few.
 */
export function codecOf(lock: readonly LockEntry[]): Codec {
  const entries = new Map<number, KnownSchema>(lock.map((entry) => [entry.id, entry]))
  const held = new Map<object, number>()
  const newestOwn = Math.max(0, ...entries.keys())

  // Caches, filled once for each schema, and two scratch objects. Calls can share them, because no
  // call waits.
  const compiled = new Map<number, CompiledType>()
  const writers = writersOf(lock)
  const closedWriters = writersOf(lock.filter(({ id }) => formatOf(id) <= closedFormats.length))
  const isNewer = newerThan(closedWriters.schemas, writers.schemas)
  let writersInForce = writers
  const readers = new Map<number, (reader: ByteReader) => unknown>()
  const writer = new ByteWriter()
  const reader = new ByteReader()

  const compiledOf = (entry: KnownSchema): CompiledType => {
    const type = compiled.get(entry.id) ?? compile(entry.schema as Schema, entry.type)
    compiled.set(entry.id, type)
    return type
  }

  const writerOf = (message: Message, { schemas, byType }: Writers): CompiledWriter => {
    const entry = schemas.get(typeOf(message))
    const tooNew = writers.schemas.get(typeOf(message))
    if (entry === undefined && tooNew !== undefined) throw notInForce(tooNew, held)
    if (entry === undefined) throw unknownMessage(message)
    const found = { id: entry.id, write: compiledOf(entry).write }
    byType.set(entry.type, found)
    return found
  }

  const readerOf = (id: number): ((reader: ByteReader) => unknown) => {
    const entry = entries.get(id)
    const current = entry && writers.schemas.get(entry.type)
    if (entry !== undefined && current === undefined) throw unknownType(entry)
    if (entry === undefined || current === undefined) {
      throw new WeirError(
        'codec.unknown-schema',
        `schema ${id} is not in schemas/lock.json, which ends at ${newestOwn}. ` +
          'A newer Weir wrote the record (deploy that version here too), or another program writes to this topic.',
      )
    }
    const read =
      entry === current
        ? compiledOf(current).read
        : olderReader(entry, current, { compiledOf, newestOwn })
    readers.set(id, read)
    return read
  }

  const encodeWith = (message: Message, by: Writers): Buffer => {
    const { id, write } = by.byType.get(typeOf(message)) ?? writerOf(message, by)
    try {
      const bytes = writer.written(headerBytes, () => write(writer, message))
      bytes[0] = magicByte
      bytes.writeInt32BE(id, 1)
      return bytes
    } catch (cause) {
      throw badMessage(message, compiledOf(by.schemas.get(message.type) as LockEntry), cause)
    }
  }

  const ruleFault = (type: string, fields: object): string | undefined => {
    const entry = writersInForce.schemas.get(type)
    if (entry === undefined || entry === writers.schemas.get(type)) return undefined
    const rule = droppedRule(fields, entry.schema)
    return rule === undefined ? undefined : ruleNotInForce(rule, held)
  }

  return {
    encode: (message) => encodeWith(message, isNewer(message) ? writers : closedWriters),

    encodeInForce(message) {
      const fault = ruleFault(typeOf(message), message)
      if (fault !== undefined) throw new WeirError('codec.newer-schema', fault)
      return encodeWith(message, writersInForce)
    },

    ruleFault,

    hasInForce(type, field) {
      const schema = writersInForce.schemas.get(type)?.schema as { fields?: { name: string }[] }
      return schema?.fields?.some(({ name }) => name === field) === true
    },

    decode(bytes) {
      const id = schemaIdIn(bytes)
      if (id === undefined) throw bytes[0] === encryptedByte ? unreadable() : badFrame(bytes)
      const read = readers.get(id) ?? readerOf(id)
      reader.begin(bytes, headerBytes)
      try {
        const message = read(reader)
        if (reader.remaining > 0) throw new Error(`${reader.remaining} bytes follow after its end`)
        return message as Message
      } catch (cause) {
        throw badBody(bytes, entries.get(id) as KnownSchema, cause)
      } finally {
        reader.finish()
      }
    },

    typeIn(bytes) {
      const isFramed = bytes[0] === magicByte || bytes[0] === encryptedByte
      if (bytes.length < headerBytes || !isFramed) return undefined
      return entries.get(idIn(bytes))?.type as MessageType | undefined
    },

    learn(schemas) {
      for (const schema of schemas)
        if (schema.id > newestOwn && !isEqual(entries.get(schema.id), schema)) {
          entries.set(schema.id, schema)
          compiled.delete(schema.id)
          readers.delete(schema.id)
        }
    },

    familiarity(bytes) {
      const isFramed = bytes[0] === magicByte || bytes[0] === encryptedByte
      if (bytes.length < headerBytes || !isFramed) return 'known'
      const id = idIn(bytes)
      if (readers.has(id)) return 'known'
      if (!entries.has(id)) return 'unknown'
      try {
        readerOf(id)
        return 'known'
      } catch {
        return 'unreadable'
      }
    },

    hold(holder, format) {
      if (format === undefined) held.delete(holder)
      else held.set(holder, format)
      const limit = Math.min(Number.POSITIVE_INFINITY, ...held.values())
      const schemas = lock.filter(({ id, type }) => isOfFleet(type) || formatOf(id) <= limit)
      writersInForce = writersOf(schemas)
      return limit
    },
  }
}

/** Reads a record of one schema as a message of the current one. */
function olderReader(
  entry: KnownSchema,
  current: LockEntry,
  {
    compiledOf,
    newestOwn,
  }: { compiledOf: (entry: KnownSchema) => CompiledType; newestOwn: number },
): (reader: ByteReader) => unknown {
  try {
    const read = compiledOf(current).readerOf(compiledOf(entry))
    if (entry.former !== true) return read
    return (reader) => {
      const message = read(reader)
      nameGuards(message)
      return message
    }
  } catch (cause) {
    throw unreadableVersion(entry, current, { cause, isNewer: entry.id > newestOwn })
  }
}

/** Whether no schema of a closed format has all parts of a message. Each type is compared once. */
function newerThan(
  closed: ReadonlyMap<string, LockEntry>,
  newest: ReadonlyMap<string, LockEntry>,
): (message: Message) => boolean {
  const byType = new Map<string, (message: unknown) => boolean>()
  return (message) => {
    const type = typeOf(message)
    let hasNewer = byType.get(type)
    if (hasNewer === undefined) {
      const [older, current] = [closed.get(type), newest.get(type)]
      const parts = older && current && newerParts(older.schema, current.schema)
      hasNewer = older === undefined ? () => true : (parts ?? (() => false))
      byType.set(type, hasNewer)
    }
    return hasNewer(message)
  }
}

type CompiledWriter = { id: number; write: CompiledType['write'] }

/** The schemas to write, by type. `byType`: a cache, filled once for each type. */
type Writers = { schemas: Map<string, LockEntry>; byType: Map<string, CompiledWriter> }

/** `released` and `former` are absent for a learned schema. */
type KnownSchema = LearnedSchema & Partial<LockEntry>

/** Of the newest schema of each type. */
function writersOf(lock: readonly LockEntry[]): Writers {
  const schemas = new Map<string, LockEntry>()
  for (const entry of lock)
    if (entry.version > (schemas.get(entry.type)?.version ?? 0)) schemas.set(entry.type, entry)
  return { schemas, byType: new Map() }
}

/** Readers find these records by their keys, so an older reader skips them. */
function isOfFleet(type: string): boolean {
  return ['format-schemas', 'fleet-format', 'topic-ids'].includes(type)
}

function isEqual(
  known: KnownSchema | undefined,
  { type, version, schema }: LearnedSchema,
): boolean {
  return (
    known?.type === type &&
    known.version === version &&
    JSON.stringify(known.schema) === JSON.stringify(schema)
  )
}

/** The id in the frame, known or not. Undefined: no frame. */
export function schemaIdIn(bytes: Uint8Array): number | undefined {
  return bytes.length < headerBytes || bytes[0] !== magicByte ? undefined : idIn(bytes)
}

function idIn(bytes: Uint8Array): number {
  return (
    ((bytes[1] as number) << 24) |
    ((bytes[2] as number) << 16) |
    ((bytes[3] as number) << 8) |
    (bytes[4] as number)
  )
}

function unreadableVersion(
  entry: KnownSchema,
  current: LockEntry,
  { cause, isNewer }: { cause: unknown; isNewer: boolean },
): WeirError {
  const fault = `${entry.type} of version ${entry.version} (schema ${entry.id}) cannot be read as version ${current.version}`
  const advice = isNewer
    ? 'A newer Weir wrote the record: upgrade this process.'
    : 'schemas/compatibility.ts should have refused that change; revert it.'
  const code = isNewer ? 'codec.newer-schema' : 'codec.unknown-schema'
  return new WeirError(code, `${fault}: ${textOf(cause)}. ${advice}`, { cause })
}

function unknownType({ id, type }: LearnedSchema): WeirError {
  return new WeirError(
    'codec.newer-schema',
    `schema ${id} is the type ${brief(type)}, which this Weir does not have. A newer Weir wrote the record: upgrade this process.`,
  )
}

function unknownMessage(message: Message): WeirError {
  return new WeirError(
    'codec.bad-message',
    `unknown message type ${brief(typeOf(message))}: ${brief(message)}. A new message needs schemas/<type>.avsc and \`node schemas/generate.ts\`.`,
  )
}

function notInForce({ id, type }: LockEntry, held: ReadonlyMap<object, number>): WeirError {
  return new WeirError(
    'codec.newer-schema',
    `${type} cannot be written: the type begins with format ${formatOf(id)}, and format ${Math.min(...held.values())} is in force, because older processes run (weir fleet names them)`,
  )
}

function ruleNotInForce(rule: string, held: ReadonlyMap<object, number>): string {
  return `the agent has the rule '${rule}', and record format ${Math.min(...held.values())} is in force, which drops it: replace the older processes that weir fleet names, or remove the pin (weir fleet --format newest), and try again; without the rule the agent runs now`
}

function badMessage(message: Message, type: CompiledType, cause: unknown): WeirError {
  const misfit = type.misfit(message)
  const fault =
    misfit === undefined
      ? textOf(cause)
      : `${misfit.path || 'it'} is ${brief(misfit.value)}, but its schema requires ${misfit.expected}`
  const advice = `Correct the code that built it, or change schemas/${message.type}.avsc.`
  return new WeirError(
    'codec.bad-message',
    `${message.type} cannot be encoded: ${fault}. ${advice}`,
    { cause },
  )
}

function unreadable(): WeirError {
  return new WeirError(
    'codec.encrypted',
    'the record is encrypted, and this process has no key for it, or the key was deleted; encryptionKeys names the file of the keys (WEIR_ENCRYPTION_KEYS)',
  )
}

function badFrame(bytes: Uint8Array): WeirError {
  const start = Buffer.from(bytes.subarray(0, 16)).toString('hex')
  const fault =
    bytes.length < headerBytes
      ? `it has ${bytes.length} bytes, fewer than the header's ${headerBytes}`
      : 'its first byte is not 0'
  return new WeirError(
    'codec.bad-frame',
    `the record is not framed Avro: ${fault} (it begins with ${start || 'nothing'}). Another program writes to this topic.`,
  )
}

function badBody(bytes: Uint8Array, { id, type, version }: KnownSchema, cause: unknown): WeirError {
  const fault = `the record of ${bytes.length} bytes is not a ${type} of version ${version} (schema ${id})`
  return new WeirError(
    'codec.bad-body',
    `${fault}: ${textOf(cause)}. It was damaged, or written with another schema under that id.`,
    {
      cause,
    },
  )
}

function typeOf(message: Message): string {
  return (message as Message | null | undefined)?.type as string
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** A value for an error's text: short. Never throws. */
function brief(value: unknown): string {
  const text = inspect(value, {
    depth: 1,
    breakLength: Number.POSITIVE_INFINITY,
    maxStringLength: 60,
    maxArrayLength: 3,
    customInspect: false,
  })
  return text.slice(0, 200)
}

/** The schemas that this build knows. */
export const knownSchemas = JSON.parse(
  readFileSync(new URL('../../schemas/lock.json', import.meta.url), 'utf8'),
) as readonly LockEntry[]

export const codec = codecOf(knownSchemas)

export const {
  encode,
  encodeInForce,
  ruleFault,
  hasInForce,
  decode,
  typeIn,
  learn,
  familiarity,
  hold,
} = codec

/** The newest format of this build, which the process announces to its fleet. */
export const ownFormat = formatOf(knownSchemas.at(-1)?.id ?? 0)

/** The symbols of an enumeration in the newest schemas, such as `FailureClass`. */
export function symbolsOf(name: string): readonly string[] {
  const last = knownSchemas.findLast(({ schema }) =>
    JSON.stringify(schema).includes(`"weir.${name}"`),
  )
  const symbols = symbolsIn(last?.schema, `weir.${name}`)
  if (symbols === undefined) throw new WeirError('runtime.assertion', `no schema has weir.${name}`)
  return symbols
}

function symbolsIn(schema: unknown, name: string): string[] | undefined {
  if (typeof schema !== 'object' || schema === null) return undefined
  const {
    type,
    name: own,
    symbols,
  } = schema as { type?: unknown; name?: unknown; symbols?: unknown }
  if (type === 'enum' && own === name) return symbols as string[]
  for (const member of Object.values(schema)) {
    const found = symbolsIn(member, name)
    if (found !== undefined) return found
  }
  return undefined
}
