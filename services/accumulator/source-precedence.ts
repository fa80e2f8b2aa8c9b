// Where the argument text of a call comes from (I5.1). Some servers send the arguments whole when
// the call starts, some piece by piece, some whole again when it ends, some all of that at once,
// and some put an empty placeholder in one of the places. So all are kept apart, and at the end one
// of them is taken whole.

import type { Call } from '../../shared/contract/messages.ts'
import { sameJson } from '../../shared/lib/json/same-json.ts'
import { textFrom } from './piece-texts.ts'

/**
 * Texts, '' where none came. `deltas`: the pieces in the order of the stream, none empty. `dones`:
 * what events that ended the arguments said. `start`: the start input; `isInMessage`: the call
 * stood whole in the start of the response.
 */
export type ArgumentSources = {
  deltas: string[]
  dones: string[]
  start: string
  isInMessage: boolean
}

/**
 * The deltas if any byte but blanks came that way, else the done event's, else the start input,
 * else nothing. Never two of them: where they say the same, joining gives `{..}{..}`; where the
 * deltas only go on from the start input, neither alone is what the model meant, and the deltas
 * alone do not parse. `disputed`: one that was not taken says something else than the one that was.
 */
export function argumentsFrom({
  deltas,
  dones,
  start,
  isInMessage,
}: ArgumentSources): Pick<Call, 'raw' | 'source' | 'disputed'> {
  const given: Pick<Call, 'raw' | 'source'>[] = [
    { raw: textFrom(deltas), source: 'deltas' },
    ...dones.map((raw) => ({ raw, source: 'done' as const })),
    { raw: start, source: isInMessage ? 'message_start' : 'start' },
  ]
  const [taken, ...others] = given.filter(({ raw }) => raw.trim() !== '')
  if (taken === undefined) return { raw: '', source: 'none', disputed: false }
  return { ...taken, disputed: others.some(({ raw }) => !sameJson(raw, taken.raw)) }
}
