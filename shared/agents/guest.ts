// A guest: an agent that owns its model and its tools. Weir has only its settings.

import { limits } from '../contract/limits.ts'
import type { AgentSettings, ToolHints } from '../contract/messages.ts'
import { defaultSettings, policyOf } from './policy/policy.ts'

/** `poll`: repeated requests until a change are normal. */
export type GuestHints = ToolHints & { poll?: boolean }

/** `calls`: tools, arguments and the ends of calls, with a hash in place of every other text. */
export const recordedParts = ['all', 'calls'] as const
export type RecordedParts = (typeof recordedParts)[number]

export type Guest = {
  /** 1 to 64 of a-z, 0-9 and -. */
  name: string
  settings: AgentSettings
  /** Facts about its tools, by their names. */
  hints: Readonly<Record<string, GuestHints>>
  /** The parts of its conversations in the log. Default `all`. */
  record: RecordedParts
}

/** `settings`: a setting that is left out has the default of an agent file. */
export type GuestAgent = Pick<Guest, 'name'> &
  Partial<Omit<Guest, 'settings'>> & { settings?: Partial<AgentSettings> }

/** By name. */
export type Guests = ReadonlyMap<string, Guest>

const { version: _, ...defaultPolicy } = defaultSettings.policy

/**
 * The settings of a guest that sets none. Its caps are the ceilings: 25 rounds would stop an honest
 * coding agent.
 */
export const defaultGuestSettings: AgentSettings = {
  ...defaultSettings,
  policy: policyOf({
    ...defaultPolicy,
    caps: {
      rounds: limits.turnRoundsMax,
      calls: limits.turnCallsMax,
      wallMs: limits.turnWallMsMax,
      tokens: null,
    },
  }),
}
