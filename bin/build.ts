// Makes the npm package from a checkout with everything installed: `node bin/build.ts FOLDER` writes
// the file there, with its bill of materials (CycloneDX), and prints its name. A package cannot run the sources as a checkout does: Node
// strips no types below node_modules.
// It writes into a new temporary folder. Two builds and running tests do not meet.

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
import { writeProgram } from './bundle.ts'

const root = join(import.meta.dirname, '..')
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Manifest
const folder = resolve(process.argv[2] ?? 'out')
const made = mkdtempSync(join(tmpdir(), 'weir-package-'))
const dist = join(made, 'dist')

try {
  writeDeclarations()
  const { packages, imports } = await writeProgram(made)
  writeLicences(packages)
  writePages()
  writeExamples()
  const dependencies = dependenciesOf(imports)
  writeManifest(dependencies)
  mkdirSync(folder, { recursive: true })
  writeMaterials(packages, Object.keys(dependencies))
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
  dependencies: Record<string, string>
}

type Component = { 'bom-ref': string }
type Materials = {
  metadata: { component: Component }
  components: Component[]
  dependencies: { ref: string; dependsOn: string[] }[]
}

/** The public declarations. */
function writeDeclarations(): void {
  const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
  // In one thread. Otherwise several checkers repeat the work for all types that they share.
  const project = ['-p', join(root, 'tsconfig.build.json'), '--outDir', dist, '--singleThreaded']
  project.push('--emitDeclarationOnly')
  execFileSync(process.execPath, [compiler, ...project], { stdio: ['ignore', 2, 'inherit'] })
  dropUnused(Object.values(manifest.exports).map(({ types }) => join(made, types)))
}

/** All packages that the program contains, with their licences. */
function writeLicences(packages: Iterable<string>): void {
  const texts = [...packages].toSorted().map((folder) => {
    const { name, version, license } = JSON.parse(
      readFileSync(join(folder, 'package.json'), 'utf8'),
    ) as Record<string, string>
    if (license === undefined)
      throw new Error(`${name} has no licence, and the package contains it`)
    const [file] = readdirSync(folder).filter((one) => /^licen[cs]e/i.test(one))
    const text = file === undefined ? '' : `\n${readFileSync(join(folder, file), 'utf8').trim()}\n`
    return `${name} ${version}, licence ${license}\n${text}`
  })
  const head = 'dist/ contains code of these packages.\n'
  writeFileSync(
    join(made, 'THIRD-PARTY-LICENSES'),
    [head, ...texts].join(`\n${'-'.repeat(80)}\n\n`),
  )
}

/**
 * The bill of materials: all packages whose code is in the package, and those that an install brings.
 * npm lists all packages of the checkout.
 */
function writeMaterials(packages: Iterable<string>, dependencies: string[]): void {
  const options = ['--loglevel=error', '--workspaces=false', '--sbom-format=cyclonedx']
  const listed = execFileSync('npm', ['sbom', ...options], { cwd: root, maxBuffer: 2 ** 26 })
  const all = JSON.parse(listed.toString()) as Materials
  const { component } = all.metadata
  const neededBy = new Map(all.dependencies.map(({ ref, dependsOn }) => [ref, dependsOn]))
  const direct = (neededBy.get(component['bom-ref']) ?? []).filter((ref) =>
    dependencies.includes(ref.slice(0, ref.lastIndexOf('@'))),
  )
  const brought = new Set(direct)
  for (const ref of brought) for (const needed of neededBy.get(ref) ?? []) brought.add(needed)

  const contained = [...packages].map((folder) => {
    const { name, version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
    return `${name}@${version}`
  })
  const refs = new Set([...contained, ...brought])
  const components = all.components.filter((one) => refs.has(one['bom-ref']))
  if (components.length !== refs.size)
    throw new Error('npm sbom does not list every package whose code the package contains')
  const dependsOn = new Map(neededBy).set(component['bom-ref'], [...contained, ...direct])
  const materials = {
    ...all,
    metadata: { ...all.metadata, component: { ...component, name: manifest.name, properties: [] } },
    components,
    dependencies: [component['bom-ref'], ...refs].map((ref) => ({
      ref,
      dependsOn: [...new Set(dependsOn.get(ref))].filter((one) => refs.has(one)),
    })),
  }
  writeFileSync(join(folder, 'weir-agents.cdx.json'), `${JSON.stringify(materials, null, 2)}\n`)
}

/** Of the dependencies of a checkout, those that the program imports or whose types are public. */
function dependenciesOf(imports: Iterable<string>): Record<string, string> {
  const declared = globSync(join(dist, '**', '*.d.ts')).flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(/(?:from |import\()['"]([^'".][^'"]*)['"]/g)].map(
      ([, name = '']) => name,
    ),
  )
  const used = new Set(['@types/node', ...imports, ...declared])
  return Object.fromEntries(
    Object.entries(manifest.dependencies).filter(([name]) =>
      [...used].some((one) => one === name || one.startsWith(`${name}/`)),
    ),
  )
}

/**
 * The docs with the places that the examples have in the package, and the plug-ins with the lists that hosts
 * install plug-ins from. The README of the package is
 * client/README.md. Its links become absolute, because the registry shows it without the docs.
 */
function writePages(): void {
  const pages = ['AGENTS.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md']
  const marketplaces = ['.claude-plugin', '.agents', '.github/plugin']
  for (const page of [...pages, 'LICENSE', 'docs', 'integrations', ...marketplaces])
    cpSync(join(root, page), join(made, page), { recursive: true })
  rmSync(join(made, 'docs', '.vitepress'), { recursive: true })
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
function writeManifest(dependencies: Record<string, string>): void {
  const { private: _, workspaces, scripts, devDependencies, overrides, ...rest } = manifest
  const { allowScripts, ...published } = rest
  const { GITHUB_SERVER_URL: server, GITHUB_REPOSITORY: name } = process.env
  const repository = name && { type: 'git', url: `git+${server}/${name}.git` }
  const fields = {
    ...published,
    dependencies,
    ...(repository && { repository }),
    files: readdirSync(made),
  }
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
      /(?:from|import\(|^import) ?['"](\.[^'"]+)\.ts['"]/gm,
    ))
      used.add(`${join(dirname(file), path)}.d.ts`)
  const missing = [...used].filter((file) => !existsSync(file))
  if (missing.length > 0)
    throw new Error(
      `the public declarations speak of files that are not there: ${missing.join(', ')}`,
    )
  for (const file of globSync(join(dist, '**', '*.d.ts'))) if (!used.has(file)) rmSync(file)
}
