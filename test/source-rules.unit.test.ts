// The rules for sources: where sentences for the model stand, the size of folders, and the form of
// literals.
// A test of each rule shows that it catches an offender. The sources are parsed, not searched.

import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from '@jest/globals'
import { parseSync } from 'oxc-parser'

type Node = { type: string; start: number; [key: string]: unknown }
type Named = { name?: unknown }
type Source = { file: string; source: string }
type Rule = (files: Source[]) => string[]
type Skip = (node: Node) => boolean

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const folders = ['apps', 'client', 'services', 'shared', 'schemas']
const modelTexts = 'shared/model-texts'

/** Reducers, tools, and the fronts of guests: their texts reach a model. */
const speaking =
  /^(services|shared\/(contract|runtime|tools|wire)|client\/(guard|adapters)|apps\/http\/fronts)\//
const speakers = () => folders.flatMap(sourcesIn).filter(({ file }) => speaking.test(file))

/** A guard keeps its own words, as a guard of a user does. The others speak to people. */
const ownWords = [
  'services/guards/',
  'services/approval/decision-texts.ts',
  'shared/contract/turn/turn-texts.ts',
  'shared/runtime/log/partition-count.ts',
  'apps/http/fronts/person-texts.ts',
  'shared/wire/faults/sent-errors.ts',
]

/**
 * Files that tell several types of records apart, although `shared/view` folds the records of a turn.
 * Each one is one of these:
 * - events: turns each record or event into events, lines or spans of one protocol
 * - window: sums over a bounded time, which must not hold the view of each turn
 * - search: looks for records in a log, and keeps none of a turn
 * - replay: compares the decisions of stages
 * - wait: a driver that waits for a record
 */
const foldsElsewhere: Record<string, 'events' | 'window' | 'search' | 'replay' | 'wait'> = {
  'apps/demo/screen.ts': 'events',
  'apps/history/agents-in-log.ts': 'search',
  'apps/history/inspect/recorded.ts': 'search',
  'apps/http/console/state/inbox.ts': 'window',
  'apps/http/console/state/stops.ts': 'window',
  'apps/http/edge/ag-ui/ag-fold.ts': 'events',
  'apps/http/edge/responses/response-events.ts': 'events',
  'apps/http/edge/ui-stream/ui-fold.ts': 'events',
  'apps/http/webhook/webhook-events.ts': 'events',
  'apps/http/webhook/webhook-feed.ts': 'window',
  'apps/replay/beginnings.ts': 'replay',
  'apps/replay/judge/play.ts': 'replay',
  'apps/replay/what-if/cap-lens.ts': 'replay',
  'apps/service/approvals/asker.ts': 'wait',
  'apps/service/budgets/accounts.ts': 'search',
  'apps/service/metrics/metrics.ts': 'window',
  'apps/terminal/text/transcript.ts': 'events',
  'apps/traces/turn-spans.ts': 'events',
  'client/bundle/copy.ts': 'search',
  'client/bundle/record-sinks.ts': 'search',
  'client/conversation/conversation-events.ts': 'search',
  'client/guard/front.ts': 'wait',
  'client/history/redacted.ts': 'search',
  'client/turn/event-fold.ts': 'events',
  'client/turn/event-queue.ts': 'events',
  'client/turn/turn-events.ts': 'events',
}

describe('the tree', () => {
  test('has its sentences for the model in one folder', () => {
    const others = speakers().filter(({ file }) => !ownWords.some((own) => file.startsWith(own)))
    expect(others.length).toBeGreaterThan(100)
    expect(sentences(others)).toEqual([])
  })

  test('has a file behind each exception of that rule', () => {
    const files = speakers()
    expect(ownWords.filter((own) => !files.some(({ file }) => file.startsWith(own)))).toEqual([])
  })

  test('has at most 15 loose files in a folder', () => {
    expect(crowdedFolders(folders.flatMap(namesIn))).toEqual([])
  })

  test('folds the records of turns in shared/view, and elsewhere only for a named reason', () => {
    const above = ['apps', 'client'].flatMap(sourcesIn).filter(({ file }) => !/\/page\//.test(file))
    const types = recordTypes()
    expect(types.length).toBeGreaterThan(50)
    expect(foldsIn(above, types)).toEqual(Object.keys(foldsElsewhere))
  })

  test('spreads no literal in a literal', () => {
    const files = folders.flatMap(sourcesIn)
    expect(spreadLiterals(files)).toEqual([])
  })
})

describe('a sentence for the model', () => {
  test.each([
    [`const text = 'The call was not run.'`, 'The call was not run.'],
    [`const text = \`Do not call \${tool} again.\``, 'Do not call … again.'],
    [`return { text: \`\${tool} failed. Answer the user.\` }`, '… failed. Answer the user.'],
    [`const text = ' It wrote nothing.'`, ' It wrote nothing.'],
    [
      `const text = \`the guard \${name} fails. Do not retry it.\``,
      'the guard … fails. Do not retry it.',
    ],
  ])('is found outside its folder: %s', (source, sentence) => {
    expect(sentences([{ file: 'services/x.ts', source }])).toEqual([
      `services/x.ts:1 has the sentence "${sentence}"; a text for the model stands in ${modelTexts}`,
    ])
  })

  test.each([
    [`throw new WeirError('The file is no agent. Give another one.')`],
    [`const error = new Error(\`\${file} is gone. Start again.\`)`],
    [`const rule = { description: 'A call comes back.', reason: \`\${tool} was called twice\` }`],
    [`const reason = 'the limit is reached'`],
    [`import x from 'The file of a name.ts'`],
  ])('is none of these: %s', (source) => {
    expect(sentences([{ file: 'services/x.ts', source }])).toEqual([])
  })
})

describe('a folder', () => {
  test('is crowded with 16 loose files', () => {
    const files = Array.from({ length: 16 }, (_, n) => `services/a/${n}.ts`)
    expect(crowdedFolders([...files, 'services/b/c.ts'])).toEqual(['services/a'])
    expect(crowdedFolders([...files.slice(1), 'services/a/b/c.ts'])).toEqual([])
  })
})

describe('a fold', () => {
  test('is a file that tells three types of records apart', () => {
    const types = ['turn-started', 'turn-finished', 'call-finished']
    const folding = `switch (one.type) { case 'turn-started': case 'turn-finished': }`
    expect(foldsIn([{ file: 'apps/x.ts', source: folding }], types)).toEqual([])
    const source = `${folding}; if (one.type !== 'call-finished') stop()`
    expect(foldsIn([{ file: 'apps/x.ts', source }], types)).toEqual(['apps/x.ts'])
  })
})

describe('a literal', () => {
  test('is not spread in another one', () => {
    const source = `const a = { ...(d && { d }), ...e,\n  ...{ b, c } }`
    expect(spreadLiterals([{ file: 'client/x.ts', source }])).toEqual([
      'client/x.ts:2 spreads a literal; write its members',
    ])
  })
})

/** Begins or ends like a sentence, or holds the end of one and the begin of the next. */
const sentence = /^[\s(]*[A-Z][A-Za-z']* +\S+ +\S|\S+ +\S+ +\S*[a-z]\.$|\w[.?] +[A-Z]\w* /

/** These are for people: errors, and fields of rules and of log entries. */
const fieldsForPeople = ['description', 'firesWhen', 'endedBy', 'fault', 'reason', 'title']
const isForPeople: Skip = ({ type, key, id, callee }) =>
  type === 'ImportDeclaration' ||
  type === 'ThrowStatement' ||
  (type === 'NewExpression' && /Error$/.test(String((callee as Named).name))) ||
  fieldsForPeople.includes(String(((key ?? id) as Named | undefined)?.name))

const sentences: Rule = (files) =>
  offencesIn(files, isForPeople, (node) => {
    const text = textOf(node)
    return text !== undefined && sentence.test(text)
      ? `has the sentence ${JSON.stringify(text)}; a text for the model stands in ${modelTexts}`
      : undefined
  })

const spreadLiterals: Rule = (files) =>
  offencesIn(
    files,
    () => false,
    ({ type, argument }) =>
      type === 'SpreadElement' && (argument as Node).type === 'ObjectExpression'
        ? 'spreads a literal; write its members'
        : undefined,
  )

/** Files that compare the types of records with at least three names. */
function foldsIn(files: Source[], types: readonly string[]): string[] {
  const isFold = ({ source }: Source): boolean => {
    const compared = [...source.matchAll(/(?:case|\.type [!=]==) '([a-z-]+)'/g)].map(
      ([, type]) => type,
    )
    return types.filter((type) => compared.includes(type)).length > 2
  }
  return files
    .filter(isFold)
    .map(({ file }) => file)
    .sort()
}

function recordTypes(): string[] {
  const source = readFileSync(join(root, 'shared/contract/messages.ts'), 'utf8')
  return [...source.matchAll(/^ {2}type: '([a-z-]+)'/gm)].map(([, type = '']) => type)
}

function crowdedFolders(files: string[]): string[] {
  const byFolder = Map.groupBy(files, dirname)
  return [...byFolder].filter(([, own]) => own.length > 15).map(([folder]) => folder)
}

/** The slots of a template are `…`. */
function textOf({ type, value, quasis }: Node): string | undefined {
  if (type === 'Literal' && typeof value === 'string') return value
  if (type !== 'TemplateLiteral') return undefined
  return (quasis as { value: { cooked: string } }[]).map(({ value }) => value.cooked).join('…')
}

function offencesIn(
  files: Source[],
  skips: Skip,
  offence: (node: Node) => string | undefined,
): string[] {
  return files.flatMap(({ file, source }) => {
    const found: string[] = []
    visit(parseSync(file, source).program, (node) => {
      if (skips(node)) return false
      const words = offence(node)
      const line = source.slice(0, node.start).split('\n').length
      if (words !== undefined) found.push(`${file}:${line} ${words}`)
      return true
    })
    return found
  })
}

/** `enter` returns whether to visit the inside of a node. */
function visit(value: unknown, enter: (node: Node) => boolean): void {
  if (typeof value !== 'object' || value === null) return
  if ('type' in value && !enter(value as Node)) return
  for (const inner of Object.values(value)) visit(inner, enter)
}

function sourcesIn(folder: string): Source[] {
  return namesIn(folder).map((file) => ({ file, source: readFileSync(join(root, file), 'utf8') }))
}

function namesIn(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => join(folder, name))
}
