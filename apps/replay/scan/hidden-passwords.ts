// Hides passwords of command lines in a text: `-u user:password` and `--password x`. Such values have no
// shape, so only their flag shows them.

/** An equals sign, blanks, or the next text of a JSON list. */
const gap = String.raw`(?:=|(?:\s|\\[nrt])+|\\*["']\s*,\s*)`
/** Backslashes of JSON and of a shell belong to a word, those in front of a quote or a blank do not. */
const wordCharacter = String.raw`(?:[^\s"'\\]|\\\\[^]|\\(?![nrt"']))`
const user = String.raw`[^\s:"'\\]{1,100}:`

/** A quoted value ends at the same quote, also if the quote is escaped. */
function valueAfter(flag: string, beginning: string): RegExp {
  return new RegExp(
    String.raw`((?<![\w-])${flag})(?:(\\*["'])(${beginning})(?:(?!\2)[^])+|(${beginning})${wordCharacter}+)`,
    'g',
  )
}

/** Names first: a flag without a value would hide the next flag only. */
const patterns = [
  valueAfter(`(?:-u${gap}?|--(?:proxy-)?user${gap})`, user),
  valueAfter(String.raw`--[\w-]{0,20}password${gap}`, ''),
]

export function withoutPasswords(text: string): string {
  return patterns.reduce(
    (shown, pattern) =>
      shown.replace(
        pattern,
        (_, flag: string, quote = '', quoted = '', bare = '') =>
          `${flag}${quote}${quoted}${bare}[password]`,
      ),
    text,
  )
}
