// Keys with a common prefix are a range in the order of their UTF-8 bytes, SQLite's order of texts.

/**
 * The least SQL value above all texts that begin with `prefix`: the prefix with its last code point
 * made one higher, or any blob (SQLite sorts blobs after all texts).
 */
export function prefixEnd(prefix: string): string | Uint8Array {
  const points = Array.from(prefix, (character) => character.codePointAt(0) as number)
  for (let last = points.pop(); last !== undefined; last = points.pop()) {
    if (last === 0x10ffff) continue
    return String.fromCodePoint(...points, last === 0xd7ff ? 0xe000 : last + 1)
  }
  return new Uint8Array(0)
}
