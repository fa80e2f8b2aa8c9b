// Compares the values of two JSON texts. Numbers are compared by their digits: JSON.parse gives two
// different ids beyond 2^53 the same value.

import { withExactNumbers } from './raw-numbers.ts'

/**
 * Whether both texts have the same value, with members in the same order. Blanks and escapes may
 * differ. False if one is not JSON.
 */
export function sameJson(one: string, other: string): boolean {
  if (one === other) return true
  const plain = plainJson(one)
  return plain !== undefined && plain === plainJson(other)
}

/** The text without blanks and optional escapes. Undefined: it is not JSON. */
export function plainJson(text: string): string | undefined {
  const value = withExactNumbers(text)
  return value === undefined ? undefined : JSON.stringify(value)
}
