// What a text is remembered by where there are many of them and a key would be too long. It stays
// in a turn's memory and is no part of any identity.

/**
 * FNV-1a, 32 bits: a text that is taken for another one costs nothing but a later notice, or an
 * earlier one once in millions of turns.
 */
export function textHash(text: string): number {
  let hash = 0x811c9dc5
  for (let index = 0; index < text.length; index += 1)
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  return hash >>> 0
}
