// A transcript of a foreign runtime in one vocabulary: turns, each a user's message and the model's
// responses, each with its calls and what they brought. Formats (anthropic.ts, openai.ts,
// openai-agents.ts) read pieces in their order; here pieces become turns.
// TRANSCRIPTS-TRANSCRIPT-1. What the model said between two words of a user or a tool is one
//     response. Only behind one that said nothing another one begins.
// TRANSCRIPTS-TRANSCRIPT-2. A result belongs to a call with its id that has none, of the last
//     response with such a call, and there to the oldest: ids are used again, also where a call
//     before never got its result. The order of results is that in which tools ended.
// TRANSCRIPTS-TRANSCRIPT-3. What cannot be placed is counted and told, never guessed.
// TRANSCRIPTS-TRANSCRIPT-4. Of a call without a result, behind which the model went on, the outcome
//     is unknown. With nothing behind it, it stays open.
// TRANSCRIPTS-TRANSCRIPT-5. What bears the id of the response before is of that response, also
//     where a result came in between: some logs write each call when it was said.

import { limits } from '../../shared/contract/limits.ts'
import type { Declaration, Usage } from '../../shared/contract/messages.ts'
import { WeirError } from '../../shared/lib/errors.ts'
import { cutToBytes } from '../../shared/lib/text-cut.ts'
import type { LeftOut } from './left-out.ts'

/**
 * What a format finds, in the order in which it was said. `left-out`: something of which Weir keeps
 * nothing, in a few words for people.
 */
export type Piece =
  | { kind: 'user'; text: string }
  /**
   * The model begins to speak; what follows may be nothing. `id`: of the message, where it has one.
   */
  | { kind: 'response'; id: string | undefined }
  | { kind: 'text'; text: string }
  | { kind: 'reasoning'; block: unknown }
  | { kind: 'call'; id: string; name: string; arguments: string }
  | { kind: 'result'; id: string; text: string; isError: boolean; where: string }
  | { kind: 'ended'; usage: Usage | undefined; finish: string }
  | { kind: 'left-out'; what: string; where: string }

/** `unknown`: it has none, and the model went on (TRANSCRIPTS-TRANSCRIPT-4). */
export type TranscriptResult = { text: string; isError: boolean } | 'unknown'

export type TranscriptCall = {
  id: string
  name: string
  arguments: string
  result: TranscriptResult | undefined
}

/** `finish`: the provider's own word for why it stopped; empty where nothing says so. */
export type TranscriptResponse = {
  id: string | undefined
  text: string
  reasoning: unknown[]
  calls: TranscriptCall[]
  usage: Usage
  finish: string
}

export type TranscriptTurn = { user: string; responses: TranscriptResponse[] }

export type Transcript = {
  /** Where it stands, `file:line`. */
  where: string
  conversation: string
  /** Undefined: it lists none. */
  tools: Declaration[] | undefined
  turns: TranscriptTurn[]
}

/** What a format reads of one JSON value. `tools`: undefined where it lists none. */
export type ReadPieces = { pieces: Piece[]; tools: Declaration[] | undefined }

/** Throws `transcript.invalid` where nobody asks or no model answers. */
export function transcriptOf(
  where: string,
  conversation: string,
  { pieces, tools }: ReadPieces,
  leftOut: LeftOut,
): Transcript {
  const turns: TranscriptTurn[] = []
  const waiting: Waiting[] = []
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
        const call = takeWaiting(waiting, piece.id)
        if (call === undefined)
          leftOut.leave('a result of a call that does not stand before it', piece.where)
        else call.result = { text: piece.text, isError: piece.isError }
        isModelSpeaking = false
        break
      }
      case 'left-out':
        leftOut.leave(piece.what, piece.where)
        break
      default: {
        if (turn === undefined) {
          if (piece.kind !== 'ended' && piece.kind !== 'response')
            leftOut.leave('what the model said before anybody asked', where)
          break
        }
        if (piece.kind === 'response') {
          const before = turn.responses.at(-1)
          if (before !== undefined && piece.id !== undefined && before.id === piece.id)
            isModelSpeaking = true // keeps TRANSCRIPTS-TRANSCRIPT-5
          else if (before === undefined || !isModelSpeaking || isSilent(before))
            turn.responses.push(silence(piece.id))
        } else if (!isModelSpeaking && piece.kind !== 'ended')
          turn.responses.push(silence(undefined))
        if (piece.kind !== 'ended') isModelSpeaking = true
        const response = turn.responses.at(-1)
        if (response === undefined) break
        const call = said(response, piece)
        if (call !== undefined) waiting.push({ call, response })
      }
    }
  }
  for (const { responses } of turns)
    for (const { calls } of responses.slice(0, -1))
      for (const call of calls) call.result ??= 'unknown'
  for (const turn of turns) {
    const kept = cutToBytes(turn.user, limits.userMessageBytesMax)
    if (kept !== turn.user)
      leftOut.leave(
        `the end of a message of a user, of which Weir takes ${limits.userMessageBytesMax} bytes`,
        where,
      )
    turn.user = kept
  }
  if (turns.length === 0)
    throw invalid(where, 'nobody asks anything in it: it has no message of a user')
  if (turns.every(({ responses }) => responses.length === 0))
    throw invalid(where, 'no model answers in it: there is nothing to judge')
  return { where, conversation, tools, turns }
}

/** A call without a result, and the response that it is of. */
type Waiting = { call: TranscriptCall; response: TranscriptResponse }

/** Keeps TRANSCRIPTS-TRANSCRIPT-2. */
function takeWaiting(waiting: Waiting[], id: string): TranscriptCall | undefined {
  const last = waiting.findLast(({ call }) => call.id === id)
  if (last === undefined) return undefined
  const at = waiting.findIndex(({ call, response }) => response === last.response && call.id === id)
  return waiting.splice(at, 1)[0]?.call
}

function silence(id: string | undefined): TranscriptResponse {
  const usage = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 }
  return { id, text: '', reasoning: [], calls: [], usage, finish: '' }
}

function isSilent({ text, calls }: TranscriptResponse): boolean {
  return text.trim() === '' && calls.length === 0
}

/** The call that it is, if it is one. */
function said(
  response: TranscriptResponse,
  piece: Exclude<Piece, { kind: 'user' | 'result' | 'left-out' }>,
): TranscriptCall | undefined {
  switch (piece.kind) {
    case 'response':
      return undefined
    case 'text':
      response.text += piece.text
      return undefined
    case 'reasoning':
      response.reasoning.push(piece.block)
      return undefined
    case 'ended':
      response.usage = piece.usage ?? response.usage
      response.finish = piece.finish || response.finish
      return undefined
    case 'call': {
      const call: TranscriptCall = {
        id: piece.id,
        name: piece.name,
        arguments: piece.arguments,
        result: undefined,
      }
      response.calls.push(call)
      return call
    }
    default:
      return piece satisfies never
  }
}

/**
 * Begins a response with all that it says. One that has nothing but what is left out said
 * something, and is none that says nothing.
 */
export function responseWith(said: Piece[], id?: string): Piece[] {
  const pieces = said.filter(({ kind }) => kind !== 'response')
  const saysSomething = pieces.some(
    (piece) => piece.kind === 'call' || (piece.kind === 'text' && piece.text.trim() !== ''),
  )
  return saysSomething || pieces.every(({ kind }) => kind !== 'left-out')
    ? [{ kind: 'response', id }, ...pieces]
    : pieces
}

/** A tool as a transcript lists it. */
export function declarationOf(name: string, description: unknown, schema: unknown): Declaration {
  const any = { type: 'object' }
  return {
    ...{
      name,
      description: typeof description === 'string' ? description : '',
      schema: JSON.stringify(schema ?? any),
    },
    ...{ idempotent: false, timeoutMs: 60_000, poll: false, hints: null },
  }
}

export function invalid(where: string, text: string): WeirError {
  return new WeirError('transcript.invalid', `${where}: ${text}`)
}
