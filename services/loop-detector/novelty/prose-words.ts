// The words of a text that a person reads as prose: without code, tables and encoded data, whose
// equal rows are no sign of a loop.

/** In scripts without blanks between words each character is a word. */
const oneWord =
  /[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\s\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+/g

/** At most `wordsMax` words. A longer word without blanks counts as its characters. */
export function proseWords(text: string, wordsMax: number): string[] {
  const words: string[] = []
  let inCode = false
  for (const line of text.split('\n')) {
    if (/^\s*(?:```|~~~)/.test(line)) inCode = !inCode
    else if (!inCode && !isRow(line)) {
      for (const [word] of line.matchAll(oneWord))
        if (!isData(word))
          words.push(...(word.length > wordCharsMax ? word.slice(0, wordsMax) : [word]))
      if (words.length >= wordsMax) return words.slice(0, wordsMax)
    }
  }
  return words
}

/** A longer word has no blanks by mistake, so each character counts as a word. */
const wordCharsMax = 200
const rowCharsMax = 1_000

/** A row of a table: cells between bars, tabs, columns of blanks, tags, or tight separators. */
const rows = [
  /^\s*\|| \| |[│┃║]/,
  /\S\t+\S/,
  /[^\s.!?:,;] {2,}\S/, // some people write two blanks after a sentence
  /^\s*<t[drh]\b/i,
  /^[^,]+(?:,[^\s,][^,]*){2,}$/,
  /^[^;]+(?:;[^\s;][^;]*){2,}$/,
]

function isRow(line: string): boolean {
  const head = line.slice(0, rowCharsMax)
  return rows.some((form) => form.test(head))
}

/** Shorter words are names. */
const dataCharsMin = 32

/** The beginning of a word shows its form. */
const dataCharsMax = 1_000
const around = '"\'`()<>,.;:'

/** Base64 or hexadecimal: a word in their letters with a digit, or of one letter of filler. */
function isData(word: string): boolean {
  if (word.length < dataCharsMin) return false
  const head = word.slice(0, dataCharsMax)
  let end = head.length
  while (around.includes(head.charAt(end - 1)) && end > 0) end -= 1
  const data = head.slice(0, end).replace(/^["'`(<]*(?:data:[^,]{0,100},)?/, '')
  return /^[A-Za-z0-9+/_-]+={0,2}$/.test(data) && /\d|=$|^(?:([A-Z])\1*|f+)$/.test(data)
}
