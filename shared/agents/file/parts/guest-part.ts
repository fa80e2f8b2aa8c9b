// The guest of an agent file with `guest: true`. It owns its model and its tools.

import { defaultGuestSettings, type Guest } from '../../guest.ts'
import type { AgentContent } from '../content.ts'
import type { Source } from '../source.ts'
import { hintsOf } from '../tool-hints.ts'
import { nameOf } from './agent-part.ts'
import { redactOf } from './redact-part.ts'
import { settingsOf } from './settings-part.ts'

const ofAgentsOnly = [
  ...(['model', 'system', 'systemFile', 'tools', 'sandbox', 'textCalls', 'history'] as const),
  ...(['attempts', 'stallMs', 'firstByteMs', 'toolTries'] as const),
]

const noHints = {
  mutates: null,
  ignoreFields: [],
  loopKey: [],
  denial: null,
  labels: [],
  client: false,
  once: null,
}

/** Always returns a guest. If there are mistakes, it is never used. */
export function guestOf(source: Source, content: AgentContent): Guest {
  for (const key of ofAgentsOnly)
    if (key in content)
      source.refuse(
        [key],
        'does not go with guest; remove it, because a guest owns its model and its tools',
      )
  const hints = Object.entries(content.hints ?? {}).flatMap(([name, given]) => {
    // The tools of a guest are known only from its requests, so any field may exist.
    const made = hintsOf(source, ['hints', name], given ?? {}, '{}') ?? noHints
    return given === undefined ? [] : [[name, { ...made, poll: given.poll ?? false }] as const]
  })
  return {
    name: nameOf(source, content),
    settings: settingsOf(content, defaultGuestSettings, redactOf(source, content)),
    hints: Object.fromEntries(hints),
    record: content.record ?? 'all',
  }
}
