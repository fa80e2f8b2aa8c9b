// The readers of transcripts, for logs of requests and their answers. To add a format, write its
// reader in shared/transcript and add it here and to format-names.ts.

import type { Piece, ReadExchange, ReadPieces, ToRead } from '../../shared/transcript/transcript.ts'
import { piecesOfMessage, readAnthropic } from '../../shared/wire/anthropic/history.ts'
import { piecesOfSaid, readOpenai } from '../../shared/wire/openai/history.ts'
import { piecesOfRunItem, readOpenaiAgents } from '../../shared/wire/openai-agents/history.ts'
import { answered } from './answered.ts'
import type { transcriptFormats } from './format-names.ts'

export type TranscriptFormat = (typeof transcriptFormats)[number]

/** Both functions throw `transcript.invalid` with the path of the mistake. */
export type Format = {
  /** The pieces of a request, and of its answer behind them. */
  read(exchange: ToRead, where: string): ReadPieces
  /** Reads a single message or item. */
  pieces(value: unknown, where: string): Piece[]
}

export const formats: Record<TranscriptFormat, Format> = {
  anthropic: { read: joining(readAnthropic, { prefills: true }), pieces: piecesOfMessage },
  openai: { read: joining(readOpenai, { prefills: false }), pieces: piecesOfSaid },
  'openai-agents': {
    read: joining(readOpenaiAgents, { prefills: false }),
    pieces: piecesOfRunItem,
  },
}

function joining(
  read: (exchange: ToRead, where: string) => ReadExchange,
  { prefills }: { prefills: boolean },
): Format['read'] {
  return (exchange, where) => {
    const { pieces, answer, tools } = read(exchange, where)
    if (answer === undefined) return { pieces, tools }
    return { pieces: answered(pieces, answer, { prefills, where: `${where} answer` }), tools }
  }
}
