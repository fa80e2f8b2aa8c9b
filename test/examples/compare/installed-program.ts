// A compared program whose packages do not fit into this tree: they are installed once, from the lockfile
// next to the program, outside the checkout. The compiler of this tree checks the program with them.

import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { basename, delimiter, dirname, join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
const root = join(import.meta.dirname, '../../..')
const installMs = 15 * 60_000

/** The path of a copy that finds its packages. */
export async function installedProgram(source: string): Promise<string> {
  const from = dirname(source)
  const lock = await readFile(join(from, 'package-lock.json'))
  const hash = createHash('sha256').update(lock).digest('hex').slice(0, 16)
  const folder = join(homedir(), '.cache', 'weir', 'compare', `${basename(from)}-${hash}`)
  const done = join(folder, 'installed')
  await mkdir(folder, { recursive: true })
  const program = join(folder, basename(source))
  await copyFile(source, program)
  if (!existsSync(done)) {
    for (const name of ['package.json', 'package-lock.json'])
      await copyFile(join(from, name), join(folder, name))
    // Programs of npm start `node` by its name.
    const env = {
      ...process.env,
      PATH: [dirname(process.execPath), process.env.PATH].join(delimiter),
    }
    const args = ['ci', '--ignore-scripts', '--no-audit', '--no-fund']
    await run('npm', args, { cwd: folder, env, timeout: installMs })
    await writeFile(done, '')
  }
  await assertTypes(program)
  return program
}

/** Throws with the mistakes. */
async function assertTypes(program: string): Promise<void> {
  const flags = ['--noEmit', '--strict', '--skipLibCheck', '--module', 'nodenext']
  const types = ['--types', 'node', '--typeRoots', join(root, 'node_modules/@types')]
  const compiler = join(root, 'node_modules/typescript/bin/tsc')
  const command = [compiler, '--ignoreConfig', ...flags, ...types, program]
  await run(process.execPath, command, { cwd: dirname(program) }).catch((cause: unknown) => {
    throw new Error((cause as { stdout?: string }).stdout, { cause })
  })
}
