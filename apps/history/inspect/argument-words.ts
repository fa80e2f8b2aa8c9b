// Where the arguments of a call came from, and what was wrong with them, in words (I1.1: an empty
// object that nobody sent).

import type { ArgumentSource, Call, CallProblem } from '../../../shared/contract/messages.ts'

const sources: Record<ArgumentSource, string> = {
  none: 'no byte of arguments came',
  start: 'arguments came whole, with the start of the call',
  deltas: 'arguments came in pieces',
  done: 'arguments came whole, with the end of the call',
  message_start: 'arguments came whole, with the start of the response',
  text: 'the model wrote the call as text',
}

const problems: Record<CallProblem, string> = {
  truncated: 'their end was never seen',
  stream_error: 'the provider reported an error inside of them',
  no_arguments: 'none were sent',
  invalid_json: 'they are not JSON',
  not_an_object: 'they are JSON, and no object',
  lost_arguments: 'bytes came that belong to no call',
  free_text: 'they are free text and not JSON',
}

export function argumentsText({
  source,
  problem,
  repair,
  disputed,
}: Pick<Call, 'source' | 'problem' | 'repair' | 'disputed'>): string {
  const also = disputed ? '; another source said something else' : ''
  if (source === 'none' && problem === 'no_arguments') return `${sources.none}${also}`
  const mended = repair === null ? '' : `; they were mended (${repair.how.join(', ')})`
  return `${sources[source]}${problem === null ? mended : `; ${problems[problem]}`}${also}`
}
