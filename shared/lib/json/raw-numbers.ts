// Values of a JSON text whose numbers JSON.stringify writes as in the text. JSON.parse alone changes
// ids beyond 2^53, and turns 1e999 into a value that has no JSON.

/** JSON.parse source text access of ECMAScript, which TypeScript's library lacks. */
type Raw = { rawJSON(text: string): unknown }

/** Texts in which a number may change. Any integer of fewer digits keeps its text, except -0. */
const inexact = /\d{16}|\d[.eE]|-0/

/** Undefined: `text` is not JSON. Of members with one name, the last one counts. */
export function withExactNumbers(text: string): unknown {
  try {
    if (!inexact.test(text)) return JSON.parse(text)
    return JSON.parse(
      text,
      (_key: string, value: unknown, context?: { source: string }): unknown =>
        typeof value === 'number' && context !== undefined
          ? rawNumber(value, context.source)
          : value,
    )
  } catch {
    return undefined
  }
}

/** `source`: the text of the number. A number that JSON.stringify writes so stays one. */
export function rawNumber(value: number, source: string): unknown {
  return String(value) === source ? value : (JSON as unknown as Raw).rawJSON(source)
}
