// The codec against every schema in the lock, against arbitrary bytes, and against unmodified avsc.

import { readFileSync } from 'node:fs'
import { describe, expect, it } from '@jest/globals'
import avro from 'avsc'
import fc from 'fast-check'
import type { LockEntry, RecordSchema, Schema } from '../../../schemas/lock-entry.ts'
import { codecOf, decode, encode, knownSchemas } from '../../../shared/codec/codec.ts'
import { closedFormats, formatOf } from '../../../shared/codec/formats.ts'
import type { Claim, Message, Part } from '../../../shared/contract/messages.ts'
import { WeirError } from '../../../shared/lib/errors.ts'

const lock = JSON.parse(
  readFileSync(new URL('../../../schemas/lock.json', import.meta.url), 'utf8'),
) as LockEntry[]
const newest = lock.filter(
  (entry) => !lock.some(({ type, version }) => type === entry.type && version > entry.version),
)
const headerBytes = 5

const claim: Claim = {
  type: 'claim',
  conversation: 'c',
  turn: 1,
  round: 2,
  ordinal: 0,
  try: 1,
  owner: 'owner-1',
}

const part: Part = {
  type: 'part',
  conversation: 'conversation-7f3a2b',
  turn: 12_345_678,
  round: 3,
  attempt: 'abcdef0123456789',
  i: 4,
  events: [
    { kind: 'call_start', index: 1, id: 'toolu_0123', name: 'read_file', text: '' },
    { kind: 'call_arguments', index: 1, id: null, name: null, text: '{"path": "Übersicht.md"}' },
  ],
}

/** For each property and each of forty types. */
const numRuns = 40

/** The schema of a closed format, for messages without newer parts. */
function closedIdOf(wanted: string): number | undefined {
  return knownSchemas.findLast(
    ({ id, type }) => type === wanted && formatOf(id) <= closedFormats.length,
  )?.id
}

describe.each(newest)('a $type', ({ id, type, schema }) => {
  it('is decoded as it was encoded', () => {
    fc.assert(
      fc.property(messageOf(type, schema), (message) =>
        expect(decode(encode(message))).toEqual(message),
      ),
      { numRuns },
    )
  })

  it('is framed with byte 0 and the id of its schema', () => {
    fc.assert(
      fc.property(messageOf(type, schema), (message) => {
        const bytes = encode(message)
        expect(bytes[0]).toBe(0)
        expect([id, closedIdOf(type)]).toContain(bytes.readInt32BE(1))
      }),
      { numRuns: 5 },
    )
  })

  it('is the same Avro that unchanged avsc writes and reads', () => {
    const stockOf = new Map(
      knownSchemas
        .filter((entry) => entry.id === id || entry.id === closedIdOf(type))
        .map((entry) => [
          entry.id,
          avro.Type.forSchema(entry.schema as never, {
            wrapUnions: 'never',
            omitRecordMethods: true,
          }),
        ]),
    )
    // At most 2^52: beyond that avsc loses the lowest bit of a negative long.
    fc.assert(
      fc.property(messageOf(type, schema, 2 ** 52), (message) => {
        const bytes = encode(message)
        const stock = stockOf.get(bytes.readInt32BE(1))
        const body = bytes.subarray(headerBytes)
        expect(stock?.toBuffer(message).equals(body)).toBe(true)
        expect(message).toMatchObject(stock?.fromBuffer(body) as object)
      }),
      { numRuns },
    )
  })

  it('decodes or fails with a codec error after any damage to its bytes', () => {
    fc.assert(
      fc.property(messageOf(type, schema), damage, (message, damaged) =>
        expectMessageOrCodecError(damaged(encode(message))),
      ),
      { numRuns },
    )
  })
})

describe('decode', () => {
  it('returns a message or throws a codec error for any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => expectMessageOrCodecError(bytes)),
    )
    const frames = fc.tuple(
      fc.constantFrom(...newest.map(({ id }) => id)),
      fc.uint8Array({ maxLength: 200 }),
    )
    fc.assert(
      fc.property(frames, ([id, body]) => expectMessageOrCodecError(frame(id, body))),
      { numRuns: 2000 },
    )
  })

  it('returns plain objects with their fields only', () => {
    const message = decode(encode(part)) as Part
    expect(Object.getPrototypeOf(message)).toBe(Object.prototype)
    expect(Object.getPrototypeOf(message.events[0])).toBe(Object.prototype)
    expect(message).toStrictEqual(part)
  })

  it('reads a Uint8Array that is a slice of something larger', () => {
    const bytes = encode(part)
    const batch = new Uint8Array(bytes.length + 20).fill(0xff)
    batch.set(bytes, 10)
    expect(decode(batch.subarray(10, 10 + bytes.length))).toEqual(part)
  })

  it.each([
    [
      'nothing',
      Buffer.alloc(0),
      'codec.bad-frame',
      /it has 0 bytes, fewer than the header's 5 \(it begins with nothing\)/,
    ],
    ['four bytes', Buffer.alloc(4), 'codec.bad-frame', /it has 4 bytes/],
    [
      'JSON',
      Buffer.from('{"type":"claim"}'),
      'codec.bad-frame',
      /its first byte is not 0 \(it begins with 7b2274797065223a/,
    ],
    [
      'an id that the lock does not have',
      frame(999_999, []),
      'codec.unknown-schema',
      /schema 999999 is not in schemas\/lock.json/,
    ],
    ['a negative id', frame(-1, []), 'codec.unknown-schema', /schema -1 is not/],
    [
      'a header alone',
      frame(idOf('claim'), []),
      'codec.bad-body',
      /not a claim of version \d+.* ends after 5 bytes, in the middle of a value/,
    ],
    [
      'a cut record',
      encode(part).subarray(0, 20),
      'codec.bad-body',
      /a string of 19 bytes begins at byte 6, but only 14 bytes follow/,
    ],
    [
      'a record and more',
      Buffer.concat([encode(claim), Buffer.from('more')]),
      'codec.bad-body',
      /4 bytes follow after its end/,
    ],
  ])('refuses %s', (_, bytes, code, message) =>
    expectCodecError(() => decode(bytes), code, message),
  )
})

describe('false lengths', () => {
  // A part up to its events, in 13 bytes, then the false claim of an attacker.
  const upToEvents = [...bytesOf('c'), ...varint(1n), ...varint(1n), ...bytesOf('a'), ...varint(0n)]

  it.each([
    [
      '2^31 items in an array',
      varint(2n ** 31n),
      /claims 2147483648 items, but only 0 bytes follow/,
    ],
    [
      '2^31 items in an array, with some bytes',
      [...varint(2n ** 31n), 0, 0, 0],
      /claims 2147483648 items, but only 3 bytes follow/,
    ],
    [
      '2^31 items in a block with a size',
      [...varint(-(2n ** 31n)), ...varint(-20n)],
      /claims 2147483648 items/,
    ],
    ['2^40 items in an array', varint(2n ** 40n), /claims 1099511627776 items/],
    [
      'a string of 2 GB',
      [...varint(1n), 0, 0, 0, 0, ...varint(2n ** 31n)],
      /a string of 2147483648 bytes .* only 0 bytes follow/,
    ],
    [
      'a string of negative length',
      [...varint(1n), 0, 0, 0, 0, ...varint(-5n)],
      /a string of -5 bytes/,
    ],
    ['a length that is no safe integer', varint(2n ** 60n), /beyond 2\^53/],
    ['a number that never ends', new Array(30).fill(0xff), /has more than 10 bytes/],
    [
      'a symbol that the enum does not have',
      [...varint(1n), ...varint(99n)],
      /invalid weir.PartKind enum index: 99/,
    ],
    [
      'a branch that the union does not have',
      [...varint(1n), 0, 0, ...varint(7n)],
      /invalid union index: 7/,
    ],
  ])('refuses %s', (_, lie, message) => {
    const bytes = frame(idOf('part'), [...upToEvents, ...lie])
    expect(bytes.length).toBeLessThan(60)
    expectCodecError(() => decode(bytes), 'codec.bad-body', message)
  })

  it('are not followed in a field that the current version skips', () => {
    const list = { name: 'list', type: { type: 'array', items: 'string' } as Schema }
    const map = { name: 'map', type: { type: 'map', values: 'long' } as Schema }
    const { decode } = codecOf([version(1, [list, map]), version(2, [])])
    expect(decode(frame(1, [0, 0]))).toEqual({ type: 'claim' })
    const backwards = [...varint(-1n), ...varint(-20n)]
    expectCodecError(
      () => decode(frame(1, backwards)),
      'codec.bad-body',
      /claims 1 items, but only 0 bytes follow/,
    )
    expectCodecError(
      () => decode(frame(1, [0, ...backwards])),
      'codec.bad-body',
      /claims 1 items, but only 0 bytes follow/,
    )
    expectCodecError(
      () => decode(frame(1, varint(2n ** 31n))),
      'codec.bad-body',
      /claims 2147483648 items/,
    )
  })
})

describe('encode', () => {
  it.each([
    ['no message', null, /unknown message type undefined: null/],
    [
      'an unknown type',
      { type: 'clam' },
      /unknown message type 'clam': { type: 'clam' }. A new message needs schemas/,
    ],
    ['a type that every object has', { type: 'constructor' }, /unknown message type 'constructor'/],
    [
      'a missing field',
      { ...claim, owner: undefined },
      /claim cannot be encoded: owner is undefined, but .* requires a value of the type string/,
    ],
    [
      'another type',
      { ...claim, turn: '1' },
      /turn is '1', but its schema requires a long \(an integer within/,
    ],
    [
      'null in a field that is always there',
      { ...claim, round: null },
      /round is null, but its schema requires a value of the type int/,
    ],
    ['a fraction', { ...claim, turn: 0.5 }, /turn is 0.5/],
    ['NaN', { ...claim, turn: Number.NaN }, /turn is NaN/],
    ['a long beyond 2^53', { ...claim, turn: 2 ** 53 }, /turn is 9007199254740992/],
    ['a bigint', { ...claim, turn: 1n }, /turn is 1n/],
    ['an int beyond 32 bits', { ...claim, round: 2 ** 31 }, /round is 2147483648/],
    [
      'an unknown symbol',
      withEvent({ kind: 'noise' }),
      /events.0.kind is 'noise', but its schema requires one of text, reasoning,/,
    ],
    [
      'a symbol that every object has',
      withEvent({ kind: 'constructor' }),
      /events.0.kind is 'constructor'/,
    ],
    [
      'a number for a string or null',
      withEvent({ id: 5 }),
      /events.0.id is 5, but its schema requires .*null or .*string/,
    ],
    [
      'an object that is no array',
      { ...part, events: {} },
      /events is {}, but its schema requires a value of the type array/,
    ],
    [
      'a hole in an array',
      { ...part, events: new Array(1) },
      /events.0 is undefined, but its schema requires a record weir.PartEvent/,
    ],
  ])('refuses %s', (_, message, text) =>
    expectCodecError(() => encode(message as Message), 'codec.bad-message', text),
  )

  it('names the fault without repeating a whole argument', () => {
    const error = thrownBy(() => encode({ ...part, events: 'x'.repeat(1_000_000) } as never))
    expect(error.message.length).toBeLessThan(400)
  })

  it('encodes the next message after one that it refused midway', () => {
    expect(() => encode(withEvent({ text: 5 }) as never)).toThrow(WeirError)
    expect(decode(encode(part))).toEqual(part)
  })

  it('returns bytes that later messages do not change, even larger ones', () => {
    const first = encode(claim)
    const copy = Buffer.from(first)
    const large = withEvent({ text: 'ä'.repeat(3_000_000) }) as Part
    expect(decode(encode(large))).toEqual(large)
    encode(part)
    expect(first.equals(copy)).toBe(true)
    expect(decode(first)).toEqual(claim)
  })
})

describe('numbers', () => {
  it.each([
    ...[
      0,
      1,
      -1,
      63,
      64,
      -64,
      -65,
      2 ** 30 - 1,
      2 ** 30,
      -(2 ** 30),
      -(2 ** 30) - 1,
      2 ** 31,
      2 ** 32,
      -(2 ** 32),
      1_784_000_000_000,
    ],
    ...[
      2 ** 52,
      2 ** 52 + 1,
      -(2 ** 52) - 1,
      -(2 ** 52) - 3,
      Number.MAX_SAFE_INTEGER - 1,
      Number.MAX_SAFE_INTEGER,
      Number.MIN_SAFE_INTEGER,
    ],
  ])('keep the long %p exact', (turn) => {
    const message = { ...claim, turn }
    const bytes = encode(message)
    expect(decode(bytes)).toEqual(message)
    expect(bytes.subarray(headerBytes + 2, headerBytes + 2 + varint(BigInt(turn)).length)).toEqual(
      Buffer.from(varint(BigInt(turn))),
    )
  })

  it.each([2n ** 53n, -(2n ** 53n) - 1n, 2n ** 63n - 1n, -(2n ** 63n)])(
    'refuse to round the long %p of a record',
    (turn) => {
      const body = [
        ...bytesOf('c'),
        ...varint(turn),
        ...varint(1n),
        ...varint(0n),
        ...varint(1n),
        ...bytesOf('o'),
      ]
      expectCodecError(
        () => decode(frame(idOf('claim'), body)),
        'codec.bad-body',
        /the long at byte 7 is beyond 2\^53/,
      )
    },
  )

  it('refuse an int of a record that has more than 32 bits', () => {
    const body = [...bytesOf('c'), ...varint(1n), ...varint(2n ** 31n)]
    expectCodecError(
      () => decode(frame(idOf('claim'), body)),
      'codec.bad-body',
      /the int at byte 8 is 2147483648, beyond 32 bits/,
    )
  })

  it('write a negative zero as zero', () => {
    expect(decode(encode({ ...claim, turn: -0 }))).toEqual({ ...claim, turn: 0 })
  })
})

describe('strings', () => {
  const lengths = [
    0, 1, 7, 8, 9, 19, 20, 21, 22, 31, 32, 62, 63, 64, 65, 2730, 2731, 4095, 4096, 8191, 8192, 8193,
    349_525, 349_526, 1_048_576,
  ]

  it.each(lengths)(
    'of %p characters are decoded as encoded, for each width of a character',
    (length) => {
      for (const character of ['a', 'é', '漢', '\u0000']) {
        const message = { ...claim, owner: character.repeat(length) }
        expect(decode(encode(message))).toEqual(message)
      }
      const mixed = { ...claim, owner: `${'a'.repeat(length)}😀` }
      expect(decode(encode(mixed))).toEqual(mixed)
    },
  )

  it.each([
    ['short', 3],
    ['long', 300],
  ])('have U+FFFD where a %s one had half a surrogate pair, which has no UTF-8', (_, length) => {
    const padding = 'x'.repeat(length)
    for (const half of ['\ud83d', '\ude00']) {
      const message = decode(encode({ ...claim, owner: `${padding}${half}${padding}` }))
      expect(message).toEqual({ ...claim, owner: `${padding}\ufffd${padding}` })
    }
  })
})

describe('a type that no message of ours uses yet', () => {
  const schema: RecordSchema = {
    type: 'record',
    name: 'weir.Claim',
    fields: [
      { name: 'map', type: { type: 'map', values: ['null', 'long'] } },
      { name: 'double', type: 'double' },
      { name: 'bytes', type: ['null', 'bytes'] },
      { name: 'fixed', type: { type: 'fixed', name: 'weir.Hash', size: 4 } },
      { name: 'flag', type: 'boolean' },
    ],
  }
  const { encode, decode } = codecOf([
    { id: 7, type: 'claim', version: 1, released: false, schema },
  ]) as unknown as AnyCodec
  const message = {
    type: 'claim',
    map: {},
    double: 0,
    bytes: null,
    fixed: Buffer.from('hash'),
    flag: true,
  }

  it('is decoded as it was encoded', () => {
    fc.assert(
      fc.property(messageOf('claim', schema), (any) => expect(decode(encode(any))).toEqual(any)),
    )
  })

  it('decodes or fails with a codec error after any damage to its bytes', () => {
    fc.assert(
      fc.property(messageOf('claim', schema), damage, (any, damaged) =>
        expectMessageOrCodecError(damaged(encode(any)), decode),
      ),
    )
  })

  it('does not let the map key __proto__ reach a prototype', () => {
    const written = { ...message, map: JSON.parse('{"__proto__": 1, "constructor": 2}') }
    const { map } = decode(encode(written)) as typeof written
    expect(Object.getPrototypeOf(map)).toBe(Object.prototype)
    expect(Object.entries(map)).toEqual([
      ['__proto__', 1],
      ['constructor', 2],
    ])
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined()
  })

  it('accepts a Uint8Array for bytes and returns a Buffer', () => {
    const { bytes } = decode(encode({ ...message, bytes: new Uint8Array([1, 2, 255]) })) as {
      bytes: unknown
    }
    expect(bytes).toEqual(Buffer.from([1, 2, 255]))
  })

  it('returns its own bytes, so the batch can be freed or overwritten', () => {
    const record = encode({ ...message, bytes: Buffer.from('abc') })
    const decoded = decode(record)
    record.fill(0)
    expect(decoded).toEqual({ ...message, bytes: Buffer.from('abc') })
  })

  it.each([
    ['a Map, which has no keys of its own', { map: new Map([['a', 1]]) }, /map is Map/],
    ['bytes of the wrong length', { fixed: Buffer.from('too long') }, /fixed is/],
    ['a string in place of bytes', { bytes: 'abc' }, /bytes is 'abc'/],
  ])('refuses %s', (_, fields, text) =>
    expectCodecError(() => encode({ ...message, ...fields }), 'codec.bad-message', text),
  )

  it('refuses a boolean of a record that is neither 0 nor 1', () => {
    const record = encode(message)
    record[record.length - 1] = 2
    expectCodecError(() => decode(record), 'codec.bad-body', /is 2, where a boolean is 0 or 1/)
  })
})

describe('an older version', () => {
  const kind = (symbols: string[]): Schema => ({
    type: 'enum',
    name: 'weir.Kind',
    symbols,
    default: 'other',
  })
  const entries = [
    version(1, [
      { name: 'gone', type: 'string' },
      { name: 'kept', type: 'int' },
      { name: 'kind', type: kind(['other', 'a', 'b']) },
    ]),
    version(2, [
      { name: 'kind', type: kind(['other', 'b']) },
      { name: 'kept', type: 'long' },
      { name: 'added', type: ['null', 'string'], default: null },
      { name: 'list', type: { type: 'array', items: 'string' }, default: [] },
    ]),
  ]
  const old = codecOf(entries.slice(0, 1)) as unknown as AnyCodec
  const current = codecOf(entries) as unknown as AnyCodec

  it('is read as the current one: skips removed fields, fills defaults, widens numbers', () => {
    const bytes = old.encode({ type: 'claim', gone: 'x', kept: 5, kind: 'a' })
    expect(current.decode(bytes)).toStrictEqual({
      type: 'claim',
      kind: 'other',
      kept: 5,
      added: null,
      list: [],
    })
  })

  it('has its own defaults, which no other record changes', () => {
    const bytes = old.encode({ type: 'claim', gone: 'x', kept: 5, kind: 'a' })
    const first = current.decode(bytes) as { list: string[] }
    first.list.push('mine')
    expect(current.decode(bytes)).toEqual({
      type: 'claim',
      kind: 'other',
      kept: 5,
      added: null,
      list: [],
    })
  })

  it('is no longer written', () => {
    const bytes = current.encode({
      type: 'claim',
      kind: 'b',
      kept: 2 ** 40,
      added: 'x',
      list: ['y'],
    })
    expect(bytes.readInt32BE(1)).toBe(2)
    expect(current.decode(bytes)).toStrictEqual({
      type: 'claim',
      kind: 'b',
      kept: 2 ** 40,
      added: 'x',
      list: ['y'],
    })
  })

  it('is refused by old code if it is newer', () => {
    const bytes = current.encode({ type: 'claim', kind: 'b', kept: 1, added: null, list: [] })
    expectCodecError(
      () => old.decode(bytes),
      'codec.unknown-schema',
      /schema 2 is not in schemas\/lock.json, which ends at 1/,
    )
  })

  it('is refused with both versions named if they are incompatible', () => {
    const codec = codecOf([version(1, []), version(2, [{ name: 'needed', type: 'string' }])])
    expectCodecError(
      () => codec.decode(frame(1, [])),
      'codec.unknown-schema',
      /claim of version 1 \(schema 1\) cannot be read as version 2/,
    )
  })
})

// ---- Values and damage
// ---------------------------------------------------------------------------------------------------------

type AnyCodec = { encode(message: object): Buffer; decode(bytes: Uint8Array): object }

function messageOf(
  type: string,
  schema: RecordSchema,
  longMax = Number.MAX_SAFE_INTEGER,
): fc.Arbitrary<Message> {
  const named = new Map<string, fc.Arbitrary<unknown>>()
  const valuesOf = (inner: Schema): fc.Arbitrary<unknown> => {
    if (Array.isArray(inner)) return fc.oneof(...inner.map(valuesOf))
    if (typeof inner === 'string') return named.get(inner) ?? primitiveOf(inner, longMax)
    if (inner.type === 'array') return fc.array(valuesOf(inner.items), { maxLength: 4 })
    if (inner.type === 'map')
      return fc.dictionary(
        fc.oneof(text, fc.constantFrom('__proto__', 'constructor')),
        valuesOf(inner.values),
      )
    const value =
      inner.type === 'record'
        ? fc.record(
            Object.fromEntries(inner.fields.map((field) => [field.name, valuesOf(field.type)])),
            { noNullPrototype: true },
          )
        : inner.type === 'enum'
          ? fc.constantFrom(...inner.symbols)
          : fc
              .uint8Array({ minLength: inner.size, maxLength: inner.size })
              .map((bytes) => Buffer.from(bytes))
    named.set(inner.name, value)
    return value
  }
  return valuesOf(schema).map((fields) => ({ type, ...(fields as object) }) as Message)
}

const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ unit: 'binary-ascii', maxLength: 40 }),
  fc
    .tuple(fc.string({ unit: 'grapheme', minLength: 1 }), fc.nat(300))
    .map(([unit, count]) => unit.repeat(count)),
)

function primitiveOf(name: string, longMax: number): fc.Arbitrary<unknown> {
  switch (name) {
    case 'null':
      return fc.constant(null)
    case 'boolean':
      return fc.boolean()
    case 'int':
      return fc.oneof(fc.integer(), fc.integer({ min: -70, max: 70 }))
    case 'long':
      return fc.oneof(
        fc.integer({ min: -longMax, max: longMax }),
        fc.integer({ min: -70, max: 70 }),
      )
    case 'double':
      return fc.double()
    case 'string':
      return text
    case 'bytes':
      return fc.uint8Array().map((bytes) => Buffer.from(bytes))
    default:
      throw new Error(`no values for ${name}`)
  }
}

/**
 * Changes up to twelve bytes: flips, sets to extremes, repeats or removes them, or ends the record
 * there.
 */
const damage: fc.Arbitrary<(bytes: Buffer) => Buffer> = fc
  .array(
    fc.record({
      where: fc.double({ min: 0, max: 1, noNaN: true }),
      length: fc.integer({ min: 1, max: 12 }),
      how: fc.nat(6),
    }),
    {
      minLength: 1,
      maxLength: 4,
    },
  )
  .map((steps) => (bytes) => steps.reduce(hurt, bytes))

function hurt(
  bytes: Buffer,
  { where, length, how }: { where: number; length: number; how: number },
): Buffer {
  const at = Math.floor(where * bytes.length)
  const [before, piece, after] = [
    bytes.subarray(0, at),
    bytes.subarray(at, at + length),
    bytes.subarray(at + length),
  ]
  const instead = [
    piece.map((byte) => byte ^ length),
    Buffer.alloc(length, 0xff),
    Buffer.alloc(length, 0x80),
    Buffer.alloc(length),
  ]
  const others = [[piece, piece, after], [after], []]
  return Buffer.concat([
    before,
    ...(how < instead.length ? [instead[how]!, after] : others[how - instead.length]!),
  ])
}

function expectMessageOrCodecError(
  bytes: Uint8Array,
  decodeIt: (bytes: Uint8Array) => object = decode,
): void {
  try {
    expect(decodeIt(bytes)).toHaveProperty('type')
  } catch (error) {
    if (!(error instanceof WeirError)) throw error
    expect(error.code).toMatch(/^codec\./)
  }
}

function expectCodecError(run: () => unknown, code: string, message: RegExp): void {
  const error = thrownBy(run)
  expect(error.message).toMatch(message)
  expect(error.code).toBe(code)
  expect(error.retryable).toBe(false)
}

function thrownBy(run: () => unknown): WeirError {
  try {
    run()
  } catch (error) {
    expect(error).toBeInstanceOf(WeirError)
    return error as WeirError
  }
  throw new Error('nothing was thrown')
}

function withEvent(fields: object): object {
  return { ...part, events: [{ ...part.events[0], ...fields }] }
}

function idOf(type: string): number {
  return newest.find((entry) => entry.type === type)!.id
}

function version(number: number, fields: RecordSchema['fields']): LockEntry {
  return {
    id: number,
    type: 'claim',
    version: number,
    released: true,
    schema: { type: 'record', name: 'weir.Claim', fields },
  }
}

function frame(id: number, body: Iterable<number>): Buffer {
  const header = Buffer.alloc(headerBytes)
  header.writeInt32BE(id, 1)
  return Buffer.concat([header, Buffer.from([...body])])
}

function bytesOf(value: string): number[] {
  const bytes = [...Buffer.from(value)]
  return [...varint(BigInt(bytes.length)), ...bytes]
}

/** Zigzag, written in the slow and obvious way, for comparison with ours. */
function varint(value: bigint): number[] {
  let rest = value >= 0n ? value * 2n : -value * 2n - 1n
  const bytes: number[] = []
  do {
    bytes.push(Number(rest & 0x7fn) | (rest > 0x7fn ? 0x80 : 0))
    rest >>= 7n
  } while (rest > 0n)
  return bytes
}
