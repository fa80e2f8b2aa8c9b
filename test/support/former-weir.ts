// Other versions of Weir, to run next to this one: an earlier one from the history of this checkout, and a
// later one with more schemas.

import { execFileSync } from 'node:child_process'
import { cpSync, mkdtempSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { LockEntry } from '../../schemas/lock-entry.ts'
import { knownSchemas, ownFormat } from '../../shared/codec/codec.ts'
import { closedFormats } from '../../shared/codec/formats.ts'
import { weirCommand } from './programs.ts'
import { patience } from './wait-limit.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

const parts = ['bin', 'apps', 'client', 'schemas', 'services', 'shared', 'package.json']

/** `program`: the path of its command. */
export type FormerWeir = { program: string; remove(): Promise<void> }

/** Whether the history of this checkout has the commit. */
export function hasCommit(commit: string): boolean {
  try {
    const type = ['cat-file', '-e', `${commit}^{commit}`]
    execFileSync('git', type, { cwd: root, stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

/** The tree of the commit in a new folder, with the packages of this checkout. */
export function formerWeir(commit: string): FormerWeir {
  const folder = mkdtempSync(join(tmpdir(), 'weir-former-'))
  const archive = execFileSync('git', ['archive', commit, ...parts], {
    cwd: root,
    maxBuffer: 256 * 1024 * 1024,
  })
  execFileSync('tar', ['-x', '-C', folder], { input: archive })
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  return {
    program: join(folder, 'bin', 'weir'),
    remove: () => rm(folder, { recursive: true, force: true }),
  }
}

/**
 * A later Weir: the program of this tree, whose next record format has a newer version of these types, each
 * with a field more. `schemas`: the ids of these versions, by type.
 */
export function nextWeir(types: readonly string[]): FormerWeir & { schemas: Map<string, number> } {
  const folder = mkdtempSync(join(tmpdir(), 'weir-next-'))
  const made = dirname(weirCommand)
  const program = join(folder, basename(weirCommand))
  for (const part of ['dist', 'package.json'])
    cpSync(join(made, part), join(folder, part), { recursive: true })
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  writeFileSync(program, readFileSync(weirCommand, 'utf8').replaceAll(made, folder), {
    mode: 0o755,
  })
  const entries = types.map((type, place) => nextVersion(type, lastSchema + 1 + place))
  writeFileSync(
    join(folder, 'dist/schemas/lock.json'),
    JSON.stringify([...knownSchemas, ...entries]),
  )
  const chunks = join(folder, 'dist/chunks')
  if (ownFormat > closedFormats.length) closeFormat(chunks)
  for (const [limit, ms] of Object.entries(fleetLimits()))
    replaceInChunk(chunks, new RegExp(`${limit}: [^,]+,`), `${limit}: ${ms},`)
  return {
    program,
    schemas: new Map(entries.map(({ type, id }) => [type, id])),
    remove: () => rm(folder, { recursive: true, force: true }),
  }
}

/**
 * A later Weir raises the format of its fleet sooner than this one. An older process that has lowered the
 * format must join its groups within this time.
 */
function fleetLimits() {
  return { fleetMembersLookMs: 1_000, fleetSettledMs: Math.ceil(10_000 * patience()) }
}

/** Adds the format of this tree to the list of the program. */
function closeFormat(chunks: string): void {
  const line = JSON.stringify({ format: ownFormat, lastSchema, commit: '' })
  replaceInChunk(chunks, /(const closedFormats = \[[^\]]*)\]/, `$1, ${line}]`)
}

function replaceInChunk(chunks: string, text: RegExp, by: string): void {
  const [chunk, ...others] = readdirSync(chunks)
    .map((name) => join(chunks, name))
    .filter((file) => text.test(readFileSync(file, 'utf8')))
  if (chunk === undefined || others.length > 0)
    throw new Error(`not one chunk of ${chunks} has ${text}`)
  writeFileSync(chunk, readFileSync(chunk, 'utf8').replace(text, by))
}

const lastSchema = knownSchemas.at(-1)?.id ?? 0

function nextVersion(type: string, id: number): LockEntry {
  const last = knownSchemas.findLast((entry) => entry.type === type) as LockEntry
  const note = { name: 'addedLater', type: 'string', default: '' }
  const schema = { ...last.schema, fields: [...last.schema.fields, note] }
  return { ...last, id, version: last.version + 1, released: false, schema }
}
