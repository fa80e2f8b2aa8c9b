// A transcript of a foreign runtime: turns, each with a user's message and the model's responses
// with their calls and results. The formats (anthropic.ts, openai.ts, openai-agents.ts) read
// ordered pieces; this file turns pieces into turns.
// The model's pieces between two pieces of a user or a tool are one response. A new
// response begins only after an empty one.
// A result belongs to the oldest open call with its id, in the latest response with
// such a call: ids repeat. Without ids, the name of the tool decides, if the result has one.
// Pieces without a place are counted and reported, never guessed.
// A call without a result has an unknown outcome if the model went on. Otherwise it
// stays open.
// A piece with the id of the last response belongs to it, also after a result. Some
// logs write each call separately.

import type { ConversationId } from '../contract/ids.ts'
import { limits } from '../contract/limits.ts'
import type { AttemptFinished, Declaration, PartEvent, Usage } from '../contract/messages.ts'
import { noUsage } from '../contract/turn/no-usage.ts'
import type { Milliseconds } from '../lib/clock.ts'
import { WeirError } from '../lib/errors.ts'
import { cutToBytes } from '../lib/text-cut.ts'
import { meaningOf } from './finish-reasons.ts'
import type { LeftOut } from './left-out.ts'

/** A piece of a transcript, in order. `left-out`: a piece that Weir does not keep, described. */
export type Piece =
  /** `isOfHost`: the host of the agent wrote it, so it opens no turn. */
  | { kind: 'user'; text: string; isOfHost?: boolean }
  /** The beginning of a response, which can be empty. `id`: the id of the message, if any. */
  | { kind: 'response'; id: string | undefined }
  | { kind: 'text'; text: string }
  | { kind: 'reasoning'; block: unknown }
  | { kind: 'call'; id: string; name: string; arguments: string }
  /** `name`: of its tool, if the format pairs results by name. `at`: when it was written, if known. */
  | {
      kind: 'result'
      id: string
      name?: string
      text: string
      isError: boolean
      where: string
      at?: Milliseconds
    }
  | { kind: 'ended'; usage: Usage | undefined; finish: string }
  | { kind: 'left-out'; what: string; where: string }
  /** The responses from here on are of this model. */
  | { kind: 'model'; model: ModelName }

/** `provider`: its name in lists of prices; undefined: unknown. */
export type ModelName = { name: string; provider: string | undefined }

/** `unknown`: no result, and the model went on. `at`: as in a piece. */
export type TranscriptResult = { text: string; isError: boolean; at?: Milliseconds } | 'unknown'

export type TranscriptCall = {
  id: string
  name: string
  arguments: string
  result: TranscriptResult | undefined
}

/** `finish`: the provider's reason for the end; empty if unknown. */
export type TranscriptResponse = {
  id: string | undefined
  text: string
  reasoning: unknown[]
  calls: TranscriptCall[]
  usage: Usage
  finish: string
  /** Undefined: unknown. */
  model?: ModelName
}

export type TranscriptTurn = { user: string; responses: TranscriptResponse[] }

export type Transcript = {
  /** Its place, `file:line`. */
  where: string
  conversation: ConversationId
  /** Undefined: the transcript lists no tools. */
  tools: Declaration[] | undefined
  turns: TranscriptTurn[]
}

/** The contents of one JSON value. `tools` is undefined if it lists none. */
export type ReadPieces = { pieces: Piece[]; tools: Declaration[] | undefined }

/** The answer is undefined if there is none. A list that holds it too has none next to it. */
export type ToRead = { request: unknown; answer: unknown }
export type ReadExchange = ReadPieces & { answer: Piece[] | undefined }

/** Throws `transcript.invalid` if it has no user message or no response. */
export function transcriptOf(
  where: string,
  conversation: ConversationId,
  { pieces, tools }: ReadPieces,
  leftOut: LeftOut,
): Transcript {
  const turns = turnsOf(where, pieces, leftOut)
  for (const turn of turns) {
    const kept = cutToBytes(turn.user, limits.userMessageBytesMax)
    if (kept !== turn.user)
      leftOut.leave(`the end of a user message above ${limits.userMessageBytesMax} bytes`, where)
    turn.user = kept
  }
  if (turns.length === 0) throw invalid(where, 'the transcript has no message of a user')
  if (turns.every(({ responses }) => responses.length === 0))
    throw invalid(where, 'the transcript has no response of a model')
  return { where, conversation, tools, turns }
}

/** A transcript's turns. Empty if it has no user message. */
export function turnsOf(
  where: string,
  pieces: readonly Piece[],
  leftOut: Pick<LeftOut, 'leave'>,
): TranscriptTurn[] {
  const read = emptyTranscript()
  addPieces(read, where, pieces, leftOut)
  return read.turns
}

/** The part of a transcript that is read. `turns` is complete after each `addPieces`. */
export type ReadTurns = {
  turns: TranscriptTurn[]
  waiting: Waiting
  isModelSpeaking: boolean
  /** The text can be long, so it is not read again for each piece. */
  isLastSilent: boolean
  /** The model went on after all responses before this one. */
  newest: { turn: number; response: number }
  model?: ModelName
}

export function emptyTranscript(): ReadTurns {
  return {
    turns: [],
    waiting: { byId: new Map(), byName: new Map() },
    isModelSpeaking: false,
    isLastSilent: true,
    newest: { turn: 0, response: 0 },
  }
}

/** Adds the pieces that follow. Only the newest response of the read part can get more of them. */
export function addPieces(
  read: ReadTurns,
  where: string,
  pieces: readonly Piece[],
  leftOut: Pick<LeftOut, 'leave'>,
): void {
  const { turns, waiting } = read
  for (const piece of pieces) {
    const turn = turns.at(-1)
    switch (piece.kind) {
      case 'user':
        read.isModelSpeaking = false
        if (turn !== undefined && piece.isOfHost === true) break
        if (turn !== undefined && turn.responses.length === 0) turn.user += `\n\n${piece.text}`
        else turns.push({ user: piece.text, responses: [] })
        break
      case 'result': {
        const call = takeWaiting(waiting, piece)
        if (call === undefined) leftOut.leave('a result without a call before it', piece.where)
        else {
          const { text, isError, at } = piece
          call.result = { text, isError, ...(at !== undefined && { at }) }
        }
        read.isModelSpeaking = false
        break
      }
      case 'left-out':
        leftOut.leave(piece.what, piece.where)
        break
      case 'model':
        read.model = piece.model
        break
      default: {
        if (turn === undefined) {
          if (piece.kind !== 'ended' && piece.kind !== 'response')
            leftOut.leave('a response before the first message of a user', where)
          break
        }
        if (piece.kind === 'response') {
          const before = turn.responses.at(-1)
          if (before !== undefined && piece.id !== undefined && before.id === piece.id)
            read.isModelSpeaking = true
          else if (before === undefined || !read.isModelSpeaking || read.isLastSilent) {
            turn.responses.push(silence(piece.id, read.model))
            read.isLastSilent = true
          }
        } else if (!read.isModelSpeaking && piece.kind !== 'ended') {
          turn.responses.push(silence(undefined, read.model))
          read.isLastSilent = true
        }
        if (piece.kind !== 'ended') read.isModelSpeaking = true
        const response = turn.responses.at(-1)
        if (response === undefined) break
        read.isLastSilent &&= isSilent(piece)
        const call = addPiece(response, piece)
        if (call !== undefined) addWaiting(waiting, call, response)
      }
    }
  }
  endCalls(read)
}

function endCalls({ turns, newest }: ReadTurns): void {
  for (; newest.turn < turns.length; newest.turn += 1, newest.response = 0) {
    const { responses } = turns[newest.turn] as TranscriptTurn
    for (; newest.response < responses.length - 1; newest.response += 1)
      for (const call of responses[newest.response]?.calls ?? []) call.result ??= 'unknown'
    if (newest.turn === turns.length - 1) return
  }
}

/**
 * The calls without a result by their id, and those without an id by their tool too. Those of one
 * response stand together. `next`: the oldest.
 */
type Waiting = { byId: WaitingCalls; byName: WaitingCalls }
type WaitingCalls = Map<
  string,
  { response: TranscriptResponse; calls: TranscriptCall[]; next: number }[]
>

function addWaiting(waiting: Waiting, call: TranscriptCall, response: TranscriptResponse): void {
  addTo(waiting.byId, call.id)
  if (call.id === '') addTo(waiting.byName, call.name)

  function addTo(calls: WaitingCalls, key: string): void {
    const groups = calls.get(key) ?? []
    calls.set(key, groups)
    const last = groups.at(-1)
    if (last?.response === response) last.calls.push(call)
    else groups.push({ response, calls: [call], next: 0 })
  }
}

function takeWaiting(
  { byId, byName }: Waiting,
  { id, name }: { id: string; name?: string },
): TranscriptCall | undefined {
  const groups = id === '' && name !== undefined ? byName.get(name) : byId.get(id)
  for (;;) {
    const last = groups?.at(-1)
    const call = last?.calls[last.next]
    if (last === undefined || call === undefined) return undefined
    last.next += 1
    if (last.next === last.calls.length) groups?.pop()
    if (typeof call.result !== 'object') return call // taken by its name
  }
}

function silence(id: string | undefined, model: ModelName | undefined): TranscriptResponse {
  const empty = { id, text: '', reasoning: [], calls: [], usage: noUsage, finish: '' }
  return model === undefined ? empty : { ...empty, model }
}

/** Whether a response of such pieces alone is empty. */
function isSilent(piece: Piece): boolean {
  return piece.kind !== 'call' && (piece.kind !== 'text' || piece.text.trim() === '')
}

/** Adds a piece to a response. Returns its call, if it is one. */
function addPiece(
  response: TranscriptResponse,
  piece: Exclude<Piece, { kind: 'user' | 'result' | 'left-out' | 'model' }>,
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

/** Begins a response. A response with only left-out pieces does not count as empty. */
export function responseWith(all: Piece[], id?: string): Piece[] {
  const pieces = all.filter(({ kind }) => kind !== 'response')
  const saysSomething = pieces.some(
    (piece) => piece.kind === 'call' || (piece.kind === 'text' && piece.text.trim() !== ''),
  )
  return saysSomething || pieces.every(({ kind }) => kind !== 'left-out')
    ? [{ kind: 'response', id }, ...pieces]
    : pieces
}

/** A tool of a transcript. */
export function declarationOf(name: string, description: unknown, schema: unknown): Declaration {
  const any = { type: 'object' }
  return {
    name,
    description: typeof description === 'string' ? description : '',
    schema: JSON.stringify(schema ?? any),
    idempotent: false,
    timeoutMs: 60_000,
    poll: false,
    hints: null,
  }
}

/** The arguments of a custom tool, which are free text, as those of a function. */
export function freeTextArguments(input: string): string {
  return JSON.stringify({ input })
}

export const freeTextSchema = {
  type: 'object',
  properties: { input: { type: 'string' } },
  required: ['input'],
}

export function invalid(where: string, text: string): WeirError {
  return new WeirError('transcript.invalid', `${where}: ${text}`)
}

/** The events of a response, as the accumulator receives them. */
export function eventsOf({ text, reasoning, calls }: TranscriptResponse): PartEvent[] {
  const event = (
    kind: PartEvent['kind'],
    index: number,
    text: string,
    id: string | null = null,
    name: string | null = null,
  ): PartEvent => ({ kind, index, id, name, text })
  return [
    ...reasoning.map((block, index) => event('reasoning_block', index, JSON.stringify(block))),
    ...(text === '' ? [] : [event('text', 0, text)]),
    ...calls.flatMap(({ id, name, arguments: raw }, index) => [
      event('call_start', index, '', id, name),
      ...(raw === '' ? [] : [event('call_arguments', index, raw)]),
      event('call_end', index, ''),
    ]),
  ]
}

/** A response with calls stopped for them, because the runtime ran them. */
export function stopOf({ calls, finish }: TranscriptResponse): AttemptFinished['stop'] {
  if (calls.length > 0) return 'calls'
  const meaning = meaningOf(finish)
  return meaning === 'length' || meaning === 'refusal' ? meaning : 'end'
}

/** For a transcript without a list of tools: each called tool accepts any object. */
export function calledIn(responses: readonly Pick<TranscriptResponse, 'calls'>[]): Declaration[] {
  const names = responses.flatMap(({ calls }) => calls.map(({ name }) => name))
  return [...new Set(names)].map((name) => declarationOf(name, undefined, undefined))
}
