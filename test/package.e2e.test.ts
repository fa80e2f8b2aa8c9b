// The npm package, packed and installed: its files, and its commands, programs and types, which
// behave like those of the checkout.

import { existsSync, lstatSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { startAnthropicServer } from '../apps/demo/anthropic-server.ts'
import { examples, openExampleFolder, withModel } from './examples/examples.ts'
import { type Ended, installPackage, type Project } from './support/installed-package.ts'
import { call, resultsOf, says, script, text } from './support/script.ts'

const root = join(import.meta.dirname, '..')
const textOf = (...path: string[]) => readFileSync(join(...path), 'utf8')

let project: Project
beforeAll(() => {
  project = installPackage(['@jest/globals', 'zod'])
})
afterAll(() => project.close())

describe('the packed package', () => {
  it('has compiled code, public declarations and examples, and no source, test, map or tool', () => {
    const isMeant = (file: string) =>
      /^(package\.json|(README|AGENTS|CHANGELOG|CONTRIBUTING|SECURITY)\.md|LICENSE|THIRD-PARTY-LICENSES|bin\/weir\.js|examples\/[\w-]+\.ts|dist\/schemas\/lock\.json|dist\/(apps|chunks|client|services|shared)\/.+|docs\/.+\.(md|png|svg)|integrations\/.+|(\.claude-plugin|\.agents\/plugins|\.github\/plugin)\/marketplace\.json)$/.test(
        file,
      ) &&
      (!/(\.map|\.test\.js|(?<!\.d)\.ts)$/.test(file) ||
        /^(examples|integrations|dist\/apps\/(page|(report|replay|http\/console)\/page))\//.test(
          file,
        )) // texts to copy or serve
    expect(project.files.filter((file) => !isMeant(file))).toEqual([])
    expect(project.files).toContain('dist/client/weir.js')
    expect(project.files).toContain('.claude-plugin/marketplace.json')
  })

  it('names no folder of the machine that packed it', () => {
    expect(project.files.filter((file) => textOf(project.installed, file).includes(root))).toEqual(
      [],
    )
  })

  it('has every file to which one of its pages links', () => {
    const pages = project.files.filter((file) => file.endsWith('.md'))
    const links = pages.flatMap((page) =>
      [...textOf(project.installed, page).matchAll(/\]\((?![a-z]+:|#)([^)#\s]+)/g)].map(
        ([, path = '']) => join(dirname(page), path),
      ),
    )
    expect(links.length).toBeGreaterThan(100)
    expect(links.filter((path) => !project.files.includes(path))).toEqual([])
  })

  it('has a README with absolute links, to files that it has', () => {
    const { name, version } = project.manifest
    const links = [...textOf(project.installed, 'README.md').matchAll(/\]\(([^)]+)\)/g)]
    const site = `https://unpkg.com/${name}@${version}/`
    expect(links.length).toBeGreaterThan(20)
    expect(
      links
        .map(([, link = '']) => (link.startsWith(site) ? link.slice(site.length) : link))
        .filter((path) => !project.files.includes(path)),
    ).toEqual([])
  })

  it('has every example that one of its pages for users names', () => {
    const named = project.files
      .filter((file) => /^(README\.md|docs\/(?!internals)\w+\/.+\.md)$/.test(file))
      .flatMap((page) => textOf(project.installed, page).match(/examples\/[\w-]+\.\w+/g) ?? [])
    expect(named.length).toBeGreaterThan(3)
    expect(named.filter((file) => !project.files.includes(file))).toEqual([])
  })

  it('has no program with `await using`, which Node.js has from 24 on', () => {
    const programs = project.files.filter((file) => /^examples\/|\/templates\//.test(file))
    expect(programs.length).toBeGreaterThan(20)
    expect(
      programs.filter((file) => textOf(project.installed, file).includes('await using')),
    ).toEqual([])
    for (const program of programsOfReadme()) expect(program).not.toContain('await using')
  })

  it('is small', () => {
    // Half of this is code of other packages. Files that do not belong exceed it: maps, recordings.
    expect(project.tarballBytes).toBeLessThan(3.25 * 1024 * 1024)
  })

  it('has only exports that resolve, with types that match their code', async () => {
    const attw = join(root, 'node_modules/@arethetypeswrong/cli/dist/index.js')
    const types = ['--profile', 'esm-only', '--format', 'json']
    const { code, out } = await project.run(['node', attw, project.tarball, ...types])
    expect({ code, problems: JSON.parse(out).problems }).toMatchObject({ code: 0 })
    const publint = join(root, 'node_modules/publint/src/cli.js')
    expect(await project.run(['node', publint, project.tarball, '--strict'])).toMatchObject({
      code: 0,
      out: expect.stringContaining('All good!'),
    })
    const { exports } = project.manifest
    expect(Object.keys(exports)).toContain('./ai-sdk')
    expect(
      Object.values(exports)
        .flatMap((entry) => Object.values(entry))
        .filter((path) => !project.files.includes(path.slice('./'.length))),
    ).toEqual([])
  })

  it('imports no framework with an adapter', async () => {
    const peers = Object.keys(project.manifest.peerDependencies).sort()
    expect(peers).toEqual(['@open-policy-agent/opa-wasm', '@openai/agents', 'ai', 'langchain'])
    for (const name of ['ai-sdk', 'langchain', 'openai-agents'])
      expect(
        await project.run([
          ...['node', '--input-type=module', '--eval'],
          `console.log(typeof Object.values(await import('weir-agents/${name}'))[0])`,
        ]),
      ).toEqual({ code: 0, out: 'function\n', errors: '' })
  })

  it('has every file that its code reads from its own folder', () => {
    const code = project.files.filter((file) => file.endsWith('.js'))
    const read = code.flatMap((file) =>
      [
        ...textOf(project.installed, file).matchAll(
          /new URL\(['"]([^'"]+)['"], new URL\(['"]([^'"]+)['"], import\.meta\.url\)/g,
        ),
      ].map(([, path = '', module = '']) => join(dirname(file), dirname(module), path)),
    )
    expect(read.length).toBeGreaterThan(3)
    expect(read.filter((path) => !existsSync(join(project.installed, path)))).toEqual([])
  })

  it('has the licence of each package whose code it contains', () => {
    const licences = textOf(project.installed, 'THIRD-PARTY-LICENSES')
    const code = ['@anthropic-ai/sdk', 'ajv', 'commander', 'hono', 'openai', 'pino', 'yaml']
    for (const name of [...code, 'htm', 'preact', 'uplot'])
      expect(licences).toMatch(new RegExp(`^${name} [\\d.]+, licence [\\w.-]+\\n\\n.+`, 'm'))
    expect(licences).not.toContain(root)
  })

  it('has a bill of materials with each package that it contains or that an install brings', () => {
    const materials = JSON.parse(textOf(dirname(project.tarball), 'weir-agents.cdx.json'))
    expect(materials.metadata.component).toMatchObject({
      name: 'weir-agents',
      version: project.manifest.version,
    })
    const licences = textOf(project.installed, 'THIRD-PARTY-LICENSES')
    const contained = [...licences.matchAll(/^-{80}\n\n(\S+) (\S+), licence /gm)].map(
      ([, name, version]) => `${name}@${version}`,
    )
    const brought = installedWith(Object.keys(project.manifest.dependencies)).map(
      ({ path, version }) => `${path.replace(/.*node_modules\//, '')}@${version}`,
    )
    expect(contained.length).toBeGreaterThan(40)
    expect(
      materials.components.map((one: Record<string, string>) => one['bom-ref']).sort(),
    ).toEqual([...new Set([...contained, ...brought])].sort())
  })

  it('needs the number and the size of packages that client/README.md states, at most 50 MB', () => {
    const needed = installedWith(Object.keys(project.manifest.dependencies))
    const folders = [project.installed, ...needed.map(({ path }) => join(root, path))]
    const megabytes = folders.reduce((sum, folder) => sum + bytesIn(folder), 0) / 1e6
    const readme = textOf(root, 'client', 'README.md').replace(/\s+/g, ' ')
    const [, packages, size] = /adds about (\d+) packages and (\d+) MB/.exec(readme) ?? []
    expect({
      packages: Math.abs(Number(packages) - folders.length) <= 2,
      megabytes,
      size,
    }).toEqual({ packages: true, megabytes: expect.any(Number), size: expect.any(String) })
    expect(Math.abs(Number(size) / megabytes - 1)).toBeLessThanOrEqual(0.1)
    expect(megabytes).toBeLessThan(50)
  })

  it('runs no install script, and its dependencies run none', () => {
    expect(project.manifest).not.toHaveProperty('scripts')
    expect(project.manifest).not.toHaveProperty('private')
    const withScripts = installedWith(Object.keys(project.manifest.dependencies)).filter(
      ({ hasInstallScript }) => hasInstallScript,
    )
    expect(withScripts).toEqual([])
    // The check would find one.
    expect(
      installedWith(['@swc/core']).filter(({ hasInstallScript }) => hasInstallScript),
    ).toHaveLength(1)
  })
})

describe('its commands', () => {
  it.each(['weir', 'weir-agents'])('%s prints its usage', async (command) => {
    const { code, out, errors } = await project.run([command, '--help'])
    expect({ code, errors }).toEqual({ code: 0, errors: '' })
    expect(out).toMatch(/^Usage: weir [\s\S]*\bask\b[\s\S]*\bdoctor\b/)
  })

  it('set up an agent whose tools run: a program, and a module in its own process', async () => {
    const server = await startAnthropicServer(
      script(
        says(
          call('list_files', { folder: '.' }),
          call('read_file', { file: 'notes.txt', lines: 1 }),
        ),
        says(text('These files.')),
      ),
    )
    try {
      expect(await project.run(['weir', 'init', 'start'])).toMatchObject({ code: 0, errors: '' })
      const file = join(project.folder, 'start', 'agent.yaml')
      writeFileSync(
        file,
        textOf(file).replace('name: claude-sonnet-5-5', `name: scripted\n  baseUrl: ${server.url}`),
      )

      const settings = await project.run(['weir', 'settings', '--json'])
      expect(JSON.parse(settings.out)).toMatchObject({ dataFolder: { value: '.weir' } })
      const doctor = await project.run(['weir', 'doctor', '--agent', 'start'])
      expect(doctor).toMatchObject({
        code: 0,
        errors: '',
        out: expect.stringContaining('Nothing is wrong'),
      })

      const answer = await project.run([
        'weir',
        'ask',
        '--agent',
        'start/agent.yaml',
        '--conversation',
        'c',
        'Which files?',
      ])
      expect(answer).toMatchObject({ code: 0, out: 'These files.\n' })
      const [listed, read] = resultsOf(server.requests[1])
      expect(listed).toMatch(/^notes\.txt \d+\n/)
      expect(read).toMatch(/^The tools of agent\.yaml/)
      expect((await project.run(['weir', 'inspect', 'c'])).out).toContain('These files.')
    } finally {
      await server.close()
    }
  })

  it('set up a TypeScript project whose types hold and whose tests pass without a key', async () => {
    expect(await project.run(['weir', 'init', 'ts', '--template', 'typescript'])).toMatchObject({
      code: 0,
      errors: '',
      out: expect.stringContaining('npm test'),
    })
    const cwd = join(project.folder, 'ts')
    const { version } = JSON.parse(textOf(root, 'package.json'))
    expect(JSON.parse(textOf(cwd, 'package.json'))).toMatchObject({
      dependencies: { 'weir-agents': version },
    })
    expect(await compile(cwd)).toEqual({ code: 0, out: '', errors: '' })
    const tested = await project.run(['node', '--test'], { cwd })
    expect(tested).toMatchObject({ code: 0, out: expect.stringContaining('pass 3') })
  })

  it('know the shipped guards by name', async () => {
    const answer = await project.run([
      'weir',
      'ask',
      '--agent',
      'none.yaml',
      '--guard',
      'spend',
      'hello',
    ])
    expect(answer).toMatchObject({
      code: 2,
      errors: expect.stringMatching(
        /node_modules\/weir-agents\/dist\/services\/guards\/spend\/guard\.js: the spend guard's tools is missing/,
      ),
    })
    expect((await project.run(['weir', 'guard', 'run', 'spen'])).errors).toContain(
      '(flow, once, opa, shell, spend do); did you mean spend?',
    )
  })

  it('name the install line of the engine that the opa guard needs', async () => {
    const options = {
      tools: ['*'],
      policyFile: join(root, 'test/services/guards/opa/policy/bundle.tar.gz'),
    }
    const making = `const { opaGuard } = await import('weir-agents/guards')
      try { opaGuard(${JSON.stringify(options)}) } catch (error) { console.log(error.message) }`
    expect(await project.run(['node', '--input-type=module', '--eval', making])).toMatchObject({
      code: 0,
      out: expect.stringContaining('npm install @open-policy-agent/opa-wasm'),
    })
  })

  it("play the demo, and then name the package's next commands", async () => {
    const { code, out, errors } = await project.run(['weir', 'demo'])
    expect({ code, errors }).toEqual({ code: 0, errors: '' })
    expect(out).toContain('with Weir it ended answered')
    expect(out).toMatch(/\nNext:\n {2}npx weir demo --bad stubborn /)
  })

  it("keep Node's compiled code in the user's home folder", () => {
    expect(existsSync(join(project.folder, 'home', '.cache', 'weir-agents'))).toBe(true)
  })

  it('report a Node.js that is too old', async () => {
    const older = `data:text/javascript,Object.defineProperty(process,'versions',{value:{...process.versions,node:'22.17.1'}})`
    expect(
      await project.run(['node', '--import', older, 'node_modules/.bin/weir', 'settings']),
    ).toEqual({
      code: 1,
      out: '',
      errors: `weir: Node.js ${project.manifest.engines.node.slice(2)} or newer is needed, and this is 22.17.1: install a newer one (https://nodejs.org).\n`,
    })
  })
})

describe('a program', () => {
  it('gets a clear error on a Node.js that is too old', async () => {
    const older = `data:text/javascript,Object.defineProperty(process,'versions',{value:{...process.versions,node:'22.17.1'}})`
    const { code, errors } = await project.run([
      ...['node', '--import', older, '--input-type=module', '--eval'],
      "import 'weir-agents'",
    ])
    expect(code).toBe(1)
    expect(errors).toContain(
      `Node.js ${project.manifest.engines.node.slice(2)} or newer is needed, and this is 22.17.1`,
    )
  })

  it.each(examples)('imports it by its name: $name', async ({ name, printed }) => {
    const { folder, url, close } = await openExampleFolder()
    try {
      const program = join(project.folder, name)
      writeFileSync(program, withModel(textOf(project.installed, 'examples', name), url))
      const ended = await project.run(['node', '--disable-warning=ExperimentalWarning', program], {
        cwd: folder,
      })
      expect(ended).toEqual({ ...printed, code: 0 })
    } finally {
      await close()
    }
  })

  it.each(['quickstart.ts', 'practice-model.ts'])('does as its README shows: %s', async (name) => {
    const { folder, url, close } = await openExampleFolder()
    try {
      const example = textOf(project.installed, 'examples', name)
      const program = programsOfReadme().find((text) => isOf(text, example))
      writeFileSync(join(project.folder, 'readme.ts'), withModel(program ?? '', url))
      const ended = await project.run(
        ['node', '--disable-warning=ExperimentalWarning', join(project.folder, 'readme.ts')],
        { cwd: folder },
      )
      expect(ended).toEqual({ ...examples.find((one) => one.name === name)?.printed, code: 0 })
    } finally {
      await close()
    }
  })

  it('can import no other file of it', async () => {
    const { code, errors } = await project.run([
      'node',
      '--input-type=module',
      '--eval',
      "import 'weir-agents/dist/services/stages.js'",
    ])
    expect(code).toBe(1)
    expect(errors).toContain('ERR_PACKAGE_PATH_NOT_EXPORTED')
  })

  it('compiles against its types, and fails to compile with a mistake', async () => {
    const programs = [
      ...examples.map(({ name }) => textOf(project.installed, 'examples', name)),
      asUsersWrite(textOf(root, 'test', 'client', 'weir-types.unit.test.ts')),
    ]
    const files = programs.map((program, n) => {
      writeFileSync(join(project.folder, `program${n}.ts`), program)
      return `program${n}.ts`
    })
    // The second run checks only the changed program.
    const options = { ...compilerOptions, incremental: true, tsBuildInfoFile: 'compiled.json' }
    writeFileSync(
      join(project.folder, 'tsconfig.json'),
      JSON.stringify({ compilerOptions: options, files }),
    )
    expect(await compile()).toEqual({ code: 0, out: '', errors: '' })

    // Every mistake in it is expected. Without the expectation the compiler reports it.
    const last = join(project.folder, files.at(-1) ?? '')
    const expected = textOf(last).split('// @ts-expect-error')
    writeFileSync(last, expected.join('//'))
    const mistakes = (await compile()).out
      .trim()
      .split('\n')
      .filter((line) => /^\S+\(\d+,\d+\): error TS/.test(line))
    expect(mistakes).toHaveLength(expected.length - 1)
    expect(mistakes.length).toBeGreaterThan(3)
  })

  it('compiles as each shipped example and each program of the README, with any framework', async () => {
    for (const name of [...Object.keys(project.manifest.peerDependencies), ...besideFrameworks])
      project.link(name)
    const shipped = project.files.filter((file) => /^examples\/.+\.ts$/.test(file))
    const files = [
      ...shipped.map((file) => ({ name: basename(file), text: textOf(project.installed, file) })),
      ...programsOfReadme().map((text, n) => ({ name: `readme${n}.ts`, text })),
    ].map(({ name, text }) => {
      writeFileSync(join(project.folder, name), text)
      return name
    })
    expect(files).toEqual(expect.arrayContaining(['guard-ai-sdk.ts', 'chat-server.ts']))
    writeFileSync(
      join(project.folder, 'express.d.ts'), // of a package that is not installed
      textOf(root, 'test', 'support', 'express.d.ts'),
    )
    files.push('express.d.ts')
    const adapters = declarationsWith(Object.keys(project.manifest.peerDependencies))
    expect(adapters.join()).toContain('adapters/ai-sdk.d.ts')
    const options = {
      ...compilerOptions,
      // A check of the frameworks' own declarations takes nine tenths of the time. So the compiler skips
      // declarations, and those of the package that use a framework are checked as sources.
      skipLibCheck: true,
      allowImportingTsExtensions: true, // Node runs a program of several files with them
      lib: ['es2024', 'dom', 'dom.iterable'], // for the types of frameworks
    }
    const config = join(project.folder, 'tsconfig.json')
    const sources = [...files, ...adapters.map(asSource)]
    writeFileSync(config, JSON.stringify({ compilerOptions: options, files: sources }))
    expect(await compile()).toEqual({ code: 0, out: '', errors: '' })
  })
})

describe('the dependencies', () => {
  type Loaded = { packages: string[]; bytes: number }

  /** Runs a command, and returns the packages that it loaded and the size of all code. */
  async function loadBy(command: string[], cwd?: string): Promise<Loaded> {
    const hook = join(project.folder, 'loaded.mjs')
    writeFileSync(hook, recordLoads)
    const { code, errors } = await project.run(
      ['node', '--disable-warning=ExperimentalWarning', '--import', hook, ...command],
      { cwd },
    )
    expect(code).toBe(0)
    return JSON.parse(errors.slice(errors.indexOf('loaded: ') + 'loaded: '.length))
  }
  const loadedBy = async (command: string[], cwd?: string) => (await loadBy(command, cwd)).packages

  it.each([
    ['weir-agents/guard', '', 20],
    ['weir-agents/guard', "await (await weir.openGuard({ agent: 'a' })).close()", 350],
    ['weir-agents', '', 2_300],
  ])('load with an import of %s that runs "%s" at most %d KB', async (module, then, kilobytes) => {
    const source = `import * as weir from '${module}'\n${then}`
    const { bytes } = await loadBy(['--input-type=module', '--eval', source])
    expect(bytes).toBeGreaterThan(1_000)
    expect(bytes).toBeLessThan(kilobytes * 1_000)
  })

  it.each([
    ['ask --help', 200],
    ['serve --help', 200],
    ['judge --help', 550],
    ['settings', 1_100],
  ])('load with weir %s at most %d KB', async (words, kilobytes) => {
    const { bytes } = await loadBy(['node_modules/.bin/weir', ...words.split(' ')])
    expect(bytes).toBeGreaterThan(100_000)
    expect(bytes).toBeLessThan(kilobytes * 1_000)
  })

  it('load only as far as a command needs them', async () => {
    expect(await loadedBy(['node_modules/.bin/weir', '--help'])).toEqual([])
    const settings = await loadedBy(['node_modules/.bin/weir', 'settings'])
    expect(settings).toContain('yaml')
    expect(settings).not.toContain('pino')
  })

  it("load a provider's SDK when an agent asks that provider", async () => {
    const { folder, close } = await openExampleFolder()
    try {
      const program = join(project.folder, 'opens.mjs')
      writeFileSync(
        program,
        `import { Weir } from 'weir-agents'\nawait (await Weir.open({ agents: 'agent.yaml' })).close()\n`,
      )
      const sdks = (loaded: string[]) =>
        loaded.filter((name) => /anthropic|openai|prom-client/.test(name))
      expect(sdks(await loadedBy([program], folder))).toEqual([])
      expect(sdks(await loadedBy([join(project.folder, 'ask-an-agent.ts')], folder))).toEqual([
        '@anthropic-ai/sdk',
      ])
    } finally {
      await close()
    }
  })
})

/** Packages that the examples import next to the package and its peers. */
const besideFrameworks = [
  '@ai-sdk/openai-compatible',
  '@hono/node-server',
  '@langchain/openai',
  'hono',
  'jose',
  'openai',
  'standardwebhooks',
]

const compilerOptions = {
  strict: true,
  noEmit: true,
  module: 'nodenext',
  target: 'es2024',
  lib: ['es2024'],
  skipLibCheck: false,
  types: ['node'],
}

/** Checks the programs of the folder's tsconfig.json. */
function compile(cwd = project.folder): Promise<Ended> {
  const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
  // In one thread. Otherwise several checkers repeat the work for all types that they share.
  return project.run(['node', compiler, '--pretty', 'false', '--singleThreaded'], { cwd })
}

/** The declarations of the package that import one of these packages. */
function declarationsWith(packages: string[]): string[] {
  const isImported = new RegExp(`from '(?:${packages.join('|')})['/]`)
  return project.files.filter(
    (file) => file.endsWith('.d.ts') && isImported.test(textOf(project.installed, file)),
  )
}

/** Copies a declaration of the package to a source next to it. Returns its path in the project. */
function asSource(file: string): string {
  const source = join(project.installed, file.replace('.d.ts', '.check.ts'))
  writeFileSync(source, textOf(project.installed, file))
  return relative(project.folder, source)
}

/** The programs that the README of the package shows. */
function programsOfReadme(): string[] {
  const readme = textOf(project.installed, 'README.md')
  const programs = [...readme.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code = '']) => code)
  expect(programs.length).toBeGreaterThan(2)
  return programs
}

/** The text has no line that the example does not have. */
function isOf(text: string, example: string): boolean {
  const lines = example.split('\n')
  return text.split('\n').every((line) => lines.includes(line))
}

/** The same program, with imports of the installed package. */
function asUsersWrite(source: string): string {
  const written = Object.entries(project.manifest.exports).reduce(
    (text, [path, { default: file = '' }]) => {
      const original = file.replace('./dist/', '../../').replace(/js$/, 'ts')
      return text.replaceAll(`'${original}'`, `'${join('weir-agents', path)}'`)
    },
    source,
  )
  expect(written).toMatch(/from 'weir-agents['/]/)
  expect(written).not.toMatch(/from '\./)
  return written
}

/** Each chunk names its modules in comments. */
const recordLoads = `import { registerHooks } from 'node:module'
const loaded = new Set()
let bytes = 0
registerHooks({
  load(url, context, next) {
    const read = next(url, context)
    bytes += read.source?.length ?? 0
    const paths = [url, ...String(read.source ?? '').matchAll(/^\\/\\/ (node_modules\\/\\S+)/gm).map((match) => match[1])]
    for (const path of paths) {
      const [, name] = /.*\\bnode_modules\\/((?:@[^/]+\\/)?[^/]+)\\//.exec(path) ?? []
      if (name !== undefined && name !== 'weir-agents') loaded.add(name)
    }
    return read
  },
})
process.on('exit', () => console.error('loaded: ' + JSON.stringify({ packages: [...loaded].sort(), bytes })))
`

type Locked = {
  path: string
  version?: string
  hasInstallScript?: true
  dependencies?: Record<string, string>
}

/** Bytes of the files below a folder, without packages that it contains. */
function bytesIn(folder: string): number {
  return readdirSync(folder, { withFileTypes: true }).reduce((sum, entry) => {
    if (entry.name === 'node_modules') return sum
    const path = join(folder, entry.name)
    return sum + (entry.isDirectory() ? bytesIn(path) : lstatSync(path).size)
  }, 0)
}

/** These packages with all their dependencies, by the lock of the checkout. */
function installedWith(names: string[]): Locked[] {
  const { packages } = JSON.parse(textOf(root, 'package-lock.json')) as {
    packages: Record<string, Omit<Locked, 'path'>>
  }
  const found = new Set(names.map((name) => `node_modules/${name}`))
  for (const path of found)
    for (const name of Object.keys(packages[path]?.dependencies ?? {})) {
      const nested = `${path}/node_modules/${name}`
      found.add(nested in packages ? nested : `node_modules/${name}`)
    }
  return [...found].map((path) => ({
    ...(packages[path] ?? expect(path).toBe('in package-lock.json') ?? {}),
    path,
  }))
}
