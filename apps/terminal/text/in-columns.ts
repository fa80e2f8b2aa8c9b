// Rows of texts as lines with aligned columns.

/** The first row has the titles. */
export function inColumns(rows: readonly string[][]): string[] {
  const widths: number[] = []
  for (const row of rows)
    for (const [column, text] of row.entries())
      widths[column] = Math.max(widths[column] ?? 0, text.length)
  return rows.map((row) =>
    row
      .map((text, column) => text.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  )
}
