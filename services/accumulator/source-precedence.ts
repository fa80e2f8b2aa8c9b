// The source of a call's argument text (I5.1). Servers send the arguments whole at the start of a
// call, in pieces, whole again at its end, or in all three ways. Some put an empty placeholder in
// one place. All sources are kept apart, and one is used whole at the end.

import type { Call } from '../../shared/contract/messages.ts'
import { sameJson } from '../../shared/lib/json/same-json.ts'
import { textFrom } from './piece-texts.ts'

/**
 * All texts are '' if none came.
 * `deltas`: the pieces in the order of the stream, none empty.
 * `dones`: the texts of events that ended the arguments.
 * `start`: the start input. `isInMessage`: the start of the response held the whole call.
 */
export type ArgumentSources = {
  deltas: string[]
  dones: string[]
  start: string
  isInMessage: boolean
}

/**
 * The deltas if they have a visible byte, otherwise the done event's text, otherwise the start
 * input, otherwise nothing.
 *
 * Never two of them. Two equal texts would join to `{..}{..}`. If the deltas only continue the
 * start input, neither is the intended text alone, and the deltas do not parse.
 *
 * `disputed`: an unused source differs from the used one.
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
  const [used, ...others] = given.filter(({ raw }) => raw.trim() !== '')
  if (used === undefined) return { raw: '', source: 'none', disputed: false }
  return { ...used, disputed: others.some(({ raw }) => !sameJson(raw, used.raw)) }
}
