// The files and the time that a program needs to import weir-agents/guard, and to open a guard in
// memory. A new process measures each one.
//
// Not measured: the package as it is published, which has no types to strip.

import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { median } from './kafka-figures.ts'
import type { Row } from './row.ts'

const guardFile = new URL('../../client/guard/guard.ts', import.meta.url).href
const root = new URL('../../', import.meta.url).href
const times = 9

type Loaded = { ms: number; files: number; lines: number }

const program = `
  import { readFileSync } from 'node:fs'
  import { registerHooks } from 'node:module'
  const loaded = []
  if (COUNTS) registerHooks({ load: (url, context, next) => (loaded.push(url), next(url, context)) })
  const began = performance.now()
  const { openGuard } = await import(FILE)
  if (OPENS) await (await openGuard({ agent: 'bench' })).close()
  const ms = performance.now() - began
  const own = loaded.filter((url) => url.startsWith(ROOT) && !url.includes('/node_modules/'))
  const lines = own.map((url) => readFileSync(new URL(url), 'utf8').split('\\n').length - 1)
  console.log(JSON.stringify({ ms, files: own.length, lines: lines.reduce((sum, n) => sum + n, 0) }))
`

function loadedBy(options: { opens: boolean; counts: boolean }): Loaded {
  const source = program
    .replace('COUNTS', String(options.counts))
    .replace('OPENS', String(options.opens))
    .replace('FILE', JSON.stringify(guardFile))
    .replace('ROOT', JSON.stringify(root))
  const args = ['--disable-warning=ExperimentalWarning', '--input-type=module', '-e', source]
  const cwd = fileURLToPath(root)
  return JSON.parse(execFileSync(process.execPath, args, { cwd, encoding: 'utf8' })) as Loaded
}

export function benchGuardImport(): Row[] {
  return [false, true].flatMap((opens): Row[] => {
    const what = opens ? 'import and open in memory' : 'import of weir-agents/guard'
    const { files, lines } = loadedBy({ opens, counts: true })
    const ms = Array.from({ length: times }, () => loadedBy({ opens, counts: false }).ms)
    return [
      { name: `guest: ${what}, p50`, value: median(ms), unit: 'ms' },
      { name: `guest: ${what}`, value: files, unit: 'files' },
      { name: `guest: ${what}`, value: lines, unit: 'lines' },
    ]
  })
}

if (import.meta.main) console.table(benchGuardImport())
