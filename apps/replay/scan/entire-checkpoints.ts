// The sessions in the checkpoints of Entire: transcripts of agents, as their programs wrote them, in refs of
// a repository. A checkpoint has the whole session so far, so the longest one counts. Git fetches nothing.

import { execFileSync } from 'node:child_process'
import { basename } from 'node:path'
import { WeirError } from '../../../shared/lib/errors.ts'
import { objectIn } from '../../../shared/lib/json/json-object.ts'
import { textOr } from '../../../shared/transcript/json-fields.ts'
import { invalid } from '../../../shared/transcript/transcript.ts'

/** `place`: for people, as `git show` takes it. `agent`: the name of its program, or of none. */
export type Checkpoint = {
  session: string
  agent: string
  place: string
  bytes: number
  read: () => string
}

type Blob = { oid: string; bytes: number; path: string }
type Folder = { place: string; meta: Blob | undefined; parts: Blob[] }

const outputBytesMax = 256 * 1024 * 1024
/** A branch with all checkpoints, or a ref for each. */
const refPatterns = [
  'refs/heads/entire/checkpoints/v1',
  'refs/remotes/*/entire/checkpoints/v1',
  'refs/entire/checkpoints/**',
]
/** The transcript of a session, in parts if it is long. */
const transcript = /^((?:.*\/)?\d+\/)(?:metadata\.json|full\.jsonl(?:\.\d{3,})?)$/
const subAgent = /^(?:.*\/)?tasks\/[^/]+\/agent-[^/]+\.jsonl$/

/**
 * Empty: the folder is no repository, or it has no checkpoints, or this machine has no Git. `unread`: refs
 * that Git cannot read, such as those of a partial clone. `read` throws `transcript.invalid`.
 */
export function checkpointsIn(repo: string): { checkpoints: Checkpoint[]; unread: string[] } {
  const git = (args: string[]): Buffer => {
    try {
      return execFileSync('git', ['-C', repo, ...args], {
        maxBuffer: outputBytesMax,
        stdio: ['ignore', 'pipe', 'ignore'],
        env: { PATH: process.env.PATH, HOME: process.env.HOME, GIT_NO_LAZY_FETCH: '1' },
      })
    } catch (error) {
      throw invalid(repo, `has no such content for git ${args[0]}: ${(error as Error).message}`)
    }
  }
  const contentOf = ({ oid }: Blob) => git(['cat-file', 'blob', oid]).toString('utf8')
  const found = new Map<string, Checkpoint>()
  const add = (checkpoint: Checkpoint) => {
    if ((found.get(checkpoint.session)?.bytes ?? 0) < checkpoint.bytes)
      found.set(checkpoint.session, checkpoint)
  }
  const addRef = (ref: string) => {
    const { folders, children } = foldersIn(ref, git)
    for (const { place, meta, parts } of folders) {
      const { session_id: id, agent } = (meta && objectIn(contentOf(meta))) ?? {}
      const bytes = parts.reduce((sum, part) => sum + part.bytes, 0)
      const read = () => parts.map(contentOf).join('\n')
      add({ session: textOr(id) || place, agent: textOr(agent), place, bytes, read })
    }
    for (const blob of children) {
      const session = basename(blob.path, '.jsonl')
      const place = `${ref}:${blob.path}`
      add({ session, agent: '', place, bytes: blob.bytes, read: () => contentOf(blob) })
    }
  }
  const unread: string[] = []
  for (const ref of refsIn(git)) {
    try {
      addRef(ref)
    } catch (error) {
      if (!(error instanceof WeirError)) throw error
      unread.push(ref)
    }
  }
  return { checkpoints: [...found.values()], unread }
}

type Git = (args: string[]) => Buffer

function refsIn(git: Git): string[] {
  try {
    const lines = git(['for-each-ref', '--format=%(refname)', ...refPatterns]).toString('utf8')
    return lines.split('\n').filter((line) => line !== '')
  } catch {
    return []
  }
}

function foldersIn(ref: string, git: Git): { folders: Folder[]; children: Blob[] } {
  const folders = new Map<string, Folder>()
  const children: Blob[] = []
  for (const entry of git(['ls-tree', '-rlz', '--full-tree', ref]).toString('utf8').split('\0')) {
    const [, oid = '', size = '', path = ''] =
      /^\d+ blob ([0-9a-f]+) +(\d+)\t([\s\S]+)$/.exec(entry) ?? []
    const blob = { oid, bytes: Number(size), path }
    if (subAgent.test(path)) children.push(blob)
    const [, key] = transcript.exec(path) ?? []
    if (key === undefined) continue
    const place = `${ref}:${key}full.jsonl`
    const folder = folders.get(key) ?? { place, meta: undefined, parts: [] }
    folders.set(key, folder)
    if (path.endsWith('metadata.json')) folder.meta = blob
    else folder.parts.push(blob) // in the order of their names
  }
  return { folders: [...folders.values()].filter(({ parts }) => parts.length > 0), children }
}
