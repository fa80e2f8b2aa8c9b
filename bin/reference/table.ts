// Tables of a page in Markdown, found by the heading above them.

/** Cells in Markdown. */
export type Table = { columns: readonly string[]; rows: readonly (readonly string[])[] }

/** By the heading of the section. */
export type Tables = Record<string, Table>

/** The page with these tables. Throws if a section or its table is missing. */
export function withTables(page: string, tables: Tables): string {
  return Object.entries(tables).reduce(
    (text, [heading, table]) => withTable(text, heading, markdownOf(table)),
    page,
  )
}

function withTable(page: string, heading: string, table: string): string {
  const sections = page.split(/^(?=#+ )/m)
  const place = sections.findIndex((section) => /^#+ (.*)\n/.exec(section)?.[1] === heading)
  const section = sections[place]
  if (section === undefined || !/^\|/m.test(section))
    throw new Error(`the page has no section '${heading}' with a table`)
  sections[place] = section.replace(/^(?:\|.*\n)+/m, () => table)
  return sections.join('')
}

function markdownOf({ columns, rows }: Table): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |\n`
  return [columns, columns.map(() => '---'), ...rows.map((row) => row.map(cellOf))]
    .map(line)
    .join('')
}

function cellOf(text: string): string {
  return text.replace(/\s+/g, ' ').replaceAll('|', '\\|')
}

/** A description as a cell, which has no full stop at its end. */
export function withoutStop(text: string): string {
  return text.replace(/\.$/, '')
}

export function code(text: string): string {
  return `\`${text}\``
}
