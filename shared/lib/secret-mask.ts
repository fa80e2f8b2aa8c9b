// Hides known secrets in a text: as they are, and in the encodings in which servers and programs
// repeat them. The values are known, so nothing is guessed.
// SECRET-MASK-1. No part of a longer secret stays when a shorter one is its part.
// SECRET-MASK-2. A short spelling counts only where no letter or digit is beside it. A value such as
//     `prod` stays readable in "production".

/** Fewer characters would hide ordinary words and numbers of a result. */
const lengthMin = 4
/** The same for a piece of an encoded value, and for a part of a word. */
const pieceMin = 8

/** Replaces each of `values` in a text, in every spelling, by `word`. */
export function secretMask(values: Iterable<string>, word = '[secret]'): (text: string) => string {
  const spellings = [...new Set([...values].flatMap(spellingsOf))]
    .sort((one, other) => other.length - one.length)
    .map((text) => ({
      text,
      pattern: text.length < pieceMin ? wordPattern(text) : text,
      run: runs.findIndex(({ whole }) => whole.test(text)),
    }))
  return (text) => {
    // Most texts have no run of escapes, and then need no search for a value of escapes.
    const has = runs.map(({ mark, run }) => text.includes(mark) && run.test(text))
    return spellings.reduce(
      (rest, { text: spelling, pattern, run }) =>
        has[run] !== false && rest.includes(spelling) ? rest.replaceAll(pattern, () => word) : rest,
      text,
    )
  }
}

/** Escapes side by side, as many as the shortest value has characters. */
const runs = [
  { mark: '%', run: /(?:%[\dA-Fa-f]{2}){4}/, whole: /^(?:%[\dA-Fa-f]{2}){4,}$/ },
  { mark: '\\u', run: /(?:\\u[\dA-Fa-f]{4}){4}/, whole: /^(?:\\u[\dA-Fa-f]{4}){4,}$/ },
]

/**
 * The text where it is no part of a word or number. The last character of an escape of JSON or of a
 * URL belongs to no word.
 */
function wordPattern(text: string): RegExp {
  const literal = text.replaceAll(/[$()*+./?[\\\]^{|}]/g, '\\$&')
  const before = /^[\p{L}\p{N}]/u.test(text) ? wordStart : ''
  const after = /[\p{L}\p{N}]$/u.test(text) ? '(?![\\p{L}\\p{N}])' : ''
  return new RegExp(`${before}${literal}${after}`, 'gu')
}

const wordStart = '(?<=^|[^\\p{L}\\p{N}]|\\\\[bfnrt]|\\\\u[\\dA-Fa-f]{4}|%[\\dA-Fa-f]{2})'

function spellingsOf(value: string): string[] {
  const secret = value.trim()
  if (secret.length < lengthMin) return []
  const plain = [secret, decoded(secret)].filter((one) => one.length >= lengthMin)
  const encoded = plain.flatMap((one) => [
    encodeURIComponent(one),
    encodeURI(one),
    encodeURIComponent(one).replaceAll('%20', '+'),
    JSON.stringify(one).slice(1, -1),
    hexOf(one),
    ...escapedWhole(one),
  ])
  const lower = encoded.map((one) => one.replaceAll(/%[0-9A-F]{2}/g, (byte) => byte.toLowerCase()))
  const pieces = plain.flatMap((one) => base64Pieces(Buffer.from(one)))
  return [
    ...plain,
    ...[...encoded, ...lower].filter((one) => one.length >= lengthMin),
    ...pieces.filter((one) => one.length >= pieceMin),
  ]
}

function hexOf(text: string): string {
  return Buffer.from(text).toString('hex')
}

/** Each byte percent-encoded, and each UTF-16 unit as an escape of JSON. */
function escapedWhole(text: string): string[] {
  const bytes = hexOf(text).toUpperCase().replaceAll(/../g, '%$&')
  const lower = text
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('')
  return [bytes, lower, lower.replaceAll(/[a-f]/g, (digit) => digit.toUpperCase())]
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/**
 * The part of the base64 that does not depend on the bytes around. The value can start at three
 * places of a longer encoded text, as in `user:password`.
 */
function base64Pieces(bytes: Buffer): string[] {
  return [0, 1, 2].flatMap((shift) => {
    const text = Buffer.concat([Buffer.alloc(shift), bytes]).toString('base64')
    const start = Math.ceil((shift * 8) / 6)
    const end = Math.floor(((shift + bytes.length) * 8) / 6)
    const piece = text.slice(start, end)
    return [piece, piece.replaceAll('+', '-').replaceAll('/', '_')]
  })
}
