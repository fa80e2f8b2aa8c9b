// Codec: encodes messages to bytes and decodes them. Owns: the frame, the schema of a message, and
// the errors of bytes that do not match it. Does not own: Avro (avro-types.ts, avro-bytes.ts), the
// schemas and their ids (schemas/), records that cannot be decoded (the runtime: dead letters).
//
// The frame is that of Confluent's registry, so any Kafka tool reads our records: byte 0, the
// schema's id as a big-endian int32, Avro. The registry is a file, schemas/lock.json: one process
// less, and each build knows exactly the records that it can read.
//
// Decoding changes a few values. A lone surrogate becomes U+FFFD, because it has no UTF-8. Bytes
// become a Buffer, and an integer -0 becomes 0. A missing field gets its default, and properties
// that the schema does not name are dropped.
//
// CODEC-1. A decoded message is deeply equal to the encoded one, but for the changes above.
// CODEC-2. For any bytes, decode returns a message or throws a WeirError codec.*. It never hangs,
//     and allocates at most a small multiple of the bytes, even if a length in them is false.
// CODEC-3. A record of an older version decodes as the current one (Avro's schema resolution).
//     lock.json keeps every released schema for that.

import { readFileSync } from 'node:fs'
import { inspect } from 'node:util'
import type { LockEntry } from '../../schemas/lock-entry.ts'
import type { Message, MessageType } from '../contract/messages.ts'
import { WeirError } from '../lib/errors.ts'
import { ByteReader, ByteWriter } from './avro-bytes.ts'
import { type CompiledType, compile, type Schema } from './avro-types.ts'
import { nameGuards } from './former-words.ts'

export type Codec = {
  encode(message: Message): Buffer
  decode(bytes: Uint8Array): Message
  /**
   * The message type in the frame, without reading the rest, which may be encrypted. Undefined: no
   * frame, or an unknown schema.
   */
  typeIn(bytes: Uint8Array): MessageType | undefined
}

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
  const entries = new Map(lock.map((entry) => [entry.id, entry]))
  const newest = new Map<string, LockEntry>()
  for (const entry of lock)
    if (entry.version > (newest.get(entry.type)?.version ?? 0)) newest.set(entry.type, entry)

  // Caches, filled once for each schema, and two scratch objects. Calls can share them, because no
  // call waits.
  const compiled = new Map<number, CompiledType>()
  const writers = new Map<string, { id: number; write: CompiledType['write'] }>()
  const readers = new Map<number, (reader: ByteReader) => unknown>()
  const writer = new ByteWriter()
  const reader = new ByteReader()

  const compiledOf = (entry: LockEntry): CompiledType => {
    const type = compiled.get(entry.id) ?? compile(entry.schema as Schema, entry.type)
    compiled.set(entry.id, type)
    return type
  }

  const writerOf = (message: Message): { id: number; write: CompiledType['write'] } => {
    const entry = newest.get(typeOf(message))
    if (entry === undefined) {
      throw new WeirError(
        'codec.bad-message',
        `unknown message type ${brief(typeOf(message))}: ${brief(message)}. A new message needs schemas/<type>.avsc and \`node schemas/generate.ts\`.`,
      )
    }
    const found = { id: entry.id, write: compiledOf(entry).write }
    writers.set(entry.type, found)
    return found
  }

  const readerOf = (id: number): ((reader: ByteReader) => unknown) => {
    const entry = entries.get(id)
    const current = entry && newest.get(entry.type)
    if (entry === undefined || current === undefined) {
      throw new WeirError(
        'codec.unknown-schema',
        `schema ${id} is not in schemas/lock.json, which ends at ${Math.max(0, ...entries.keys())}. ` +
          'A newer Weir wrote the record (deploy that version here too), or another program writes to this topic.',
      )
    }
    const read = entry === current ? compiledOf(current).read : olderReader(entry, current)
    readers.set(id, read)
    return read
  }

  const olderReader = (entry: LockEntry, current: LockEntry): ((reader: ByteReader) => unknown) => {
    try {
      const read = compiledOf(current).readerOf(compiledOf(entry))
      if (entry.former !== true) return read
      return (reader) => {
        const message = read(reader)
        nameGuards(message)
        return message
      }
    } catch (cause) {
      throw unreadableVersion(entry, current, cause)
    }
  }

  return {
    encode(message) {
      const { id, write } = writers.get(typeOf(message)) ?? writerOf(message)
      try {
        const bytes = writer.written(headerBytes, () => write(writer, message))
        bytes[0] = magicByte
        bytes.writeInt32BE(id, 1)
        return bytes
      } catch (cause) {
        throw badMessage(message, compiledOf(newest.get(message.type) as LockEntry), cause)
      }
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
        throw badBody(bytes, entries.get(id) as LockEntry, cause)
      } finally {
        reader.finish()
      }
    },

    typeIn(bytes) {
      const isFramed = bytes[0] === magicByte || bytes[0] === encryptedByte
      if (bytes.length < headerBytes || !isFramed) return undefined
      return entries.get(idIn(bytes))?.type as MessageType | undefined
    },
  }
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

function unreadableVersion(entry: LockEntry, current: LockEntry, cause: unknown): WeirError {
  const fault = `${entry.type} of version ${entry.version} (schema ${entry.id}) cannot be read as version ${current.version}`
  const advice = 'schemas/compatibility.ts should have refused that change; revert it.'
  return new WeirError('codec.unknown-schema', `${fault}: ${textOf(cause)}. ${advice}`, { cause })
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

function badBody(bytes: Uint8Array, { id, type, version }: LockEntry, cause: unknown): WeirError {
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

export const { encode, decode, typeIn } = codec

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
