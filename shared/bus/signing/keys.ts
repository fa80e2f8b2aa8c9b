// The keys of signed records. Every pair of writer and topic has its own key, derived from one root
// key. A principal's file has the keys that it signs with, and those that it checks its inbox with.
// So a principal can sign as itself, and can forge records for its own inbox only.
// Key files are readable by this user only (secret-files.ts). Others are refused.
// Two generations are valid at a time. Writers sign with the newer one, readers accept both.

import { createHmac, createSecretKey, type KeyObject, randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { stageNames } from '../../contract/topology.ts'
import { WeirError } from '../../lib/errors.ts'
import { readSecretFile, writeSecretFile } from '../../lib/files/secret-files.ts'
import { checkedBy, guardPrincipal, outsiders, topicsSignedBy } from './principals.ts'

/** `name`: the generation, as signatures name it. */
export type RecordKey = { name: string; key: KeyObject }
/** By topic without prefix, then by writer. The newest key is first. */
export type PairKeys = ReadonlyMap<string, ReadonlyMap<string, readonly RecordKey[]>>
export type RecordKeys = { writes: PairKeys; reads: PairKeys }

/** A principal's file. Keys are base64. */
type KeyFile = {
  version: 1
  principal: string
  writes: Record<string, Record<string, StoredKey[]>>
  reads: Record<string, Record<string, StoredKey[]>>
}
type StoredKey = { id: number; key: string }
type RootFile = { version: 1; root: string; generation: number }

const rootFile = 'root.key'

/**
 * Writes a file for each principal into a folder, and the root key that the next call uses. The same
 * call again writes the same keys. `rotate`: begins the next generation. Returns the principals.
 */
export function createKeyFiles(
  folder: string,
  { guards = [], rotate = false }: { guards?: readonly string[]; rotate?: boolean } = {},
): { principals: string[]; generation: number } {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const root = rootOf(folder, rotate)
  const principals = [...stageNames, ...outsiders, ...guards.map(guardPrincipal)]
  for (const principal of principals)
    writeSecretFile(join(folder, `${principal}.json`), keyFileOf(root, principal, guards))
  return { principals, generation: root.generation }
}

function rootOf(folder: string, rotate: boolean): RootFile {
  const path = join(folder, rootFile)
  const known = existsSync(path)
    ? (JSON.parse(readSecretFile(path, refusalOf(path))) as RootFile)
    : undefined
  const root = {
    version: 1 as const,
    root: known?.root ?? randomBytes(32).toString('base64'),
    generation: (known?.generation ?? 1) + (rotate && known !== undefined ? 1 : 0),
  }
  writeSecretFile(path, root)
  return root
}

function keyFileOf(root: RootFile, principal: string, guards: readonly string[]): KeyFile {
  const pair = (writer: string, topic: string): StoredKey[] =>
    [root.generation, root.generation - 1]
      .filter((id) => id > 0)
      .map((id) => ({ id, key: pairKey(root.root, { writer, topic, id }) }))
  const writes = topicsSignedBy(principal).map((topic) => [
    topic,
    { [principal]: pair(principal, topic).slice(0, 1) },
  ])
  const reads = [...checkedBy(principal, guards)].map(([topic, writers]) => [
    topic,
    Object.fromEntries(writers.map((writer) => [writer, pair(writer, topic)])),
  ])
  return {
    version: 1,
    principal,
    writes: Object.fromEntries(writes),
    reads: Object.fromEntries(reads),
  }
}

/** HMAC-SHA-256 of the pair's name under the root key. */
function pairKey(
  root: string,
  { writer, topic, id }: { writer: string; topic: string; id: number },
): string {
  return createHmac('sha256', Buffer.from(root, 'base64'))
    .update(`weir record key\n${id}\n${writer}\n${topic}\n`)
    .digest('base64')
}

/**
 * The keys in a principal's file, or in all files of a folder, for a process of several principals.
 * Throws `settings.invalid`.
 */
export function readKeys(path: string): RecordKeys {
  const files = filesAt(path)
  const keys = { writes: new Map(), reads: new Map() } satisfies RecordKeys
  for (const file of files) {
    const { version, writes, reads } = keyFileIn(file)
    if (version !== 1) throw invalid(file, 'its version is not 1')
    addPairs(keys.writes, writes)
    addPairs(keys.reads, reads)
  }
  return keys
}

function filesAt(path: string): string[] {
  try {
    if (!statSync(path).isDirectory()) return [path]
    const files = readdirSync(path).filter((name) => name.endsWith('.json'))
    if (files.length > 0) return files.map((name) => join(path, name))
  } catch (cause) {
    throw invalid(path, 'it cannot be read', cause)
  }
  throw invalid(path, 'it has no key file: create them with weir keys create')
}

function keyFileIn(file: string): KeyFile {
  const text = readSecretFile(file, refusalOf(file))
  try {
    return JSON.parse(text) as KeyFile
  } catch (cause) {
    throw invalid(file, 'it is no JSON', cause)
  }
}

function addPairs(
  pairs: Map<string, Map<string, RecordKey[]>>,
  stored: KeyFile['writes'] | undefined,
): void {
  for (const [topic, writers] of Object.entries(stored ?? {})) {
    const inTopic = pairs.get(topic) ?? new Map<string, RecordKey[]>()
    pairs.set(topic, inTopic)
    for (const [writer, keys] of Object.entries(writers))
      inTopic.set(
        writer,
        keys.map(({ id, key }) => ({ name: String(id), key: createSecretKey(key, 'base64') })),
      )
  }
}

function refusalOf(file: string): (why: string, cause?: unknown) => WeirError {
  return (why, cause) => invalid(file, why, cause)
}

function invalid(file: string, why: string, cause?: unknown): WeirError {
  return new WeirError(
    'settings.invalid',
    `the key file ${file} (recordSigning) cannot be used: ${why}`,
    {
      cause,
    },
  )
}
