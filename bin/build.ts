// Makes the npm package from a checkout with everything installed: `node bin/build.ts FOLDER` writes
// the file there and prints its name. A package cannot run the sources as a checkout does: Node
// strips no types below node_modules.
// BUILD-1. It writes into a new temporary folder. Two builds and running tests do not meet.

import { execFileSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { writeReadFiles } from './bundle.ts'

const root = join(import.meta.dirname, '..')
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Manifest
const folder = resolve(process.argv[2] ?? 'out')
const made = mkdtempSync(join(tmpdir(), 'weir-package-'))
const dist = join(made, 'dist')

try {
  writeCode()
  writePages()
  writeExamples()
  writeManifest()
  mkdirSync(folder, { recursive: true })
  const options = ['--loglevel=error', '--pack-destination', folder]
  process.stdout.write(execFileSync('npm', ['pack', ...options], { cwd: made, encoding: 'utf8' }))
} finally {
  rmSync(made, { recursive: true })
}

type Manifest = {
  [field: string]: unknown
  name: string
  version: string
  exports: { [path: string]: { types: string; default: string } }
}

/** The compiled code, its public declarations, and the files that it reads at run time. */
function writeCode(): void {
  const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
  // In one thread. Otherwise several checkers repeat the work for all types that they share.
  const project = ['-p', join(root, 'tsconfig.build.json'), '--outDir', dist, '--singleThreaded']
  execFileSync(process.execPath, [compiler, ...project], { stdio: ['ignore', 2, 'inherit'] })
  // its compiled output exists already, and only its types are in use
  rmSync(join(dist, 'schemas'), { recursive: true, force: true })
  dropUnused(Object.values(manifest.exports).map(({ types }) => join(made, types)))

  writeReadFiles(dist)
  cpSync(join(root, 'bin', 'weir.js'), join(made, 'bin', 'weir.js'))
}

/**
 * The docs, with the places that the examples have in the package. The README of the package is
 * client/README.md. Its links become absolute, because the registry shows it without the docs.
 */
function writePages(): void {
  const pages = ['AGENTS.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md']
  for (const page of [...pages, 'LICENSE', 'docs'])
    cpSync(join(root, page), join(made, page), { recursive: true })
  for (const page of globSync(join(made, 'docs', '**', '*.md')))
    writeFileSync(
      page,
      readFileSync(page, 'utf8').replace(/test\/examples\/(?=[\w*-]+\.)/g, 'examples/'),
    )
  const site = `https://unpkg.com/${manifest.name}@${manifest.version}/`
  const readme = readFileSync(join(root, 'client', 'README.md'), 'utf8')
  writeFileSync(join(made, 'README.md'), readme.replaceAll('](../', `](${site}`))
}

/** The programs of the guides, as a user writes them. The rest of the folder is for their tests. */
function writeExamples(): void {
  const source = join(root, 'test', 'examples')
  const target = join(made, 'examples')
  mkdirSync(target)
  for (const name of readdirSync(source)) {
    if (!name.endsWith('.ts') || /^(?:examples|looping-chat)\.ts$|\.test\.ts$/.test(name)) continue
    const text = Object.entries(manifest.exports).reduce(
      (program, [path, { types }]) =>
        program.replaceAll(
          `'../../${types.replace('./dist/', '').replace('.d.ts', '.ts')}'`,
          `'${join(manifest.name, path)}'`,
        ),
      readFileSync(join(source, name), 'utf8'),
    )
    writeFileSync(join(target, name), text)
  }
}

/**
 * Fields that matter only in a checkout are left out. A workflow knows its repository, which npm
 * compares with the provenance.
 */
function writeManifest(): void {
  const { private: _, workspaces, scripts, devDependencies, overrides, ...rest } = manifest
  const { allowScripts, ...published } = rest
  const { GITHUB_SERVER_URL: server, GITHUB_REPOSITORY: name } = process.env
  const repository = name && { type: 'git', url: `git+${server}/${name}.git` }
  const fields = { ...published, ...(repository && { repository }), files: readdirSync(made) }
  const text = JSON.stringify(fields, null, 2)
  writeFileSync(join(made, 'package.json'), `${text}\n`)
}

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
