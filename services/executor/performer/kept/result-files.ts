// The files of command tools that may outlive their executor, in a folder of that executor below the
// data folder: which claims run, and their results. Owns: the names and the form of these files.
// A result counts only for the claim that it states: call, try and owner.
// A file appears whole: it is written under another name and then renamed.
// Only a regular file of this user counts, without a link, and closed to all others.

import { createHash } from 'node:crypto'
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  type Stats,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { type TryId, tryIdOf } from '../../../../shared/contract/ids.ts'
import { limits } from '../../../../shared/contract/limits.ts'
import { objectIn } from '../../../../shared/lib/json/json-object.ts'
import type { ToolEnding } from '../../../../shared/tools/tool.ts'
import type { ProcessMark } from './process-mark.ts'

/** A claim: nothing else has this try and this owner. */
export type ClaimId = TryId & { owner: string }

/** `isGivenBack`: the tool never started. */
export type KeptResult = {
  ending: Pick<ToolEnding, 'status' | 'text' | 'reason' | 'isGivenBack'>
  durationMs: number
}

/** The executor of a folder, and the process that holds its tools. */
export type Processes = { executor: ProcessMark; keeper: ProcessMark }

/** The name of a claim's files. Ids hold any characters, so it is a hash of them. */
export function claimName(claim: ClaimId): string {
  return createHash('sha256').update(contentOf(claim)).digest('hex')
}

function contentOf(claim: ClaimId): string {
  return JSON.stringify({ ...tryIdOf(claim), owner: claim.owner })
}

export function writeProcesses(folder: string, processes: Processes): void {
  writeWhole(folder, 'processes', JSON.stringify(processes))
}

export function readProcesses(folder: string): Processes | undefined {
  const found = objectIn(readPrivate(join(folder, 'processes'))) as Partial<Processes> | undefined
  return isMark(found?.executor) && isMark(found?.keeper) ? (found as Processes) : undefined
}

/** Before its start: from here on the claim's tool may run. */
export function markRunning(folder: string, name: string): void {
  writeWhole(folder, `${name}.running`, '')
}

export function isMarkedRunning(folder: string, name: string): boolean {
  return readPrivate(join(folder, `${name}.running`)) !== undefined
}

export function writeResult(folder: string, claim: ClaimId, result: KeptResult): void {
  const text = JSON.stringify({ claim: contentOf(claim), ...result })
  writeWhole(folder, `${claimName(claim)}.result`, text)
}

/** Undefined: there is none that counts. */
export function readResult(folder: string, claim: ClaimId): KeptResult | undefined {
  const text = readPrivate(join(folder, `${claimName(claim)}.result`))
  const found = objectIn(text) as (Partial<KeptResult> & { claim?: unknown }) | undefined
  const { ending, durationMs } = found ?? {}
  if (found?.claim !== contentOf(claim) || ending === undefined) return undefined
  const { status, text: output, reason, isGivenBack } = ending
  if (!statuses.has(status) || typeof output !== 'string' || typeof reason !== 'string')
    return undefined
  if (!Number.isSafeInteger(durationMs) || Number(durationMs) < 0) return undefined
  const givenBack = isGivenBack === true ? { isGivenBack } : {}
  return { ending: { status, text: output, reason, ...givenBack }, durationMs: Number(durationMs) }
}

/** The statuses that the end of a program can have. `skipped`: it is given back. */
const statuses: ReadonlySet<unknown> = new Set([
  ...['ok', 'error', 'timed_out', 'unknown', 'skipped'],
])

/** The process that holds the tool stops it, once its executor has ended. */
export function requestStop(folder: string, name: string): void {
  writeWhole(folder, `${name}.stop`, '')
}

/** The claims whose stop was requested, as names. */
export function stopRequests(folder: string): string[] {
  return readdirSync(folder).flatMap((file) => (file.endsWith('.stop') ? file.slice(0, -5) : []))
}

/** Removes all files of a claim. */
export function removeClaim(folder: string, name: string): void {
  for (const kind of ['running', 'result', 'stop'])
    rmSync(join(folder, `${name}.${kind}`), { force: true })
}

/** Removes a folder in which no claim has a file any more. */
export function removeIfEmpty(folder: string): void {
  try {
    if (readdirSync(folder).some((file) => file !== 'processes')) return
    rmSync(join(folder, 'processes'), { force: true })
    rmdirSync(folder)
  } catch {
    // Gone already, or another process just wrote into it.
  }
}

/** The private folders of executors below `root`, at most `limits.keptFoldersMax`. */
export function foldersIn(root: string): string[] {
  try {
    return readdirSync(root)
      .map((name) => join(root, name))
      .filter((path) => isPrivate(lstatSync(path)) && lstatSync(path).isDirectory())
      .slice(0, limits.keptFoldersMax)
  } catch {
    return []
  }
}

/** Throws the file system's error. */
function writeWhole(folder: string, name: string, text: string): void {
  const unfinished = join(folder, `${name}.unfinished-${process.pid}`)
  rmSync(unfinished, { force: true })
  writeFileSync(unfinished, text, { flag: 'wx', mode: 0o600 }) // wx follows no link
  renameSync(unfinished, join(folder, name))
}

function readPrivate(path: string): string | undefined {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants
  let file: number | undefined
  try {
    file = openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
    const stats = fstatSync(file)
    if (!stats.isFile() || stats.nlink !== 1 || !isPrivate(stats)) return undefined
    return stats.size > limits.keptResultBytesMax ? undefined : readFileSync(file, 'utf8')
  } catch {
    return undefined
  } finally {
    if (file !== undefined) closeSync(file)
  }
}

function isPrivate({ uid, mode }: Stats): boolean {
  return uid === process.getuid?.() && (mode & 0o077) === 0
}

function isMark(mark: Partial<ProcessMark> | undefined): boolean {
  return (
    Number.isSafeInteger(mark?.pid) && Number(mark?.pid) > 0 && typeof mark?.startedAt === 'string'
  )
}
