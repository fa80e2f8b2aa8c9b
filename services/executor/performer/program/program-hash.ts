// The hash of the program that a tool's call would start: a person allows a call for it, and a
// changed program does not start.
// It covers the configured way to run, and the content of each file that it names.
// It contains no secret, not even as the input of the hash.
// A file's known digest counts only while device, inode, size and times are the
// same. No digest of a fresh file is kept, because times are coarse.

import { createHash, hash } from 'node:crypto'
import {
  type BigIntStats,
  closeSync,
  constants,
  fstatSync,
  openSync,
  readSync,
  statSync,
} from 'node:fs'
import { resolve } from 'node:path'
import type { Agents, ToolRun } from '../../../../shared/agents/agents.ts'
import { secretsOf } from '../../../../shared/agents/secrets.ts'
import { unreachable } from '../../../../shared/contract/stage.ts'
import { secretMask } from '../../../../shared/lib/log/secret-mask.ts'
import { programFile } from '../../../../shared/tools/tool-program.ts'

/** A file of a program that is hashed as a whole for an approval. */
const programFileBytesMax = 512 * 1024 * 1024

/** SHA-256 in hex of a tool's program, as it is now. Reads files; never throws. */
export type ProgramHash = (run: ToolRun) => string

/** `agents`: their secrets do not enter a hash. */
export function programHasher(agents: Agents): ProgramHash {
  const hideSecrets = secretMask(secretsOf(agents))
  const digests = createDigests()
  return (run) => hash('sha256', hideSecrets(JSON.stringify(partsOf(run, digests))))
}

type Digests = ReturnType<typeof createDigests>

function partsOf(run: ToolRun, digestOf: Digests): unknown[] {
  switch (run.kind) {
    case 'command': {
      const [program, ...rest] = run.argv
      const cwd = resolve(run.cwd ?? '.')
      const file = programFile(program, cwd, process.env.PATH ?? '')
      const files = programsAmong(rest, cwd).map(digestOf)
      return [run.kind, run.argv, file === undefined ? 'missing' : digestOf(file), files, seen(run)]
    }
    case 'module':
      return [
        ...[run.kind, run.file, digestOf(run.file), seen(run)],
        ...(run.entry === undefined ? [] : [run.entry.kind, run.entry.name]),
      ]
    case 'function': // only its text: the values that it closes over are not visible
      return [run.kind, run.run.toString()]
    case 'mcp': {
      const { run: server } = run.server
      if (server.kind === 'elsewhere') return [run.kind, run.tool, server.kind]
      const parts =
        server.kind === 'command'
          ? partsOf(server, digestOf)
          : [withoutSecrets(server.url), Object.keys(server.headers).sort()]
      return [run.kind, run.tool, ...parts]
    }
    case 'client': // the program of a client is not visible
      return [run.kind]
    case 'http':
      return [run.kind, 'POST', withoutSecrets(run.url), Object.keys(run.headers).sort()]
    default:
      return unreachable(run)
  }
}

/** Further settings that change the effect of the program. */
function seen(run: Extract<ToolRun, { kind: 'command' | 'module' }>): unknown[] {
  return [run.cwd ?? null, run.environment ?? [], run.sandbox ?? null]
}

/**
 * The files of the arguments that are programs. The first file is the script of an interpreter. A
 * later one counts if it can be started or has the ending of a script. The others are data, which a
 * tool may write.
 */
function programsAmong(args: string[], cwd: string): string[] {
  const files = args.flatMap((text) => namedFiles(text, cwd)).filter(isFile)
  return files.filter((file, index) => index === 0 || isProgram(file))
}

const scriptEnding =
  /\.(sh|bash|zsh|py|rb|pl|php|[cm]?[jt]sx?|lua|r|jl|awk|sql|jar|mk|toml|ya?ml)$/i

function isProgram(file: string): boolean {
  return scriptEnding.test(file) || ((statSync(file, absentIsFine)?.mode ?? 0) & 0o111) !== 0
}

function isFile(path: string): boolean {
  try {
    return statSync(path, absentIsFine)?.isFile() ?? false
  } catch {
    return true // its digest says why it cannot be read
  }
}

const absentIsFine = { throwIfNoEntry: false } as const

/** An argument may be a file, or end in one, as `--script=deploy.sh`. */
function namedFiles(text: string, cwd: string): string[] {
  const value = /^-[^=]*=(.+)$/s.exec(text)?.[1]
  return [text, ...(value === undefined ? [] : [value])]
    .filter((name) => name !== '' && !name.includes('\0'))
    .map((name) => resolve(cwd, name))
}

/** Without user, password, query and fragment. The mask hides secrets in the path. */
function withoutSecrets(url: string): string {
  const parsed = URL.parse(url)
  return parsed === null ? '' : `${parsed.origin}${parsed.pathname}`
}

/** Times of a file are too coarse to notice a second change that follows at once. */
const settledNs = 2_000_000_000n
const chunkBytes = 1024 * 1024
const knownMax = 1_000

function createDigests(): (file: string) => string {
  const known = new Map<string, { state: string; digest: string }>()
  return (file) => {
    let descriptor: number
    try {
      descriptor = openSync(file, readOnlyAtOnce)
    } catch (error) {
      const { code = 'unknown' } = error as NodeJS.ErrnoException
      return absentCodes.has(code) ? 'no file' : code
    }
    try {
      const stats = fstatSync(descriptor, { bigint: true })
      if (!stats.isFile()) return 'no file'
      const state = stateOf(stats)
      const before = known.get(file)
      if (before?.state === state) return before.digest
      const digest = contentDigest(descriptor, stats)
      if (known.size >= knownMax) known.clear()
      if (isSettled(stats) && stateOf(fstatSync(descriptor, { bigint: true })) === state)
        known.set(file, { state, digest })
      else known.delete(file)
      return digest
    } catch (error) {
      return (error as NodeJS.ErrnoException).code ?? 'unknown'
    } finally {
      closeSync(descriptor)
    }
  }
}

/** A pipe must not block. */
const readOnlyAtOnce = constants.O_RDONLY | constants.O_NONBLOCK
const absentCodes = new Set(['ENOENT', 'ENOTDIR', 'ENAMETOOLONG', 'ENXIO'])

function stateOf({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return [dev, ino, size, mtimeNs, ctimeNs].join(':')
}

function isSettled({ ctimeNs, mtimeNs }: BigIntStats): boolean {
  const now = BigInt(Date.now()) * 1_000_000n
  return now - ctimeNs > settledNs && now - mtimeNs > settledNs
}

/** The digest of the whole content. A larger file is known by its size and its times. */
function contentDigest(descriptor: number, stats: BigIntStats): string {
  if (stats.size > BigInt(programFileBytesMax)) return `too large: ${stateOf(stats)}`
  const digest = createHash('sha256')
  const chunk = Buffer.allocUnsafe(Math.min(chunkBytes, Number(stats.size) + 1))
  let left = programFileBytesMax
  for (;;) {
    const bytes = readSync(descriptor, chunk, 0, chunk.length, null)
    if (bytes === 0) return digest.digest('hex')
    left -= bytes
    if (left < 0) return 'grew too large'
    digest.update(chunk.subarray(0, bytes))
  }
}
