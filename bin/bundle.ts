// Makes the program of the npm package: `dist` with every entry and the chunks that they share, the
// files that the code reads at run time, and the command. Tests start the same program. It loads
// in a third of the time that the sources need, because Node opens some files in place of hundreds.
// An expression with `import.meta` means the place of the module in the tree, not of its
// chunk. `dist` has the folders of the tree, so paths to files that are read hold.
// A program that runs in a sandbox is one file. The sandbox shows its folder and no chunk.
// BUNDLE-3. The modules of `ahead` run the code that Ajv generates for their schemas in a checkout.
//     The code is a third of the program, so each module has its own file, which loads at the first use.
// BUNDLE-4. No chunk imports node:http or node:https. Such an import reads each export, and one
//     loads the client of fetch, a seventh of the CPU time of a short command.

import { cpSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { basename, dirname, join, relative } from 'node:path'
import { pathToFileURL } from 'node:url'
import standalone from 'ajv/dist/standalone/index.js'
import {
  type InputOptions,
  type OutputChunk,
  type OutputOptions,
  type Plugin,
  rolldown,
} from 'rolldown'
import { joinedScript, pageLibraries, readyScriptOf } from '../apps/page/page-script.ts'
import { styleOfPlots } from '../apps/page/page-styles.ts'
import type { Ahead } from '../shared/lib/json/ahead.ts'

const root = join(import.meta.dirname, '..')

/** Started by path, inside a sandbox. */
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

/**
 * `packages`: the folders of all packages with code in the program. `imports`: the modules of packages
 * that it imports at run time.
 */
export type Program = { packages: ReadonlySet<string>; imports: ReadonlySet<string> }

/** `also`: more entries, as paths in the tree. Writes nothing outside of `folder`. */
export async function writeProgram(folder: string, also: readonly string[] = []): Promise<Program> {
  const dist = join(folder, 'dist')
  const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    exports: Record<string, { default: string }>
  }
  const modules = Object.values(exports).map((entry) =>
    entry.default.replace(/^\.\/dist\/(.*)\.js$/, '$1.ts'),
  )
  const chunks = await writeChunks(dist, [...modules, ...globSync(started, { cwd: root }), ...also])
  for (const file of confined)
    chunks.push(...(await writeChunks(dist, [file], { codeSplitting: false })))
  for (const file of ahead) chunks.push(...(await writeChunks(dist, [file], asGenerated(file))))
  writeReadFiles(dist)
  cpSync(join(root, 'bin', 'weir.js'), join(folder, 'bin', 'weir.js'))

  const files = new Set(chunks.map(({ fileName }) => fileName))
  return {
    packages: new Set([
      ...chunks.flatMap(({ moduleIds }) => moduleIds.flatMap(packageOf)),
      ...Object.keys(pageLibraries).map((name) => join(root, 'node_modules', name)),
    ]),
    imports: new Set(
      chunks
        .flatMap((chunk) => [...chunk.imports, ...chunk.dynamicImports])
        .filter((name) => !files.has(name) && !isBuiltin(name)),
    ),
  }
}

/** The folder of the package that has this module. Empty for a module of Weir. */
function packageOf(id: string): string[] {
  const [folder] = /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id) ?? []
  return folder === undefined ? [] : [folder.replace(/^\0/, '')]
}

async function writeChunks(
  dist: string,
  entries: readonly string[],
  options: OutputOptions = {},
): Promise<OutputChunk[]> {
  const bundle = await rolldown({
    ...input,
    plugins: [options.codeSplitting === false ? generated : lateValidators, places, plainHttp],
    input: Object.fromEntries(entries.map((file) => [file.replace(/\.ts$/, ''), join(root, file)])),
  })
  const { output } = await bundle.write({
    dir: dist,
    format: 'es',
    entryFileNames: '[name].js',
    chunkFileNames: 'chunks/[name]-[hash].js',
    comments: { legal: true, annotation: true, jsdoc: false },
    codeSplitting: {
      groups: layers.map(({ name, tops }, n) => ({
        name,
        test: (id) => tops.includes(relative(root, id)),
        priority: layers.length - n,
      })),
    },
    ...options,
  })
  await bundle.close()
  return output.filter((file) => file.type === 'chunk')
}

/**
 * The modules of `tops` and all that they import make one chunk each, without the modules of the
 * layers above. So no chunk imports one below it, and a start opens a few files.
 */
const layers: { name: string; tops: readonly string[] }[] = [
  // Not main.ts: it awaits the program at its top level, and the program would await its chunk.
  {
    name: 'start',
    tops: [
      'apps/terminal/early-signals.ts',
      'apps/cli/clean-environment.ts',
      'apps/cli/top-help.ts',
    ],
  },
  { name: 'guard', tops: ['client/guard/guard.ts'] },
  // The part that flags and the client share.
  {
    name: 'contract',
    tops: [
      'shared/settings/settings.ts',
      'shared/settings/setting-words.ts',
      'shared/contract/guard/guard.ts',
      'shared/lib/version.ts',
      'client/place/stages-choice.ts',
      'apps/terminal/text/printable.ts',
    ],
  },
  { name: 'program', tops: ['apps/cli/program.ts'] },
  {
    name: 'flags',
    tops: ['apps/cli/commands/flags.ts', 'apps/cli/commands/operator/setting-commands.ts'],
  },
  {
    name: 'memory',
    tops: [
      'client/guard/guard-options.ts',
      'client/guard/guest-agent.ts',
      'client/guard/guest-place.ts',
      'client/guard/memory/open-memory.ts',
    ],
  },
  // The names of providers and formats, for flags.
  {
    name: 'formats',
    tops: ['services/llm-gateway/performer/providers/providers.ts', 'apps/transcripts/formats.ts'],
  },
  {
    name: 'settings',
    tops: ['apps/terminal/command-settings.ts', 'apps/cli/settings.ts'],
  },
  {
    name: 'log',
    tops: [
      'apps/history/open-log.ts',
      'apps/service/setting-command.ts',
      'apps/service/guards/list.ts',
      'apps/service/stops/list.ts',
    ],
  },
  { name: 'weir', tops: ['client/weir.ts'] },
  { name: 'stages', tops: ['services/stages.ts', 'apps/cli/ask.ts', 'apps/cli/open-agent.ts'] },
]

/**
 * Resolved at run time. A user has a framework in the version of choice. The declarations of the package
 * name types of kafkajs, so each install has it.
 */
const external = [
  ...Object.keys(
    JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).peerDependencies as object,
  ),
  'kafkajs',
]

const toDist = '$TO_DIST$/'
const nodeUrl = "process.getBuiltinModule('node:url')"

/** Other uses of `import.meta.url` mean the running file. */
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

/** Keeps BUNDLE-4. */
const plainHttp: Plugin = {
  name: 'plain-http',
  renderChunk: (code) =>
    code.replace(
      /^import (?:([\w$]+)(?:, )?)?(\{[^}]*\})? from "(node:https?)";$/gm,
      (_, whole: string | undefined, named: string | undefined, name: string) =>
        [whole, named?.replaceAll(' as ', ': ')]
          .filter((target) => target !== undefined)
          .map((target) => `const ${target} = process.getBuiltinModule("${name}");`)
          .join('\n'),
    ),
}

/** Modules that export validators only, each as `ahead(…)`. */
export const ahead = [
  'shared/agents/code/code-schema.ts',
  'shared/agents/file/file-validator.ts',
  'shared/contract/arguments/meta-schemas.ts',
]

/** Keeps BUNDLE-3. The code of one module of `ahead`, for no reader. */
const asGenerated = (file: string): OutputOptions => ({
  codeSplitting: false,
  entryFileNames: generatedName(file),
  format: 'cjs',
  minify: true,
})

const generatedName = (file: string) => `chunks/${basename(file, '.ts')}.cjs`

function insteadOfAhead(
  codeOf: (validators: Record<string, Ahead>, file: string) => string,
): Plugin {
  return {
    name: 'validators',
    load: {
      filter: { id: ahead.map((file) => new RegExp(`/${file}$`)) },
      handler: async (id) => codeOf(await import(pathToFileURL(id).href), relative(root, id)),
    },
  }
}

const generated = insteadOfAhead((validators) =>
  Object.entries(validators)
    .map(([name, { create }]) => validatorCode(name, create))
    .join('\n'),
)

const lateValidators = insteadOfAhead((validators, file) => {
  const path = JSON.stringify(toDist + generatedName(file))
  const load = `process.getBuiltinModule('node:module').createRequire(import.meta.url)(${path})`
  return Object.keys(validators)
    .map((name) => `let ${name}$\nexport const ${name} = () => (${name}$ ??= ${load}.${name}())`)
    .join('\n')
})

export function validatorCode(name: string, create: Ahead['create']): string {
  const [ajv, id] = create({ source: true })
  const code = standalone.default(ajv, { validate: id })
  return `let ${name}$
export const ${name} = () => (${name}$ ??= (() => { const exports = {}; ${code}; return exports.validate })())`
}

const input: InputOptions = {
  cwd: root,
  platform: 'node',
  // Some packages have a wrapper around `require` as their main file, which no bundler can read.
  resolve: { mainFields: ['module', 'main'] },
  external: external.map((name) => new RegExp(`^${name}(?:/|$)`)),
  checks: { bundlerTimings: false }, // a slow machine is no fault of a package
  onLog(_, { code, message }) {
    // Such a module loads with its other importers. Any other warning is a package that cannot run.
    if (code !== 'INEFFECTIVE_DYNAMIC_IMPORT') throw new Error(message)
  },
}

/**
 * All files of the sources that are no modules are read at run time. They are the template of
 * `weir init`, the schema of agent files, the tool of the demo, and the styles of pages.
 */
function writeReadFiles(dist: string): void {
  for (const name of ['apps', 'client', 'services', 'shared'])
    cpSync(join(root, name), join(dist, name), {
      recursive: true,
      // A page about a folder is for its sources.
      filter: (path) => !(path.endsWith('.ts') || basename(path) === 'README.md'),
    })
  for (const entry of globSync('apps/**/page/main.ts', { cwd: root }))
    writeFileSync(join(dist, readyScriptOf(entry)), joinedScript(join(root, entry)))
  cpSync(styleOfPlots(), join(dist, 'apps', 'page', 'kit', 'uPlot.min.css'))
  mkdirSync(join(dist, 'schemas'), { recursive: true })
  cpSync(join(root, 'schemas', 'lock.json'), join(dist, 'schemas', 'lock.json'))
}
