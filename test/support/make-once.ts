// Makes a folder whose name is a hash of its sources. Of several processes, one makes it and the
// others wait for it. The folder is complete or not there, because it gets its name at the end.

import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  isRunning,
  type ProcessMark,
  processMark,
} from '../../services/executor/performer/kept/process-mark.ts'

/** Folders with earlier names, which a run of this moment may still use. */
const keptMax = 8

/** `nameNow`: the name by the sources of this moment. `make`: fills a new folder. */
export type Making = {
  target: string
  nameNow: () => string
  make: (folder: string) => Promise<void>
}

/** False: another process made the folder. */
export async function makeOnce({ target, nameNow, make }: Making): Promise<boolean> {
  mkdirSync(dirname(target), { recursive: true })
  const lock = `${target}.lock`
  if (!(await isOurs(target, lock))) return false
  const folder = `${target}.${process.pid}`
  const checkName = () => {
    if (nameNow() !== basename(target))
      throw new Error('the sources changed while programs were made of them: run the tests again')
  }
  try {
    checkName()
    await make(folder)
    checkName()
    return renamed(folder, target)
  } finally {
    rmSync(folder, { recursive: true, force: true })
    rmSync(lock, { force: true })
    removeOld(dirname(target))
  }
}

async function isOurs(target: string, lock: string): Promise<boolean> {
  while (!existsSync(target)) {
    try {
      writeFileSync(lock, JSON.stringify(processMark(process.pid)), { flag: 'wx' })
      if (!existsSync(target)) return true
      rmSync(lock, { force: true })
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw error
      if (isLeft(lock)) rmSync(lock, { force: true })
      else await sleep(100)
    }
  }
  return false
}

/** Its maker died. Two processes that see this can both make the folder. The first one gives it its name. */
function isLeft(lock: string): boolean {
  try {
    return !isRunning(JSON.parse(readFileSync(lock, 'utf8')) as ProcessMark)
  } catch {
    // Being written, or removed, or its maker died before it wrote.
    const stat = statSync(lock, { throwIfNoEntry: false })
    return stat !== undefined && Date.now() - stat.mtimeMs > 10_000
  }
}

/** False: another process was first. */
function renamed(folder: string, target: string): boolean {
  try {
    renameSync(folder, target)
    return true
  } catch (error) {
    if (['ENOTEMPTY', 'EEXIST'].includes(codeOf(error) ?? '')) return false
    throw error
  }
}

/** Another process can remove the same at the same time. */
function removeOld(cache: string): void {
  const newestFirst = readdirSync(cache)
    .map((name) => join(cache, name))
    .map((path) => ({ path, at: statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0 }))
    .sort((a, b) => b.at - a.at)
  for (const { path } of newestFirst.slice(keptMax)) rmSync(path, { recursive: true, force: true })
}

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code
}
