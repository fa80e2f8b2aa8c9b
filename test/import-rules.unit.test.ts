// The rules for imports and for pure reducers. They hold for the whole tree, and a test of each one
// shows that it catches an offender. The sources are parsed, not searched, so words in comments and
// strings do not count.

import { readdirSync, readFileSync } from 'node:fs'
import { builtinModules } from 'node:module'
import { dirname, join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from '@jest/globals'
import { parseSync } from '@swc/core'
import { parseSync as readModule } from 'oxc-parser'

type Source = { file: string; source: string }
/** `statements`: parsed when they are read first, because that takes most of the time. */
type Parsed = Source & { lines: number; imports: Import[]; readonly statements: Node[] }
/**
 * `target` is a path from the root of the checkout, or a package. `atRuntime` is false if only a
 * type is imported. `isLate`: a call imports it.
 */
type Import = { target: string; atRuntime: boolean; isLate?: true }
type Node = { type: string; [key: string]: unknown }
type Rule = (files: Parsed[]) => string[]

const treeFolders = ['apps', 'client', 'schemas', 'services', 'shared', 'test']

/** From top to bottom: a folder imports only folders below it. */
const floors = [
  'apps/cli',
  'apps/http',
  'apps/service',
  'apps/demo',
  'apps/report',
  'apps/replay',
  'apps/transcripts',
  'apps/bundles',
  'apps/traces',
  'apps/history',
  'apps/page',
  'apps/terminal',
  'client',
  'shared/view', // above the services: it shows their decisions
  'services',
  'shared/tools',
  'shared/runtime',
  'shared/wire',
  'shared/transcript',
  'shared/bus',
  'shared/agents',
  'shared/settings',
  'shared/codec',
  'shared/hosts',
  'shared/contract',
  'shared/model-texts',
  'shared/lib',
  'schemas',
]

/**
 * The one import upwards, which is late: the library opens the server of a program. The server imports only
 * types of it.
 */
const serverOfProgram = { file: 'client/weir.ts', target: 'apps/http/serve/program-handler.ts' }

describe('the tree', () => {
  const tree = treeFolders.flatMap(sourcesIn).map(parse)

  test('is read as a whole', () => {
    expect(tree.map(({ file }) => file)).toContain('test/import-rules.unit.test.ts')
    expect(tree.length).toBeGreaterThan(1)
  })

  test('imports only downwards', () => expect(onlyBelow(tree)).toEqual([]))
  test('has no import cycles', () => expect(noCycles(tree)).toEqual([]))
  test('imports no bench', () => expect(benchApart(tree)).toEqual([]))
  test('keeps services apart', () => expect(servicesApart(tree)).toEqual([]))
  test('keeps the edge below the console, and fronts off the executor', () =>
    expect(frontsApart(tree)).toEqual([]))
  test('keeps kafkajs and node:sqlite inside the bus', () =>
    expect(driversBehindTheBus(tree)).toEqual([]))
  test('has no barrels', () => expect(noBarrels(tree)).toEqual([]))
  test('names files by nouns of the domain', () => expect(domainNames(tree)).toEqual([]))
  test('keeps reducers pure', () => expect(pureReducers(tree)).toEqual([]))
  test('keeps side effects in performers', () => expect(effectsInPerformers(tree)).toEqual([]))
  test('guards an agent in memory without a bus, a database, a logger or files', () => {
    const loaded = closureOf(toJudge(tree), tree)
    expect(loaded.filter((target) => heavy.some((one) => isUnder(one, target)))).toEqual([])
  })
  test('loads each stage of a guard in memory with its first record', () =>
    expect(toJudge(tree)).toHaveLength(toOpen.length + 5))
  test('opens a guard in memory without a package', () => {
    const others = closureOf(toOpen, tree).filter((target) => !isInTree(target))
    expect(others.filter((target) => !target.startsWith('node:'))).toEqual([])
  })
  test('loads at most 300 lines to import a guard', () =>
    expect(linesOf([guardFile], tree)).toBeLessThanOrEqual(300))
  test('loads at most 12,300 lines to open a guard in memory', () =>
    expect(linesOf(toOpen, tree)).toBeLessThanOrEqual(12_300))
  test('loads at most 28,200 lines to judge the calls of a guest in memory', () =>
    expect(linesOf(toJudge(tree), tree)).toBeLessThanOrEqual(28_200))
})

describe('the closure of a file', () => {
  test('has all that it imports at runtime and at once, also for a type between braces', () => {
    const files = {
      'client/a.ts': `import { b } from './b.ts'; import type { T } from './t.ts'; import('./late.ts')`,
      'client/b.ts': `import { type T } from './t.ts'; import { DatabaseSync } from 'node:sqlite'; export * from './c.ts'`,
      'client/c.ts': `import './a.ts'`,
      'client/t.ts': '',
      'client/late.ts': '',
    }
    const parsed = Object.entries(files).map(([file, source]) => parse({ file, source }))
    expect(closureOf(['client/a.ts'], parsed)).toEqual([
      ...['client/a.ts', 'client/b.ts', 'client/t.ts', 'node:sqlite', 'client/c.ts'],
    ])
  })
})

describe('only below', () => {
  test('lets the library open the server of a program late, and nothing else', () => {
    const files = {
      'client/weir.ts': `import('../apps/http/serve/program-handler.ts'); import('../apps/http/server.ts')`,
      'client/turn/turn.ts': `import('../../apps/http/serve/program-handler.ts')`,
      'client/define/models.ts': `import '../../apps/http/serve/program-handler.ts'`,
    }
    expect(offences(onlyBelow, files)).toEqual([
      'client/weir.ts imports apps/http/server.ts; a folder imports only folders below it',
      'client/turn/turn.ts imports apps/http/serve/program-handler.ts; a folder imports only folders below it',
      'client/define/models.ts imports apps/http/serve/program-handler.ts; a folder imports only folders below it',
    ])
  })

  test('reports a folder that imports one above it', () => {
    const files = {
      'shared/runtime/run.ts': `import '../../services/stages.ts'; import './fold.ts'; import '../bus/range.ts'`,
      'schemas/generate.ts': `import '../services/executor/reducer.ts'; import '../shared/lib/errors.ts'`,
      'apps/report/report.ts': `import '../service/metrics.ts'; import '../history/open-log.ts'; import '../../client/weir.ts'`,
    }
    expect(offences(onlyBelow, files)).toEqual([
      'shared/runtime/run.ts imports services/stages.ts; a folder imports only folders below it',
      'schemas/generate.ts imports services/executor/reducer.ts; a folder imports only folders below it',
      'schemas/generate.ts imports shared/lib/errors.ts; a folder imports only folders below it',
      'apps/report/report.ts imports apps/service/metrics.ts; a folder imports only folders below it',
    ])
  })

  test('reports a source outside the folders of the list, and its importers', () => {
    const files = {
      'shared/clock.ts': '',
      'services/executor/performer/performer.ts': `import '../../../shared/clock.ts'`,
    }
    expect(offences(onlyBelow, files)).toEqual([
      'shared/clock.ts stands in no folder of the list',
      'services/executor/performer/performer.ts imports shared/clock.ts; a folder imports only folders below it',
    ])
  })

  test('reports product code that imports a test', () => {
    expect(
      offences(onlyBelow, { 'client/weir.ts': `import '../test/support/clock.ts'` }),
    ).toHaveLength(1)
  })
})

describe('no cycles', () => {
  test('reports files that import each other, also if only for types', () => {
    const files = {
      'shared/lib/a.ts': `import { b } from './b.ts'`,
      'shared/lib/b.ts': `export type { C } from './c.ts'`,
      'shared/lib/c.ts': `type A = import('./a.ts').A`,
      'shared/lib/above.ts': `import './a.ts'`,
      'client/x.ts': `import type { Y } from './y.ts'; import './x.ts'`,
      'client/y.ts': `import type { X } from './x.ts'`,
    }
    expect(offences(noCycles, files)).toEqual([
      'shared/lib/a.ts > shared/lib/b.ts > shared/lib/c.ts > shared/lib/a.ts is an import cycle',
      'client/x.ts > client/y.ts > client/x.ts is an import cycle',
    ])
  })

  test('reports a file that imports itself', () => {
    expect(offences(noCycles, { 'client/x.ts': `import './x.ts'` })).toHaveLength(1)
  })

  test('lets two files import the same third', () => {
    const files = {
      'client/a.ts': `import './b.ts'; import './c.ts'`,
      'client/b.ts': `import './c.ts'`,
      'client/c.ts': '',
    }
    expect(offences(noCycles, files)).toEqual([])
  })
})

describe('the bench apart', () => {
  test('reports a file outside test/bench that imports one in it', () => {
    const files = {
      'client/weir.ts': `import type { Row } from '../test/bench/row.ts'`,
      'test/support/rows.ts': `import '../bench/row.ts'`,
      'test/bench/main.ts': `import './row.ts'; import '../support/rows.ts'`,
    }
    expect(offences(benchApart, files)).toEqual([
      'client/weir.ts imports test/bench/row.ts; nothing outside imports the bench',
      'test/support/rows.ts imports test/bench/row.ts; nothing outside imports the bench',
    ])
  })
})

describe('services apart', () => {
  test('reports a service that imports a sibling', () => {
    expect(
      offences(servicesApart, {
        'services/executor/main.ts': `import { judge } from '../validator/reducer.ts'`,
      }),
    ).toEqual([
      'services/executor/main.ts imports services/validator/reducer.ts; no service imports another',
    ])
  })

  test.each([
    ['only its types', `import type { Verdict } from '../validator/reducer.ts'`],
    ['a type in place', `type Verdict = import('../validator/reducer.ts').Verdict`],
    ['by exporting it again', `export { judge } from '../validator/reducer.ts'`],
    ['everything of it', `export * from '../validator/reducer.ts'`],
    ['when it is needed', `const late = () => import('../validator/reducer.ts')`],
    ['by require', `const validator = require('../validator/reducer.ts')`],
  ])('reports a service that imports a sibling: %s', (_, source) => {
    expect(offences(servicesApart, { 'services/executor/main.ts': source })).toHaveLength(1)
  })

  test('reports a service that imports the list of stages', () => {
    expect(
      offences(servicesApart, { 'services/executor/main.ts': `import '../stages.ts'` }),
    ).toHaveLength(1)
  })

  test('lets a service import itself, shared and schemas', () => {
    const source = `import './performer.ts'; import '../../shared/lib/clock.ts'; import '../../schemas/registry.ts'; import pino from 'pino'`
    expect(offences(servicesApart, { 'services/executor/main.ts': source })).toEqual([])
  })

  test('lets only the conversation and the guest import the turn that they share', () => {
    const source = `import { capStep } from '../turn/allowance.ts'`
    const files = {
      'services/conversation/decision.ts': source,
      'services/guest/reducer.ts': source,
      'services/turn/unit.ts': `import '../guest/reducer.ts'`,
      'services/executor/turn.ts': source,
    }
    expect(offences(servicesApart, files)).toEqual([
      'services/turn/unit.ts imports services/guest/reducer.ts; no service imports another',
      'services/executor/turn.ts imports services/turn/allowance.ts; no service imports another',
    ])
  })

  test('lets the lists of stages import every service', () => {
    const source = `import './executor/reducer.ts'; import './validator/reducer.ts'`
    expect(
      offences(servicesApart, { 'services/stages.ts': source, 'services/reducers.ts': source }),
    ).toEqual([])
  })
})

describe('fronts apart', () => {
  test('reports an edge that imports the console, and a front that imports the executor', () => {
    const files = {
      'apps/http/edge/edge.ts': `import '../console/console-protocol.ts'`,
      'apps/http/console/console-routes.ts': `import '../edge/sse.ts'`,
      'apps/http/fronts/mcp/gateway.ts': `import '../../../../services/executor/results.ts'`,
      'apps/http/serve/serve.ts': `import '../console/console-protocol.ts'; import '../edge/edge.ts'`,
    }
    expect(offences(frontsApart, files)).toEqual([
      'apps/http/edge/edge.ts imports apps/http/console/console-protocol.ts; apps/http/edge may not import apps/http/console',
      'apps/http/fronts/mcp/gateway.ts imports services/executor/results.ts; apps/http/fronts may not import services/executor',
    ])
  })
})

describe('drivers inside the bus', () => {
  test('reports kafkajs outside its folder', () => {
    const files = {
      'services/executor/main.ts': `import type { Kafka } from 'kafkajs'`,
      'shared/bus/embedded/bus.ts': `import 'kafkajs/src/index.js'`,
    }
    expect(offences(driversBehindTheBus, files)).toEqual([
      'services/executor/main.ts imports kafkajs; only shared/bus/kafka may',
      'shared/bus/embedded/bus.ts imports kafkajs/src/index.js; only shared/bus/kafka may',
    ])
  })

  test('lets tests read a real broker with kafkajs, because a check of the bus cannot use the bus', () => {
    expect(
      offences(driversBehindTheBus, { 'test/chaos/topics.ts': `import { Kafka } from 'kafkajs'` }),
    ).toEqual([])
  })

  test('lets partition.ts import the hash of kafkajs, and no other part', () => {
    const hash = `import murmur2 from 'kafkajs/src/producer/partitioners/default/murmur2.js'`
    expect(offences(driversBehindTheBus, { 'shared/contract/partition.ts': hash })).toEqual([])
    expect(
      offences(driversBehindTheBus, { 'shared/contract/partition.ts': `import 'kafkajs'` }),
    ).toHaveLength(1)
    expect(offences(driversBehindTheBus, { 'shared/contract/bus.ts': hash })).toHaveLength(1)
  })

  test('reports node:sqlite outside its folder', () => {
    const source = `import { DatabaseSync } from 'node:sqlite'`
    expect(offences(driversBehindTheBus, { 'shared/bus/embedded/log/log.ts': source })).toEqual([])
    expect(offences(driversBehindTheBus, { 'shared/bus/embedded-log.ts': source })).toEqual([
      'shared/bus/embedded-log.ts imports node:sqlite; only shared/bus/sqlite.ts and shared/bus/embedded and shared/bus/bundle and shared/bus/kafka/table/table-store.ts may',
    ])
    expect(
      offences(driversBehindTheBus, {
        'shared/bus/kafka/table/table-store.ts': source,
        'shared/bus/kafka/table/tables.ts': source,
      }),
    ).toHaveLength(1)
  })
})

describe('no barrels', () => {
  test('reports a file that only re-exports', () => {
    const files = {
      'shared/bus/index.ts': `// the bus\nexport * from './port.ts'\nexport type { Log } from './log.ts'`,
      'shared/codec/codec.ts': `import { encode } from './avro.ts'\nexport { encode }`,
    }
    expect(offences(noBarrels, files)).toEqual([
      'shared/bus/index.ts only exports again what is elsewhere; import the file you mean',
      'shared/codec/codec.ts only exports again what is elsewhere; import the file you mean',
    ])
  })

  test('lets a file export its own declarations', () => {
    expect(
      offences(noBarrels, {
        'services/stages.ts': `import { a } from './a/reducer.ts'\nexport const stages = [a]`,
      }),
    ).toEqual([])
    expect(offences(noBarrels, { 'services/a/main.ts': `import './reducer.ts'` })).toEqual([])
  })
})

describe('names of the domain', () => {
  test('reports utils and helpers, as folders and as files', () => {
    const files = {
      'shared/utils/text.ts': '',
      'test/support/helpers.ts': '',
      'services/helper/x.ts': '',
      'shared/text.ts': '',
    }
    expect(offences(domainNames, files)).toEqual([
      'shared/utils/text.ts is named utils; find the noun',
      'test/support/helpers.ts is named helpers; find the noun',
      'services/helper/x.ts is named helper; find the noun',
    ])
  })
})

describe('pure reducers', () => {
  test.each([
    `import { readFileSync } from 'node:fs'`,
    `import { readFile } from 'fs/promises'`,
    `import { spawn } from 'node:child_process'`,
    `import net from 'node:net'`,
    `import https from 'node:https'`,
    `import { setTimeout } from 'node:timers/promises'`,
    `import { performance } from 'node:perf_hooks'`,
    `const at = Date.now()`,
    `const at = Date['now']()`,
    `const { now } = Date`,
    `const at = new Date()`,
    `const at = Date()`,
    `const luck = Math.random()`,
    `const { random } = Math`,
    `const at = performance.now()`,
    `setTimeout(() => {}, 10)`,
    `const port = process.env.PORT`,
    `const id = crypto.randomUUID()`,
    `const now = () => globalThis.Date.now()`,
    `const seen = { process }`,
    `export const react = (at = Date.now()) => at`,
  ])('reports a reducer with: %s', (source) => {
    expect(offences(pureReducers, { 'services/executor/reducer.ts': source })).toHaveLength(1)
  })

  test('reports impure code that a reducer imports from its own service, at any depth', () => {
    const files = {
      'services/executor/reducer.ts': `import { next } from './rounds/next.ts'`,
      'services/executor/rounds/next.ts': `export { later as next } from '../later.ts'`,
      'services/executor/later.ts': `export const later = () => Date.now() + Math.random()`,
    }
    expect(offences(pureReducers, files)).toEqual([
      'services/executor/later.ts uses Date.now; a reducer and what it imports have no clock, no randomness, no I/O',
      'services/executor/later.ts uses Math.random; a reducer and what it imports have no clock, no randomness, no I/O',
    ])
  })

  test('lets performers, other services and type-only imports do I/O', () => {
    const files = {
      'services/executor/reducer.ts': `import type { Running } from './performer.ts'; import { due } from '../../shared/due.ts'`,
      'services/executor/performer/performer.ts': `import { spawn } from 'node:child_process'; export const start = () => Date.now()`,
      'shared/due.ts': `export const due = () => Date.now()`,
    }
    expect(offences(pureReducers, files)).toEqual([])
  })

  test('ignores comments, strings and member names', () => {
    const source = `
      // process, Date.now() and setTimeout(…) in a comment
      import { createHash } from 'node:crypto'
      type Process = { process: Date; performance: typeof performance }
      const text = 'Date.now() new Date() Math.random()'
      const shown = new Date(record.at).toISOString() + Math.max(1, 2) + Date.parse(text)
      export const react = ({ process: work }: Process) => ({ process: work, now: record.process })
    `
    expect(offences(pureReducers, { 'services/executor/reducer.ts': source })).toEqual([])
  })
})

describe('effects in performers', () => {
  test.each([
    ['a module of Node', `import { readFile } from 'node:fs/promises'`],
    ['a package with side effects', `import OpenAI from 'openai'`],
    ['a file of a performer', `import { start } from './performer/start.ts'`],
  ])('reports a file outside a performer that imports %s', (_, source) => {
    const files = {
      'services/executor/turn.ts': source,
      'services/executor/performer/start.ts': `import { spawn } from 'node:child_process'`,
    }
    expect(offences(effectsInPerformers, files)).toHaveLength(1)
  })

  test('reports each file on the way to the side effect', () => {
    const files = {
      'shared/contract/bus.ts': `import { now } from '../lib/now.ts'`,
      'shared/lib/now.ts': `import { hrtime } from 'node:process'`,
    }
    expect(offences(effectsInPerformers, files)).toEqual([
      'shared/contract/bus.ts imports shared/lib/now.ts, which imports node:process; side effects stand in performer/',
    ])
  })

  test('lets them import types of a performer, hashes, and pure packages', () => {
    const files = {
      'services/executor/turn.ts': `import type { Running } from './performer/start.ts'; import { hash } from 'node:crypto'; import Ajv from 'ajv'`,
      'services/executor/performer/start.ts': `import { spawn } from 'node:child_process'`,
      'services/stages.ts': `import { start } from './executor/performer/start.ts'`,
    }
    expect(offences(effectsInPerformers, files)).toEqual([])
  })
})

// ── The rules ──

function onlyBelow(files: Parsed[]): string[] {
  return files
    .filter(({ file }) => !isUnder('test', file))
    .flatMap(({ file, imports }) => {
      const own = floorOf(file)
      if (own === undefined) return [`${file} stands in no folder of the list`]
      return imports
        .filter(({ target }) => isInTree(target) && !((floorOf(target) ?? -1) >= own))
        .filter((one) => !opensServer(file, one))
        .map(({ target }) => `${file} imports ${target}; a folder imports only folders below it`)
    })
}

function opensServer(file: string, { target, isLate }: Import): boolean {
  return isLate === true && file === serverOfProgram.file && target === serverOfProgram.target
}

/** The layer, counted from the top. Undefined for tests, and for files outside the list. */
function floorOf(file: string): number | undefined {
  const floor = floors.findIndex((folder) => isUnder(folder, file))
  return floor === -1 ? undefined : floor
}

/** One cycle for each group of files that reach each other. */
function noCycles(files: Parsed[]): string[] {
  const targetsOf = ({ file, imports }: Parsed): string[] =>
    imports.filter((one) => !opensServer(file, one)).map(({ target }) => target)
  const left = new Map(files.map((one) => [one.file, targetsOf(one)]))
  const cycles: string[] = []
  for (;;) {
    dropAcyclic(left)
    const [start] = left.keys()
    if (start === undefined) return cycles
    const path = [start]
    for (let at = start; ; ) {
      at = left.get(at)?.find((target) => left.has(target)) ?? start
      const seen = path.indexOf(at)
      path.push(at)
      if (seen === -1) continue
      const cycle = path.slice(seen)
      cycles.push(`${cycle.join(' > ')} is an import cycle`)
      for (const file of cycle) left.delete(file)
      break
    }
  }
}

/** Drops each file that imports none of the others, until all that remain lead into a cycle. */
function dropAcyclic(left: Map<string, string[]>): void {
  for (let before = -1; before !== left.size; ) {
    before = left.size
    for (const [file, targets] of left)
      if (!targets.some((target) => left.has(target))) left.delete(file)
  }
}

function benchApart(files: Parsed[]): string[] {
  return files
    .filter(({ file }) => !isUnder('test/bench', file))
    .flatMap(({ file, imports }) =>
      imports
        .filter(({ target }) => isUnder('test/bench', target))
        .map(({ target }) => `${file} imports ${target}; nothing outside imports the bench`),
    )
}

function servicesApart(files: Parsed[]): string[] {
  return files
    .filter(
      ({ file }) =>
        isUnder('services', file) && !['services/stages.ts', 'services/reducers.ts'].includes(file),
    )
    .flatMap(({ file, imports }) =>
      imports
        .filter(({ target }) => isUnder('services', target) && !isUnder(serviceOf(file), target))
        .filter(({ target }) => !(sharesTurn(file) && isUnder('services/turn', target)))
        .map(({ target }) => `${file} imports ${target}; no service imports another`),
    )
}

/** Each of them opens turns in its own way, and services/turn has all that their turns share. */
function sharesTurn(file: string): boolean {
  return isUnder('services/conversation', file) || isUnder('services/guest', file)
}

/** Pairs of an importer and a part that it may not import. */
const apart = [
  ['apps/http/edge', 'apps/http/console'],
  ['apps/http/fronts', 'services/executor'],
]

function frontsApart(files: Parsed[]): string[] {
  return files.flatMap(({ file, imports }) =>
    apart.flatMap(([importer = '', banned = '']) =>
      imports
        .filter(({ target }) => isUnder(importer, file) && isUnder(banned, target))
        .map(({ target }) => `${file} imports ${target}; ${importer} may not import ${banned}`),
    ),
  )
}

function driversBehindTheBus(files: Parsed[]): string[] {
  const drivers = [
    { homes: ['shared/bus/kafka'], driver: 'kafkajs', seenByTests: true },
    {
      homes: [
        ...['shared/bus/sqlite.ts', 'shared/bus/embedded', 'shared/bus/bundle'],
        'shared/bus/kafka/table/table-store.ts',
      ],
      driver: 'node:sqlite',
      seenByTests: false,
    },
  ]
  const isHashForPartitions = (file: string, target: string) =>
    file === 'shared/contract/partition.ts' &&
    target === 'kafkajs/src/producer/partitioners/default/murmur2.js'

  // These programs are those of users of other libraries.
  const own = files.filter(({ file }) => !isUnder('test/examples/compare', file))
  return own.flatMap(({ file, imports }) =>
    imports.flatMap(({ target }) =>
      drivers
        .filter(({ driver }) => isUnder(driver, target) && !isHashForPartitions(file, target))
        .filter(
          ({ homes, seenByTests }) =>
            !homes.some((home) => isUnder(home, file)) && !(seenByTests && isUnder('test', file)),
        )
        .map(({ homes }) => `${file} imports ${target}; only ${homes.join(' and ')} may`),
    ),
  )
}

/** The modules that a program imports from the package. */
const { exports: modules } = JSON.parse(
  readFileSync(join(import.meta.dirname, '../package.json'), 'utf8'),
) as { exports: Record<string, { default: string }> }
const entries = Object.values(modules).map(({ default: file }) =>
  file.replace('./dist/', '').replace('.js', '.ts'),
)

function noBarrels(files: Parsed[]): string[] {
  const exportsAgain = ({ type }: Node) =>
    type === 'ExportAllDeclaration' || type === 'ExportNamedDeclaration'
  return files
    .filter(
      ({ file, source }) => !entries.includes(file) && /^ *export (?:type )?[{*]/m.test(source),
    )
    .filter(({ statements }) => statements.some(exportsAgain))
    .filter(({ statements }) =>
      statements.every(
        (statement) => exportsAgain(statement) || statement.type === 'ImportDeclaration',
      ),
    )
    .map(({ file }) => `${file} only exports again what is elsewhere; import the file you mean`)
}

function domainNames(files: Parsed[]): string[] {
  return files.flatMap(({ file }) =>
    file
      .split('/')
      .map((segment) => segment.split('.')[0] ?? '')
      .filter((name) => /^(utils?|helpers?)$/i.test(name))
      .map((name) => `${file} is named ${name}; find the noun`),
  )
}

function pureReducers(files: Parsed[]): string[] {
  const reducers = files.filter(({ file }) => /^services\/[^/]+\/reducer\.ts$/.test(file))
  return [...withOwnImports(reducers, files)].flatMap((parsed) => {
    const modules = parsed.imports
      .filter(({ target, atRuntime }) => atRuntime && worldlyModules.has(target))
      .map(({ target }) => target)
    return [...modules, ...worldlyGlobalsIn(parsed.statements)].map(
      (deed) =>
        `${parsed.file} uses ${deed}; a reducer and what it imports have no clock, no randomness, no I/O`,
    )
  })
}

const guardFile = 'client/guard/guard.ts'
const memoryFile = 'client/guard/memory/open-memory.ts'
/** The files that a program loads to open a guard in memory. A name also needs a look for its file. */
const toOpen = [
  ...[guardFile, 'client/guard/guard-options.ts', 'client/guard/guest-agent.ts', memoryFile],
]
/** Also the stages, which are loaded with their first records. */
function toJudge(tree: Parsed[]): string[] {
  const imports = tree.find(({ file }) => file === memoryFile)?.imports ?? []
  const late = imports.filter(({ isLate }) => isLate).map(({ target }) => target)
  return [...toOpen, ...late.filter((target) => isUnder('services', target))]
}

/** A guard in memory needs none of them. */
const heavy = [
  ...['shared/bus', 'shared/agents/file', 'shared/codec', 'client/guard/log'],
  ...['node:sqlite', 'node:fs', 'node:net', 'node:child_process', 'pino', 'yaml'],
]

/** These join pure code with its side effects. */
const joints = ['services/stages.ts', 'services/guards/opa/guard.ts']
/** Modules of Node that only compute, and packages that do no more. */
const pureModules = ['crypto', 'util', 'util/types', 'buffer', 'path'].map((name) => `node:${name}`)
const purePackages = [
  'ajv',
  'ajv-formats',
  're2js',
  'avsc',
  'unbash',
  '@pydantic/genai-prices',
  '@smithy/eventstream-codec',
  'kafkajs/src/producer/partitioners/default/murmur2.js',
]

function effectsInPerformers(files: Parsed[]): string[] {
  const byName = new Map(files.map((parsed) => [parsed.file, parsed]))
  const effects = new Map<string, string | undefined>()
  const effectOf = (file: string): string | undefined => {
    if (!effects.has(file)) {
      effects.set(file, undefined) // a cycle is the offence of another rule
      effects.set(file, firstEffect(byName.get(file), effectOf))
    }
    return effects.get(file)
  }
  return files
    .filter(({ file }) => isPure(file) && effectOf(file) !== undefined)
    .map(({ file }) => `${file} imports ${effectOf(file)}; side effects stand in performer/`)
}

function isPure(file: string): boolean {
  if (isUnder('shared/contract', file) || isUnder('shared/view', file)) return true
  return isUnder('services', file) && !file.includes('/performer/') && !joints.includes(file)
}

/** The first import with a side effect, and the way to it. */
function firstEffect(
  parsed: Parsed | undefined,
  effectOf: (file: string) => string | undefined,
): string | undefined {
  for (const { target, atRuntime } of parsed?.imports ?? []) {
    if (!atRuntime) continue
    if (isInTree(target)) {
      const inner = effectOf(target)
      if (inner !== undefined) return `${target}, which imports ${inner.split(',')[0]}`
    } else if (!pureModules.includes(target) && !purePackages.some((one) => isUnder(one, target)))
      return target
  }
  return undefined
}

// ── Names that reducers may not use ──

const worldlyModules = new Set(
  builtinModules
    .filter((name) =>
      /^(fs|child_process|cluster|net|tls|dgram|dns|https?|http2|timers|perf_hooks|process|os|worker_threads|inspector|repl|readline)(\/|$)/.test(
        name,
      ),
    )
    .map((name) => `node:${name}`),
)

const worldlyGlobals = new Set([
  ...[
    'performance',
    'process',
    'globalThis',
    'global',
    'crypto',
    'fetch',
    'WebSocket',
    'EventSource',
  ],
  ...['setTimeout', 'setInterval', 'setImmediate', 'queueMicrotask'],
])

/**
 * Only some members of these two do I/O. A reducer may use the other members, and these two in no
 * other way.
 */
const worldlyMembers: Record<string, string> = { Date: 'now', Math: 'random' }

/** The syntax of types, and the places where an identifier is only the name of a member. */
const namesOnly: Record<string, string[]> = {
  KeyValueProperty: ['key'],
  KeyValuePatternProperty: ['key'],
  AssignmentPatternProperty: ['key'],
  MethodProperty: ['key'],
  GetterProperty: ['key'],
  SetterProperty: ['key'],
  ClassProperty: ['key'],
  ClassMethod: ['key'],
  ImportDeclaration: ['specifiers'],
  ExportNamedDeclaration: ['specifiers'],
  TsInterfaceDeclaration: ['id', 'body', 'extends'],
  TsTypeAliasDeclaration: ['id'],
}
const typesOnly = new Set([
  'typeAnnotation',
  'typeParams',
  'typeParameters',
  'typeArguments',
  'returnType',
  'superTypeParams',
  'implements',
])

function worldlyGlobalsIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(worldlyGlobalsIn)
  if (!isNode(value)) return isObject(value) ? Object.values(value).flatMap(worldlyGlobalsIn) : []

  switch (value.type) {
    case 'Identifier': {
      const name = String(value.value)
      return worldlyGlobals.has(name) || name in worldlyMembers ? [name] : []
    }
    case 'MemberExpression': {
      const member = nameOfMember(value)
      const owner = nameOf(value.object)
      const worldly = owner === undefined ? undefined : worldlyMembers[owner]
      if (worldly !== undefined && member !== undefined)
        return member === worldly ? [`${owner}.${member}`] : []
      return [
        ...worldlyGlobalsIn(value.object),
        ...(isComputed(value.property) ? worldlyGlobalsIn(value.property) : []),
      ]
    }
    case 'NewExpression': {
      const isDate = nameOf(value.callee) === 'Date'
      const given = Array.isArray(value.arguments) ? value.arguments : []
      if (isDate && given.length === 0) return ['new Date()']
      return [...(isDate ? [] : worldlyGlobalsIn(value.callee)), ...worldlyGlobalsIn(given)]
    }
    default: {
      const skipped = namesOnly[value.type] ?? []
      return Object.entries(value).flatMap(([key, child]) => {
        const isName = skipped.includes(key) && !isComputed(child)
        return isName || typesOnly.has(key) ? [] : worldlyGlobalsIn(child)
      })
    }
  }
}

function nameOf(node: unknown): string | undefined {
  return isNode(node) && node.type === 'Identifier' ? String(node.value) : undefined
}

function nameOfMember({ property }: Node): string | undefined {
  if (isComputed(property))
    return isNode(property.expression) ? String(property.expression.value) : undefined
  return nameOf(property)
}

function isComputed(node: unknown): node is Node {
  return isNode(node) && node.type === 'Computed'
}

// ── Reading the tree ──

function offences(rule: Rule, files: Record<string, string>): string[] {
  return rule(Object.entries(files).map(([file, source]) => parse({ file, source })))
}

function sourcesIn(folder: string): Source[] {
  const root = join(dirname(fileURLToPath(import.meta.url)), '..')
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .map((name) => posix.join(folder, name.replaceAll('\\', '/')))
    .filter((file) => /\.[cm]?[jt]s$/.test(file) && !isUnder('test/fixtures', file))
    .map((file) => ({ file, source: readFileSync(join(root, file), 'utf8') }))
}

function parse({ file, source }: Source): Parsed {
  let statements: Node[] | undefined
  const parsed = (): Node[] => {
    statements ??= parseSync(source, { syntax: 'typescript', target: 'es2024' })
      .body as unknown as Node[]
    return statements
  }
  // Only the whole tree shows a call that loads a module, and the type of a module in place.
  const found = /\b(?:import|require)\s*\(/.test(source)
    ? importsIn(parsed())
    : importsOfModule({ file, source })
  return {
    file,
    source,
    lines: source.split('\n').length - 1,
    get statements() {
      return parsed()
    },
    imports: found.map((one) => ({ ...one, target: resolve(file, one.target) })),
  }
}

/** The modules that statements import and export again. */
function importsOfModule({ file, source }: Source): Import[] {
  const { staticImports, staticExports } = readModule(file, source).module
  const imported = staticImports.map(({ start, moduleRequest }) => ({ start, moduleRequest }))
  const exported = staticExports.flatMap(({ start, entries }) =>
    entries.slice(0, 1).map(({ moduleRequest }) => ({ start, moduleRequest })),
  )
  return [...imported, ...exported].flatMap(({ start, moduleRequest }) => {
    if (moduleRequest === null) return []
    const isType = /^(?:import|export)\s+type\s*(?!from\b)[\w{*]/.test(
      source.slice(start, start + 20),
    )
    return [{ target: moduleRequest.value, atRuntime: !isType }]
  })
}

/** Flattens the nodes into one list without positions: the trees have a million nodes. */
function importsIn(value: unknown, found: Import[] = []): Import[] {
  if (!isObject(value)) return found
  const own = isNode(value) ? importBy(value) : undefined
  if (own !== undefined) found.push(own)
  for (const [name, inner] of Object.entries(value))
    if (isObject(inner) && name !== 'span') importsIn(inner, found)
  return found
}

function importBy(node: Node): Import | undefined {
  switch (node.type) {
    case 'ImportDeclaration':
    case 'ExportAllDeclaration':
    case 'ExportNamedDeclaration':
      return isNode(node.source)
        ? { target: String(node.source.value), atRuntime: node.typeOnly !== true }
        : undefined
    case 'TsImportType':
      return isNode(node.argument)
        ? { target: String(node.argument.value), atRuntime: false }
        : undefined
    case 'CallExpression': {
      const callee = node.callee
      const [first] = node.arguments as { expression: Node }[]
      const loads = isNode(callee) && (callee.type === 'Import' || nameOf(callee) === 'require')
      return loads && first?.expression.type === 'StringLiteral'
        ? { target: String(first.expression.value), atRuntime: true, isLate: true }
        : undefined
    }
    default:
      return undefined
  }
}

function resolve(file: string, target: string): string {
  if (target.startsWith('.')) return posix.join(posix.dirname(file), target)
  return !target.startsWith('node:') && builtinModules.includes(target) ? `node:${target}` : target
}

/**
 * The given files, and all that they import at runtime, directly or not, from their own service.
 */
function withOwnImports(start: Parsed[], files: Parsed[]): Set<Parsed> {
  const reached = new Set(start)
  for (const { file, imports } of reached) {
    const own = imports
      .filter(({ target, atRuntime }) => atRuntime && isUnder(serviceOf(file), target))
      .map(({ target }) => target)
    for (const imported of files.filter((candidate) => own.includes(candidate.file)))
      reached.add(imported)
  }
  return reached
}

/** The files, and the files and packages that they load at once, directly or not. */
function closureOf(start: readonly string[], files: Parsed[]): string[] {
  const byName = new Map(files.map((parsed) => [parsed.file, parsed]))
  const reached = new Set(start)
  for (const file of reached)
    for (const { target, atRuntime, isLate } of byName.get(file)?.imports ?? [])
      if (atRuntime && isLate !== true) reached.add(target)
  return [...reached]
}

function linesOf(start: readonly string[], tree: Parsed[]): number {
  const files = new Set(closureOf(start, tree))
  return tree.reduce((sum, { file, lines }) => (files.has(file) ? sum + lines : sum), 0)
}

function serviceOf(file: string): string {
  return file.split('/').slice(0, 2).join('/')
}

function isInTree(target: string): boolean {
  return treeFolders.some((folder) => isUnder(folder, target))
}

function isUnder(folder: string, path: string): boolean {
  return path === folder || path.startsWith(`${folder}/`)
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

function isNode(value: unknown): value is Node {
  return isObject(value) && 'type' in value && typeof value.type === 'string'
}
