// The policy of a turn with its version, and the settings of an agent that sets none.

import { createHash } from 'node:crypto'
import type { AgentSettings, Policy } from '../../contract/messages.ts'
import { defaultsOf, thresholds } from '../../contract/thresholds.ts'
import type { Milliseconds } from '../../lib/clock.ts'

const second: Milliseconds = 1000
const minute = 60 * second

/** The policy of an agent that sets none. */
export const defaultPolicy: Policy = policyOf({
  caps: { rounds: 25, calls: 100, wallMs: 30 * minute, tokens: null },
  loop: defaultsOf(thresholds.loop),
  empty: defaultsOf(thresholds.empty),
  startWithinMs: 10 * second,
  graceMs: 5 * second,
  toolTries: 3,
})

/** The settings of an agent that sets none. */
export const defaultSettings: AgentSettings = {
  fallback: 'I could not complete this request.',
  attempts: 3,
  stallMs: 5 * minute,
  firstByteMs: 1 * minute,
  system: null,
  output: null,
  context: null,
  afterTurn: null,
  contents: [],
  policy: defaultPolicy,
}

/** An agent names no guards. The gateway adds the guards in force. */
type PolicyContent = Partial<Omit<Policy, 'version'>> & Pick<Policy, Given>
type Given = 'caps' | 'loop' | 'empty' | 'startWithinMs' | 'graceMs' | 'toolTries'

/**
 * A policy with its version: the first 16 hex digits of the sha-256 of its content. The origin of a
 * fork, the calling agents and the parent are no part of it.
 */
export function policyOf({
  guards = [],
  shadowed = [],
  bindsPrograms = false,
  stops = [],
  redact = [],
  forkedFrom = null,
  calledBy = [],
  parent = null,
  tree = null,
  ...content
}: PolicyContent): Policy {
  // Older records have versions without these fields, so a policy without them keeps
  // that version.
  const { waitMinutes, ...loop } = content.loop
  const isDefaultWait = waitMinutes === thresholds.loop.waitMinutes.default
  const text = JSON.stringify({
    ...content,
    loop: isDefaultWait ? loop : content.loop,
    ...(guards.length > 0 && { guards }),
    ...(shadowed.length > 0 && { shadowed }),
    ...(bindsPrograms && { bindsPrograms }),
    ...(stops.length > 0 && { stops }),
    ...(redact.length > 0 && { redact }),
    ...(tree !== null && { tree }),
  })
  return {
    version: createHash('sha256').update(text).digest('hex').slice(0, 16),
    ...content,
    guards,
    shadowed,
    bindsPrograms,
    stops,
    redact,
    forkedFrom,
    calledBy,
    parent,
    tree,
  }
}
