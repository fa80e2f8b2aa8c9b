// The formats of transcripts. A format is one file and one line here.

import { piecesOfMessage, readAnthropic } from './anthropic.ts'
import type { Exchange } from './exchange.ts'
import { piecesOfSaid, readOpenai } from './openai.ts'
import { piecesOfRunItem, readOpenaiAgents } from './openai-agents.ts'
import type { Piece, ReadPieces } from './transcript.ts'

export const transcriptFormats = ['anthropic', 'openai', 'openai-agents'] as const
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
