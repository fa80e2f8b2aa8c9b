// The npm package, packed and installed: what is in it, and that its commands, its programs and its
// types do what those of the checkout do.

import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { startAnthropicServer } from '../apps/demo/anthropic-server.ts'
import { examples, openExampleFolder } from './examples/examples.ts'
import { installPackage, type Project } from './support/installed-package.ts'
import { call, resultsOf, says, script, text } from './support/script.ts'

const root = join(import.meta.dirname, '..')
const textOf = (...path: string[]) => readFileSync(join(...path), 'utf8')

let project: Project
beforeAll(() => {
  project = installPackage(['@jest/globals'])
})
afterAll(() => project.close())

describe('what is packed', () => {
  it('is compiled code with the declarations of what is public, and no source, test, bench, map or tool of the checkout', () => {
    const isMeant = (file: string) =>
      /^(package\.json|README\.md|LICENSE|bin\/weir\.js|dist\/schemas\/lock\.json|dist\/(apps|client|services|shared)\/.+)$/.test(
        file,
      ) &&
      (!/(\.map|\.test\.js|(?<!\.d)\.ts)$/.test(file) || file.startsWith('dist/apps/report/page/')) // text, until a browser has it
    expect(project.files.filter((file) => !isMeant(file))).toEqual([])
    expect(project.files).toContain('dist/client/weir.js')
  })

  it('names no folder of the machine that it was packed on', () => {
    expect(project.files.filter((file) => textOf(project.installed, file).includes(root))).toEqual(
      [],
    )
  })

  it('is small', () => {
    // The code with its comments takes two thirds of this. What breaks it is what does not belong
    // in it: maps, recordings, a dependency that was bundled.
    expect(project.tarballBytes).toBeLessThan(1024 * 1024)
  })

  it('has every file that its code reads from beside itself', () => {
    const code = project.files.filter((file) => file.endsWith('.js'))
    const read = code.flatMap((file) =>
      [
        ...textOf(project.installed, file).matchAll(
          /new URL\(['"]([^'"]+)['"], import\.meta\.url\)/g,
        ),
      ].map(([, path = '']) => join(dirname(file), path)),
    )
    expect(read.length).toBeGreaterThan(3)
    expect(read.filter((path) => !existsSync(join(project.installed, path)))).toEqual([])
  })

  it('runs nothing when it is installed, and neither does what it depends on', () => {
    expect(Object.keys(project.manifest.scripts)).toEqual(['prepack'])
    const withScripts = installedWith(Object.keys(project.manifest.dependencies)).filter(
      ({ hasInstallScript }) => hasInstallScript,
    )
    expect(withScripts).toEqual([])
    expect(installedWith(['node']).filter(({ hasInstallScript }) => hasInstallScript)).toHaveLength(
      1,
    ) // so it would be seen
  })
})

describe('its commands', () => {
  it.each(['weir', 'weir-agents'])('%s says how it is used', async (command) => {
    const { code, out, errors } = await project.run([command, '--help'])
    expect({ code, errors }).toEqual({ code: 0, errors: '' })
    expect(out).toMatch(/^Usage: weir [\s\S]*\bask\b[\s\S]*\bdoctor\b/)
  })

  it('set up an agent whose tools run: a program, and a module in a process of its own', async () => {
    const server = await startAnthropicServer(
      script(
        says(
          call('list_files', { folder: '.' }),
          call('read_file', { file: 'agent.yaml', lines: 1 }),
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
        out: expect.stringContaining('Nothing is wrong.'),
      })

      const asked = await project.run([
        'weir',
        'ask',
        '--agent',
        'start/agent.yaml',
        '--conversation',
        'c',
        'Which files?',
      ])
      expect(asked).toMatchObject({ code: 0, out: 'These files.\n' })
      const [listed, read] = resultsOf(server.requests[1])
      expect(listed).toMatch(/^agent\.schema\.json \d+\n/)
      expect(read).toMatch(/^# yaml-language-server: /)
      expect((await project.run(['weir', 'inspect', 'c'])).out).toContain('These files.')
    } finally {
      await server.close()
    }
  })

  it('know the guards that ship by their names', async () => {
    const asked = await project.run([
      'weir',
      'ask',
      '--agent',
      'none.yaml',
      '--guard',
      'spend',
      'hello',
    ])
    expect(asked).toMatchObject({
      code: 2,
      errors: expect.stringMatching(
        /node_modules\/weir-agents\/dist\/services\/guards\/spend\/guard\.js: the spend guard's tools is missing/,
      ),
    })
    expect((await project.run(['weir', 'guard', 'run', 'spen'])).errors).toContain(
      '(shell, spend do); did you mean spend?',
    )
  })

  it('play the demo, and then say what to run of the package', async () => {
    const { code, out, errors } = await project.run(['weir', 'demo'])
    expect({ code, errors }).toEqual({ code: 0, errors: '' })
    expect(out).toContain('with Weir it ended answered')
    expect(out).toMatch(/\nNext:\n {2}weir demo --bad stubborn /)
  })

  it('keep what Node compiled in the home of who runs them', () => {
    expect(existsSync(join(project.folder, 'home', '.cache', 'weir-agents'))).toBe(true)
  })

  it('say so when their Node.js is too old', async () => {
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
  it.each(examples)('imports it by its name: $name', async ({ name, printed }) => {
    const { folder, close } = await openExampleFolder()
    try {
      const program = join(project.folder, name)
      writeFileSync(program, asUsersWrite(textOf(root, 'test', 'examples', name)))
      const ended = await project.run(['node', '--disable-warning=ExperimentalWarning', program], {
        cwd: folder,
      })
      expect(ended).toEqual({ ...printed, code: 0 })
    } finally {
      await close()
    }
  })

  it('can import nothing else of it', async () => {
    const { code, errors } = await project.run([
      'node',
      '--input-type=module',
      '--eval',
      "import 'weir-agents/dist/services/stages.js'",
    ])
    expect(code).toBe(1)
    expect(errors).toContain('ERR_PACKAGE_PATH_NOT_EXPORTED')
  })

  it('compiles against its types, and what is wrong in it does not', async () => {
    const programs = [
      ...examples.map(({ name }) => join('examples', name)),
      join('client', 'weir-types.unit.test.ts'),
    ]
    const files = programs.map((path, n) => {
      writeFileSync(
        join(project.folder, `program${n}.ts`),
        asUsersWrite(textOf(root, 'test', path)),
      )
      return `program${n}.ts`
    })
    writeFileSync(join(project.folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }))
    const compile = () =>
      project.run([
        'node',
        join(root, 'node_modules', 'typescript', 'bin', 'tsc'),
        '--pretty',
        'false',
      ])
    expect(await compile()).toEqual({ code: 0, out: '', errors: '' })

    // In which every mistake is expected. Where the expectation is taken away, it is reported.
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
})

describe('of the packages that it depends on', () => {
  /** Runs something and names the packages of which code was loaded. */
  async function loadedBy(command: string[], cwd?: string): Promise<string[]> {
    const hook = join(project.folder, 'loaded.mjs')
    writeFileSync(hook, recordLoads)
    const { code, errors } = await project.run(
      ['node', '--disable-warning=ExperimentalWarning', '--import', hook, ...command],
      { cwd },
    )
    expect(code).toBe(0)
    return JSON.parse(errors.slice(errors.indexOf('loaded: ') + 'loaded: '.length))
  }

  it('a command loads what it needs', async () => {
    expect(await loadedBy(['node_modules/.bin/weir', '--help'])).toEqual(['commander'])
    expect(await loadedBy(['node_modules/.bin/weir', 'settings'])).not.toContain('pino')
  })

  it('the SDK of a provider is loaded when an agent asks that provider', async () => {
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

const compilerOptions = {
  strict: true,
  noEmit: true,
  module: 'nodenext',
  target: 'es2024',
  lib: ['es2024'],
  skipLibCheck: false,
  types: ['node'],
}

/** The same program, where the package is installed. */
function asUsersWrite(source: string): string {
  const written = source.replaceAll(/'\.\.\/\.\.\/client\/weir\.ts'(?: \/\/.*)?/g, "'weir-agents'")
  expect(written).toContain("from 'weir-agents'")
  expect(written).not.toMatch(/from '\./)
  return written
}

const recordLoads = `import { registerHooks } from 'node:module'
const loaded = new Set()
registerHooks({
  load(url, context, next) {
    const [, name] = /.*\\/node_modules\\/((?:@[^/]+\\/)?[^/]+)\\//.exec(url) ?? []
    if (name !== undefined && name !== 'weir-agents') loaded.add(name)
    return next(url, context)
  },
})
process.on('exit', () => console.error('loaded: ' + JSON.stringify([...loaded].sort())))
`

type Locked = { hasInstallScript?: true; dependencies?: Record<string, string> }

/** What an installation of these packages brings with it, as the lock of the checkout has it. */
function installedWith(names: string[]): Locked[] {
  const { packages } = JSON.parse(textOf(root, 'package-lock.json')) as {
    packages: Record<string, Locked>
  }
  const found = new Set(names.map((name) => `node_modules/${name}`))
  for (const path of found)
    for (const name of Object.keys(packages[path]?.dependencies ?? {})) {
      const nested = `${path}/node_modules/${name}`
      found.add(nested in packages ? nested : `node_modules/${name}`)
    }
  return [...found].map((path) => packages[path] ?? expect(path).toBe('in package-lock.json') ?? {})
}
