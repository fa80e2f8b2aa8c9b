// JSON whose numbers must come out as they went in: an id beyond 2^53 that passes through JSON.parse is another id afterwards.

/** Numbers as they were written (ECMAScript's JSON.parse source text access, which TypeScript's library does not describe yet). */
type Raw = { rawJSON(text: string): unknown }

/**
 * The value at `path` of a JSON text, as JSON text of its own: blanks and escapes may differ, nothing else. Undefined where the text has no
 * such value or is nested too deeply to be written.
 */
export function exactJson(text: string, path: Path): string | undefined {
  return exactValues(text)(path)
}

export type Path = (string | number)[]
export type ExactValues = (path: Path) => string | undefined

/** As exactJson, for as many values of one text as there are: it is parsed once, when the first is asked for. */
export function exactValues(text: string): ExactValues {
  let whole: { value: unknown } | undefined
  return (path) => {
    try {
      whole ??= { value: JSON.parse(text, asWritten) }
      let { value } = whole
      for (const step of path) value = (value as Record<string | number, unknown>)[step]
      return JSON.stringify(value)
    } catch {
      return undefined
    }
  }
}

function asWritten(_key: string, parsed: unknown, context?: { source: string }): unknown {
  return typeof parsed === 'number' && context !== undefined ? (JSON as unknown as Raw).rawJSON(context.source) : parsed
}

/**
 * The value of a JSON text as it can be sent on with JSON.stringify: a number that a double would change keeps its digits, one beyond every
 * double is null, and half a character is replaced, in names too. `text` must be JSON that is not nested too deeply.
 */
export function sendableJson(text: string): unknown {
  return JSON.parse(text, (_key: string, value: unknown, context?: { source: string }): unknown => {
    if (typeof value === 'string') return value.toWellFormed()
    if (typeof value === 'number') return Number.isFinite(value) && context !== undefined ? rawNumber(value, context.source) : null
    return isObject(value) && !Object.keys(value).every((name) => name.isWellFormed()) ? withWellFormedNames(value) : value
  })
}

function rawNumber(value: number, source: string): unknown {
  return String(value) === source ? value : (JSON as unknown as Raw).rawJSON(source)
}

function withWellFormedNames(value: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name.toWellFormed(), member]))
}

/** The value, or undefined where the text is no JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
