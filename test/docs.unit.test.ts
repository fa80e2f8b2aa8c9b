// The words around the code stay true: what they name is there. Whether a sentence is true, only
// its reader can tell.

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, test } from '@jest/globals'
import { stages, topics } from '../shared/contract/topology.ts'
import { settingTable } from '../shared/settings/settings.ts'
import { faultsIn } from './prose/prose.ts'
import { textsIn } from './prose/sources.ts'

const root = join(import.meta.dirname, '..')
const textOf = (file: string) => readFileSync(join(root, file), 'utf8')
const makeTargets = new Set(
  [...textOf('Makefile').matchAll(/^([a-z][a-z-]*):/gm)].map(([, target]) => target ?? ''),
)

describe.each(['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md'])('%s', (file) => {
  const text = textOf(file)

  it('names only paths that exist', () => {
    expect(pathsIn(text).length).toBeGreaterThan(0)
    expect(pathsIn(text).filter((path) => !existsSync(join(root, path)))).toEqual([])
  })

  it('links only to files and headings that exist', () => {
    expect(
      linksIn(text).filter(
        (link) =>
          !(link.startsWith('#') ? anchorsIn(text).has(link) : existsSync(join(root, link))),
      ),
    ).toEqual([])
  })

  it('names only targets that the Makefile has', () => {
    expect(targetsIn(text).length).toBeGreaterThan(0)
    expect(targetsIn(text).filter((target) => !makeTargets.has(target))).toEqual([])
  })
})

/** Folders and files without a fault of the prose lint. Grows to the whole tree. */
const clean = ['test/prose']
/** The same for titles of tests. */
const cleanTitles: string[] = []

test.each(clean)('%s keeps the rules of our voice', (path) => {
  expect(faultsBelow(path).filter(({ kind }) => kind !== 'title')).toEqual([])
})

if (cleanTitles.length > 0) {
  test.each(cleanTitles)('the test titles in %s keep the rules of our voice', (path) => {
    expect(faultsBelow(path)).toEqual([])
  })
}

const faultsBelow = (path: string) =>
  textsIn(root, path).flatMap((file) => faultsIn(file, textOf(file)))

describe('ARCHITECTURE.md', () => {
  const text = textOf('ARCHITECTURE.md')

  it.each([...Object.keys(stages), ...Object.keys(topics)])('speaks of %s', (name) => {
    expect(text).toContain(`\`${name}\``)
  })

  it.each(
    Object.values(settingTable).map(({ variable, schema }) => [
      variable,
      typeof schema.default === 'object' ? '' : `${schema.default}`,
    ]),
  )('tells the default of %s: %s', (variable, byDefault) => {
    const row = text
      .split('\n')
      .find((line) => line.startsWith('|') && line.includes(`\`${variable}\``))
    expect(row?.replaceAll('`', '')).toContain(byDefault)
  })
})

describe('what is looked for', () => {
  const sample =
    'In `shared/contract/limits.ts` (not ../shared/other), test/e2e, `services/<name>/reducer.ts`.\n\n    make demo\n\nWe make bread; `make test ARGS=x`.'

  it('is every path into the tree, in code or not, without what only stands for a name', () => {
    expect(pathsIn(sample)).toEqual(['shared/contract/limits.ts', 'test/e2e'])
  })

  it('is every target in code, and no word in prose', () => {
    expect(targetsIn(sample)).toEqual(['test', 'demo'])
  })
})

/**
 * Paths from the root of the checkout into its folders, and files at the root that are named as
 * code.
 */
function pathsIn(text: string): string[] {
  const inFolders = [
    ...text.matchAll(
      /(?<![\w./<-])(?:\.ci|apps|bin|client|docs|schemas|services|shared|test)\/[\w./<>*-]*/g,
    ),
  ].map(([path]) => path.replace(/[./]+$/, ''))
  const atRoot = [
    ...text.matchAll(/`([A-Za-z][\w.-]*\.(?:md|json|js|yml)|Makefile|LICENSE)`/g),
  ].map(([, path]) => path ?? '')
  return [...new Set([...inFolders, ...atRoot])].filter((path) => !/[<*]/.test(path))
}

function linksIn(text: string): string[] {
  return [...text.matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, link]) => link ?? '')
    .filter((link) => !/^[a-z]+:/.test(link))
}

/** As the usual renderers make them of headings. */
function anchorsIn(text: string): Set<string> {
  const headings = [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading]) => heading ?? '')
  return new Set(
    headings.map(
      (heading) =>
        `#${heading
          .toLowerCase()
          .replace(/[^\w -]/g, '')
          .replaceAll(' ', '-')}`,
    ),
  )
}

function targetsIn(text: string): string[] {
  const spans = [...text.matchAll(/`([^`\n]+)`/g)].map(([, span]) => span ?? '')
  const blocks = text.split('\n').filter((line) => /^ {4}/.test(line))
  return [...spans, ...blocks].flatMap((code) =>
    [...code.matchAll(/\bmake (?:-\w+ )?([a-z][a-z-]*)/g)].map(([, target]) => target ?? ''),
  )
}
