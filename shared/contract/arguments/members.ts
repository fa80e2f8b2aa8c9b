// What a JSON text holds that JSON.parse does not show: of two members with the same name in one
// object it keeps the last and says nothing, and it nests as deep as the text does.

/**
 * repeated: the first name that occurs twice in one object. RFC 8259 leaves open which of the two
 * counts, and readers differ: what the validator judged would not be what the tool reads. too-deep:
 * more than `depthMax` arrays and objects are open at once. `text` must be JSON.
 */
export function membersFault(
  text: string,
  depthMax: number,
): { kind: 'repeated'; name: string } | { kind: 'too-deep' } | undefined {
  /** One for each array and object that is open, innermost last; the names of an object so far. */
  const open: (Set<string> | undefined)[] = []
  for (let at = 0; at < text.length; at += 1) {
    switch (text.charCodeAt(at)) {
      case openBrace:
        open.push(new Set())
        if (open.length > depthMax) return { kind: 'too-deep' }
        break
      case openBracket:
        open.push(undefined)
        if (open.length > depthMax) return { kind: 'too-deep' }
        break
      case closeBrace:
      case closeBracket:
        open.pop()
        break
      case quote: {
        const end = stringEnd(text, at)
        // Only names are followed by a colon.
        if (isBeforeColon(text, end)) {
          const name = nameIn(text.slice(at, end))
          const names = open.at(-1)
          if (names?.has(name)) return { kind: 'repeated', name }
          names?.add(name)
        }
        at = end - 1
      }
    }
  }
  return undefined
}

const [quote, openBrace, closeBrace, openBracket, closeBracket] = [0x22, 0x7b, 0x7d, 0x5b, 0x5d]

function nameIn(quoted: string): string {
  return quoted.includes('\\') ? String(JSON.parse(quoted)) : quoted.slice(1, -1)
}

/** After the closing quote of the string that opens at `from`. */
function stringEnd(text: string, from: number): number {
  for (let end = text.indexOf('"', from + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let backslashes = 0
    while (text[end - 1 - backslashes] === '\\') backslashes += 1
    if (backslashes % 2 === 0) return end + 1
  }
  return text.length
}

function isBeforeColon(text: string, from: number): boolean {
  let at = from
  while (text[at] === ' ' || text[at] === '\n' || text[at] === '\r' || text[at] === '\t') at += 1
  return text[at] === ':'
}
