// Makes dist/, the code of the npm package. `npm pack` starts it (prepack in package.json), in a
// checkout with everything installed. A package cannot run the sources as a checkout does: Node
// strips no types below node_modules.

import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, globSync, readFileSync, rmSync } from 'node:fs'
import { basename, dirname, join, sep } from 'node:path'

const root = join(import.meta.dirname, '..')
const dist = join(root, 'dist')

rmSync(dist, { recursive: true, force: true })
const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
const { status } = spawnSync(
  process.execPath,
  [compiler, '-p', join(root, 'tsconfig.build.json')],
  { stdio: 'inherit' },
)
if (status !== 0) process.exit(1)
// its compiled output exists already, and only its types are in use
rmSync(join(dist, 'schemas'), { recursive: true, force: true })
const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  exports: { [path: string]: { types: string } }
}
dropUnused(Object.values(exports).map(({ types }) => join(root, types)))

// All other files of the sources are read at run time. They are the template of `weir init`, the
// schema of agent files, the tool of the demo, and the pages of `weir report` and of the console. The
// scripts of pages are copied unchanged: they are only text until a browser loads them.
const pages = ['report', join('http', 'console')].map((app) => join(root, 'apps', app, 'page', sep))
for (const folder of ['apps', 'client', 'services', 'shared'])
  cpSync(join(root, folder), join(dist, folder), {
    recursive: true,
    // A page about a folder is for its sources.
    filter: (path) =>
      pages.some((page) => path.startsWith(page)) ||
      !(path.endsWith('.ts') || basename(path) === 'README.md'),
  })
cpSync(join(root, 'schemas', 'lock.json'), join(dist, 'schemas', 'lock.json'))

/**
 * Keeps only the declarations that the public ones refer to. The others are half of all files and
 * of no use.
 */
function dropUnused(entries: string[]): void {
  const used = new Set(entries)
  for (const file of used)
    for (const [, path = ''] of readFileSync(file, 'utf8').matchAll(
      /(?:from|import\() ?['"](\.[^'"]+)\.ts['"]/g,
    ))
      used.add(`${join(dirname(file), path)}.d.ts`)
  const missing = [...used].filter((file) => !existsSync(file))
  if (missing.length > 0)
    throw new Error(
      `the public declarations speak of files that are not there: ${missing.join(', ')}`,
    )
  for (const file of globSync(join(dist, '**', '*.d.ts'))) if (!used.has(file)) rmSync(file)
}
