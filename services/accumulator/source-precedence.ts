// Where the argument text of a call comes from (I5.1). Some servers send the arguments whole when the call starts, some piece by piece, some both
// ways at once, and some put an empty placeholder in one of the two. So both are kept apart, and at the end one of them is taken whole.

import type { Call } from '../../shared/messages.ts'

/** `start`: the start input's text, '' when none came. `deltas`: the pieces in the order of the stream. */
export type ArgumentSources = { start: string; deltas: string[] }

/**
 * The deltas if any byte came that way, else the start input, else nothing. Never both: where they say the same, joining gives `{..}{..}`;
 * where the deltas only go on from the start input, neither alone is what the model meant, and the deltas alone do not parse.
 */
export function argumentsFrom({ start, deltas }: ArgumentSources): Pick<Call, 'raw' | 'source'> {
  const joined = deltas.join('')
  if (joined !== '') return { raw: joined, source: 'deltas' }
  if (start !== '') return { raw: start, source: 'start' }
  return { raw: '', source: 'none' }
}
