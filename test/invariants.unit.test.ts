// The ids of invariants, such as ACC-1: a test cites each, a citation leads to one definition, and a
// header stays short.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from '@jest/globals'
import { textsIn } from './prose/sources.ts'

type Source = { file: string; text: string }
type Definition = { id: string; file: string; lines: number }

const perFileMax = 5
const linesMax = 2

const root = join(import.meta.dirname, '..')
const tree: Source[] = ['apps', 'bin', 'client', 'docs', 'schemas', 'services', 'shared', 'test']
  .flatMap((folder) => textsIn(root, folder))
  .filter((file) => file !== join('test', 'invariants.unit.test.ts'))
  .map((file) => ({ file, text: readFileSync(join(root, file), 'utf8') }))

describe('the invariants of the tree', () => {
  const found = tree.flatMap(definitionsIn)

  it('are found', () => expect(found.length).toBeGreaterThan(20))
  it('have ids that are unique in the repository', () => expect(repeatedIn(found)).toEqual([]))
  it('are at most five a file', () => expect(crowdedIn(found)).toEqual([]))
  it('have at most two lines each', () => expect(longIn(found)).toEqual([]))
  it('are defined wherever a text cites one', () => expect(undefinedIn(tree)).toEqual([]))
  it('are each cited by a test', () => expect(uncitedIn(tree)).toEqual([]))
})

describe('the check of invariants', () => {
  const sources = [
    {
      file: 'a.ts',
      text: '// A file.\n// ACC-1. One line.\n// ACC-2. Three lines,\n//     of which\n//     one is over.\n',
    },
    {
      file: 'b.ts',
      text: `// ACC-1. Again.\n${[1, 2, 3, 4, 5].map((n) => `// MANY-${n}. Text.\n`).join('')}// keeps ACC-7, R3\n`,
    },
  ]
  const found = sources.flatMap(definitionsIn)

  it('reports an id with two definitions', () => expect(repeatedIn(found)).toEqual(['ACC-1']))
  it('reports a file with six', () => expect(crowdedIn(found)).toEqual(['b.ts has 6']))
  it('reports an invariant of three lines', () => expect(longIn(found)).toEqual(['a.ts ACC-2']))
  it('reports a citation without a definition', () =>
    expect(undefinedIn(sources)).toEqual(['b.ts cites ACC-7']))
  it('reports an id that no test cites', () => {
    const cited = [
      { file: 'a.ts', text: '// ACC-1. Cited.\n// ACC-2. Not cited.\n' },
      { file: join('test', 'a.ts'), text: '// holds ACC-1\n' },
      { file: 'b.ts', text: '// keeps ACC-2\n' },
    ]
    expect(uncitedIn(cited)).toEqual(['a.ts ACC-2'])
  })
})

/** A definition opens a line of a comment. The lines that continue it are indented. */
function definitionsIn({ file, text }: Source): Definition[] {
  if (file.endsWith('.md')) return []
  return [
    ...text.matchAll(/^ *(?:\/\/|\*) ([A-Z][A-Z-]*-\d+)\. .*(?:\n *(?:\/\/|\*) {2,}\S.*)*/gm),
  ].map(([definition, id = '']) => ({ id, file, lines: definition.split('\n').length }))
}

function repeatedIn(found: Definition[]): string[] {
  const ids = found.map(({ id }) => id)
  return [...new Set(ids.filter((id, index) => ids.indexOf(id) !== index))]
}

function crowdedIn(found: Definition[]): string[] {
  const counts = Map.groupBy(found, ({ file }) => file)
  return [...counts]
    .filter(([, { length }]) => length > perFileMax)
    .map(([file, { length }]) => `${file} has ${length}`)
}

function longIn(found: Definition[]): string[] {
  return found.filter(({ lines }) => lines > linesMax).map(({ file, id }) => `${file} ${id}`)
}

/** Of the prefixes that are defined somewhere: other words with a number are no ids. */
function undefinedIn(sources: Source[]): string[] {
  const ids = new Set(sources.flatMap(definitionsIn).map(({ id }) => id))
  const prefixes = new Set([...ids].map((id) => id.replace(/-\d+$/, '')))
  return sources.flatMap(({ file, text }) =>
    [...text.matchAll(/\b([A-Z][A-Z-]*)-\d+\b/g)]
      .filter(([id, prefix = '']) => prefixes.has(prefix) && !ids.has(id))
      .map(([id]) => `${file} cites ${id}`),
  )
}

/** An id that no test cites is a plain sentence in a longer form. */
function uncitedIn(sources: Source[]): string[] {
  const definition = /^ *(?:\/\/|\*) [A-Z][A-Z-]*-\d+\. /gm
  const cited = new Set(
    sources
      .filter(({ file }) => file.startsWith(join('test', '/')))
      .flatMap(({ text }) => text.replace(definition, '').match(/\b[A-Z][A-Z-]*-\d+\b/g) ?? []),
  )
  return sources
    .flatMap(definitionsIn)
    .filter(({ id }) => !cited.has(id))
    .map(({ file, id }) => `${file} ${id}`)
}
