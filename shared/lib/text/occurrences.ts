// Counts equal names in the order in which they come, such as the calls of one response with one id.

/** Returns how often the name came before. `counts`: the names that have come. */
export function occurrences(counts: Map<string, number> = new Map()): (name: string) => number {
  return (name) => {
    const before = counts.get(name) ?? 0
    counts.set(name, before + 1)
    return before
  }
}
