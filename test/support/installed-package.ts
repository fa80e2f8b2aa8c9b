// The npm package as a user installs it: packed from this checkout, and unpacked into the
// node_modules of a project, with npm's links to its commands. Its dependencies are links to those
// of the checkout. The project has no other packages.

import { execFileSync, spawn } from 'node:child_process'
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join, relative } from 'node:path'
import { text } from 'node:stream/consumers'

const root = join(import.meta.dirname, '..', '..')

export type Manifest = {
  name: string
  version: string
  dependencies: Record<string, string>
  peerDependencies: Record<string, string>
  exports: Record<string, Record<string, string>>
  bin: Record<string, string>
  engines: { node: string }
}

export type Ended = { code: number | null; out: string; errors: string }

export type Project = {
  folder: string
  /** The folder of the package. */
  installed: string
  manifest: Manifest
  /** The packed files, as paths in the package. */
  files: string[]
  tarball: string
  tarballBytes: number
  /**
   * Runs a command of the project, or any other. Its node is the one that runs the tests, its home
   * an empty folder of the project. Programs of Node share their compiled code.
   */
  run(
    command: string[],
    options?: { cwd?: string; environment?: Record<string, string> },
  ): Promise<Ended>
  /** Installs a package of the checkout next to the package. */
  link(name: string): void
  close(): void
}

/** `also`: packages of the checkout that the project has itself, next to the package. */
export function installPackage(also: string[]): Project {
  const folder = mkdtempSync(join(tmpdir(), 'weir-project-'))
  const installed = join(folder, 'node_modules', 'weir-agents')
  mkdirSync(installed, { recursive: true })
  const tarball = join(folder, packed(folder))
  execFileSync('tar', ['-xzf', tarball, '-C', installed, '--strip-components=1'])
  const manifest: Manifest = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'))

  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  const linkPackage = (name: string) =>
    link(join(root, 'node_modules', name), join(folder, 'node_modules', name))
  for (const name of [...Object.keys(manifest.dependencies), ...also]) linkPackage(name)
  const commands = join(folder, 'node_modules', '.bin')
  for (const [name, file] of Object.entries(manifest.bin))
    link(join(installed, file), join(commands, name))

  const path = [commands, dirname(process.execPath), process.env.PATH].join(delimiter)
  const programs = { NODE_COMPILE_CACHE: join(folder, 'compiled') }
  return {
    folder,
    installed,
    manifest,
    tarball,
    files: filesIn(installed),
    tarballBytes: statSync(tarball).size,
    async run([program = '', ...args], { cwd = folder, environment = {} } = {}) {
      const child = spawn(program, args, {
        cwd,
        env: {
          PATH: path,
          HOME: join(folder, 'home'),
          ...(program === 'node' && programs),
          ...environment,
        },
        stdio: ['ignore', 'pipe', 'pipe'],
      })
      const code = new Promise<number | null>((resolve, reject) =>
        child.on('error', reject).on('close', resolve),
      )
      const [out, errors] = await Promise.all([text(child.stdout), text(child.stderr)])
      return { code: await code, out, errors }
    },
    link: linkPackage,
    close: () => rmSync(folder, { recursive: true }),
  }
}

/** The name of the tarball in that folder. */
function packed(folder: string): string {
  const build = join(root, 'bin', 'build.ts')
  return execFileSync(process.execPath, [build, folder], { encoding: 'utf8' }).trim()
}

function link(target: string, file: string): void {
  mkdirSync(dirname(file), { recursive: true })
  symlinkSync(target, file)
}

function filesIn(folder: string): string[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
}
