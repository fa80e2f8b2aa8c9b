// Keys of loops: short texts that are equal for equal calls, errors or results of any size. A
// change of a key is visible in test/vectors/fingerprints.json, the keys of known inputs.

import { hash } from 'node:crypto'

/**
 * The domain of a key. It is part of the hash, so a result never equals arguments with the same
 * text.
 */
export type Domain = 'arguments' | 'error' | 'result' | 'near-arguments' | 'round' | 'speech'

/** 128 bits are enough even against a deliberate search for equal keys. */
const hexDigits = 32

/**
 * The first 128 bits of the sha-256 of `["weir/DOMAIN/1", ...parts]` as JSON, in hex. JSON keeps
 * the parts apart.
 */
export function fingerprint(domain: Domain, ...parts: string[]): string {
  return hash('sha256', JSON.stringify([`weir/${domain}/1`, ...parts])).slice(0, hexDigits)
}

/**
 * FNV-1a, 32 bits, for texts of which a turn's memory holds many. It is part of no identity. A
 * collision only delays a finding, or once in millions of turns makes one too early.
 */
export function textHash(text: string): number {
  let hash = 0x811c9dc5
  for (let index = 0; index < text.length; index += 1)
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  return hash >>> 0
}
