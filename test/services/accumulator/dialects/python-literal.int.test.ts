// Python itself is the oracle for Python's literals: each text that Weir reads has the value that
// ast.literal_eval gives it as the argument of a call. Skipped where there is no python3.

import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import {
  pythonSpelling,
  readLiteral,
} from '../../../../services/accumulator/dialects/readers/literal.ts'
import type { Repair } from '../../../../services/accumulator/dialects/readers/written-json.ts'

/**
 * Compares with Weir's JSON by Python's own JSON reader, type by type. `ours-only`: Python refuses
 * the text, or JSON cannot hold its value. `twice`: a name is given twice, which is refused later.
 */
const oracle = `
import ast, json, math, sys, warnings
warnings.simplefilter('ignore')
class Twice(Exception): pass
def unique(pairs):
    if len({k for k, _ in pairs}) < len(pairs): raise Twice()
    return dict(pairs)
def plain(v):
    if v is None or isinstance(v, bool) or isinstance(v, int): return v
    if isinstance(v, float) and math.isfinite(v): return v
    if isinstance(v, str): v.encode(); return v
    if isinstance(v, (list, tuple)): return [plain(i) for i in v]
    if isinstance(v, dict) and all(isinstance(k, str) for k in v): return {plain(k): plain(i) for k, i in v.items()}
    raise ValueError()
def argument(text):
    call = ast.parse('f(v=' + text + ')', mode='eval').body
    [keyword] = call.keywords
    if call.args or call.func.id != 'f': raise ValueError()
    return ast.literal_eval(keyword.value)
def verdict(text, ours):
    try: theirs = repr(plain(argument(text)))
    except Exception: return 'refused' if ours is None else 'ours-only'
    if ours is None: return 'python-only'
    try: return 'agreed' if repr(json.loads(ours, object_pairs_hook=unique)) == theirs else 'differs'
    except Twice: return 'twice'
json.dump([verdict(*pair) for pair in json.load(sys.stdin)], sys.stdout)
`

const hasPython = spawnSync('python3', ['-c', 'import ast']).status === 0

/** Weir's JSON for a whole text. Undefined: it has true, false or null, which Python does not know. */
function read(text: string): string | null | undefined {
  const repairs = new Set<Repair>()
  const cursor = { text, at: 0 }
  const json = readLiteral(cursor, pythonSpelling, repairs)
  if (repairs.has('json-word')) return undefined
  return json === undefined || cursor.at < text.length ? null : json
}

function verdicts(texts: readonly string[]): [string, string][] {
  const pairs = texts.flatMap((text): [string, string | null][] => {
    const ours = read(text)
    return ours === undefined ? [] : [[text, ours]]
  })
  const { stdout } = spawnSync('python3', ['-c', oracle], {
    input: JSON.stringify(pairs),
    maxBuffer: 2 ** 28,
  })
  const found: string[] = JSON.parse(stdout.toString())
  return pairs.map(([text], n) => [text, found[n] ?? ''])
}

const piece = fc.constantFrom(
  ...["'", '"', "'''", '"""', '\\', '\\x41', '\\u00e9', '\\U0001F600', '\\101', '\\n', '\\d'],
  ...['\n', '\r\n', 'r', 'u', 'b', 'f', 'rb', 'a', 'é', ' ', '(', ')', '[', ']', '{', '}', ','],
  ...[':', '0', '1', '_', '.', 'e', '-', '+', 'x', 'j', 'True', 'None', '0x', '12', '\\ud800'],
)
const soup = fc.array(piece, { maxLength: 8 }).map((pieces) => pieces.join(''))
const inQuotes = fc
  .tuple(fc.constantFrom('', 'r', 'R', 'u', 'b'), fc.constantFrom("'", '"', "'''", '"""'), soup)
  .map(([prefix, quote, inside]) => `${prefix}${quote}${inside}${quote}`)
const digits = fc.string({
  unit: fc.constantFrom(...['0', '1', '9', '_', '.', 'e', 'E', '+', '-', 'x', 'b', 'o', 'f', 'j']),
  maxLength: 9,
})
const { literal } = fc.letrec<{ literal: string }>((tie) => ({
  literal: fc.oneof(
    { maxDepth: 3 },
    inQuotes,
    digits,
    fc.constantFrom('True', 'False', 'None', '()', '[]', '{}', '1', "'a'"),
    fc
      .tuple(
        fc.array(tie('literal'), { maxLength: 3 }),
        fc.constantFrom('', ','),
        fc.constantFrom('[]', '()', '{}'),
      )
      .map(([items, end, [open, close]]) => `${open}${items.join(', ')}${end}${close}`),
    fc
      .array(fc.tuple(tie('literal'), tie('literal')), { maxLength: 2 })
      .map((members) => `{${members.map(([key, value]) => `${key}: ${value}`).join(',')}}`),
  ),
}))

const describeWithPython = hasPython ? describe : describe.skip

describeWithPython('a literal of Python', () => {
  it('has the value that Python gives it, in every text of the corpus', () => {
    const lines = readFileSync(
      new URL('../../../corpus/arguments/python.jsonl', import.meta.url),
      'utf8',
    )
    const texts = lines
      .trim()
      .split('\n')
      .flatMap((line) => /^\[say\(v=([\s\S]*)\)\]$/.exec(JSON.parse(line).sent)?.[1] ?? [])
    expect(texts.length).toBeGreaterThan(80)
    const unsafe = verdicts(texts).filter(([, found]) => /ours-only|differs/.test(found))
    expect(unsafe).toEqual([])
  })

  it('has the value that Python gives it, in any text', () => {
    const runs = Number(process.env.WEIR_FUZZ_RUNS ?? 4_000)
    const seed = Number(process.env.WEIR_FUZZ_SEED ?? 20_261)
    const texts = [soup, inQuotes, digits, literal].flatMap((texts) =>
      fc.sample(texts, { numRuns: runs, seed }).map((text) => text.trim()),
    )
    const found = verdicts(texts)
    expect(found.filter(([, verdict]) => /ours-only|differs/.test(verdict))).toEqual([])
    expect(found.filter(([, verdict]) => verdict === 'agreed').length).toBeGreaterThan(runs / 2)
    // All that Weir refuses and Python reads: two strings side by side, a continued line, a name
    // that is no text, and values that JSON cannot hold. The oracle counts the last as refused.
    const stricter = found.flatMap(([text, verdict]) => (verdict === 'python-only' ? [text] : []))
    expect(stricter.filter((text) => !/["'][\s\S]*["']|\\|,$/.test(text))).toEqual([])
  })
})
