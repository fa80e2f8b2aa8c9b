// The hosts of the suite, installed once into a folder outside the checkout, each at the first run that
// needs it. They are no dependencies of Weir, and all of them together have 5 GB.

import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/**
 * `bin`: its command. `setup`: a script of the package that fetches its native program, because npm
 * may leave scripts of packages out.
 */
export type NpmPackage = { npm: string; version: string; bin: string; setup?: string }

/**
 * The packages of an environment, with their versions. `host`: the one of them that the table names.
 * `since`: the oldest Python 3 that can install them. `bin`: its command; `python` by default.
 */
export type PythonPackages = {
  pypi: Readonly<Record<string, string>>
  host: string
  since?: number
  bin?: string
}

/** This machine cannot run a host. The message is the reason. */
export class NotInstalled extends Error {}

export const mcpPackages: PythonPackages = { pypi: { mcp: '2.3.0' }, host: 'mcp' }

/** Its Responses API imports `mcp`. */
export const litellmPackages: PythonPackages = {
  pypi: { litellm: '1.106.2', mcp: '2.3.0' },
  host: 'litellm',
}

export function versionOf(wanted: NpmPackage | PythonPackages): string {
  return 'npm' in wanted ? wanted.version : (wanted.pypi[wanted.host] ?? '')
}

export const inspector: NpmPackage = {
  npm: '@modelcontextprotocol/inspector',
  version: '2.12.0',
  bin: 'mcp-inspector',
}

const cache = process.env.WEIR_HOSTS_FOLDER ?? join(homedir(), '.cache', 'weir', 'hosts')

/** Programs of npm start `node` by its name: the one that runs this suite. */
export const hostPath = [dirname(process.execPath), process.env.PATH ?? ''].join(delimiter)

const installMs = 15 * 60_000

/** The path of the host's command. Throws NotInstalled. */
export async function installed(wanted: NpmPackage | PythonPackages): Promise<string> {
  const folder = join(cache, folderName(wanted))
  const done = join(folder, 'installed')
  if (!existsSync(done)) {
    try {
      await mkdir(folder, { recursive: true })
      await ('npm' in wanted ? installNpm(wanted, folder) : installPython(wanted, folder))
    } catch (error) {
      if (error instanceof NotInstalled) throw error
      throw new NotInstalled(firstReason(error), { cause: error })
    }
    await writeFile(done, '')
  }
  return 'npm' in wanted
    ? join(folder, 'node_modules', '.bin', wanted.bin)
    : join(folder, 'bin', wanted.bin ?? 'python')
}

function folderName(wanted: NpmPackage | PythonPackages): string {
  const name =
    'npm' in wanted
      ? `npm-${wanted.npm}@${wanted.version}`
      : `python-${requirements(wanted.pypi).join('_')}`
  return name.replace(/[^\w.-]+/g, '-')
}

function requirements(packages: Readonly<Record<string, string>>): string[] {
  return Object.entries(packages).map(([name, version]) => `${name}==${version}`)
}

async function installNpm({ npm, version, setup }: NpmPackage, folder: string): Promise<void> {
  const env = { ...process.env, PATH: hostPath }
  await writeFile(join(folder, 'package.json'), '{"private": true}\n')
  await run('npm', ['install', '--no-audit', '--no-fund', `${npm}@${version}`], {
    cwd: folder,
    env,
    timeout: installMs,
  })
  if (setup === undefined) return
  const place = join(folder, 'node_modules', npm)
  await run(process.execPath, [join(place, setup)], { cwd: place, env, timeout: installMs })
}

async function installPython({ pypi, since = 10 }: PythonPackages, folder: string): Promise<void> {
  await run(await pythonSince(since), ['-m', 'venv', folder])
  const pip = [join(folder, 'bin', 'python'), '-m', 'pip', 'install', '--quiet'] as const
  const [program, ...args] = pip
  await run(program, [...args, ...requirements(pypi)], { timeout: installMs })
}

/** The first Python of this machine that is new enough: by its name, then of pyenv. */
async function pythonSince(minor: number): Promise<string> {
  const versions = join(process.env.PYENV_ROOT ?? join(homedir(), '.pyenv'), 'versions')
  const ofPyenv = existsSync(versions) ? await readdir(versions) : []
  const names = ['python3', 'python3.14', 'python3.13', 'python3.12']
  const paths = ofPyenv.map((version) => join(versions, version, 'bin', 'python3'))
  for (const python of [...names, ...paths]) {
    const code = 'import sys, venv; print(sys.version_info[1] if sys.version_info[0] == 3 else 0)'
    const { stdout } = await run(python, ['-c', code]).catch(() => ({ stdout: '0' }))
    if (Number(stdout) >= minor) return python
  }
  throw new NotInstalled(`no Python 3.${minor} or newer with venv`)
}

/** The line of an installer's output that names the error. */
function firstReason(error: unknown): string {
  const { stderr = '', message } = error as { stderr?: string; message: string }
  const lines = `${stderr}\n${message}`.split('\n').filter((line) => line.trim() !== '')
  return (lines.find((line) => /error/i.test(line)) ?? lines[0] ?? 'unknown').slice(0, 160)
}
