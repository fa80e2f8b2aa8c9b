// The results as tables: all of them in RESULTS.md, and one line for each host in the guide. A run of some cases replaces their lines only.

import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Case } from './cases/case.ts'
import type { WorksWith } from './programs/program.ts'

export type Outcome = { found: string; isWell: boolean }

type Line = Case & Outcome

const results = join(import.meta.dirname, 'RESULTS.md')
const guide = join(import.meta.dirname, '..', '..', 'docs', 'guard', 'guard-your-agent.md')
const head = '| program | front | case | found |'
const guideHead = '| host | plug-in | calls without Weir | way to the proxy | cases that held |'
const failed = '**fails**: '

/** `outcomes`: of the cases that ran. The others keep the line that the page has for their version. */
export async function writeTables(
  cases: readonly Case[],
  outcomes: ReadonlyMap<Case, Outcome>,
): Promise<void> {
  const lines = linesOf(cases, outcomes, await readFile(results, 'utf8'))
  await replaceTable(
    results,
    head,
    lines.map(({ program, front, title, found, isWell }) =>
      lineOf([program, front, title, isWell ? found : `${failed}${found}`]),
    ),
  )
  await replaceTable(guide, guideHead, summary(lines))
}

/** The lines of the guide's table, from the results. */
export async function worksWith(
  cases: readonly Case[],
): Promise<{ expected: string[]; actual: string[] }> {
  const page = await readFile(guide, 'utf8')
  const lines = linesOf(cases, new Map(), await readFile(results, 'utf8'))
  return { expected: summary(lines), actual: tableIn(page, guideHead) }
}

function linesOf(
  cases: readonly Case[],
  outcomes: ReadonlyMap<Case, Outcome>,
  page: string,
): Line[] {
  const old = outcomesIn(page)
  return cases.flatMap((one): Line[] => {
    const outcome = outcomes.get(one) ?? old.get(keyOf(one.program, one.front, one.title))
    return outcome === undefined ? [] : [{ ...one, ...outcome }]
  })
}

const keyOf = (...cells: readonly string[]) => cells.join(' | ')

/** The rows of the table that begins with this line. */
function tableIn(page: string, first: string): string[] {
  const table = page.slice(page.indexOf(first)).split('\n\n', 1)[0] ?? ''
  return table.trimEnd().split('\n').slice(2)
}

function outcomesIn(page: string): Map<string, Outcome> {
  return new Map(
    tableIn(page, head).map((row) => {
      const [program = '', front = '', title = '', found = ''] = row.slice(2, -2).split(' | ')
      const isWell = !found.startsWith(failed)
      return [keyOf(program, front, title), { found: found.replace(failed, ''), isWell }]
    }),
  )
}

function lineOf(cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll('|', '/').replaceAll('\n', ' ')).join(' | ')} |`
}

/** Each host once. */
function summary(lines: readonly Line[]): string[] {
  const hosts = new Map<string, Line[]>()
  for (const line of lines)
    if (line.worksWith !== undefined && line.front !== 'none')
      hosts.set(line.program, [...(hosts.get(line.program) ?? []), line])
  return [...hosts].map(([program, all]) => {
    const { way = '', plugin } = all[0]?.worksWith ?? {}
    return lineOf([program, ...pluginCells(plugin), way, resultOf(all)])
  })
}

function pluginCells(plugin: WorksWith['plugin']): [string, string] {
  if (plugin === undefined) return ['', '']
  if (typeof plugin === 'string') return [plugin, '']
  const { folder, open = 'no call runs' } = plugin
  return [`[${folder}](../../integrations/${folder}/README.md)`, open]
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
