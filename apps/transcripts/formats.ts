// The readers of transcripts, for logs of requests and their answers, from the list of formats.

import type { Piece, ReadPieces, ToRead } from '../../shared/transcript/transcript.ts'
import type { SessionFormat } from '../../shared/wire/format.ts'
import { type FileFormat, fileFormats, sessions } from '../../shared/wire/sessions.ts'
import { wordsIn } from './repetitions.ts'

/** Both functions throw `transcript.invalid` with the path of the mistake. */
export type Format = {
  /** The pieces of a request, and of its answer after them. */
  read(exchange: ToRead, where: string): ReadPieces
  /** Reads a single message or item. */
  pieces(value: unknown, where: string): Piece[]
  /** The sessions whose lines can be in the file. */
  sessions: readonly SessionFormat[]
  /** Of the sessions of a program. */
  session: SessionFormat | undefined
}

/** The values of `--format`. */
export const transcriptFormats = [...fileFormats.keys()]

/** `name`: one of transcriptFormats. */
export function formatNamed(name: string): Format {
  const format = fileFormats.get(name)
  if (format === undefined) throw new Error(`no transcript format ${name}`)
  const { session, file } = format
  return {
    read: joining(format),
    pieces: file.item,
    sessions: session === undefined ? sessions : [session],
    session,
  }
}

function joining({ read, file: { prefills } }: FileFormat): Format['read'] {
  return (exchange, where) => {
    const { pieces, answer, tools } = read(exchange, where)
    if (answer === undefined) return { pieces, tools }
    return { pieces: answered(pieces, answer, { prefills, where: `${where} answer` }), tools }
  }
}

// Joins a request and its answer. Some logs put the answer into the request too, or put an unrelated
// text next to the request.

/**
 * `prefills`: the model's text at the end of a request can be the beginning of its answer. `where`:
 * the place of the answer.
 */
function answered(
  request: Piece[],
  answer: Piece[],
  { prefills, where }: { prefills: boolean; where: string },
): Piece[] {
  const spoken = wordsOf(
    request.slice(request.findLastIndex(({ kind }) => kind === 'user' || kind === 'result') + 1),
  )
  const more = wordsOf(answer)
  if (spoken.length === 0 || more.length === 0) return [...request, ...answer]
  const isRepeated =
    more.length <= spoken.length &&
    more.every((words, at) => words === spoken[spoken.length - more.length + at])
  // Only the answer contains its ending.
  if (isRepeated)
    return [...request, ...answer.filter(({ kind }) => kind === 'ended' || kind === 'left-out')]
  return prefills
    ? [...request, ...answer]
    : [
        ...request,
        { kind: 'left-out', what: 'an answer to a request that ends with another one', where },
      ]
}

function wordsOf(pieces: Piece[]): string[] {
  return [...wordsIn(pieces)].map(({ words }) => words)
}
