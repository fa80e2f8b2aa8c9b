// The newest turns, each with its agent, for a what-if over them. Pure.
// At most `limits.consoleRecentTurnsMax` turns are kept, in the order of reading.

import type { TurnId } from '../../../../shared/contract/ids.ts'
import { limits } from '../../../../shared/contract/limits.ts'
import type { Message } from '../../../../shared/contract/messages.ts'
import { everyAgent } from '../../../../shared/contract/topology.ts'
import type { Milliseconds } from '../../../../shared/lib/clock.ts'

export type RecentTurn = TurnId & { agent: string; startedAt: Milliseconds }

export function beginRecent(): RecentTurn[] {
  return []
}

export function addToRecent(recent: RecentTurn[], message: Message, time: Milliseconds): void {
  if (message.type === 'conversation-forgotten') {
    const left = recent.filter((one) => one.conversation !== message.conversation)
    recent.splice(0, recent.length, ...left)
  }
  if (message.type !== 'turn-started') return
  const { conversation, turn, agent } = message
  recent.push({ conversation, turn, agent, startedAt: time })
  if (recent.length >= 2 * limits.consoleRecentTurnsMax)
    recent.splice(0, recent.length - limits.consoleRecentTurnsMax)
}

/** The newest first. `agent`: a name, or `everyAgent`. */
export function recentTurnsOf(
  recent: readonly RecentTurn[],
  agent: string,
  max: number,
): RecentTurn[] {
  return recent
    .slice(-limits.consoleRecentTurnsMax)
    .filter((turn) => agent === everyAgent || turn.agent === agent)
    .sort((a, b) => b.startedAt - a.startedAt)
    .slice(0, max)
}
