// The readers of transcripts. To add a format, write its file and add it here and to
// format-names.ts.

import { piecesOfMessage, readAnthropic } from './anthropic.ts'
import type { Exchange } from './exchange.ts'
import type { transcriptFormats } from './format-names.ts'
import { piecesOfSaid, readOpenai } from './openai.ts'
import { piecesOfRunItem, readOpenaiAgents } from './openai-agents.ts'
import type { Piece, ReadPieces } from './transcript.ts'

export type TranscriptFormat = (typeof transcriptFormats)[number]

/** Both functions throw `transcript.invalid` with the path of the mistake. */
export type Format = {
  read(exchange: Pick<Exchange, 'request' | 'answer'>, where: string): ReadPieces
  /** Reads a single message or item. */
  pieces(value: unknown, where: string): Piece[]
}

export const formats: Record<TranscriptFormat, Format> = {
  anthropic: { read: readAnthropic, pieces: piecesOfMessage },
  openai: { read: readOpenai, pieces: piecesOfSaid },
  'openai-agents': { read: readOpenaiAgents, pieces: piecesOfRunItem },
}
