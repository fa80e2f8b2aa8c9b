// The choices of a Chat Completions response: which of them are the answer.
//
// No request asks for more than one, so the first is the answer. Some gateways split it all the
// same: the text in one choice, the calls in others. What is in other choices is kept until the
// end; it belongs to the answer where the first choice has no call and they have nothing but calls.
// Else they are other answers, of which nothing is taken.

import type { PartEvent } from '../../../../shared/contract/messages.ts'
import { eventWeight } from '../../../../shared/contract/part-weight.ts'
import { isObject } from '../../../../shared/lib/json/json-object.ts'
import { finishWord } from '../finish-words.ts'
import { callPieces, type SentMessage } from './calls.ts'

type Json = Record<string, unknown>

/**
 * A choice as a chunk has it. `place`: its index, or where it stands among the others; `path` leads
 * to it in the chunk.
 */
export type SentChoice = { choice: Json; place: number; path: (string | number)[] }

/** The choices in a chunk. Some servers send the one that they have without a list around it. */
export function choicesIn({ choices }: Json): SentChoice[] {
  if (isObject(choices)) return [{ choice: choices, place: placeOf(choices, 0), path: ['choices'] }]
  const given: unknown[] = Array.isArray(choices) ? choices : []
  return given.flatMap((choice, at) =>
    isObject(choice) ? [{ choice, place: placeOf(choice, at), path: ['choices', at] }] : [],
  )
}

/**
 * A choice that is not the first: the pieces of its calls, its words for the end, and whether it
 * says anything besides.
 */
export type OtherChoice = { pieces: PartEvent[]; weight: number; words: string[]; hasText: boolean }

/** `others`, with what this choice of a chunk says, by place. Changes them in place. */
export function keepChoice(
  others: Map<number, OtherChoice>,
  { choice, place, path }: SentChoice,
  sent: Omit<SentMessage, 'path'>,
): void {
  const other = others.get(place) ?? { pieces: [], weight: 0, words: [], hasText: false }
  others.set(place, other)
  const key = isObject(choice.delta) ? 'delta' : 'message'
  const message = isObject(choice[key]) ? choice[key] : {}
  if (
    [message.content, message.refusal].some(
      (text) => text !== undefined && text !== null && text !== '',
    )
  )
    other.hasText = true
  // After pieces a message would say everything again.
  if (key === 'delta' || other.pieces.length === 0) {
    const pieces = callPieces(message, { ...sent, path: [...path, key] })
    other.pieces.push(...pieces)
    for (const piece of pieces) other.weight += eventWeight(piece)
  }
  const word = finishWord(choice.finish_reason)
  if (word !== '') other.words.push(word)
}

/**
 * The choices that go on with an answer without calls, in order; empty where there are none, or
 * where they are answers of their own.
 */
export function callsBeside(others: Map<number, OtherChoice>): OtherChoice[] {
  const withCalls = [...others]
    .sort(([one], [other]) => one - other)
    .flatMap(([, other]) => (other.pieces.length > 0 ? [other] : []))
  return withCalls.some(({ hasText }) => hasText) ? [] : withCalls
}

function placeOf({ index }: Json, at: number): number {
  return typeof index === 'number' ? index : at
}
