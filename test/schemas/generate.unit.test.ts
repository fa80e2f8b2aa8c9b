// The schema generator: reading schemas, rejected schemas, the types in its output, and the changes
// of the lock.

import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import {
  evolve,
  generate,
  type Paths,
  parseSchemas,
  type SourceFile,
  selfContained,
  typescriptOf,
} from '../../schemas/generate.ts'
import type { LockEntry } from '../../schemas/lock-entry.ts'

const text = { name: 'text', type: 'string', doc: 'what was said' }
const kind = { type: 'enum', name: 'Kind', doc: 'Which it is.', symbols: ['a', 'b'] }
const usage = {
  type: 'record',
  name: 'Usage',
  fields: [{ name: 'tokens', type: 'long', doc: 'how many' }],
}

describe('reading', () => {
  it('resolves references by name in any order: defined at their first use, named afterwards', () => {
    const response = record('Response', [
      { name: 'usage', type: 'weir.Usage', doc: 'now' },
      { name: 'before', type: ['null', 'Usage'], doc: 'before', default: null },
    ])
    const message = record('ModelFinished', [
      { name: 'kinds', type: { type: 'array', items: 'weir.Kind' }, doc: 'all kinds' },
      { name: 'response', type: 'weir.Response', doc: 'what came' },
      { name: 'kind', type: 'weir.Kind', doc: 'the first one' },
    ])
    const schemas = parseSchemas([
      file('model-finished.avsc', message),
      file('types/usage.avsc', usage),
      file('types/response.avsc', response),
      file('types/kind.avsc', kind),
    ])
    expect(selfContained(schemas, schemas.messages.get('model-finished')!.schema)).toEqual({
      type: 'record',
      name: 'weir.ModelFinished',
      fields: [
        {
          name: 'kinds',
          type: { type: 'array', items: { type: 'enum', name: 'weir.Kind', symbols: ['a', 'b'] } },
        },
        {
          name: 'response',
          type: {
            type: 'record',
            name: 'weir.Response',
            fields: [
              {
                name: 'usage',
                type: {
                  type: 'record',
                  name: 'weir.Usage',
                  fields: [{ name: 'tokens', type: 'long' }],
                },
              },
              { name: 'before', type: ['null', 'weir.Usage'], default: null },
            ],
          },
        },
        { name: 'kind', type: 'weir.Kind' },
      ],
    })
  })

  it('accepts a type that is defined inside a message, and uses it in others', () => {
    const first = file('first.avsc', record('First', [{ name: 'kind', type: kind, doc: 'which' }]))
    const second = file(
      'second.avsc',
      record('Second', [{ name: 'kind', type: 'weir.Kind', doc: 'which' }]),
    )
    const schemas = parseSchemas([second, first])
    expect(selfContained(schemas, schemas.messages.get('second')!.schema).fields).toEqual([
      { name: 'kind', type: { type: 'enum', name: 'weir.Kind', symbols: ['a', 'b'] } },
    ])
  })

  it.each<[string, SourceFile[], RegExp]>([
    ['a file that is not JSON', [{ path: 'tick.avsc', text: '{' }], /^tick.avsc is not JSON: /],
    [
      'a file without a named type',
      [file('tick.avsc', ['null'])],
      /^tick.avsc holds \["null"\]. Write one record/,
    ],
    [
      'a missing doc',
      [message([{ name: 'text', type: 'string' }])],
      /^tick.avsc: field Tick.text has no doc. Describe its meaning/,
    ],
    ['an empty doc', [message([{ ...text, doc: ' ' }])], /^tick.avsc: field Tick.text has no doc/],
    [
      'a missing doc in a shared type',
      [file('types/usage.avsc', { ...usage, fields: [{ name: 'tokens', type: 'long' }] })],
      /^types\/usage.avsc: field Usage.tokens has no doc/,
    ],
    [
      'an unknown name',
      [
        message([{ ...text, type: { type: 'array', items: 'weir.Usge' } }]),
        file('types/usage.avsc', usage),
      ],
      /^tick.avsc: weir.Tick.text refers to weir.Usge, which no file defines. Known: weir.Tick, weir.Usage.$/,
    ],
    [
      'a cycle',
      [
        file('types/a.avsc', record('A', [{ name: 'b', type: ['null', 'weir.B'], doc: 'b' }])),
        file(
          'types/b.avsc',
          record('B', [{ name: 'a', type: { type: 'map', values: 'weir.A' }, doc: 'a' }]),
        ),
        message([{ name: 'a', type: 'weir.A', doc: 'a' }]),
      ],
      /^types\/a.avsc: weir.A -> weir.B -> weir.A is a cycle/,
    ],
    [
      'a record in itself',
      [message([{ name: 'more', type: { type: 'array', items: 'weir.Tick' }, doc: 'm' }])],
      /weir.Tick -> weir.Tick is a/,
    ],
    [
      'a name that another file defines',
      [file('types/a.avsc', kind), file('types/b.avsc', kind)],
      /^types\/b.avsc defines weir.Kind, which types\/a.avsc/,
    ],
    [
      'another namespace',
      [file('tick.avsc', { ...record('Tick', []), namespace: 'other' })],
      /^tick.avsc: Tick is not in the namespace weir/,
    ],
    [
      'a file name that does not match the record',
      [file('tack.avsc', record('Tick', []))],
      /^tack.avsc holds weir.Tick, but its file name requires weir.Tack/,
    ],
    [
      'a message that is an enum',
      [file('kind.avsc', kind)],
      /^kind.avsc is a message, but holds an enum/,
    ],
    [
      'a name in lower case',
      [file('types/kind.avsc', { ...kind, name: 'kind' })],
      /the name weir.kind is not in PascalCase/,
    ],
    [
      'a field in another case',
      [message([{ ...text, name: 'my_text' }])],
      /^tick.avsc: field Tick.my_text is not in camelCase/,
    ],
    [
      'a field named type',
      [message([{ ...text, name: 'type' }])],
      /^tick.avsc: field type. That property is the message's own name \('tick'\)/,
    ],
    [
      'a record without fields',
      [file('tick.avsc', { type: 'record', name: 'Tick' })],
      /^tick.avsc: weir.Tick has no list of fields/,
    ],
    [
      'two records in a union',
      [message([{ ...text, type: ['weir.Tick2', 'weir.Usage'] }]), ...twoRecords()],
      /two branches that are both 'object' in JavaScript/,
    ],
    [
      'an enum and a string in a union',
      [message([{ ...text, type: ['string', 'weir.Kind'] }]), file('types/kind.avsc', kind)],
      /both 'string' in/,
    ],
    [
      'a float',
      [message([{ ...text, type: ['null', 'float'] }])],
      /^tick.avsc: weir.Tick.text is a float. Use a double/,
    ],
    [
      'an array of nothing',
      [message([{ ...text, type: { type: 'array', items: 'null' } }])],
      /is an array of items without content/,
    ],
    [
      'an array of empty records',
      [
        message([{ ...text, type: { type: 'array', items: 'weir.Empty' } }]),
        file('types/empty.avsc', record('Empty', [])),
      ],
      /is an array of items without content/,
    ],
    [
      'an unknown type',
      [message([{ ...text, type: 5 }])],
      /^tick.avsc: field Tick.text has the type 5, which is not an Avro type/,
    ],
    [
      'other attributes',
      [message([{ ...text, type: { type: 'long', logicalType: 'timestamp-millis' } }])],
      /without other attributes/,
    ],
    [
      'a default of another type',
      [message([{ ...text, default: 5 }])],
      /^tick.avsc: incompatible field default 5/,
    ],
    ['a field twice', [message([text, text])], /^tick.avsc: duplicate field name/],
    [
      'a symbol twice',
      [file('types/kind.avsc', { ...kind, symbols: ['a', 'a'] })],
      /^types\/kind.avsc: duplicate .* symbol/,
    ],
  ])('refuses %s', (_, files, problem) => expect(() => parseSchemas(files)).toThrow(problem))
})

describe('the types', () => {
  it('have their docs, and a type field tells messages apart', () => {
    const fields = [
      text,
      { name: 'count', type: 'int', doc: 'an int' },
      { name: 'at', type: ['null', 'long'], doc: 'a long or null', default: null },
      { name: 'ratio', type: 'double', doc: 'a double' },
      { name: 'done', type: 'boolean', doc: 'a boolean' },
      { name: 'raw', type: 'bytes', doc: 'bytes' },
      {
        name: 'list',
        type: { type: 'array', items: ['null', 'weir.Kind'] },
        doc: 'maybe kinds */',
      },
      {
        name: 'matrix',
        type: { type: 'array', items: { type: 'array', items: 'double' } },
        doc: 'numbers',
      },
      { name: 'map', type: { type: 'map', values: 'weir.Usage' }, doc: 'by name' },
    ]
    const long = 'word '.repeat(40).trim()
    const schemas = parseSchemas([
      file('user-message.avsc', {
        ...record('UserMessage', fields),
        doc: 'Somebody said something.',
      }),
      file('tick.avsc', { ...record('Tick', []), doc: long }),
      file('types/usage.avsc', usage),
      file('types/kind.avsc', kind),
    ])
    expect(
      typescriptOf(schemas),
    ).toBe(`// Generated from schemas/ by \`node schemas/generate.ts\`. Do not edit: change the .avsc file and run it again.

export type Message = Tick | UserMessage

export type MessageType = Message['type']

export type MessageOf<T extends MessageType> = Extract<Message, { type: T }>

/**
 * ${'word '.repeat(19).trim()}
 * ${'word '.repeat(19).trim()}
 * word word
 */
export type Tick = {
  type: 'tick'
}

/** Somebody said something. */
export type UserMessage = {
  type: 'user-message'
  /** what was said */
  text: string
  /** an int */
  count: number
  /** a long or null */
  at: number | null
  /** a double */
  ratio: number
  /** a boolean */
  done: boolean
  /** bytes */
  raw: Uint8Array
  /** maybe kinds * / */
  list: (Kind | null)[]
  /** numbers */
  matrix: number[][]
  /** by name */
  map: Record<string, Usage>
}

/** Which it is. */
export type Kind = 'a' | 'b'

export type Usage = {
  /** how many */
  tokens: number
}
`)
  })

  it('name the ids of conversations and messages, and import these names', () => {
    const fields = ['conversation', 'messageId'].map((name) => ({ ...text, name }))
    const optional = { ...text, name: 'conversation', type: ['null', 'string'], default: null }
    const written = typescriptOf(
      parseSchemas([
        file('claim.avsc', record('Claim', fields)),
        file('tick.avsc', record('Tick', [optional])),
      ]),
    )
    expect(written).toContain("\nimport type { ConversationId, MessageId } from './ids.ts'\n")
    expect(written).toContain('  conversation: ConversationId\n')
    expect(written).toContain('  messageId: MessageId\n')
    expect(written).toContain('  conversation: string | null\n')
  })

  it('take the fields of a call or a turn from its id, unless a field has another meaning', () => {
    const doc = 'the conversation: the key of the record'
    const conversation = { ...text, name: 'conversation', doc }
    const turn = {
      name: 'turn',
      type: 'long',
      doc: 'the turn: the inbox offset of the record that opened it',
    }
    const ofCall = [
      ...[conversation, turn],
      { name: 'round', type: 'int', doc: 'the model round in the turn, from 1' },
      { name: 'ordinal', type: 'int', doc: 'the call' },
    ]
    const other = [conversation, { ...turn, doc: 'the turn that did not fit' }]
    const written = typescriptOf(
      parseSchemas([
        file('call-denied.avsc', record('CallDenied', [...ofCall, text])),
        file('claim.avsc', record('Claim', other)),
        file('tick.avsc', record('Tick', [conversation, turn])),
      ]),
    )
    expect(written).toContain("\nimport type { CallId, ConversationId, TurnId } from './ids.ts'\n")
    expect(written).toContain(
      "export type CallDenied = CallId & {\n  type: 'call-denied'\n  /** what was said */\n  text: string\n}\n",
    )
    expect(written).toContain("export type Tick = TurnId & {\n  type: 'tick'\n}\n")
    expect(written).toContain('  /** the turn that did not fit */\n  turn: number\n')
  })

  it('break a union that is too long for a line', () => {
    const symbols = Array.from({ length: 20 }, (_, index) => `symbol_${index}`)
    const written = typescriptOf(parseSchemas([file('types/kind.avsc', { ...kind, symbols })]))
    expect(written).toContain(`export type Kind =\n  | 'symbol_0'\n  | 'symbol_1'\n`)
  })
})

describe('the lock', () => {
  const tick = parseSchemas([message([])])
  const tickWithText = parseSchemas([message([{ ...text, default: '' }])])
  const tickAndClaim = parseSchemas([message([]), file('claim.avsc', record('Claim', [text]))])
  const schemaOf = (schemas: typeof tick, type: string): LockEntry['schema'] =>
    selfContained(schemas, schemas.messages.get(type)!.schema)
  const draft: LockEntry = {
    id: 1,
    type: 'tick',
    version: 1,
    released: false,
    schema: schemaOf(tick, 'tick'),
  }
  const released: LockEntry = { ...draft, released: true }
  const next: LockEntry = {
    id: 2,
    type: 'tick',
    version: 2,
    released: false,
    schema: schemaOf(tickWithText, 'tick'),
  }

  it('begins with one draft for each message, in the order of their names', () => {
    expect(evolve([], tickAndClaim)).toEqual([
      {
        id: 1,
        type: 'claim',
        version: 1,
        released: false,
        schema: schemaOf(tickAndClaim, 'claim'),
      },
      { ...draft, id: 2 },
    ])
  })

  it('does not change if no schema changed', () => {
    expect(evolve([draft], tick)).toEqual([draft])
    expect(evolve([released], tick)).toEqual([released])
    expect(evolve([released, next], tickWithText)).toEqual([released, next])
  })

  it('ignores a change of docs only', () => {
    const documented = parseSchemas([message([{ ...text, default: '', doc: 'said better' }])])
    expect(evolve([released, next], documented)).toEqual([released, next])
  })

  it('replaces a draft in place', () => {
    expect(evolve([draft], tickWithText)).toEqual([{ ...draft, schema: next.schema }])
  })

  it('keeps a released schema and adds the next version after it', () => {
    expect(evolve([released], tickWithText)).toEqual([released, next])
  })

  it('drops a draft that equals the released schema again', () => {
    expect(evolve([released, next], tick)).toEqual([released])
  })

  it('gives a new message the next id, for any name', () => {
    expect(evolve([released], tickAndClaim).map(({ id, type }) => ({ id, type }))).toEqual([
      { id: 1, type: 'tick' },
      { id: 2, type: 'claim' },
    ])
  })

  it('drops the draft of a removed message, and does not reuse its id in the same step', () => {
    const claim = evolve([], parseSchemas([file('claim.avsc', record('Claim', [text]))]))
    expect(evolve(claim, tick).map(({ id, type }) => ({ id, type }))).toEqual([
      { id: 2, type: 'tick' },
    ])
  })

  it('rejects the loss of a released message', () => {
    expect(() => evolve([released], parseSchemas([]))).toThrow(
      /^tick.avsc is missing, but its schema 1 is released: records with it may exist/,
    )
    expect(() => evolve([released, next], parseSchemas([]))).toThrow(/its schema 1 is released/)
  })

  it('marks every schema as released with --release', () => {
    expect(evolve([released], tickWithText, { release: true })).toEqual([
      released,
      { ...next, released: true },
    ])
  })
})

describe('the command', () => {
  let folder: string
  let paths: Paths
  let printed: string[]

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'weir-schemas-'))
    paths = {
      schemas: folder,
      lock: join(folder, 'lock.json'),
      messages: join(folder, 'messages.ts'),
    }
    printed = []
    write(message([text]))
  })

  afterEach(() => rmSync(folder, { recursive: true }))

  it('writes both files, and writes none when it runs again', () => {
    expect(run()).toBe(0)
    expect(printed).toEqual([
      expect.stringMatching(/^wrote .*messages.ts$/),
      expect.stringMatching(/^wrote .*lock.json$/),
    ])
    expect(readFileSync(paths.messages, 'utf8')).toContain('export type Tick = {')
    expect(lock()).toMatchObject([{ id: 1, type: 'tick', released: false }])
    printed = []
    expect(run()).toBe(0)
    expect(printed).toEqual([])
  })

  it('finds no drift right after it wrote', () => {
    run()
    expect(run('--check')).toBe(0)
  })

  it('names the first file that drifted, and writes none', () => {
    expect(run('--check')).toBe(1)
    expect(printed).toEqual([
      expect.stringMatching(
        /messages.ts does not match schemas\/\*.avsc. Run `node schemas\/generate.ts`/,
      ),
    ])
    run()
    const before = readFileSync(paths.lock, 'utf8')
    writeFileSync(paths.lock, before.replace('text', 'words'))
    printed = []
    expect(run('--check')).toBe(1)
    expect(printed).toEqual([expect.stringMatching(/lock.json does not match/)])
    expect(readFileSync(paths.lock, 'utf8')).not.toBe(before)
  })

  it('marks the schemas as released with --release', () => {
    expect(run('--release')).toBe(0)
    expect(lock()).toMatchObject([{ id: 1, type: 'tick', released: true }])
    expect(run('--check')).toBe(0)
  })

  it('refuses a change that cannot read released records, and writes nothing', () => {
    run('--release')
    const before = readFileSync(paths.lock, 'utf8')
    write(message([{ ...text, name: 'words' }]))
    printed = []
    expect(run()).toBe(1)
    expect(printed).toContain(
      'tick: version 2 cannot read records of version 1: no matching field for default-less weir.Tick.words',
    )
    expect(readFileSync(paths.lock, 'utf8')).toBe(before)
  })

  it('reads shared types from their folder', () => {
    mkdirSync(join(folder, 'types'))
    write(file('types/kind.avsc', kind))
    write(message([{ ...text, type: 'weir.Kind' }]))
    expect(run()).toBe(0)
    expect(readFileSync(paths.messages, 'utf8')).toContain('  text: Kind\n')
  })

  it('refuses an unknown option', () => {
    expect(run('--chekc')).toBe(1)
    expect(printed).toEqual(['unknown option --chekc. Options: --check, --release.'])
  })

  function run(...flags: string[]): number {
    return generate(paths, flags, (line) => printed.push(line))
  }

  function lock(): LockEntry[] {
    return JSON.parse(readFileSync(paths.lock, 'utf8'))
  }

  function write({ path, text: content }: SourceFile): void {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), content)
  }
})

function file(path: string, schema: unknown): SourceFile {
  return { path, text: JSON.stringify(schema) }
}

function message(fields: object[]): SourceFile {
  return file('tick.avsc', record('Tick', fields))
}

function record(name: string, fields: object[]): object {
  return { type: 'record', name, fields }
}

function twoRecords(): SourceFile[] {
  return [file('types/usage.avsc', usage), file('types/tick2.avsc', record('Tick2', [text]))]
}
