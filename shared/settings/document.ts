// The text of an agent file or a settings file as a value, with the place of each part. It reads
// YAML 1.2, and JSON as YAML.
// The value is plain data: nothing in it that JSON cannot express.
// The size of the text bounds the work. Aliases are counted, deep nesting is refused
// before composing (the parser is recursive), and the check for repeated keys is our own.
// A message of the parser may quote a secret of the text, so only its words are passed
// on, never its quotes.

import {
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  Lexer,
  LineCounter,
  Parser,
  parseDocument,
  type YAMLError,
  type Document as Yaml,
  type Node as YamlNode,
} from 'yaml'
import { limits } from '../contract/limits.ts'
import { jsonFault } from '../lib/json/json-fault.ts'
import type { Mistake, Path, Place } from './mistake.ts'

export type Document = {
  value: unknown
  /**
   * The place of the value at a path, or of its key. Without such a value: the key of the innermost
   * existing part around it.
   */
  placeOf(path: Path, part?: 'key' | 'value'): Place
}

/** `file`: the name in mistakes. No document: the text cannot be read at all. */
export function readDocument(
  file: string,
  text: string,
): { document?: Document; mistakes: Mistake[] } {
  const lines = new LineCounter()
  const at = (offset: number, path: Path, words: string): Mistake => ({
    file,
    ...placeAt(lines, offset),
    path,
    text: words,
  })

  if (file.endsWith('.json')) {
    const fault = jsonFault(text, depthMax)
    if (fault !== undefined)
      return {
        mistakes: [{ file, ...placeIn(text, fault.at), path: [], text: jsonFaults[fault.kind] }],
      }
  }
  const deep = tooDeepAt(text)
  if (deep !== undefined)
    return { mistakes: [{ file, ...placeIn(text, deep), path: [], text: jsonFaults['too-deep'] }] }
  const yaml = parseDocument(text, {
    lineCounter: lines,
    version: '1.2',
    schema: 'core',
    merge: false,
    resolveKnownTags: false,
    stringKeys: true,
    uniqueKeys: false,
    prettyErrors: false,
    logLevel: 'error',
  })
  if (yaml.errors.length > 0)
    return { mistakes: yaml.errors.map((error) => at(error.pos[0], [], wordsOf(error, text))) }

  const checked = check(yaml, at)
  const strange = yaml.warnings.map((warning) => at(warning.pos[0], [], wordsOf(warning, text)))
  const mistakes = [...strange, ...checked.mistakes]
  if (checked.aliasesBroken) return { mistakes }
  try {
    return {
      document: {
        value: yaml.toJS({ maxAliasCount: aliasesMax }),
        placeOf: (path, part) => place(yaml, lines, path, part),
      },
      mistakes,
    }
  } catch {
    // Only aliases can fail here: everything else was checked above.
    return {
      mistakes: [
        ...mistakes,
        at(
          checked.firstAlias,
          [],
          `its aliases stand for too much; repeat at most ${aliasesMax} parts by alias`,
        ),
      ],
    }
  }
}

const aliasesMax = 100
/** The deepest schema, plus the few levels of the file around it. */
const depthMax = limits.schemaDepthMax + 8

const jsonFaults = {
  unexpected: 'is not JSON from here on',
  unfinished: 'ends inside its JSON',
  'too-deep': `is nested deeper than ${depthMax} levels`,
}

/** The offset at which the text is nested too deeply. Undefined: nowhere. */
function tooDeepAt(text: string): number | undefined {
  const parser = new Parser()
  for (const lexeme of new Lexer().lex(text)) {
    for (const _ of parser.next(lexeme));
    // A level takes up to two places: the collection and its current item.
    if (parser.stack.length > 2 * depthMax) return parser.offset
  }
  return undefined
}

/** Our words for errors whose message names no remedy. */
function wordsOf({ code, message, pos: [offset] }: YAMLError, text: string): string {
  switch (code) {
    case 'TAB_AS_INDENT':
      return 'is indented by a tab; use spaces'
    case 'MULTIPLE_DOCS':
      return 'has a second document from here on; write one agent into each file'
    case 'TAG_RESOLVE_FAILED':
      return 'has a tag (!...), which has no meaning here; remove it, or put quotes around the text'
    case 'BAD_DIRECTIVE':
      return 'has a directive (%...), which has no meaning here; remove it'
    default: {
      const words = message.replace(/(?<=\S): .*$/s, '') // after such a colon it quotes the text
      return `is not YAML: ${words.charAt(0).toLowerCase()}${words.slice(1)}${hintAt(text, offset)}`
    }
  }
}

/** Without quotes, YAML reads the braces of a variable inside [ ] or { } as a mapping. */
function hintAt(text: string, offset: number): string {
  const start = text.lastIndexOf('\n', offset - 1) + 1
  const end = text.indexOf('\n', offset)
  const line = text.slice(start, end < 0 ? undefined : end)
  return /[[{][^\n]*\$\{/.test(line) ? ` (inside of [ ] and { }, put quotes around "\${NAME}")` : ''
}

// ── Checks beyond the parser's ──

type Checked = { mistakes: Mistake[]; aliasesBroken: boolean; firstAlias: number }

function check(yaml: Yaml, at: (offset: number, path: Path, words: string) => Mistake): Checked {
  const checked: Checked = { mistakes: [], aliasesBroken: false, firstAlias: -1 }
  const anchors = new Set<string>()
  checkNode(yaml.contents, [], [])
  return checked

  /** `around`: the anchors of the nodes around this one. */
  function checkNode(node: unknown, path: Path, around: readonly string[]): void {
    if (!isNode(node)) return
    const offset = node.range?.[0] ?? 0
    if (isAlias(node)) {
      if (checked.firstAlias < 0) checked.firstAlias = offset
      if (!anchors.has(node.source))
        refuseAlias(
          offset,
          path,
          `refers to &${node.source}, which is not above; write the value itself`,
        )
      else if (around.includes(node.source))
        refuseAlias(offset, path, `refers to &${node.source}, which contains it`)
      return
    }
    if (node.anchor !== undefined) anchors.add(node.anchor)
    const inside = node.anchor === undefined ? around : [...around, node.anchor]
    if (isScalar(node)) checkScalar(node.value, offset, path)
    if (isSeq(node))
      for (const [index, item] of node.items.entries()) checkNode(item, [...path, index], inside)
    if (isMap(node)) {
      const seen = new Map<string, number>()
      for (const { key, value } of node.items) {
        const name = nameOf(key)
        const keyOffset = offsetOf(key)
        const first = seen.get(name)
        if (first === undefined) seen.set(name, keyOffset)
        else
          addMistake(
            keyOffset,
            [...path, name],
            `is given twice, first in line ${at(first, [], '').line}; keep one`,
          )
        checkScalar(name, keyOffset, path)
        checkNode(value, [...path, name], inside)
      }
    }
  }

  function checkScalar(value: unknown, offset: number, path: Path): void {
    if (typeof value === 'number' && !Number.isFinite(value))
      addMistake(offset, path, 'is not a number that JSON can hold')
    if (typeof value === 'string' && !value.isWellFormed())
      addMistake(offset, path, 'has half of a surrogate pair (\\ud800 to \\udfff) in it')
  }

  function refuseAlias(offset: number, path: Path, words: string): void {
    checked.aliasesBroken = true
    addMistake(offset, path, words)
  }

  function addMistake(offset: number, path: Path, words: string): void {
    checked.mistakes.push(at(offset, path, words))
  }
}

// ── Places ──

function place(yaml: Yaml, lines: LineCounter, path: Path, part: 'key' | 'value' = 'value'): Place {
  let node: unknown = yaml.contents
  let key = offsetOf(node)
  let value = key
  for (const step of path) {
    const found = member(resolved(node, yaml), step)
    if (found === undefined) return placeAt(lines, key)
    key = offsetOf(found.key ?? found.value)
    // A missing value stands after its colon, perhaps lines below.
    value =
      isScalar(found.value) && found.value.source === '' && found.value.type === 'PLAIN'
        ? key
        : offsetOf(found.value)
    node = found.value
  }
  return placeAt(lines, part === 'key' ? key : value)
}

function resolved(node: unknown, yaml: Yaml): unknown {
  return isAlias(node) ? node.resolve(yaml) : node
}

function member(
  node: unknown,
  step: string | number,
): { key?: unknown; value: unknown } | undefined {
  if (isSeq(node))
    return typeof step === 'number' && step < node.items.length
      ? { value: node.items[step] }
      : undefined
  return isMap(node) ? node.items.findLast(({ key }) => nameOf(key) === String(step)) : undefined
}

function nameOf(key: unknown): string {
  return isScalar(key) ? String(key.value) : ''
}

function offsetOf(node: unknown): number {
  return isNode(node) ? ((node as YamlNode).range?.[0] ?? 0) : 0
}

function placeAt(lines: LineCounter, offset: number): Place {
  const { line, col } = lines.linePos(offset)
  return { line: Math.max(line, 1), column: Math.max(col, 1) }
}

function placeIn(text: string, offset: number): Place {
  const before = text.slice(0, offset)
  const line = before.split('\n').length
  return { line, column: offset - before.lastIndexOf('\n') }
}
