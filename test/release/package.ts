// `make package-test`: installs the packed package with npm in an empty folder, once for each Node.js
// that it supports, and runs the demo and the program of client/README.md there. The versions of Node.js
// are npm packages, installed once into out/node.

import assert from 'node:assert/strict'
import { execFile, execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { filesIn, versionOf } from '../../bin/release-faults.ts'
import { examples, openExampleFolder, withModel } from '../examples/examples.ts'
import { nodeVersions } from './node-versions.ts'

const root = join(import.meta.dirname, '..', '..')
const version = versionOf(filesIn(root))
const tarball = join(root, 'out', `weir-agents-${version}.tgz`)
const { platform, arch } = process
const nodePackage = `node-${platform === 'darwin' && arch === 'arm64' ? 'bin-' : ''}${platform}-${arch}`

const program = programOf('client/README.md')
const { printed } = examples.find(({ name }) => name === 'quickstart.ts') ?? {}
const model = await openExampleFolder()
try {
  for (const nodeVersion of nodeVersions) await check(nodeVersion)
} finally {
  await model.close()
}

async function check(nodeVersion: string): Promise<void> {
  const began = performance.now()
  const path = [nodeFolder(nodeVersion), process.env.PATH].join(delimiter)
  const folder = mkdtempSync(join(tmpdir(), 'weir-installed-'))
  const run = async (command: string, ...args: string[]) => {
    const options = { cwd: folder, env: { ...process.env, PATH: path, ANTHROPIC_API_KEY: 'none' } }
    const { stdout, stderr } = await promisify(execFile)(command, args, options)
    return { out: stdout, errors: stderr }
  }
  try {
    const running = (await run('node', '--version')).out.trim()
    assert(
      `${running}.`.startsWith(`v${nodeVersion}.`),
      `${running} runs in place of ${nodeVersion}`,
    )

    await run('npm', 'install', '--loglevel=error', tarball, 'zod')
    await run('npm', 'pkg', 'set', 'type=module')
    assert.equal((await run('npx', 'weir', '--version')).out, `${version}\n`)
    assert.match((await run('npx', 'weir', 'demo')).out, /with Weir it ended answered/)

    writeFileSync(join(folder, 'main.ts'), withModel(program, model.url))
    assert.deepEqual(await run('node', '--disable-warning=ExperimentalWarning', 'main.ts'), printed)
    const seconds = ((performance.now() - began) / 1000).toFixed(1)
    console.log(`ok  Node.js ${running}: install, demo and README (${seconds} s)`)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** The folder of the program `node`. */
function nodeFolder(nodeVersion: string): string {
  const prefix = join(root, 'out', 'node', nodeVersion)
  const programs = join(prefix, 'node_modules', nodePackage, 'bin')
  if (!existsSync(join(programs, 'node'))) {
    mkdirSync(prefix, { recursive: true })
    const what = ['--ignore-scripts', `${nodePackage}@${nodeVersion}`]
    execFileSync('npm', ['install', '--loglevel=error', '--prefix', prefix, ...what])
  }
  return programs
}

/** The first program that a README shows. */
function programOf(readme: string): string {
  const [, program] = /^```ts\n(.*?)^```$/ms.exec(readFileSync(join(root, readme), 'utf8')) ?? []
  return program ?? assert.fail(`${readme} shows no program`)
}
