// Makes the program of the npm package: `dist` with every entry and the chunks that they share, the
// files that the code reads at run time, and the command. Tests start the same program. It loads
// in a third of the time that the sources need, because Node opens some files in place of hundreds.
// BUNDLE-1. An expression with `import.meta` means the place of the module in the tree, not of its
//     chunk. `dist` has the folders of the tree, so paths to files that are read hold.
// BUNDLE-2. A program that runs in a sandbox is one file. The sandbox shows its folder and no chunk.

import { cpSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type InputOptions, type OutputOptions, type Plugin, rolldown } from 'rolldown'
import { joinedScript, readyScriptOf } from '../apps/page/page-script.ts'

const root = join(import.meta.dirname, '..')

/** Started by path, inside a sandbox (keeps BUNDLE-2). */
const confined = [
  'shared/tools/module/module-child.ts',
  'shared/tools/sandbox/sandbox-forwarder.ts',
]

/** Started or imported by path. */
const started = [
  'apps/cli/main.ts',
  'apps/replay/guard/guard-child.ts',
  'services/executor/performer/kept/keeper-child.ts',
  'services/guards/*/guard.ts',
]

/** `also`: more entries, as paths in the tree. Writes nothing outside of `folder`. */
export async function writeProgram(folder: string, also: readonly string[] = []): Promise<void> {
  const dist = join(folder, 'dist')
  const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    exports: Record<string, { default: string }>
  }
  const modules = Object.values(exports).map((entry) =>
    entry.default.replace(/^\.\/dist\/(.*)\.js$/, '$1.ts'),
  )
  await writeChunks(dist, [...modules, ...globSync(started, { cwd: root }), ...also])
  for (const file of confined) await writeChunks(dist, [file], { codeSplitting: false })
  writeReadFiles(dist)
  cpSync(join(root, 'bin', 'weir.js'), join(folder, 'bin', 'weir.js'))
}

async function writeChunks(
  dist: string,
  entries: readonly string[],
  output: OutputOptions = {},
): Promise<void> {
  const bundle = await rolldown({
    ...input,
    input: Object.fromEntries(entries.map((file) => [file.replace(/\.ts$/, ''), join(root, file)])),
  })
  await bundle.write({
    dir: dist,
    format: 'es',
    entryFileNames: '[name].js',
    chunkFileNames: 'chunks/[name]-[hash].js',
    comments: { legal: true, annotation: true, jsdoc: false },
    ...output,
  })
  await bundle.close()
}

/** Resolved at run time: the user's copy is in use. */
const external = [
  ...Object.keys(
    JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).peerDependencies as object,
  ),
  '@opentelemetry/api',
]

const toDist = '$TO_DIST$/'
const nodeUrl = "process.getBuiltinModule('node:url')"

/** Keeps BUNDLE-1. Other uses of `import.meta.url` mean the running file. */
const places: Plugin = {
  name: 'places',
  transform: {
    filter: { id: /\.ts$/, code: 'import.meta.' },
    handler(code, id) {
      const path = relative(root, id)
      // A module of a test stays in the checkout, next to the files that it reads.
      const file = path.startsWith('test')
        ? pathToFileURL(id).href
        : toDist + path.replace(/\.ts$/, '.js')
      const url = (place: string) => `new URL(${JSON.stringify(place)}, import.meta.url)`
      return code
        .replace(
          /new URL\(((?:[^()]|\([^()]*\))*?),\s*import\.meta\.url/g,
          (_, place: string) => `new URL(${place}, ${url(file)}`,
        )
        .replaceAll('import.meta.filename', `${nodeUrl}.fileURLToPath(${url(file)})`)
        .replaceAll('import.meta.dirname', `${nodeUrl}.fileURLToPath(${url(dirname(file))})`)
    },
  },
  renderChunk(code, { fileName }) {
    if (!code.includes(toDist)) return null
    return code.replaceAll(toDist, `${relative(dirname(fileName), '') || '.'}/`)
  },
}

const input: InputOptions = {
  cwd: root,
  platform: 'node',
  // Some packages have a wrapper around `require` as their main file, which no bundler can read.
  resolve: { mainFields: ['module', 'main'] },
  external: external.map((name) => new RegExp(`^${name}(?:/|$)`)),
  plugins: [places],
}

/**
 * All files of the sources that are no modules are read at run time. They are the template of
 * `weir init`, the schema of agent files, the tool of the demo, and the styles of pages.
 */
export function writeReadFiles(dist: string): void {
  for (const name of ['apps', 'client', 'services', 'shared'])
    cpSync(join(root, name), join(dist, name), {
      recursive: true,
      // A page about a folder is for its sources.
      filter: (path) => !(path.endsWith('.ts') || basename(path) === 'README.md'),
    })
  for (const entry of globSync('apps/**/page/main.ts', { cwd: root }))
    writeFileSync(join(dist, readyScriptOf(entry)), joinedScript(join(root, entry)))
  mkdirSync(join(dist, 'schemas'), { recursive: true })
  cpSync(join(root, 'schemas', 'lock.json'), join(dist, 'schemas', 'lock.json'))
}
