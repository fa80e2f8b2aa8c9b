// The index of a file of transcripts: which values form one conversation, and which repeat another.
// A value is a transcript, one message, or the continuation of an earlier value whose
// history the provider keeps.
// An unusable value among several is left out and counted, with the first place of
// its kind.

import { usageError, WeirError } from '../../shared/lib/errors.ts'
import type { LeftOut } from '../../shared/transcript/left-out.ts'
import { invalid, type Piece } from '../../shared/transcript/transcript.ts'
import { printable } from '../terminal/text/printable.ts'
import { conversationIdIn, type IdField } from './conversation-id.ts'
import { exchangeIn } from './exchange.ts'
import type { Found } from './file-values.ts'
import type { Format } from './formats.ts'
import { createLineKinds } from './line-kind.ts'
import { createRepetitions, type Digest } from './repetitions.ts'

/** One value, or the messages of one transcript. */
export type Entry = {
  where: string
  /** Its name; undefined: none is recorded. */
  name: string | undefined
  /** Separates it from others. */
  id: string | undefined
  /** The numbers for reading its values again. */
  numbers: number[]
  isMessages: boolean
  /** The entry that it continues. */
  before: Entry | undefined
  /** Digest of the whole conversation so far. Undefined for messages, which never repeat. */
  digest: Digest | undefined
  /** The approximate number of responses. */
  rounds: number
}

/** `equal`: equal to a later one. */
export type Repeated = { beginnings: number; equal: number }

export type FileIndex = {
  /** Throws `transcript.invalid` if the value is the only one. */
  take(found: Found): void
  /**
   * The entries that no other one repeats. Throws `transcript.invalid` if no value is usable, and
   * `usage` if no id stands in the given field.
   */
  kept(): { entries: Entry[]; repeated: Repeated }
  /** Adds the endings of answers that only other entries contain. */
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
  const lineKinds = createLineKinds(idField, format.sessions)
  const repetitions = createRepetitions()
  const entries: Entry[] = []
  const messages = new Map<string, Entry>()
  /** By the ids that a later request can continue. */
  const named = new Map<string, Entry>()
  let firstMistake: WeirError | undefined
  let ids = 0

  function add({ number, where, ...found }: Found): void {
    if ('fault' in found) throw invalid(where, found.fault)
    const kind = areSeveral ? lineKinds.kindOf(found.value) : ({ kind: 'transcript' } as const)
    if (kind.kind === 'other') leftOut.leave(kind.what, where)
    else if (kind.kind === 'message')
      addMessage({ number, where, of: kind.of, pieces: format.pieces(kind.message, where) })
    else if (kind.kind === 'facts') addMessage({ number, where, of: kind.of, pieces: [] })
    else addExchange({ number, where, value: found.value })
    if (!['other', 'facts'].includes(kind.kind) && typeof idField === 'object')
      lookForId(idField, found.value, where)
  }

  /** The user named the field of the id. A value without it can be in the wrong conversation. */
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
      leftOut.leave('the history before a request whose earlier request is not in the file', where)
    const name = before?.name ?? conversation?.id
    const entry = empty({
      where,
      name,
      id: before === undefined && conversation?.isRun !== true ? name : before?.id,
      isMessages: false,
    })
    entry.numbers.push(number)
    entry.before = before
    entry.digest = repetitions.add({ id: entry.id, after: before?.digest, pieces })
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
        throw firstMistake ?? invalid(file, `no transcript found: ${leftOut.lines().join('; ')}`)
      if (typeof idField === 'object' && ids === 0)
        throw usageError(
          `no transcript of ${file} has an id at '${printable(idField.join('.'))}' (--conversation-id). Give a path of keys from the top of a line, or none`,
        )
      const seen = repetitions.results().values()
      const results = entries.map(({ isMessages }) => (isMessages ? 'kept' : seen.next().value))
      const having = (result: string) => results.filter((one) => one === result).length
      return {
        entries: entries.filter((_, at) => results[at] === 'kept'),
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

/** The number of responses: runs of a model's pieces. */
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

/** The message without its place, so equal mistakes are counted together. */
export function mistakeOf({ message }: WeirError, where: string): string {
  return message
    .slice(message.startsWith(where) ? where.length : 0)
    .replace(/^:? */, '')
    .replace(/\[\d+\]/g, '[]')
}
