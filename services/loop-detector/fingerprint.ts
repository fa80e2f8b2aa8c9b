// Keys of loops: short texts that are equal where calls, errors or results are the same for us,
// whatever their size. test/vectors/fingerprints.json holds what comes out for known inputs, so
// that a change of either is seen.

import { hash } from 'node:crypto'

/**
 * What a key is of. It is part of what is hashed, so that a result is never taken for arguments of
 * the same text.
 */
export type Domain = 'arguments' | 'error' | 'result' | 'near-arguments' | 'round' | 'speech'

/** 128 bits are enough even against somebody who looks for two equal ones. */
const hexDigits = 32

/**
 * The first 128 bits of the sha-256 of `["weir/DOMAIN/1", ...parts]` as JSON, in hex. The parts
 * cannot run into each other.
 */
export function fingerprint(domain: Domain, ...parts: string[]): string {
  return hash('sha256', JSON.stringify([`weir/${domain}/1`, ...parts])).slice(0, hexDigits)
}
