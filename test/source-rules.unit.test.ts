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

/** The start of a path that may have members of vendors, and the reason. */
const ownMembers = [
  ['shared/wire/', 'the formats of vendors'],
  ['services/accumulator/dialects/', 'calls that a model writes as text'],
  ['apps/http/fronts/hooks/hook-payload.ts', 'the protocol of hooks has these fields'],
  ['apps/traces/names.ts', 'attributes of OpenTelemetry and of Weir'],
  ['apps/demo/anthropic-server.ts', 'it sends broken bytes of Messages on purpose'],
  ['apps/demo/plain-loop.ts', 'a loop without Weir, on the SDK of Messages'],
  ['client/testing/testing.ts', 'it shows requests to Messages to programs'],
] as const

describe('the tree', () => {
  test('has its sentences for the model in one folder', () => {
    const others = speakers().filter(({ file }) => !ownWords.some((own) => file.startsWith(own)))
    expect(others.length).toBeGreaterThan(100)
    expect(sentences(others)).toEqual([])
  })

  test('has a file after each exception of that rule', () => {
    const files = speakers()
    expect(ownWords.filter((own) => !files.some(({ file }) => file.startsWith(own)))).toEqual([])
  })

  test('has at most 15 loose files in a folder', () => {
    expect(crowdedFolders(folders.flatMap(namesIn))).toEqual([])
  })

  test('has a file in each folder that begins with at least three lines about the folder', () => {
    const files = folders.filter((folder) => folder !== 'schemas').flatMap(sourcesIn)
    expect(headlessFolders(files)).toEqual([])
  })

  test("names the members of vendors' JSON in shared/wire only", () => {
    const files = folders.flatMap(sourcesIn)
    const others = files.filter(({ file }) => !ownMembers.some(([own]) => file.startsWith(own)))
    expect(others.length).toBeGreaterThan(500)
    expect(vendorMembers(others)).toEqual([])
  })

  test.each(ownMembers.map(([own]) => own))(
    'has an offender of that rule after the exception %s',
    (own) => {
      const files = folders.flatMap(sourcesIn).filter(({ file }) => file.startsWith(own))
      expect(vendorMembers(files)).not.toEqual([])
    },
  )

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

describe('a head', () => {
  test('is missing where each file of a folder begins with fewer than three lines', () => {
    const short = { file: 'services/a/b.ts', source: '// A file.\n// Its rest.\n\n// More.\n' }
    const long = { file: 'services/a/c.ts', source: '// One.\n// Two.\n// Three.\n' }
    expect(headlessFolders([short, { ...short, file: 'services/a/d.ts' }])).toEqual(['services/a'])
    expect(headlessFolders([short, long])).toEqual([])
    expect(headlessFolders([short])).toEqual([])
  })
})

describe("a member of a vendor's JSON", () => {
  test.each([
    [`const { tool_calls: calls } = answer`, 'tool_calls'],
    [`const calls = answer.function_call`, 'function_call'],
    [`const end = { 'finish_reason': 'stop' }`, 'finish_reason'],
    ['const text = raw`data: {"type":"content_block_delta",\\d`', 'content_block_delta'],
    [`const event = /"type":"tool_use"/`, 'tool_use'],
  ])('is found in %s', (source, member) => {
    expect(vendorMembers([{ file: 'services/x.ts', source }])).toEqual([
      `services/x.ts:1 names ${member}; a vendor's JSON stands in shared/wire`,
    ])
  })

  test.each([
    `const limits = { max_tool_calls: 2 }`,
    `const calls = 2 // tool_calls`,
    `const stop = 'finish_reasons'`,
  ])('is not found in %s', (source) => {
    expect(vendorMembers([{ file: 'services/x.ts', source }])).toEqual([])
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

const members = [
  ...['tool_use', 'tool_use_id', 'tool_result', 'stop_reason', 'content_block_(start|delta|stop)'],
  ...['tool_calls', 'tool_call_id', 'function_call', 'function_call_output', 'finish_reason'],
  ...['input_text', 'output_text', 'functionCall', 'functionResponse'],
]
const vendorMember = new RegExp(String.raw`(?<![\w-])(${members.join('|')})(?![\w-])`)

const vendorMembers: Rule = (files) =>
  offencesIn(
    files,
    () => false,
    (node) => {
      const found = vendorMember.exec(wordsOf(node))
      return found === null ? undefined : `names ${found[1]}; a vendor's JSON stands in shared/wire`
    },
  )

/** The words of a name, a text or a pattern. */
function wordsOf(node: Node): string {
  const { type, name, raw, quasis } = node as Node & { quasis: { value: { raw: string } }[] }
  if (type === 'Identifier') return String(name)
  if (type === 'TemplateLiteral') return quasis.map(({ value }) => value.raw).join('…')
  return type === 'Literal' ? String(raw) : ''
}

const spreadLiterals: Rule = (files) =>
  offencesIn(
    files,
    () => false,
    ({ type, argument }) =>
      type === 'SpreadElement' && (argument as Node).type === 'ObjectExpression'
        ? 'spreads a literal; write its members'
        : undefined,
  )

function crowdedFolders(files: string[]): string[] {
  const byFolder = Map.groupBy(files, dirname)
  return [...byFolder].filter(([, own]) => own.length > 15).map(([folder]) => folder)
}

/** Folders with several files, below the top, of which no file explains the folder. */
function headlessFolders(files: Source[]): string[] {
  const byFolder = Map.groupBy(files, ({ file }) => dirname(file))
  const explains = ({ source }: Source) => /^(?:\/\/.*\n){3}/.test(source)
  return [...byFolder]
    .filter(([folder, own]) => folder.includes('/') && own.length > 1 && !own.some(explains))
    .map(([folder]) => folder)
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
    visit(programOf(file, source), (node) => {
      if (skips(node)) return false
      const words = offence(node)
      if (words === undefined) return true
      const line = source.slice(0, node.start).split('\n').length
      found.push(`${file}:${line} ${words}`)
      return true
    })
    return found
  })
}

const programs = new Map<string, unknown>()

/** Parsed once for all rules. */
function programOf(file: string, source: string): unknown {
  const program = programs.get(source) ?? parseSync(file, source).program
  programs.set(source, program)
  return program
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
