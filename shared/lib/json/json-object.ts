// Parses texts that may be no JSON, and recognizes a JSON object among parsed values.

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The value of a text. Undefined: it is not JSON. */
export function jsonIn(text: string | undefined): unknown {
  try {
    return JSON.parse(text ?? '')
  } catch {
    return undefined
  }
}

/** The object of a text. Undefined: it is no JSON object. */
export function objectIn(text: string | undefined): Record<string, unknown> | undefined {
  const value = jsonIn(text)
  return isObject(value) ? value : undefined
}

/**
 * The text of any value of JSON. A list or an object gets its JSON: it can have its own `toString`,
 * which a template would call.
 */
export function jsonText(value: unknown): string {
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value)
}
