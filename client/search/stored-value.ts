// Values with maps and sets as JSON text, for the rows of the index. A prepared file cannot make its reader
// run more than JSON.parse.
// Each list begins with its kind, so no value of a record can pass for a map or a set.

type Kind = 'list' | 'map' | 'set'

export function storedText(value: object): string {
  return JSON.stringify(value, (_, one: unknown) => {
    if (one instanceof Map) return ofKind('map', one)
    if (one instanceof Set) return ofKind('set', one)
    return Array.isArray(one) ? ofKind('list', one) : one
  })
}

/** The value of `storedText`. Members that were undefined are missing. */
export function valueOfText<T>(text: unknown): T {
  return JSON.parse(String(text), (_, one: unknown) => {
    if (!Array.isArray(one)) return one
    const [kind, ...items] = one as [Kind, ...unknown[]]
    if (kind === 'map') return new Map(items as [unknown, unknown][])
    return kind === 'set' ? new Set(items) : items
  })
}

function ofKind(kind: Kind, items: Iterable<unknown>): unknown[] {
  return [kind, ...items]
}
