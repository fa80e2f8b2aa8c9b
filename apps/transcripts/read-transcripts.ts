// Reads a file of transcripts twice: first for the index of repetitions (file-index.ts), then the
// kept values, one conversation at a time. So the file can be larger than the memory.

import { basename, extname } from 'node:path'
import { setImmediate as othersTurn } from 'node:timers/promises'
import { limits } from '../../shared/contract/limits.ts'
import type { Milliseconds } from '../../shared/lib/clock.ts'
import { WeirError } from '../../shared/lib/errors.ts'
import { isObject } from '../../shared/lib/json/json-object.ts'
import { cutToBytes } from '../../shared/lib/text-cut.ts'
import type { LeftOut } from '../../shared/transcript/left-out.ts'
import {
  type Piece,
  type ReadPieces,
  type Transcript,
  transcriptOf,
} from '../../shared/transcript/transcript.ts'
import type { SessionFormat } from '../../shared/wire/format.ts'
import { type IdField, numberBytesMax } from './conversation-id.ts'
import { exchangeIn } from './exchange.ts'
import {
  createFileIndex,
  type Entry,
  type FileIndex,
  mistakeOf,
  type Repeated,
} from './file-index.ts'
import { type FileValues, type Found, openValues } from './file-values.ts'
import { formatNamed } from './formats.ts'
import { factsIn, messageIn, writtenAt } from './line-kind.ts'

export type TranscriptFile = {
  repeated: Repeated
  /** The approximate number of responses. */
  rounds: number
  /**
   * The transcripts in the order of the file, read on demand. `expect` receives the difference
   * between the real and the estimated number of responses. Throws `transcript.invalid`.
   */
  transcripts(expect: (responses: number) => void): Iterable<Transcript>
  close(): void
}

/**
 * `since`: only sessions of a database that changed at this time or later. `content`: read in place of the
 * file, with the name of a conversation that has no id. `ranIn`: whether a session counts,
 * by its place (SessionFormat). `read` receives the number of bytes read.
 */
export type ReadOptions = {
  format: string
  since?: Milliseconds
  content?: { name: string; text: string }
  ranIn?: (place: string) => boolean
  idField: IdField
  leftOut: LeftOut
  signal: AbortSignal
  read: (bytes: number) => void
}

/**
 * Throws `usage` (no such file, no such ids), `transcript.invalid` with the line and the path of the
 * mistake, and the reason of an abort by `signal`.
 */
export async function readTranscripts(file: string, options: ReadOptions): Promise<TranscriptFile> {
  const { format, since, content, ranIn, idField, leftOut, signal, read } = options
  const { session } = formatNamed(format)
  const values = await openValues(file, { session, since, text: content?.text })
  const counts = createPlaceFilter(session, ranIn)
  try {
    const index = createFileIndex({
      file,
      areSeveral: values.areSeveral,
      format: formatNamed(format),
      idField,
      leftOut,
    })
    for await (const found of values.each(read)) {
      for (const one of found) if (counts.has(one)) index.take(one)
      await othersTurn() // lets Ctrl-C through
      signal.throwIfAborted()
    }
    const kept = index.kept()
    const { entries, repeated } = counts.isPlaceless() ? { ...kept, entries: [] } : kept
    return {
      repeated,
      rounds: entries.reduce((sum, { rounds }) => sum + rounds, 0),
      transcripts: (expect) => transcriptsOf(file, entries, { ...options, values, index, expect }),
      close: values.close,
    }
  } catch (error) {
    values.close()
    throw error
  }
}

/** The first line with a place decides for all lines after it. A session without a place is in no folder. */
function createPlaceFilter(
  session: SessionFormat | undefined,
  ranIn: ReadOptions['ranIn'],
): { has(found: Found): boolean; isPlaceless(): boolean } {
  let ofFile: boolean | undefined
  if (ranIn === undefined || session?.place === undefined)
    return { has: () => true, isPlaceless: () => false }
  const { place: placeOf, message } = session
  return {
    has(found) {
      const place = 'value' in found && isObject(found.value) ? placeOf(found.value) : undefined
      const own = place === undefined ? undefined : ranIn(place)
      if (message === undefined) return own === true
      ofFile ??= own
      return ofFile !== false
    },
    isPlaceless: () => message !== undefined && ofFile === undefined,
  }
}

type Reading = ReadOptions & {
  values: FileValues
  index: FileIndex
  expect: (responses: number) => void
}

function* transcriptsOf(
  file: string,
  entries: readonly Entry[],
  reading: Reading,
): Generator<Transcript> {
  const base = cutToBytes(
    reading.content?.name ?? basename(file, extname(file)),
    limits.conversationIdBytesMax - numberBytesMax,
  )
  const nameOf = createNames()
  for (const [at, entry] of entries.entries()) {
    const { pieces, tools } = piecesOf(entry, reading)
    const conversation = nameOf(entry.name ?? (entries.length === 1 ? base : `${base}-${at + 1}`))
    reading.expect(-entry.rounds)
    try {
      const transcript = transcriptOf(
        entry.where,
        conversation,
        { pieces: reading.index.withEndings(entry, pieces), tools },
        reading.leftOut,
      )
      reading.expect(transcript.turns.reduce((sum, { responses }) => sum + responses.length, 0))
      yield transcript
    } catch (error) {
      if (
        !reading.values.areSeveral ||
        !(error instanceof WeirError) ||
        error.code !== 'transcript.invalid'
      )
        throw error
      reading.leftOut.leave(
        `a transcript that cannot be used: ${mistakeOf(error, entry.where)}`,
        entry.where,
      )
    }
  }
}

/** The whole conversation, with the values that it continues and the latest list of tools. */
function piecesOf(entry: Entry, { values, format }: Reading): ReadPieces {
  const { read, pieces: piecesOf, sessions } = formatNamed(format)
  if (entry.isMessages)
    return {
      tools: undefined,
      pieces: entry.numbers.map(values.again).flatMap(({ value, where }) => {
        const message = messageIn(value, sessions)
        return message === undefined
          ? factsIn(value, sessions)
          : withTime(piecesOf(message, where), writtenAt(value, sessions))
      }),
    }
  const pieces: Piece[][] = []
  let tools: ReadPieces['tools']
  for (let one: Entry | undefined = entry; one !== undefined; one = one.before) {
    const { value, where } = values.again(one.numbers[0] as number)
    const found = read(exchangeIn(value, undefined), where)
    pieces.push(found.pieces)
    tools ??= found.tools
  }
  return { pieces: pieces.toReversed().flat(), tools }
}

function withTime(pieces: Piece[], at: Milliseconds | undefined): Piece[] {
  if (at === undefined) return pieces
  return pieces.map((piece) => (piece.kind === 'result' ? { ...piece, at } : piece))
}

/** Numbers a repeated name. */
function createNames(): (name: string) => string {
  const used = new Map<string, number>()
  return (name) => {
    let numbered = name
    for (let n = used.get(name) ?? 1; used.has(numbered); n += 1) {
      numbered = `${name} (${n + 1})`
      used.set(name, n + 1)
    }
    used.set(numbered, 1)
    return numbered
  }
}
