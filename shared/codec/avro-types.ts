// Avro types for Weir: avsc's, made safe for bytes and values from any source. Owns: compiling a
// schema to a reader and a writer. Does not own: bytes (avro-bytes.ts), the choice of the schema
// (codec.ts).
//
// avsc implements all of Avro, above all the evolution of schemas, and accepts custom types through
// `typeHook`. The classes below use that hook, and each one names the fault of avsc's own. They
// replace methods that avsc calls but does not document. So avsc is pinned to one version, and the
// tests compare with the original.
//
// A decoded record is a plain object: it has its fields and nothing else, and no key
// of it reaches a prototype.
// A value is encoded exactly or refused: no rounding, and no first symbol in place of
// an unknown one.

import { isUint8Array } from 'node:util/types'
import type { Type as AvroType, types as AvroTypes } from 'avsc'
// The front door also loads avsc's files, containers and RPC: 20 ms more at every start.
// @ts-expect-error avsc has no types for its inner files
import untyped from 'avsc/lib/types.js'
import type { ByteReader, ByteWriter } from './avro-bytes.ts'
import { formerWords } from './former-words.ts'

const { Type, builtins } = untyped as { Type: typeof AvroType; builtins: typeof AvroTypes }

export type Schema = Parameters<typeof AvroType.forSchema>[0]

/** Methods of avsc's types and resolvers that its declarations lack. */
type Reading = { _read(reader: ByteReader): unknown }
type Skipping = { _skip: Skip }
type Writing = { _write(writer: ByteWriter, value: unknown): void }
type Skip = (reader: ByteReader) => void
/** Whether a value fits. Reports each misfit to `hook`. */
type Check = (
  value: unknown,
  flags?: unknown,
  hook?: (value: unknown, type: unknown) => void,
  path?: string[],
) => boolean
const recordMethods = builtins.RecordType.prototype as unknown as {
  _createSkipper(): Skip
  _createChecker(): Check
}
type EnumResolver = { symbols?: string[] }
const enumMethods = builtins.EnumType.prototype as unknown as {
  _update(resolver: EnumResolver, writer: AvroTypes.EnumType, options: object): void
}
const mapMethods = builtins.MapType.prototype as unknown as { _check: Check }

/** A message's type at one version. */
export type CompiledType = {
  read(reader: ByteReader): unknown
  write(writer: ByteWriter, value: unknown): void
  /**
   * Reads records of another version of this message into this one. Throws if the two are
   * incompatible.
   */
  readerOf(writer: CompiledType): (reader: ByteReader) => unknown
  /** The first place where a value does not fit, for the error's text. Slow. */
  misfit(value: unknown): Misfit | undefined
  readonly avro: AvroType
}

export type Misfit = { path: string; value: unknown; expected: string }

/**
 * Decoded records get `type: messageType`. The bytes do not hold it: the schema's id implies it.
 */
export function compile(schema: Schema, messageType: string): CompiledType {
  class MessageRecord extends PlainRecord {
    override get messageType(): string {
      return messageType
    }
  }
  const typeHook = (inner: Schema, options: unknown): AvroType | undefined => {
    if (inner === schema) return new MessageRecord(inner, options)
    if (inner === 'long') return exactLong
    if (inner === 'bytes') return anyBytes
    if (Array.isArray(inner)) return new Union(inner, options)
    switch ((inner as { type?: unknown }).type) {
      case 'record':
        return new PlainRecord(inner, options)
      case 'array':
        return new BoundedArray(inner, options)
      case 'map':
        return new PlainMap(inner, options)
      case 'enum':
        return new ClosedEnum(inner, options)
      default:
        return undefined
    }
  }
  // Unions appear unwrapped: `text: 'hi' | null`, not `text: { string: 'hi' } | null`. By default
  // ('auto') avsc decides, so a new branch of a union could change the shape of all its values.
  // 'never' makes an ambiguous union an error at once.
  const avro = Type.forSchema(schema, { wrapUnions: 'never', typeHook: typeHook as never })
  const { _read, _write } = avro as AvroType & Reading & Writing
  return {
    read: _read,
    write: _write,
    readerOf: (writer) => {
      const resolver = avro.createResolver(writer.avro) as Reading
      return (reader) => resolver._read(reader)
    },
    misfit: (value) => firstMisfit(avro, value),
    avro,
  }
}

class PlainRecord extends builtins.RecordType {
  get messageType(): string | undefined {
    return undefined
  }

  /**
   * avsc makes instances of a class for each record. We return a literal: equal to the written
   * value, free of methods, and no slower.
   */
  _createConstructor(): unknown {
    const values = this.fields.map((_, index) => `v${index}`)
    const properties = this.fields.map(({ name, defaultValue }, index) =>
      defaultValue() === undefined
        ? `${name}: v${index}`
        : `${name}: v${index} === undefined ? d${index}() : v${index}`,
    )
    if (this.messageType !== undefined)
      properties.unshift(`type: ${JSON.stringify(this.messageType)}`)
    const defaults = this.fields.map((_, index) => `d${index}`)
    const source = `return function (${values}) { return { ${properties.join(', ')} } }`
    return new Function(...defaults, source)(...this.fields.map(({ defaultValue }) => defaultValue))
  }

  // avsc compiles these two for every record. We need the first for a field that is gone in a newer
  // version, the second for the text of an error: seldom enough to wait until then.
  _createSkipper(): Skip {
    let skip: Skip | undefined
    return (reader) => {
      skip ??= recordMethods._createSkipper.call(this)
      skip.call(this, reader)
    }
  }

  _createChecker(): Check {
    let check: Check | undefined
    return (...values) => {
      check ??= recordMethods._createChecker.call(this)
      return check.apply(this, values)
    }
  }

  /** Only wrapped unions would use it. */
  _createBranchConstructor(): null {
    return null
  }
}

/**
 * avsc allocates as many items as the bytes claim, and goes where a negative block length leads,
 * also backwards and for ever.
 */
class BoundedArray extends builtins.ArrayType {
  _read(reader: ByteReader): unknown[] {
    const itemsType = this.itemsType as unknown as Reading
    const items: unknown[] = []
    for (let count = reader.readCount(); count > 0; count = reader.readCount()) {
      for (let index = 0; index < count; index += 1) items.push(itemsType._read(reader))
    }
    return items
  }

  _skip(reader: ByteReader): void {
    const itemsType = this.itemsType as unknown as Skipping
    for (let count = reader.readCount(); count > 0; count = reader.readCount()) {
      for (let index = 0; index < count; index += 1) itemsType._skip(reader)
    }
  }

  _createBranchConstructor(): null {
    return null
  }
}

/**
 * The same for maps; and the key `__proto__` would set a prototype instead of a property. A Map or
 * a Date would be written as empty.
 */
class PlainMap extends builtins.MapType {
  _read(reader: ByteReader): Record<string, unknown> {
    const valuesType = this.valuesType as Reading
    const map: Record<string, unknown> = {}
    for (let count = reader.readCount(); count > 0; count = reader.readCount()) {
      for (let index = 0; index < count; index += 1) {
        const key = reader.readString()
        const value = valuesType._read(reader)
        if (key === '__proto__')
          Object.defineProperty(map, key, {
            value,
            enumerable: true,
            configurable: true,
            writable: true,
          })
        else map[key] = value
      }
    }
    return map
  }

  _skip(reader: ByteReader): void {
    const valuesType = this.valuesType as Skipping
    for (let count = reader.readCount(); count > 0; count = reader.readCount()) {
      for (let index = 0; index < count; index += 1) {
        reader.skipString()
        valuesType._skip(reader)
      }
    }
  }

  _check(...[value, flags, hook, path]: Parameters<Check>): boolean {
    return isPlainObject(value)
      ? mapMethods._check.call(this, value, flags, hook, path)
      : misfits(this, value, hook)
  }

  _write(writer: ByteWriter, value: unknown): void {
    if (!isPlainObject(value)) throw new Error('not a plain object')
    const valuesType = this.valuesType as Writing
    const keys = Object.keys(value)
    if (keys.length > 0) writer.writeLong(keys.length)
    for (const key of keys) {
      writer.writeString(key)
      valuesType._write(writer, value[key])
    }
    writer.writeLong(0)
  }

  _createBranchConstructor(): null {
    return null
  }
}

/**
 * avsc looks a symbol up in an object with a prototype, so it takes 'constructor' for a symbol and
 * writes the first one.
 */
class ClosedEnum extends builtins.EnumType {
  constructor(schema: Schema, options: unknown) {
    super(schema, options)
    Object.setPrototypeOf((this as unknown as { _indices: object })._indices, null)
  }

  /** avsc reads a symbol without a namesake as the default. A former word has a successor. */
  _update(resolver: EnumResolver, writer: AvroTypes.EnumType, options: object): void {
    enumMethods._update.call(this, resolver, writer, options)
    const words = formerWords[this.name ?? '']
    if (words === undefined || resolver.symbols === undefined) return
    resolver.symbols = writer.symbols.map(
      (symbol, index) => words[symbol] ?? ((resolver.symbols as string[])[index] as string),
    )
  }

  _createBranchConstructor(): null {
    return null
  }
}

/** avsc's long refuses ±(2^53 - 1), which is safe, and which people write for "never". */
class ExactLong extends builtins.LongType {
  _check(...[value, , hook]: Parameters<Check>): boolean {
    return Number.isSafeInteger(value) || misfits(this, value, hook)
  }

  _read(reader: ByteReader): number {
    return reader.readLong()
  }

  _write(writer: ByteWriter, value: unknown): void {
    if (!Number.isSafeInteger(value)) throw new Error('not a safe integer')
    writer.writeLong(value as number)
  }
}

/** avsc accepts only a Buffer, but SQLite and others give a Uint8Array. Read values are Buffers. */
class AnyBytes extends builtins.BytesType {
  _check(...[value, , hook]: Parameters<Check>): boolean {
    return isUint8Array(value) || misfits(this, value, hook)
  }

  _write(writer: ByteWriter, value: unknown): void {
    if (!isUint8Array(value)) throw new Error('not bytes')
    writer.writeBytes(Buffer.from(value.buffer, value.byteOffset, value.byteLength))
  }
}

class Union extends builtins.UnwrappedUnionType {
  /** avsc takes a Uint8Array for a record. */
  _getIndex(value: unknown): number | undefined {
    const { _bucketIndices: branches } = this as unknown as {
      _bucketIndices: Record<string, number | undefined>
    }
    if (value === null) return branches.null
    if (typeof value !== 'object') return branches[typeof value]
    if (isUint8Array(value)) return branches.buffer
    return Array.isArray(value) ? branches.array : branches.object
  }
}

const exactLong = new ExactLong()
const anyBytes = new AnyBytes()

function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false
  const prototype = Object.getPrototypeOf(value)
  return prototype === null || Object.getPrototypeOf(prototype) === null
}

function misfits(type: unknown, value: unknown, hook: Parameters<Check>[2]): false {
  hook?.(value, type)
  return false
}

function firstMisfit(avro: AvroType, value: unknown): Misfit | undefined {
  let first: Misfit | undefined
  const errorHook = (path: string[], inner: unknown, type: AvroType): void => {
    first ??= { path: path.join('.'), value: inner, expected: expectation(type) }
  }
  avro.isValid(value, { errorHook })
  return first
}

function expectation(type: AvroType): string {
  if (type instanceof builtins.EnumType) return `one of ${type.symbols.join(', ')}`
  if (type instanceof builtins.UnwrappedUnionType) return type.types.map(expectation).join(' or ')
  if (type instanceof builtins.RecordType) return `a record ${type.name}`
  return type.typeName === 'long'
    ? 'a long (an integer within ±(2^53 - 1))'
    : `a value of the type ${type.typeName}`
}
