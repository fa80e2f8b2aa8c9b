// Corrects servers that report a normal end although the request's output limit ended the response.

import type { Stop, Usage } from '../contract/messages.ts'

/**
 * `length` if the answer has exactly as many tokens as the request allowed, regardless of the
 * provider's reason. A longer answer was not bounded by the request.
 */
export function stopAtLimit(
  stop: Stop,
  { outputTokens }: Usage,
  outputTokensMax: number | undefined,
): Stop {
  const isOver = stop === 'end' || stop === 'calls' || stop === 'other'
  return isOver && outputTokens === outputTokensMax ? 'length' : stop
}
