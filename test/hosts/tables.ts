// The results as tables: all of them in docs/internals/hosts.md, and one line for each host in the
// guide. A run of some cases replaces their lines only.

import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Case } from './cases/case.ts'

export type Outcome = { found: string; isWell: boolean }

type Line = Case & Outcome

const docs = join(import.meta.dirname, '..', '..', 'docs')
const internals = join(docs, 'internals', 'hosts.md')
const guide = join(docs, 'guides', 'guard-your-agent.md')
const head = '| program | front | case | found |'
const guideHead = '| host | way to the proxy | cases that held |'
const failed = '**fails**: '

/** `outcomes`: of the cases that ran. The others keep the line that the page has for their version. */
export async function writeTables(
  cases: readonly Case[],
  outcomes: ReadonlyMap<Case, Outcome>,
): Promise<void> {
  const old = await oldOutcomes()
  const lines = cases.flatMap((one): Line[] => {
    const outcome = outcomes.get(one) ?? old.get(keyOf(one.program, one.front, one.title))
    return outcome === undefined ? [] : [{ ...one, ...outcome }]
  })
  await replaceTable(
    internals,
    head,
    lines.map(({ program, front, title, found, isWell }) =>
      lineOf([program, front, title, isWell ? found : `${failed}${found}`]),
    ),
  )
  await replaceTable(guide, guideHead, summary(lines).map(lineOf))
}

const keyOf = (...cells: readonly string[]) => cells.join(' | ')

async function oldOutcomes(): Promise<Map<string, Outcome>> {
  const page = await readFile(internals, 'utf8')
  const table = page.slice(page.indexOf(head)).split('\n\n', 1)[0] ?? ''
  const rows = table.split('\n').slice(2)
  return new Map(
    rows.map((row) => {
      const [program = '', front = '', title = '', found = ''] = row.slice(2, -2).split(' | ')
      const isWell = !found.startsWith(failed)
      return [keyOf(program, front, title), { found: found.replace(failed, ''), isWell }]
    }),
  )
}

function lineOf(cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll('|', '/').replaceAll('\n', ' ')).join(' | ')} |`
}

/** Each host with a way to Weir, once. */
function summary(lines: readonly Line[]): string[][] {
  const hosts = new Map<string, Line[]>()
  for (const line of lines)
    if (line.way !== undefined && line.front !== 'none')
      hosts.set(line.program, [...(hosts.get(line.program) ?? []), line])
  return [...hosts].map(([program, all]) => [program, all[0]?.way ?? '', resultOf(all)])
}

function resultOf(lines: readonly Line[]): string {
  const missing = lines.find(({ found }) => /not installed|not judged/.test(found))
  if (missing !== undefined) return missing.found.replace(/^\d+ requests, /, '')
  const fronts = [...new Set(lines.map(({ front }) => front))].join(', ')
  const held = lines.filter(({ isWell }) => isWell).length
  return `${held} of ${lines.length} (${fronts})`
}

async function replaceTable(file: string, first: string, lines: readonly string[]): Promise<void> {
  const page = await readFile(file, 'utf8')
  const start = page.indexOf(first)
  if (start === -1) throw new Error(`${file} has no table that begins with: ${first}`)
  const rule = first.replace(/[^|]+/g, '---')
  const table = [first, rule, ...lines].join('\n')
  const after = page.indexOf('\n\n', start)
  await writeFile(file, page.slice(0, start) + table + (after === -1 ? '\n' : page.slice(after)))
}
