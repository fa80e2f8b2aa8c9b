// The results as tables: all of them in docs/internals/hosts.md, and one line for each host and
// front in the guide.

import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

export type Row = {
  program: string
  way?: string
  front: string
  title: string
  found: string
  isWell: boolean
}

const docs = join(import.meta.dirname, '..', '..', 'docs')

export async function writeTables(rows: readonly Row[]): Promise<void> {
  await replaceTable(
    join(docs, 'internals', 'hosts.md'),
    '| program | front | case | found |',
    rows.map(({ program, front, title, found, isWell }) =>
      line([program, front, title, isWell ? found : `**fails**: ${found}`]),
    ),
  )
  await replaceTable(
    join(docs, 'guides', 'guard-your-agent.md'),
    '| host | way | result |',
    summary(rows).map(line),
  )
}

function line(cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
}

/** Each host with a way to Weir, once. */
function summary(rows: readonly Row[]): string[][] {
  const hosts = new Map<string, Row[]>()
  for (const row of rows)
    if (row.way !== undefined && row.front !== 'none')
      hosts.set(row.program, [...(hosts.get(row.program) ?? []), row])
  return [...hosts].map(([program, all]) => [program, all[0]?.way ?? '', resultOf(all)])
}

function resultOf(rows: readonly Row[]): string {
  const missing = rows.find(({ found }) => /^not installed|not judged/.test(found))
  if (missing !== undefined) return missing.found.replace(/^\d+ requests, /, '')
  const failed = rows.filter(({ isWell }) => !isWell)
  const fronts = [...new Set(rows.map(({ front }) => front))].join(', ')
  const counts = `${rows.length - failed.length} of ${rows.length} cases (${fronts})`
  const names = [...new Set(failed.map(({ title }) => title))]
  return failed.length === 0 ? counts : `${counts}; not: ${names.join('; ')}`
}

async function replaceTable(file: string, head: string, lines: readonly string[]): Promise<void> {
  const page = await readFile(file, 'utf8')
  const start = page.indexOf(head)
  if (start === -1) throw new Error(`${file} has no table that begins with: ${head}`)
  const after = page.indexOf('\n\n', start)
  const rule = head.replace(/[^|]+/g, '---')
  const table = [head, rule, ...lines].join('\n')
  await writeFile(file, page.slice(0, start) + table + page.slice(after))
}
