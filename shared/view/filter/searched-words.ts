// The words of a search text, for the full-text index. Pure.
// A search has a bounded number of words, and no word begins another one. So a search
// reads few lists of the index.

import { limits } from '../../contract/limits.ts'
import { usageError } from '../../lib/errors.ts'

/**
 * FTS5 expressions that a turn must match, all of them. A word finds each word that it begins. Words
 * between quotation marks must stand together.
 * Throws `usage` beyond `limits.searchWordsMax` and `limits.searchBytesMax`. `place`: for that error.
 */
export function searchedWords(texts: readonly string[], place = 'text'): string[] {
  const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0)
  if (bytes > limits.searchBytesMax)
    throw usageError(
      `${place} has ${bytes} bytes: search for at most ${limits.searchBytesMax} bytes`,
    )
  const parts = texts.flatMap((text) => [
    ...text.replaceAll('\0', ' ').matchAll(/"([^"]*)"|[^\s"]+/g),
  ])
  const phrases = new Set(parts.flatMap(([, phrase]) => (phrase === undefined ? [] : [phrase])))
  const starts = new Set(
    parts.flatMap(([word, phrase]) => (phrase === undefined ? [word.toLowerCase()] : [])),
  )
  const needed = [...starts].filter(
    (word) => ![...starts].some((other) => other !== word && other.startsWith(word)),
  )
  const count = [...phrases, ...needed].reduce((sum, part) => sum + tokensIn(part), 0)
  if (count > limits.searchWordsMax)
    throw usageError(
      `${place} has ${count} words: search for at most ${limits.searchWordsMax} words`,
    )
  const expressions = [
    ...[...phrases].map((phrase) => ({ part: phrase, expression: `"${phrase}"` })),
    ...needed.map((word) => ({ part: word, expression: `"${word}"*` })),
  ]
  // Parts without a letter or a digit have nothing to find.
  return expressions.flatMap(({ part, expression }) => (tokensIn(part) > 0 ? [expression] : []))
}

/** The words of a part as FTS5 splits it: `A-17` has two. */
function tokensIn(part: string): number {
  return part.match(/[\p{L}\p{N}\p{Co}]+/gu)?.length ?? 0
}
