// Makes the programs that tests start (programs.ts) in a folder that is not there yet. Of several
// processes, one makes them and the others wait for it.
// Usage: make-programs.ts FOLDER

import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { writeProgram } from '../../bin/bundle.ts'
import {
  isRunning,
  type ProcessMark,
  processMark,
} from '../../services/executor/performer/kept/process-mark.ts'

/** Folders of earlier sources, which a run of this moment may still use. */
const keptMax = 8

const root = join(import.meta.dirname, '..', '..')
const target = process.argv[2] ?? ''
const cache = dirname(target)
const lock = `${target}.lock`

mkdirSync(cache, { recursive: true })
if (await isOurs()) {
  try {
    await make()
    removeOld()
  } finally {
    rmSync(lock, { force: true })
  }
}

/** False: another process made the programs. */
async function isOurs(): Promise<boolean> {
  while (!existsSync(target)) {
    try {
      writeFileSync(lock, JSON.stringify(processMark(process.pid)), { flag: 'wx' })
      if (!existsSync(target)) return true
      rmSync(lock)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
      const maker = makerIn(lock)
      if (maker !== undefined && !isRunning(maker)) rmSync(lock, { force: true })
      else await sleep(100)
    }
  }
  return false
}

/** Undefined while the file is being written, and after its end. */
function makerIn(file: string): ProcessMark | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as ProcessMark
  } catch {
    return undefined
  }
}

/** Complete or not there: a folder gets its name at the end. */
async function make(): Promise<void> {
  const folder = `${target}.${process.pid}`
  await writeProgram(folder, ['test/support/weir-process.ts', 'test/support/sharing-process.ts'])
  cpSync(join(root, 'package.json'), join(folder, 'package.json'))
  const command = join(folder, 'weir')
  // The flags are those of bin/weir. The compiled code leaves with the folder.
  writeFileSync(
    command,
    `#!/bin/sh
export NODE_COMPILE_CACHE='${target}/compiled'
exec '${process.execPath}' --disable-warning=ExperimentalWarning --disable-sigusr1 '${target}/dist/apps/cli/main.js' "$@"
`,
  )
  chmodSync(command, 0o755)
  renameSync(folder, target)
  compile(join(target, 'dist', 'chunks'))
}

/**
 * Fills the cache of compiled code. Otherwise each of the first processes compiles the same code, and
 * they write it all at once when a test stops them.
 */
function compile(chunks: string): void {
  const load = `const { readdirSync } = await import('node:fs')
for (const name of readdirSync('.')) await import(\`${chunks}/\${name}\`)`
  execFileSync(process.execPath, ['--no-warnings', '--input-type=module', '--eval', load], {
    cwd: chunks,
    env: { ...process.env, NODE_COMPILE_CACHE: join(target, 'compiled') },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
}

function removeOld(): void {
  const folders = readdirSync(cache).map((name) => join(cache, name))
  const newestFirst = folders.sort((a, b) => statSync(b).mtimeMs - statSync(a).mtimeMs)
  for (const folder of newestFirst.slice(keptMax)) rmSync(folder, { recursive: true, force: true })
}
