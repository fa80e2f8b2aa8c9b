// The difference of two texts, word by word. Pure.

import { commonEnds } from '../../../shared/lib/common-ends.ts'

/** same: in both. removed: only in the first. added: only in the second. */
export type WordPiece = { kind: 'same' | 'removed' | 'added'; text: string }

/**
 * With more pairs of words, the middle counts as replaced: the table has one cell per pair.
 */
const cellsMax = 1_000_000

export function wordDiff(before: string, after: string): WordPiece[] {
  const a = wordsOf(before)
  const b = wordsOf(after)
  const [start, end] = commonEnds(a, b)
  const pieces: WordPiece[] = []
  put(pieces, 'same', a.slice(0, start))
  middle(pieces, a.slice(start, a.length - end), b.slice(start, b.length - end))
  put(pieces, 'same', a.slice(a.length - end))
  return pieces
}

function wordsOf(text: string): string[] {
  return text.match(/[\p{L}\p{N}_]+|\s+|[^\p{L}\p{N}_\s]/gu) ?? []
}

function put(pieces: WordPiece[], kind: WordPiece['kind'], words: string[]): void {
  if (words.length === 0) return
  const last = pieces.at(-1)
  if (last?.kind === kind) last.text += words.join('')
  else pieces.push({ kind, text: words.join('') })
}

/** The longest common subsequence, by the usual table, from its beginning. */
function middle(pieces: WordPiece[], a: string[], b: string[]): void {
  const columns = b.length + 1
  if (a.length * columns > cellsMax) {
    put(pieces, 'removed', a)
    put(pieces, 'added', b)
    return
  }
  const longest = new Uint32Array((a.length + 1) * columns)
  const cell = (i: number, j: number) => longest[i * columns + j] ?? 0
  for (let i = a.length - 1; i >= 0; i -= 1)
    for (let j = b.length - 1; j >= 0; j -= 1)
      longest[i * columns + j] =
        a[i] === b[j] ? cell(i + 1, j + 1) + 1 : Math.max(cell(i + 1, j), cell(i, j + 1))
  let i = 0
  let j = 0
  while (i < a.length && j < b.length) {
    if (a[i] === b[j]) {
      put(pieces, 'same', a.slice(i, i + 1))
      i += 1
      j += 1
    } else if (cell(i + 1, j) >= cell(i, j + 1)) put(pieces, 'removed', a.slice(i, ++i))
    else put(pieces, 'added', b.slice(j, ++j))
  }
  put(pieces, 'removed', a.slice(i))
  put(pieces, 'added', b.slice(j))
}
