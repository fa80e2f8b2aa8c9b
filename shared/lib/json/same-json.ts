// Compares the values of two JSON texts. Numbers are compared by their digits: JSON.parse gives two
// different ids beyond 2^53 the same value.

/** ECMAScript's JSON.parse source text access, which TypeScript's library does not declare yet. */
type Raw = { rawJSON(text: string): unknown }

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
  try {
    const value: unknown = JSON.parse(
      text,
      (_key: string, parsed: unknown, context?: { source: string }): unknown =>
        typeof parsed === 'number' && context !== undefined
          ? (JSON as unknown as Raw).rawJSON(context.source)
          : parsed,
    )
    return JSON.stringify(value)
  } catch {
    return undefined
  }
}
