// Whether two JSON texts say the same. Numbers are compared as they were written: two ids beyond
// 2^53 that differ are one and the same to JSON.parse.

/**
 * Numbers as they were written (ECMAScript's JSON.parse source text access, which TypeScript's
 * library does not describe yet).
 */
type Raw = { rawJSON(text: string): unknown }

/**
 * The same value but for blanks and escapes, members in the same order. False where one of them is
 * no JSON.
 */
export function sameJson(one: string, other: string): boolean {
  if (one === other) return true
  const plain = plainJson(one)
  return plain !== undefined && plain === plainJson(other)
}

/** What a JSON text says, in one way of saying it; undefined: it is no JSON. */
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
