// What was said in a request, and in the answer beside it. Some logs put the answer into the
// request as well, or beside it something that is no answer.

import { wordsIn } from './repetitions.ts'
import type { Piece } from './transcript.ts'

/**
 * `prefills`: the model's words at the end of a request may be the beginning of its answer.
 * `where`: of the answer.
 */
export function answered(
  request: Piece[],
  answer: Piece[],
  { prefills, where }: { prefills: boolean; where: string },
): Piece[] {
  const said = wordsOf(
    request.slice(request.findLastIndex(({ kind }) => kind === 'user' || kind === 'result') + 1),
  )
  const more = wordsOf(answer)
  if (said.length === 0 || more.length === 0) return [...request, ...answer]
  const isRepeated =
    more.length <= said.length &&
    more.every((words, at) => words === said[said.length - more.length + at])
  // Only the answer knows how it ended.
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
