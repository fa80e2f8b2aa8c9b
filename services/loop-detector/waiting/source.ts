// Where the answer of a look comes from: from a thing that may run, or from a text about it.
//
// A file states progress if an earlier call returned its path or the id in it, or if its text
// has an id. A file whose name tells of a run may hold the state alone.
// The `status` of any other document is a text that nothing changes.

import { isObject } from '../../../shared/lib/json/json-object.ts'
import { commandIn, programsIn, words, wordsOf } from '../evidence/effect.ts'

/** `names`: a list of names, a search, or the call's own words: never a wait. */
type Source = 'thing' | 'document' | 'names'

export function sourceOf(tool: string, value: unknown, text: string): Source {
  const command = commandIn(value)
  if (command !== undefined) return sourceOfCommand(command, text)
  if (wordsOf(tool).some((word) => listers.has(word))) return 'names'
  const path = pathIn(value)
  return path === undefined ? 'thing' : sourceOfFile(path, text)
}

function sourceOfCommand(command: string, text: string): Source {
  const programs = programsIn(command)
  const isOf = (list: ReadonlySet<string>) => programs.every(({ program }) => list.has(program))
  if (programs.length === 0) return 'thing'
  if (isOf(speakers) || isOf(namers)) return 'names'
  return isOf(readers) ? sourceOfFile(command, text) : 'thing'
}

function sourceOfFile(path: string, text: string): Source {
  const isState = nameOfRun.test(path) && /^\s*[a-z][a-z _-]{0,40}\s*$/i.test(text)
  return isState || /"\w{0,16}id"\s*:/i.test(text.slice(0, textCharsMax)) ? 'thing' : 'document'
}

function pathIn(value: unknown): string | undefined {
  if (!isObject(value)) return undefined
  for (const [name, member] of Object.entries(value))
    if (pathName.test(name) && typeof member === 'string') return member
  return undefined
}

export const pathName = /^(?:(?:absolute_?|target_?)?(?:file_?)?path|file_?name|file)$/i

const textCharsMax = 1024

const speakers = words('echo printf true :')
const namers = words('ls find fd tree du')
const readers = words(
  'cat head tail less more bat grep egrep fgrep rg jq yq sed awk cut tr sort uniq wc nl tac',
)
const listers = words('search grep glob ls dir directory tree')
/** `build.status`, `/tmp/job-7/state`, `deploy.log`. */
const nameOfRun = /(?:status|state|progress|phase|log|out|output|pid|lock|job|run|build|task)\b/i
