// Inputs of the fuzzer: an entry of a corpus with some changes, as bytes.
// Owns: the changes.
// Does not own: the properties of the parsers (targets.ts).

import fc, { type Arbitrary } from 'fast-check'

/** A piece of a text that a change moves: a string, a number, a word, a blank, a mark. */
const token = /"(?:[^"\\\n]|\\.)*"|-?\d[\d.eE+-]*|[\w$-]+|\s+|./gsu

const spliced = [
  ...[
    '',
    '"',
    '\\',
    '{',
    '}',
    '[',
    ']',
    ',',
    ':',
    '\n',
    '\r',
    '\n\n',
    '\u2028',
    '\ufeff',
    '\0',
    ' ',
  ],
  ...[
    'null',
    'true',
    '0',
    '-0',
    '-1',
    '1e999',
    '1e-7',
    '9007199254740993',
    '0.1',
    '[]',
    '{}',
    '""',
  ],
  ...[
    '"__proto__"',
    '"constructor"',
    '"id"',
    '"ID"',
    '"type"',
    '"index"',
    '"\\ud800"',
    '"\\u0000"',
  ],
  ...['data: ', 'event: ', ': ', 'id: 1', 'retry: 1', '[DONE]', '[[[[[[[[', '{"a":{"a":{"a":'],
  ...[
    '- ',
    '&n ',
    '*n',
    '!x ',
    '|',
    '#',
    '? ',
    "'",
    '$(',
    '`',
    ';',
    '|',
    '>',
    '<<E',
    '\ud83d',
    'é',
  ],
]

type Change = {
  kind: 'delete' | 'repeat' | 'swap' | 'splice' | 'borrow' | 'cut' | 'bits'
  at: number
  length: number
  to: number
  text: string
}

const changes: Arbitrary<Change[]> = fc.array(
  fc.record({
    kind: fc.constantFrom('delete', 'repeat', 'swap', 'splice', 'splice', 'borrow', 'cut', 'bits'),
    at: fc.nat(1_000_000),
    length: fc.oneof(fc.nat(3), fc.nat(60)),
    to: fc.nat(1_000_000),
    text: fc.oneof(fc.constantFrom(...spliced), fc.string({ maxLength: 8 })),
  }) as Arbitrary<Change>,
  { maxLength: 6, size: 'max' },
)

const bytesMax = 64 * 1024

/** Entries with changes of their tokens. `isText` false: with changes of their bytes only. */
export function inputsFrom(corpus: readonly Buffer[], isText: boolean): Arbitrary<Buffer> {
  const tokens = isText ? corpus.map((entry) => entry.toString('utf8').match(token) ?? []) : []
  return fc
    .record({ base: fc.nat(corpus.length - 1), other: fc.nat(corpus.length - 1), changes })
    .map(({ base, other, changes: list }) => {
      if (!isText) return list.reduce(changedBytes, Buffer.from(corpus[base] as Buffer))
      let parts: string[] = [...(tokens[base] ?? [])]
      for (const change of list) parts = changedTokens(parts, tokens[other] ?? [], change)
      const whole = Buffer.from(parts.join('').slice(0, bytesMax))
      const bits = list.filter(({ kind }) => kind === 'bits')
      return bits.reduce(changedBytes, whole)
    })
}

function changedTokens(parts: string[], others: readonly string[], change: Change): string[] {
  if (parts.length === 0) return [change.text]
  const at = change.at % parts.length
  const to = change.to % parts.length
  const piece = parts.slice(at, at + change.length)
  const [one = '', other = ''] = [parts[at], parts[to]]
  switch (change.kind) {
    case 'delete':
      return parts.toSpliced(at, change.length)
    case 'repeat':
      return parts.toSpliced(to, 0, ...piece)
    case 'swap':
      return parts.with(at, other).with(to, one)
    case 'splice':
      return parts.toSpliced(at, change.length % 2, change.text)
    case 'borrow': {
      const from = others.length === 0 ? 0 : change.to % others.length
      return parts.toSpliced(at, change.length % 2, ...others.slice(from, from + change.length))
    }
    case 'cut':
      return parts.slice(0, at)
    case 'bits':
      return parts
  }
}

function changedBytes(bytes: Buffer, { at, to, length }: Change): Buffer {
  if (bytes.length > 0) bytes[at % bytes.length] = (to + length) % 256
  return bytes
}
