/**
 * The Levenshtein distance, or Infinity beyond `max`: cells further than that from the diagonal do
 * not matter. For texts of up to 64 characters.
 */
export function editDistance(a: string, b: string, max: number): number {
  if (Math.abs(a.length - b.length) > max) return Number.POSITIVE_INFINITY
  const far = max + 1
  // One row, in place: `diagonal` is the cell that the step before has overwritten.
  const row = new Uint8Array(b.length + 1).map((_, column) => Math.min(column, far))
  for (let i = 1; i <= a.length; i += 1) {
    const first = Math.max(1, i - max)
    const last = Math.min(b.length, i + max)
    let diagonal = row[first - 1] ?? far
    row[first - 1] = first === 1 ? Math.min(i, far) : far
    let least: number = row[first - 1] ?? far
    for (let j = first; j <= last; j += 1) {
      const above = j === i + max ? far : (row[j] ?? far)
      const replaced = diagonal + (a.charCodeAt(i - 1) === b.charCodeAt(j - 1) ? 0 : 1)
      diagonal = above
      const edits = Math.min(replaced, above + 1, (row[j - 1] ?? far) + 1, far)
      row[j] = edits
      least = Math.min(least, edits)
    }
    if (least > max) return Number.POSITIVE_INFINITY
  }
  const edits = row.at(-1) ?? far
  return edits <= max ? edits : Number.POSITIVE_INFINITY
}
