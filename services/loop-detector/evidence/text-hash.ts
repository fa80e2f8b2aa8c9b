// A short hash for texts of which a memory holds many. It stays in a turn's memory and is no part
// of any identity.

/**
 * FNV-1a, 32 bits. A collision only delays a finding, or once in millions of turns makes one too
 * early.
 */
export function textHash(text: string): number {
  let hash = 0x811c9dc5
  for (let index = 0; index < text.length; index += 1)
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  return hash >>> 0
}
