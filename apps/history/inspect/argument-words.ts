// Texts for the source of a call's arguments and their problem, such as an empty object that the
// model never sent (I1.1).

import type { ArgumentSource, Call, CallProblem } from '../../../shared/contract/messages.ts'

const sources: Record<ArgumentSource, string> = {
  none: 'no arguments arrived',
  start: 'arguments arrived whole, with the start of the call',
  deltas: 'arguments arrived',
  done: 'arguments arrived whole, with the end of the call',
  message_start: 'arguments arrived whole, with the start of the response',
  text: 'the model wrote the call as text',
}

const problems: Record<CallProblem, string> = {
  truncated: 'their end never arrived',
  stream_error: 'the provider reported an error inside them',
  no_arguments: 'the model sent none',
  invalid_json: 'they are not JSON',
  not_an_object: 'they are JSON, but not an object',
  lost_arguments: 'some bytes belong to no call',
  free_text: 'they are free text and not JSON',
}

export function argumentsText({
  source,
  problem,
  repair,
  disputed,
}: Pick<Call, 'source' | 'problem' | 'repair' | 'disputed'>): string {
  const also = disputed ? '; another source differs' : ''
  if (source === 'none' && problem === 'no_arguments') return `${sources.none}${also}`
  const mended = repair === null ? '' : `; they were repaired (${repair.how.join(', ')})`
  return `${sources[source]}${problem === null ? mended : `; ${problems[problem]}`}${also}`
}
