// Other versions of Weir, to run next to this one: an earlier one from the history of this checkout, and a
// later one with more schemas.

import { execFileSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { LockEntry } from '../../schemas/lock-entry.ts'
import { knownSchemas, ownFormat } from '../../shared/codec/codec.ts'
import { closedFormats } from '../../shared/codec/formats.ts'

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
 * A later Weir: this tree, whose next record format has a newer version of these types, each with a field
 * more. `schemas`: the ids of these versions, by type.
 */
export function nextWeir(types: readonly string[]): FormerWeir & { schemas: Map<string, number> } {
  const folder = mkdtempSync(join(tmpdir(), 'weir-next-'))
  const filter = (path: string) => !path.includes('node_modules')
  for (const part of parts)
    cpSync(join(root, part), join(folder, part), { recursive: true, filter })
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  const entries = types.map((type, place) => nextVersion(type, lastSchema + 1 + place))
  writeFileSync(join(folder, 'schemas/lock.json'), JSON.stringify([...knownSchemas, ...entries]))
  if (ownFormat > closedFormats.length) {
    const list = join(folder, 'shared/codec/formats.ts')
    const line = `{ format: ${ownFormat}, lastSchema: ${lastSchema}, commit: '' },`
    writeFileSync(list, readFileSync(list, 'utf8').replace(/\n\]/, `\n${line}\n]`))
  }
  return {
    program: join(folder, 'bin', 'weir'),
    schemas: new Map(entries.map(({ type, id }) => [type, id])),
    remove: () => rm(folder, { recursive: true, force: true }),
  }
}

const lastSchema = knownSchemas.at(-1)?.id ?? 0

function nextVersion(type: string, id: number): LockEntry {
  const last = knownSchemas.findLast((entry) => entry.type === type) as LockEntry
  const note = { name: 'addedLater', type: 'string', default: '' }
  const schema = { ...last.schema, fields: [...last.schema.fields, note] }
  return { ...last, id, version: last.version + 1, released: false, schema }
}
