// A transcript of a foreign runtime in one vocabulary: turns, each a user's message and the model's responses, each with its calls and what they brought.
// Formats (anthropic.ts, openai.ts, openai-agents.ts) read pieces in their order; here pieces become turns.
// T1. What the model said between two words of a user or a tool is one response.
// T2. A result belongs to the oldest call with its id that has none: ids are used again.
// T3. What cannot be placed is counted and told, never guessed.
// T4. Of a call without a result, behind which the model went on, the outcome is unknown. With nothing behind it, it stays open.

import { WeirError } from '../../../shared/errors.ts'
import { limits } from '../../../shared/limits.ts'
import type { Declaration, Usage } from '../../../shared/messages.ts'
import { cutToBytes } from '../../../shared/text-cut.ts'

/** What a format finds, in the order in which it was said. `leftOut`: something of which Weir keeps nothing, in a few words for people. */
export type Piece =
  | { kind: 'user'; text: string }
  | { kind: 'text'; text: string }
  | { kind: 'reasoning'; block: unknown }
  | { kind: 'call'; id: string; name: string; arguments: string }
  | { kind: 'result'; id: string; text: string; isError: boolean }
  | { kind: 'usage'; usage: Usage }
  | { kind: 'left-out'; what: string }

/** `unknown`: it has none, and the model went on (T4). */
export type TranscriptResult = { text: string; isError: boolean } | 'unknown'

export type TranscriptCall = { id: string; name: string; arguments: string; result: TranscriptResult | undefined }

export type TranscriptResponse = { text: string; reasoning: unknown[]; calls: TranscriptCall[]; usage: Usage }

export type TranscriptTurn = { user: string; responses: TranscriptResponse[] }

export type Transcript = {
  /** Where it stands, `file:line`. */
  where: string
  conversation: string
  /** Undefined: it lists none. */
  tools: Declaration[] | undefined
  turns: TranscriptTurn[]
  /** What was left out, and how often. */
  leftOut: Map<string, number>
}

/** What a format reads of one JSON value. */
export type ReadPieces = { pieces: Piece[]; tools: Declaration[] | undefined; id: string | undefined }

/** Throws `transcript.invalid` where nobody asks or no model answers. */
export function transcriptOf(where: string, conversation: string, { pieces, tools }: Omit<ReadPieces, 'id'>): Transcript {
  const turns: TranscriptTurn[] = []
  const leftOut = new Map<string, number>()
  const leave = (what: string): void => void leftOut.set(what, (leftOut.get(what) ?? 0) + 1)
  const waiting: TranscriptCall[] = []
  let isModelSpeaking = false
  for (const piece of pieces) {
    const turn = turns.at(-1)
    switch (piece.kind) {
      case 'user':
        if (turn !== undefined && turn.responses.length === 0) turn.user += `\n\n${piece.text}`
        else turns.push({ user: piece.text, responses: [] })
        isModelSpeaking = false
        break
      case 'result': {
        const at = waiting.findIndex(({ id }) => id === piece.id)
        const [call] = at < 0 ? [] : waiting.splice(at, 1)
        if (call === undefined) leave('a result of a call that is not there')
        else call.result = { text: piece.text, isError: piece.isError }
        isModelSpeaking = false
        break
      }
      case 'left-out':
        leave(piece.what)
        break
      default: {
        if (turn === undefined) {
          if (piece.kind !== 'usage') leave('what the model said before anybody asked')
          break
        }
        if (!isModelSpeaking) turn.responses.push(silence())
        isModelSpeaking = true
        const call = said(turn.responses.at(-1) as TranscriptResponse, piece)
        if (call !== undefined) waiting.push(call)
      }
    }
  }
  for (const { responses } of turns) for (const { calls } of responses.slice(0, -1)) for (const call of calls) call.result ??= 'unknown'
  for (const turn of turns) {
    const kept = cutToBytes(turn.user, limits.userMessageBytesMax)
    if (kept !== turn.user) leave(`the end of a message of a user, of which Weir takes ${limits.userMessageBytesMax} bytes`)
    turn.user = kept
  }
  if (turns.length === 0) throw invalid(where, 'nobody asks anything in it: it has no message of a user')
  if (turns.every(({ responses }) => responses.length === 0)) throw invalid(where, 'no model answers in it: there is nothing to judge')
  return { where, conversation, tools, turns, leftOut }
}

function silence(): TranscriptResponse {
  return { text: '', reasoning: [], calls: [], usage: { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 } }
}

/** The call that it is, if it is one. */
function said(response: TranscriptResponse, piece: Exclude<Piece, { kind: 'user' | 'result' | 'left-out' }>): TranscriptCall | undefined {
  switch (piece.kind) {
    case 'text':
      response.text += piece.text
      return undefined
    case 'reasoning':
      response.reasoning.push(piece.block)
      return undefined
    case 'usage':
      response.usage = piece.usage
      return undefined
    case 'call': {
      const call: TranscriptCall = { id: piece.id, name: piece.name, arguments: piece.arguments, result: undefined }
      response.calls.push(call)
      return call
    }
    default:
      return piece satisfies never
  }
}

/** A tool as a transcript lists it. */
export function declarationOf(name: string, description: unknown, schema: unknown): Declaration {
  const any = { type: 'object' }
  return {
    ...{ name, description: typeof description === 'string' ? description : '', schema: JSON.stringify(schema ?? any) },
    ...{ idempotent: false, timeoutMs: 60_000, poll: false, hints: null },
  }
}

export function invalid(where: string, text: string): WeirError {
  return new WeirError('transcript.invalid', `${where}: ${text}`)
}
