// Some servers say that the model had finished where the output limit of the request ended it.

import type { Stop, Usage } from '../../../shared/contract/messages.ts'

/**
 * `length` where the answer has exactly as many tokens as the request allowed, whatever the
 * provider calls it. One that has more was not bounded by the request: then the limit says nothing.
 */
export function stopAtLimit(stop: Stop, { outputTokens }: Usage, outputTokensMax: number): Stop {
  const isOver = stop === 'end' || stop === 'calls' || stop === 'other'
  return isOver && outputTokens === outputTokensMax ? 'length' : stop
}
