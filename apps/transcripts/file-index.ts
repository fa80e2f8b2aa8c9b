// What a file of transcripts has, without what they say: which of its values make up one
// conversation, and which only repeat what another one says.
// FILE-INDEX-1. A value is a transcript by itself, or goes on from one before it where the provider
//     keeps what was said, or is one message.
// FILE-INDEX-2. Of several values one that cannot be used is left out and counted, with the first
//     place of its kind.

import { WeirError } from '../../shared/lib/errors.ts'
import { printable } from '../terminal/printable.ts'
import { conversationIdIn, type IdField } from './conversation-id.ts'
import { exchangeIn } from './exchange.ts'
import type { Found } from './file-values.ts'
import type { Format } from './formats.ts'
import type { LeftOut } from './left-out.ts'
import { createLineKinds } from './line-kind.ts'
import { createRepetitions, type Digest } from './repetitions.ts'
import { invalid, type Piece } from './transcript.ts'

/** One value, or the messages of one transcript. */
export type Entry = {
  where: string
  /** What it is called; undefined: nothing says so. */
  name: string | undefined
  /** What keeps it apart from others (R1 of repetitions.ts). */
  id: string | undefined
  /** By which its values are read again. */
  numbers: number[]
  isMessages: boolean
  /** What it goes on from. */
  before: Entry | undefined
  /** Of all that was said up to here; of messages undefined: nothing repeats them. */
  digest: Digest | undefined
  /** Responses in it, about. */
  rounds: number
}

/** `equal`: to a later one. */
export type Repeated = { beginnings: number; equal: number }

export type FileIndex = {
  /** Throws `transcript.invalid` where the value is the only one. */
  take(found: Found): void
  /**
   * Those that nothing repeats. Throws `transcript.invalid` where nothing could be used, and
   * `usage` where no id is where it was said to be.
   */
  kept(): { entries: Entry[]; repeated: Repeated }
  /**
   * Puts into all that was said in an entry what only others know of how the model's answers ended.
   */
  withEndings(entry: Entry, pieces: Piece[]): Piece[]
}

export type FileIndexOptions = {
  file: string
  areSeveral: boolean
  format: Format
  idField: IdField
  leftOut: LeftOut
}

export function createFileIndex({
  file,
  areSeveral,
  format,
  idField,
  leftOut,
}: FileIndexOptions): FileIndex {
  const lineKinds = createLineKinds(idField)
  const repetitions = createRepetitions()
  const entries: Entry[] = []
  const messages = new Map<string, Entry>()
  /** By what a request may say that it goes on from. */
  const named = new Map<string, Entry>()
  let firstMistake: WeirError | undefined
  let ids = 0

  function add({ number, where, ...found }: Found): void {
    if ('fault' in found) throw invalid(where, found.fault)
    const kind = areSeveral ? lineKinds.kindOf(found.value) : ({ kind: 'transcript' } as const)
    if (kind.kind === 'other') leftOut.leave(kind.what, where)
    else if (kind.kind === 'message')
      addMessage({ number, where, of: kind.of, pieces: format.said(kind.message, where) })
    else addExchange({ number, where, value: found.value })
    if (kind.kind !== 'other' && typeof idField === 'object') lookForId(idField, found.value, where)
  }

  /**
   * Somebody said where it stands: what has none there may be of another conversation than it is
   * taken for.
   */
  function lookForId(path: readonly string[], value: unknown, where: string): void {
    if (conversationIdIn(value, [], { idField: path, isAnswered: false }) !== undefined) ids += 1
    else leftOut.note(`no id of a conversation at ${path.join('.')}`, where)
  }

  function addMessage({
    number,
    where,
    of,
    pieces,
  }: {
    number: number
    where: string
    of: string
    pieces: Piece[]
  }): void {
    const id = of === '' ? undefined : of
    const entry = messages.get(of) ?? empty({ where, name: id, id, isMessages: true })
    if (!messages.has(of)) entries.push(entry)
    messages.set(of, entry)
    entry.numbers.push(number)
    entry.rounds += roundsIn(pieces)
  }

  function addExchange({
    number,
    where,
    value,
  }: {
    number: number
    where: string
    value: unknown
  }): void {
    const { conversation, names, after, ...exchange } = exchangeIn(value, idField)
    const { pieces } = format.read(exchange, where)
    const before = after === undefined ? undefined : named.get(after)
    if (after !== undefined && before === undefined && !names.includes(after))
      leftOut.leave(
        'what was said before a request that goes on from one that is not in the file',
        where,
      )
    const name = before?.name ?? conversation?.id
    const entry = empty({
      where,
      name,
      id: before === undefined && conversation?.isRun !== true ? name : before?.id,
      isMessages: false,
    })
    entry.numbers.push(number)
    entry.before = before
    entry.digest = repetitions.see({ id: entry.id, after: before?.digest, pieces })
    entry.rounds = (before?.rounds ?? 0) + roundsIn(pieces)
    entries.push(entry)
    for (const one of names) named.set(one, entry)
  }

  return {
    take(found) {
      try {
        add(found)
      } catch (error) {
        if (!areSeveral || !(error instanceof WeirError)) throw error
        firstMistake ??= error
        leftOut.leave(
          `a transcript that cannot be used: ${mistakeOf(error, found.where)}`,
          found.where,
        )
      }
    },

    kept() {
      if (entries.length === 0)
        throw (
          firstMistake ??
          invalid(file, `there is no transcript in it: ${leftOut.lines().join('; ')}`)
        )
      if (typeof idField === 'object' && ids === 0)
        throw new WeirError(
          'usage',
          `--conversation-id is '${printable(idField.join('.'))}', where no transcript of ${file} has an id; must be a path of keys from the top of a line, or none`,
        )
      const seen = repetitions.fates().values()
      const fates = entries.map(({ isMessages }) => (isMessages ? 'kept' : seen.next().value))
      const having = (fate: string) => fates.filter((one) => one === fate).length
      return {
        entries: entries.filter((_, at) => fates[at] === 'kept'),
        repeated: { beginnings: having('beginning'), equal: having('equal') },
      }
    },

    withEndings: ({ id, isMessages }, pieces) =>
      isMessages ? pieces : repetitions.withEndings({ id, after: undefined, pieces }),
  }
}

function empty(of: Pick<Entry, 'where' | 'name' | 'id' | 'isMessages'>): Entry {
  return { ...of, numbers: [], before: undefined, digest: undefined, rounds: 0 }
}

/** Of a model: what it said until somebody else said something. */
function roundsIn(pieces: readonly Piece[]): number {
  let rounds = 0
  let isModels = false
  for (const { kind } of pieces) {
    const was: boolean = isModels
    isModels = kind === 'text' || kind === 'call' || (was && kind !== 'user' && kind !== 'result')
    if (isModels && !was) rounds += 1
  }
  return rounds
}

/** Without where it stands, so that mistakes of a kind are counted as one. */
export function mistakeOf({ message }: WeirError, where: string): string {
  return message
    .slice(message.startsWith(where) ? where.length : 0)
    .replace(/^:? */, '')
    .replace(/\[\d+\]/g, '[]')
}
