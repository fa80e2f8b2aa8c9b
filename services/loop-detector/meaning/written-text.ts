// The place into which a call writes a text that its arguments hold: the file of an edit, the target
// of `echo x >> notes.md`.

import { cleanPath, namesPath } from '../../../shared/contract/identity/arguments.ts'
import { isObject } from '../../../shared/lib/json/json-object.ts'
import type { CallEvidence } from '../evidence/call-evidence.ts'
import { commandIn, isShell, programsIn, wordsOf } from '../evidence/effect.ts'

/** Undefined: the call writes no such text, or it failed. */
export function placeOfChange({
  tool,
  effect,
  value,
  failure,
  reported,
}: Pick<CallEvidence, 'tool' | 'effect' | 'value' | 'failure' | 'reported'>): string | undefined {
  if (effect !== 'changes' || failure !== undefined || reported !== undefined) return undefined
  if (!isObject(value)) return undefined
  const command = commandIn(value)
  if (command !== undefined && isShell(wordsOf(tool))) return targetOf(command)
  let place: string | undefined
  let hasText = false
  for (const [name, member] of membersIn(value)) {
    if (typeof member !== 'string' || member === '') continue
    if (member.startsWith('*** Begin Patch')) return placeOfPatch(member)
    if (writtenName.test(name)) hasText = true
    else if (namesPath(name) || placeName.test(name)) place ??= cleanPath(member)
  }
  return hasText ? place : undefined
}

/**
 * The members, and those of a member that is an object or has objects: `{"edits":[{"new_string":"x"}]}`.
 */
function membersIn(value: Record<string, unknown>): [string, unknown][] {
  return Object.entries(value).flatMap(([name, member]): [string, unknown][] =>
    (Array.isArray(member) ? member.slice(0, itemsMax) : [member]).flatMap(
      (item): [string, unknown][] => (isObject(item) ? Object.entries(item) : [[name, item]]),
    ),
  )
}

const itemsMax = 16

/** The files of a patch of Codex. Undefined: it only deletes. */
function placeOfPatch(patch: string): string | undefined {
  const files = [...patch.matchAll(patched)].map(([, file]) => file)
  return files.length === 0 ? undefined : files.join('\n')
}

const patched = /^\*{3} (?:Update|Add) File: (\S{1,256})/gm
const writtenName =
  /^(?:contents?|text|body|new_?(?:str|string|text|source|content|value)|insert_?text|patch|diff|code(?:_?edit)?|source|replacement|value|html|markdown|lines?)$/i
const placeName =
  /^(?:page|document|doc|sheet|cell|notebook|key|title|name|note)(?:_?(?:id|name))?$/i

/** Of a command that writes its own words into one file, and otherwise only reads. */
function targetOf(command: string): string | undefined {
  if (!writes.test(command)) return undefined
  const patch = /^\s*apply_patch\b/.test(command) ? command.indexOf('*** Begin Patch') : -1
  if (patch >= 0) return placeOfPatch(command.slice(patch))
  let target: string | undefined
  for (const { program, argv, part } of programsIn(command.replace(hereText, '$3'))) {
    const written =
      program === 'sed' && inPlace.test(part)
        ? argv.at(-1)
        : /[^>]>>?\s*([^\s>&|;]+)/.exec(part)?.[1]
    if (written !== undefined) target ??= written
    if (!texters.has(program)) return undefined
  }
  return target
}

/**
 * The words of `cat > a.ts <<'EOF'` are no programs. The words of `<<< x` have no end mark. Linear: a
 * mark without an end has all other words, and blanks count from the begin of their line.
 */
const hereText = /(?<!<)<<(?!<)-?[ \t]?(['"]?)(\w{1,32})\1([^\n]*)[\s\S]*?(?:\n[ \t]*\2(?=\n|$)|$)/g
const writes = />|<<|\bsed\s/
const inPlace = /\s-[a-zA-Z]*i/
const texters: ReadonlySet<string> = new Set(
  'echo printf cat sed head tail wc ls grep true'.split(' '),
)
