// The readers of transcripts, for logs of requests and their answers, from the list of formats.

import type { Piece, ReadPieces, ToRead } from '../../shared/transcript/transcript.ts'
import type { SessionFormat } from '../../shared/wire/format.ts'
import { type FileFormat, fileFormats, sessions } from '../../shared/wire/formats.ts'
import { answered } from './answered.ts'

/** Both functions throw `transcript.invalid` with the path of the mistake. */
export type Format = {
  /** The pieces of a request, and of its answer behind them. */
  read(exchange: ToRead, where: string): ReadPieces
  /** Reads a single message or item. */
  pieces(value: unknown, where: string): Piece[]
  /** The sessions whose lines can be in the file. */
  sessions: readonly SessionFormat[]
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
  }
}

function joining({ read, file: { prefills } }: FileFormat): Format['read'] {
  return (exchange, where) => {
    const { pieces, answer, tools } = read(exchange, where)
    if (answer === undefined) return { pieces, tools }
    return { pieces: answered(pieces, answer, { prefills, where: `${where} answer` }), tools }
  }
}
