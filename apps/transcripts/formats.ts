// The readers of transcripts. To add a format, write its file and add it here and to
// format-names.ts.

import { piecesOfMessage, readAnthropic } from './anthropic.ts'
import type { Exchange } from './exchange.ts'
import type { transcriptFormats } from './format-names.ts'
import { piecesOfSaid, readOpenai } from './openai.ts'
import { piecesOfRunItem, readOpenaiAgents } from './openai-agents.ts'
import type { Piece, ReadPieces } from './transcript.ts'

export type TranscriptFormat = (typeof transcriptFormats)[number]

/** Both throw `transcript.invalid`, with the path of what is wrong. */
export type Format = {
  read(exchange: Pick<Exchange, 'request' | 'answer'>, where: string): ReadPieces
  /** Of a message, or an item, by itself. */
  said(value: unknown, where: string): Piece[]
}

export const formats: Record<TranscriptFormat, Format> = {
  anthropic: { read: readAnthropic, said: piecesOfMessage },
  openai: { read: readOpenai, said: piecesOfSaid },
  'openai-agents': { read: readOpenaiAgents, said: piecesOfRunItem },
}
