// Records of a newer Weir: their schemas are learned, and the format in force limits the schemas to write.

import { describe, expect, it } from '@jest/globals'
import type { LockEntry } from '../../../schemas/lock-entry.ts'
import { defaultSettings } from '../../../shared/agents/policy/policy.ts'
import { codecOf, encode, knownSchemas } from '../../../shared/codec/codec.ts'
import { closedFormats } from '../../../shared/codec/formats.ts'
import { newerParts } from '../../../shared/codec/newer-parts.ts'
import { lowestTreeCaps } from '../../../shared/contract/turn/tree-caps.ts'
import { cancel, declarationWith, noHints, userMessage } from '../../support/messages.ts'

const lastClosed = closedFormats.at(-1)?.lastSchema ?? 0
const old = knownSchemas.filter(({ id }) => id <= lastClosed)
const newestCancel = old.findLast(({ type }) => type === 'cancel') as LockEntry

/** The next version of `cancel`, with one more field. */
const nextCancel: LockEntry = {
  ...newestCancel,
  id: 900,
  version: newestCancel.version + 1,
  released: false,
  schema: {
    ...newestCancel.schema,
    fields: [...newestCancel.schema.fields, { name: 'why', type: 'string', default: '' }],
  },
}
const nextType: LockEntry = {
  ...nextCancel,
  id: 901,
  type: 'call-weighed',
  version: 1,
  schema: { ...nextCancel.schema, name: 'weir.CallWeighed' },
}
const newer = () => codecOf([...old, nextCancel, nextType])
const written = (type: string, more: object = {}) =>
  newer().encode({ ...cancel(), why: 'a new field', ...more, type } as never)

describe('a record of a newer schema', () => {
  it('is unknown until its schema is learned, then reads as the own version without the new field', () => {
    const older = codecOf(old)
    const bytes = written('cancel')
    expect(older.familiarity(bytes)).toBe('unknown')
    expect(() => older.decode(bytes)).toThrow(/schema 900 is not in schemas\/lock\.json/)

    older.learn([nextCancel])
    expect(older.familiarity(bytes)).toBe('known')
    expect(older.decode(bytes)).toEqual(cancel())
  })

  it('cannot be read if its type is new, and the error says to upgrade', () => {
    const older = codecOf(old)
    older.learn([nextType])
    expect(older.familiarity(written('call-weighed'))).toBe('unreadable')
    expect(() => older.decode(written('call-weighed'))).toThrow(
      expect.objectContaining({
        code: 'codec.newer-schema',
        message: expect.stringMatching(/schema 901.*'call-weighed'.*upgrade this process/),
      }),
    )
  })

  it('cannot be read if the two versions do not fit', () => {
    const older = codecOf(old)
    const fields = [{ name: 'conversation', type: 'int' }]
    older.learn([{ ...nextCancel, schema: { ...nextCancel.schema, fields } }])
    expect(older.familiarity(written('cancel'))).toBe('unreadable')
  })

  it.each<[string, object]>([
    ['has no fields', { type: 'record', name: 'weir.Cancel' }],
    ['has a name that is code', { type: 'record', name: 'a(){}', fields: [] }],
    ['refers to itself', { type: 'record', name: 'R', fields: [{ name: 'r', type: 'R' }] }],
  ])('of a schema that %s is refused', (_, schema) => {
    const older = codecOf(old)
    older.learn([{ ...nextCancel, schema: schema as never }])
    const bytes = written('cancel')
    expect(() => older.decode(bytes)).toThrow(expect.objectContaining({ name: 'WeirError' }))
  })

  it('does not replace an own schema, even under an own id', () => {
    const older = codecOf(old)
    older.learn([{ ...nextCancel, id: newestCancel.id }])
    expect(older.decode(older.encode(cancel()))).toEqual(cancel())
  })
})

describe('an output of a fold', () => {
  it('is written in a closed format unless it has a part that only an open one knows', () => {
    const idIn = (message: object) =>
      newer()
        .encode(message as never)
        .readInt32BE(1)
    expect(idIn(cancel())).toBe(newestCancel.id)
    expect(idIn({ ...cancel(), why: '' })).toBe(newestCancel.id)
    expect(idIn({ ...cancel(), why: 'a new field' })).toBe(nextCancel.id)
  })

  it('of this build reads in a Weir of the closed formats, if it has no newer part', () => {
    const older = codecOf(old)
    const message = userMessage()
    const { settings } = message
    const calledBy = (names: string[] | null) =>
      encode({
        ...message,
        settings: { ...settings, policy: { ...settings.policy, calledBy: names } },
      })
    expect(older.familiarity(calledBy(null))).toBe('known')
    expect(older.familiarity(calledBy(['planner']))).toBe('unknown')
  })
})

describe('the parts that an older schema lacks', () => {
  const record = (...fields: object[]) => ({ type: 'record', name: 'R', fields }) as never
  const text = { name: 'a', type: 'string' }
  const inner = (...fields: object[]) => ({ type: 'record', name: 'I', fields })

  it.each<[string, object, object, unknown, unknown]>([
    [
      'a word',
      { type: 'enum', name: 'E', symbols: ['x'] },
      { type: 'enum', name: 'E', symbols: ['x', 'y'] },
      'x',
      'y',
    ],
    [
      'a field in a list',
      { type: 'array', items: inner(text) },
      { type: 'array', items: inner(text, { ...text, name: 'b', default: '' }) },
      [{ a: '', b: '' }],
      [{ a: '', b: 'c' }],
    ],
    [
      'a field in a map',
      { type: 'map', values: inner() },
      { type: 'map', values: inner({ ...text, default: '' }) },
      { k: { a: '' } },
      { k: { a: 'b' } },
    ],
    ['null', 'string' as never, ['null', 'string'], 'x', null],
    ['another type', 'int' as never, 'long' as never, undefined, 1],
  ])('are found in %s', (_, older, newer, without, withIt) => {
    const has = newerParts(record({ name: 'f', type: older }), record({ name: 'f', type: newer }))
    if (without !== undefined) expect(has?.({ f: without })).toBe(false)
    expect(has?.({ f: withIt })).toBe(true)
  })

  it('are none between equal schemas, also with named types that appear twice', () => {
    const twice = record({ name: 'f', type: inner(text) }, { name: 'g', type: 'I' })
    expect(newerParts(twice, twice)).toBeUndefined()
  })
})

describe('the format in force', () => {
  it('limits a process to the schemas of that format until the last holder leaves', () => {
    const codec = newer()
    const [one, two] = [{}, {}]
    codec.hold(one, closedFormats.length)
    codec.hold(two, closedFormats.length + 1)
    expect(codec.hasInForce('cancel', 'why' as never)).toBe(false)
    expect(codec.hasInForce('cancel', 'round')).toBe(true)
    const held = codec.encodeInForce(cancel())
    expect(held).toEqual(codecOf(old).encode(cancel()))

    codec.hold(one, undefined)
    expect(codec.hasInForce('cancel', 'why' as never)).toBe(true)
    expect(codec.encodeInForce({ ...cancel(), why: 'now' } as never)).toEqual(
      written('cancel', { why: 'now' }),
    )
  })

  it('does not change the bytes of a fold, so every process writes the same outputs', () => {
    const codec = newer()
    codec.hold({}, closedFormats.length)
    expect(codec.encode({ ...cancel(), why: 'now' } as never)).toEqual(
      written('cancel', { why: 'now' }),
    )
  })

  it('refuses a message of a type that begins later, and names weir fleet', () => {
    const codec = newer()
    codec.hold({}, closedFormats.length)
    expect(() => codec.encodeInForce({ ...cancel(), type: 'call-weighed' } as never)).toThrow(
      /call-weighed cannot be written.*format 1 is in force.*weir fleet/,
    )
  })

  const once = { by: [], forMs: 1, within: 'conversation' as const }
  const declarations = [declarationWith({ hints: { ...noHints, once } })]
  const tree = lowestTreeCaps(null, { atOnce: 3 })
  const settings = { ...defaultSettings, policy: { ...defaultSettings.policy, tree } }

  it.each([
    ['once', { declarations }],
    ['tree', { settings }],
  ])('refuses an agent whose %s it would drop, and names the two ways on', (rule, fields) => {
    const codec = codecOf(knownSchemas)
    const holder = {}
    codec.hold(holder, 1)
    expect(() => codec.encodeInForce(userMessage(fields))).toThrow(
      expect.objectContaining({
        code: 'codec.newer-schema',
        message: expect.stringMatching(
          new RegExp(`the rule '${rule}', and record format 1 is in force.*weir fleet.*without`),
        ),
      }),
    )
    codec.encodeInForce(userMessage())
    codec.hold(holder, closedFormats.length + 1)
    expect(codec.decode(codec.encodeInForce(userMessage(fields)))).toEqual(userMessage(fields))
  })
})

it.each(['format-schemas', 'fleet-format'])(
  '%s has one schema for ever, because every later Weir reads it',
  (type) => {
    const versions = knownSchemas.filter((entry) => entry.type === type)
    expect(versions.map(({ version }) => version)).toEqual([1])
  },
)
