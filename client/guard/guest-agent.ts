// The settings of a guest: a value of a program, or an agent file with `guest: true`.

import { createHash } from 'node:crypto'
import { defaultSettings, policyOf } from '../../shared/agents/agents.ts'
import type { ConversationId } from '../../shared/contract/ids.ts'
import { limits } from '../../shared/contract/limits.ts'
import type { AgentSettings, ToolHints } from '../../shared/contract/messages.ts'
import { guestConversation } from '../../shared/contract/topology.ts'
import { WeirError } from '../../shared/lib/errors.ts'

/** An agent that owns its model and its tools. */
export type GuestAgent = {
  /** 1 to 64 of a-z, 0-9 and -. */
  name: string
  /** Default: `defaultGuestSettings`. */
  settings?: AgentSettings
  /** What the rules may know about its tools, by name. */
  hints?: Readonly<Record<string, ToolHints>>
}

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

export const guestName = /^[a-z0-9][a-z0-9-]{0,63}$/

export function parseGuestName(name: string): string {
  if (guestName.test(name)) return name
  throw new WeirError(
    'agent.invalid',
    `the name of the guest is ${JSON.stringify(name.slice(0, 80))}; must be 1 to 64 of a-z, 0-9 and -`,
  )
}

/** The conversation of a guest's thread. A long id becomes a hash. */
export function conversationOfGuest(agent: string, thread: string): ConversationId {
  const id = guestConversation(agent, thread.toWellFormed())
  if (Buffer.byteLength(id) <= limits.conversationIdBytesMax) return id
  return guestConversation(agent, createHash('sha256').update(thread).digest('hex'))
}
