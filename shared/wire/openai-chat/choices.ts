// Selects the choices of a Chat Completions response that form the answer.
//
// Requests ask for one choice, so the first is the answer. But some gateways put the text into one
// choice and the calls into others. So the others are kept until the end. They join the answer if
// the first choice has no call and they have nothing but calls. Otherwise they are alternative
// answers and are dropped. Without a finish reason for the calls the answer is cut.

import { eventWeight } from '../../contract/call/part-weight.ts'
import type { PartEvent } from '../../contract/messages.ts'
import { isObject } from '../../lib/json/json-object.ts'
import { finishWord } from '../../transcript/finish-reasons.ts'
import type { Json } from '../format.ts'
import { callPieces, type SentMessage } from './calls.ts'

/** A choice in a chunk. `place`: its index, or its position in the list. `path` leads to it. */
export type SentChoice = { choice: Json; place: number; path: (string | number)[] }

/** Some servers send a single choice without a list. */
export function choicesIn({ choices }: Json): SentChoice[] {
  if (isObject(choices)) return [{ choice: choices, place: placeOf(choices, 0), path: ['choices'] }]
  const sent: SentChoice[] = []
  if (!Array.isArray(choices)) return sent
  for (let at = 0; at < choices.length; at += 1) {
    const choice: unknown = choices[at]
    if (isObject(choice)) sent.push({ choice, place: placeOf(choice, at), path: ['choices', at] })
  }
  return sent
}

/**
 * A choice other than the first: its pieces of calls, its finish reasons, and whether it has text.
 */
export type OtherChoice = { pieces: PartEvent[]; weight: number; words: string[]; hasText: boolean }

/** Adds a chunk's choice to `others`, in place. */
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
  // After pieces, a whole message only repeats them.
  if (key === 'delta' || other.pieces.length === 0) {
    const pieces = callPieces(message, { ...sent, path: [...path, key] })
    other.pieces.push(...pieces)
    for (const piece of pieces) other.weight += eventWeight(piece)
  }
  const word = finishWord(choice.finish_reason)
  if (word !== '') other.words.push(word)
}

/**
 * The choices that continue an answer without calls, in order. Empty if there are none, or if they
 * are alternative answers.
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
