// The pages of the project stay true where a test can tell: paths, links, targets, commands, flags,
// settings, keys and code exist. Whether a sentence is true, only its reader can tell.

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { describe, expect, it, test } from '@jest/globals'
import { createProgram } from '../apps/cli/program.ts'
import type { GuardedCall } from '../shared/contract/guard/guard.ts'
import { stages, topics } from '../shared/contract/topology.ts'
import noFridayDeploys from './examples/no-friday-deploys.ts'
import { faultsIn, ratesOf } from './prose/prose.ts'
import { textsIn } from './prose/sources.ts'

const root = join(import.meta.dirname, '..')
const textOf = (file: string) => readFileSync(join(root, file), 'utf8')

const pages = [
  ...readdirSync(root).filter((file) => file.endsWith('.md')),
  ...textsIn(root, 'docs').filter((file) => file.endsWith('.md')),
]
const otherPages = ['apps', 'client', 'services', 'shared', 'test', '.github']
  .flatMap((folder) => textsIn(root, folder))
  .filter((file) => file.endsWith('.md'))

/** Folders whose comments, pages and test titles keep the rules of our voice. */
const proseFolders = ['apps', 'bin', 'client', 'schemas', 'services', 'shared', 'test']

const makeTargets = new Set(
  [...textOf('Makefile').matchAll(/^([a-z][a-z0-9-]*):/gm)].map(([, target]) => target ?? ''),
)

const program = await createProgram('all')

describe('the threat model', () => {
  const page = textOf('docs/operate/security.md')
  const rows = [...page.matchAll(/^\|.*\| `(test\/[^`]+)`: (.+) \|$/gm)]

  it('has a test in each row of its two tables', () => {
    const [, tables = ''] = /^## Threat model\n(.*?)^\*\*The owner/ms.exec(page) ?? []
    const lines = tables.split('\n').filter((line) => /^\| (?!who|found thing)/.test(line))
    expect(lines.length).toBeGreaterThan(20)
    expect(rows).toHaveLength(lines.length)
  })

  it.each(rows.map(([, file = '', title = '']) => [file, title]))('%s has: %s', (file, title) => {
    const titles = [...textOf(file).matchAll(/'((?:[^'\\\n]|\\.)+)'/g)].map(([, text]) => text)
    expect(titles).toContain(title)
  })
})

test('docs/reference/http.md has each path of its protocols, and no other path', () => {
  const folders = ['edge', 'console']
  const routes = folders
    .flatMap((folder) => textsIn(root, `apps/http/${folder}`))
    .flatMap((file) => [
      ...textOf(file).matchAll(/app\.(get|post|put|delete)\(\s*['`](\/v1\/[^'`]+)['`]/g),
    ])
    .map(([, method = '', path = '']) => {
      const parts = path.replace(/:\w+(\{.+\})?|\$\{\w+\}/g, '[^/ ]+')
      return new RegExp(`^${method.toUpperCase()} ${parts}$`)
    })
  const text = textOf('docs/reference/http.md')
  const rows = [...text.matchAll(/`((?:GET|POST|PUT|DELETE) \/v1\/[\w/{}-]+)/g)].map(
    ([, row = '']) => row,
  )
  expect(routes.length).toBeGreaterThan(15)
  expect({
    missing: routes.filter((route) => !rows.some((row) => route.test(row))),
    unknown: rows.filter((row) => !routes.some((route) => route.test(row))),
  }).toEqual({ missing: [], unknown: [] })
})

test('every page is read', () => {
  expect(pages).toEqual(
    expect.arrayContaining(['README.md', join('docs', 'internals', 'architecture.md')]),
  )
})

test.each([...pages, ...proseFolders])('%s keeps the rules of our voice', (path) => {
  expect(faultsBelow(path)).toEqual([])
})

// A reader must look for the noun of each it and one, and unpack each chain of nouns.
test.each(pages)('%s has few it, its and one, and few of', (page) => {
  const { it: its, of } = ratesOf(page, textOf(page))
  expect(its).toBeLessThanOrEqual(20)
  expect(of).toBeLessThanOrEqual(15)
})

describe.each([...pages, ...otherPages])('%s', (file) => {
  const text = textOf(file)

  it('names only paths that exist', () => {
    expect(pathsIn(text).filter((path) => !existsSync(join(root, path)))).toEqual([])
  })

  it('links only to files and headings that exist', () => {
    expect(linksIn(text).filter((link) => !leadsSomewhere(file, link))).toEqual([])
  })

  it('names no end and no answer by its former word', () => {
    const former = /`(rejected|vetoed|outcome_unknown|approved|\/approve|\/reject)`/g
    if (!['CHANGELOG.md', join('docs', 'operate', 'upgrade.md')].includes(file))
      expect(text.match(former)).toBeNull()
  })

  it('names only targets that the Makefile has', () => {
    expect(targetsIn(text).filter((target) => !makeTargets.has(target))).toEqual([])
  })

  it('names only commands and flags that weir has', () => {
    expect(commandFaultsIn(text)).toEqual([])
  })

  it('shows only code that a test compiles and runs', () => {
    const files = readdirSync(join(root, 'test/examples')).filter((name) => name.endsWith('.ts'))
    const examples = files.map((name) =>
      textOf(`test/examples/${name}`)
        .replace(/'\.\.\/\.\.\/client\/weir\.ts'(?: \/\/ .*)?/, "'weir-agents'")
        .replace(
          /'\.\.\/\.\.\/client\/(?:guards?|adapters|testing)\/(.*)\.ts'/g,
          "'weir-agents/$1'",
        ),
    )
    const codes = [...text.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code]) => code ?? '')
    const known = (code: string) =>
      examples.some((example) =>
        code.split('\n').every((line) => example.split('\n').includes(line)),
      )
    expect(codes.filter((code) => !known(code))).toEqual([])
  })

  it('shows only pages of a browser that an example serves', () => {
    const files = readdirSync(join(root, 'test/examples')).filter((name) => name.endsWith('.html'))
    const served = files.map((name) => textOf(`test/examples/${name}`))
    const shown = [...text.matchAll(/^```html\n(.*?)^```$/gms)].map(([, page]) => page)
    expect(shown.filter((page = '') => !served.includes(page))).toEqual([])
  })
})

test('README.md has at most 700 words and shows the package of this version', () => {
  const text = textOf('README.md')
  expect(text.split(/\s+/).filter((word) => /\w/.test(word)).length).toBeLessThanOrEqual(700)
  const { version } = JSON.parse(textOf('package.json')) as { version: string }
  expect(text).toContain(`weir-agents-${version}.tgz`)
  expect(textOf('CHANGELOG.md')).toContain(`\n## ${version}\n`)
})

test('CHANGELOG.md has at most 8 KiB for each version', () => {
  const [, ...versions] = textOf('CHANGELOG.md').split('\n## ')
  expect(versions.length).toBeGreaterThan(0)
  expect(versions.filter((section) => Buffer.byteLength(section) > 8 * 1024)).toEqual([])
})

test('docs/README.md links to every other page of the docs, with a sentence', () => {
  const index = textOf('docs/README.md').trimEnd()
  const lines = index.slice(index.indexOf('\n## All pages\n')).split(/\n(?=- |\n)/)
  const linked = lines.flatMap((line) =>
    /^- .+\w\.$/s.test(line) ? linksIn(line).map((link) => join('docs', link)) : [],
  )
  const others = pages.filter((page) => page.startsWith('docs/') && page !== 'docs/README.md')
  expect(linked.toSorted()).toEqual(others.toSorted())
})

describe('docs/internals/architecture.md', () => {
  it.each([...Object.keys(stages), ...Object.keys(topics)])('describes %s', (name) => {
    expect(textOf('docs/internals/architecture.md')).toContain(`\`${name}\``)
  })
})

/** A field that the type gains or loses does not compile here. */
const fieldsOfCall = Object.keys({
  ordinal: 0,
  name: 0,
  arguments: 0,
  rawArguments: 0,
  source: 0,
  enforced: 0,
  declaration: 0,
} satisfies Record<keyof GuardedCall, 0>)

describe('the fields of a call that a guard gets', () => {
  const fields = (page: string) => {
    const named = rowsOf(page).flatMap(([first]) => first ?? [])
    return named.slice(named.indexOf('ordinal'), named.indexOf('declaration') + 1)
  }

  it('are the table of docs/build/own-guards.md', () =>
    expect(fields('docs/build/own-guards.md')).toEqual(fieldsOfCall))

  it('are those that the example in Python builds', () => {
    const example = textOf('services/guards/python/no_customer_data.py')
    const [, built = ''] = /^def guarded_call\((.*?)^def /ms.exec(example) ?? []
    const keys = [...built.matchAll(/[{,] ?"(\w+)":/g)].map(([, key]) => key)
    expect(keys.toSorted()).toEqual(fieldsOfCall.toSorted())
  })
})

test('the guard of docs/build/own-guards.md denies on Fridays only', () => {
  const on = (day: string) =>
    noFridayDeploys.judge(undefined, {
      conversation: 'c',
      turn: 0,
      round: 1,
      agent: 'a',
      time: Date.parse(day),
      ended: [],
      calls: [
        {
          ordinal: 0,
          name: 'deploy',
          arguments: {},
          rawArguments: '{}',
          source: 'deltas',
          enforced: true,
          declaration: {} as never,
        },
      ],
    }).verdicts
  expect(on('2026-11-19')).toEqual([{ ordinal: 0, verdict: 'allow' }])
  expect(on('2026-11-20')).toMatchObject([{ ordinal: 0, verdict: 'deny', code: 'friday' }])
})

describe('the checks of pages', () => {
  const sample =
    'In `shared/contract/limits.ts` (not ../shared/other), test/e2e, `services/<name>/reducer.ts`.\n\n    make demo\n\nWe make bread; `make test ARGS=x`.'

  it('find every path into the tree, and no placeholder of a name', () => {
    expect(pathsIn(sample)).toEqual(['shared/contract/limits.ts', 'test/e2e'])
  })

  it('find every make target in code, and no word in prose', () => {
    expect(targetsIn(sample)).toEqual(['test', 'demo'])
  })

  it('find unknown commands and flags', () => {
    const page =
      '`weir asks` and `weir guard list --unknown`\n\n    weir up --nowhere    a note --x\n'
    expect(commandFaultsIn(page)).toEqual([
      'weir asks',
      'weir guard list --unknown',
      'weir up --nowhere',
    ])
    expect(commandFaultsIn('`weir ask|chat --agent x` `weir --help` `weir guard run F`')).toEqual(
      [],
    )
  })

  it('find links that lead nowhere', () => {
    expect(leadsSomewhere('docs/internals/architecture.md', '../reference/rules.md#r1')).toBe(true)
    expect(leadsSomewhere('docs/internals/architecture.md', '../reference/rules.md#r9')).toBe(false)
    expect(leadsSomewhere('docs/internals/architecture.md', '../reference/rulez.md')).toBe(false)
  })
})

function faultsBelow(path: string) {
  return textsIn(root, path).flatMap((file) => faultsIn(file, textOf(file)))
}

/**
 * Paths from the root of the checkout into its folders, and files at the root that are named as
 * code. Links are checked by `leadsSomewhere`.
 */
function pathsIn(text: string): string[] {
  const withoutLinks = text.replace(/\]\([^)\s]+\)/g, ']')
  const inFolders = [
    ...withoutLinks.matchAll(
      /(?<![\w./<-])(?:\.ci|apps|bin|client|docs|schemas|services|shared|test)\/[\w./<>*-]*/g,
    ),
  ].map(([path]) => path.replace(/[./]+$/, ''))
  const atRoot = [
    ...withoutLinks.matchAll(/`([A-Z][\w.-]*\.md|package(?:-lock)?\.json|Makefile|LICENSE)`/g),
  ].map(([, path]) => path ?? '')
  return [...new Set([...inFolders, ...atRoot])].filter((path) => !/[<*]/.test(path))
}

function linksIn(text: string): string[] {
  return [...text.matchAll(/\]\(([^)\s]+)\)| (?:src|srcset)="([^"]+)"/g)]
    .map(([, link, image]) => link ?? image ?? '')
    .filter((link) => !/^[a-z]+:/.test(link))
}

function leadsSomewhere(page: string, link: string): boolean {
  const [path = '', anchor] = link.split('#')
  const file = path === '' ? page : relative(root, join(root, dirname(page), path))
  if (!existsSync(join(root, file))) return false
  return anchor === undefined || anchorsIn(textOf(file)).has(anchor)
}

/** The usual renderers derive anchors from headings this way. */
function anchorsIn(text: string): Set<string> {
  const headings = [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading]) => heading ?? '')
  return new Set(
    headings.map((heading) =>
      heading
        .toLowerCase()
        .replace(/[^\w -]/g, '')
        .replaceAll(' ', '-'),
    ),
  )
}

/** Code spans, and lines of code blocks. */
function codesIn(text: string): string[] {
  const fenced = [...text.matchAll(/^```\w*\n(.*?)^```$/gms)].flatMap(([, code = '']) =>
    code.split('\n'),
  )
  const spans = [...text.matchAll(/`([^`\n]+)`/g)].map(([, span]) => span ?? '')
  const indented = text.split('\n').filter((line) => /^ {4}/.test(line))
  return [...spans, ...indented, ...fenced]
}

function targetsIn(text: string): string[] {
  return codesIn(text).flatMap((code) =>
    [...code.matchAll(/\bmake (?:-\w+ )?([a-z][a-z0-9-]*)/g)].map(([, target]) => target ?? ''),
  )
}

/** Cells of the tables of a page, without the marks of code. */
function rowsOf(file: string): string[][] {
  return textOf(file)
    .split('\n')
    .filter((line) => line.startsWith('|') && !line.startsWith('|--'))
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.replaceAll('`', '').trim()),
    )
}

/** Uses of `weir` that name a command or a flag that it does not have. Notes after it are left out. */
function commandFaultsIn(text: string): string[] {
  return codesIn(text).flatMap((code) => {
    const use = /(?:^|[\s/(=])weir ([a-z-].*)$/.exec(code.trim().replace(/ {3,}.*$/, ''))
    const [words = ''] = (use?.[1] ?? '').split(/ [|;&>]|\)/)
    return words.includes('|') || words === '' ? [] : faultsOfUse(words.split(/\s+/))
  })
}

function faultsOfUse(words: string[]): string[] {
  let command = program
  let path = 'weir'
  for (const word of words) {
    const next = command.commands.find((one) => one.name() === word)
    if (next === undefined) break
    command = next
    path += ` ${word}`
  }
  if (command === program && !words[0]?.startsWith('-')) return [`${path} ${words[0]}`]
  const flags = words.flatMap((word) => /^--[a-z][a-z-]*/.exec(word)?.[0] ?? [])
  // A group passes the flags on to its default command.
  const options = [command, ...command.commands].flatMap((one) => one.options)
  const ofProgram = command === program ? ['--version'] : []
  const known = new Set(['--help', ...ofProgram, ...options.map(({ long }) => long)])
  return flags.filter((flag) => !known.has(flag)).map((flag) => `${path} ${flag}`)
}
