// The allowed changes between two versions of a schema. Our schemas have no other change.

import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from '@jest/globals'
import { incompatibilities } from '../../schemas/compatibility.ts'
import { evolve, parseSchemas } from '../../schemas/generate.ts'
import type { LockEntry, RecordSchema, Schema } from '../../schemas/lock-entry.ts'

type Fields = RecordSchema['fields']

describe('our schemas', () => {
  const folder = fileURLToPath(new URL('../../schemas/', import.meta.url))
  const lock = JSON.parse(readFileSync(`${folder}lock.json`, 'utf8')) as LockEntry[]
  const files = globSync('{*,types/*}.avsc', { cwd: folder }).map((path) => ({
    path,
    text: readFileSync(folder + path, 'utf8'),
  }))

  it('are compatible with each of their released versions', () => {
    expect(incompatibilities(evolve(lock, parseSchemas(files)))).toEqual([])
  })
})

describe('incompatibilities', () => {
  const before: Fields = [
    { name: 'text', type: 'string' },
    { name: 'kind', type: kind(['a', 'b']) },
  ]

  it('reports no problem for a single version', () => {
    expect(incompatibilities([version(1, before)])).toEqual([])
  })

  it.each<[string, Fields]>([
    ['nothing', before],
    [
      'a new field with a default',
      [...before, { name: 'note', type: ['null', 'string'], default: null }],
    ],
    ['the order of fields', [...before].reverse()],
  ])('accepts a change of %s', (_, after) => {
    expect(incompatibilities([version(1, before), version(2, after)])).toEqual([])
  })

  it.each<[string, Fields, string[]]>([
    [
      'a new field without a default',
      [...before, { name: 'note', type: 'string' }],
      [
        'tick: version 2 cannot read records of version 1: no matching field for default-less weir.Tick.note',
      ],
    ],
    [
      'a field that is gone',
      before.slice(1),
      [
        'tick: version 1 cannot read records of version 2: no matching field for default-less weir.Tick.text',
      ],
    ],
    [
      'another name',
      [{ name: 'words', type: 'string' }, ...before.slice(1)],
      [
        'tick: version 2 cannot read records of version 1: no matching field for default-less weir.Tick.words',
        'tick: version 1 cannot read records of version 2: no matching field for default-less weir.Tick.text',
      ],
    ],
    [
      'another type',
      [{ name: 'text', type: 'long' }, ...before.slice(1)],
      [
        expect.stringMatching(
          /^tick: version 2 cannot read .* of version 1: cannot read/,
        ) as unknown as string,
        expect.anything() as never,
      ],
    ],
    [
      'a wider type, which only new code can read',
      [{ name: 'text', type: ['null', 'string'] }, ...before.slice(1)],
      [
        expect.stringMatching(
          /^tick: version 1 cannot read records of version 2/,
        ) as unknown as string,
      ],
    ],
    [
      'a new symbol of an enum without a default',
      [...before.slice(0, 1), { name: 'kind', type: kind(['a', 'b', 'c']) }],
      [
        expect.stringMatching(
          /^tick: version 1 cannot read records of version 2: cannot read/,
        ) as unknown as string,
      ],
    ],
  ])('refuses %s', (_, after, problems) => {
    expect(incompatibilities([version(1, before), version(2, after)])).toEqual(problems)
  })

  it('accepts a new symbol of an enum that has a default', () => {
    const kinds = (symbols: string[]): Fields => [{ name: 'kind', type: kind(symbols, 'a') }]
    expect(
      incompatibilities([version(1, kinds(['a', 'b'])), version(2, kinds(['a', 'b', 'c']))]),
    ).toEqual([])
  })

  it('compares with every released version, not only the last', () => {
    const field = { name: 'text', type: 'string' }
    const lock = [version(1, [field]), version(2, [{ ...field, default: '' }]), version(3, [])]
    expect(incompatibilities(lock.slice(1))).toEqual([])
    expect(incompatibilities(lock)).toEqual([
      'tick: version 1 cannot read records of version 3: no matching field for default-less weir.Tick.text',
    ])
  })

  it('ignores drafts, because no record uses them', () => {
    expect(incompatibilities([{ ...version(1, before), released: false }, version(2, [])])).toEqual(
      [],
    )
  })
})

function version(number: number, fields: Fields): LockEntry {
  return {
    id: number,
    type: 'tick',
    version: number,
    released: true,
    schema: { type: 'record', name: 'weir.Tick', fields },
  }
}

function kind(symbols: string[], fallback?: string): Schema {
  return {
    type: 'enum',
    name: 'weir.Kind',
    symbols,
    ...(fallback === undefined ? {} : { default: fallback }),
  }
}
