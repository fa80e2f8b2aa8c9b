// Joins a request and its answer. Some logs put the answer into the request too, or put an unrelated
// text beside the request.

import type { Piece } from '../../shared/transcript/transcript.ts'
import { wordsIn } from './repetitions.ts'

/**
 * `prefills`: the model's text at the end of a request can be the beginning of its answer. `where`:
 * the place of the answer.
 */
export function answered(
  request: Piece[],
  answer: Piece[],
  { prefills, where }: { prefills: boolean; where: string },
): Piece[] {
  const spoken = wordsOf(
    request.slice(request.findLastIndex(({ kind }) => kind === 'user' || kind === 'result') + 1),
  )
  const more = wordsOf(answer)
  if (spoken.length === 0 || more.length === 0) return [...request, ...answer]
  const isRepeated =
    more.length <= spoken.length &&
    more.every((words, at) => words === spoken[spoken.length - more.length + at])
  // Only the answer contains its ending.
  if (isRepeated)
    return [...request, ...answer.filter(({ kind }) => kind === 'ended' || kind === 'left-out')]
  return prefills
    ? [...request, ...answer]
    : [
        ...request,
        { kind: 'left-out', what: 'an answer to a request that ends with another one', where },
      ]
}

function wordsOf(pieces: Piece[]): string[] {
  return [...wordsIn(pieces)].map(({ words }) => words)
}
