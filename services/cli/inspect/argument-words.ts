// Where the arguments of a call came from, and what was wrong with them, in words (I1.1: an empty object that nobody sent).

import type { ArgumentSource, CallProblem } from '../../../shared/messages.ts'

const sources: Record<ArgumentSource, string> = {
  none: 'no byte of arguments came',
  start: 'arguments came whole, with the start of the call',
  deltas: 'arguments came in pieces',
  text: 'the model wrote the call as text',
}

const problems: Record<CallProblem, string> = {
  truncated: 'their end was never seen',
  stream_error: 'the provider reported an error inside of them',
  no_arguments: 'none were sent',
  invalid_json: 'they are not JSON',
  not_an_object: 'they are JSON, and no object',
}

export function argumentsText({ source, problem }: { source: ArgumentSource; problem: CallProblem | null }): string {
  if (source === 'none' && problem === 'no_arguments') return sources.none
  return problem === null ? sources[source] : `${sources[source]}; ${problems[problem]}`
}
