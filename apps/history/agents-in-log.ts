// Finds agents in a log by the messages to them: the policy that a message carries, and the names of
// other agents. A message carries the agent's policy as its file had it, without an operator's
// values.

import type { OwnPolicy } from './effective.ts'
import { messageOf } from './message-of.ts'
import { newestRecords, type ReadableTopics } from './newest-records.ts'

/**
 * Records of the inbox to look through, newest first. An agent that was idle for so long is unknown,
 * so no command reads a whole log for one name.
 */
const recordsMax = 100_000

/**
 * `own`: of the newest message to the agent; undefined: there is none. `others`: names of agents with
 * newer messages. `isWhole`: the whole log was looked through.
 */
export type AgentInLog = {
  own: (OwnPolicy & { from: 'log' }) | undefined
  others: string[]
  isWhole: boolean
}

export async function agentInLog(agent: string, log: ReadableTopics): Promise<AgentInLog> {
  const others = new Set<string>()
  let read = 0
  for await (const { value, time } of newestRecords(log, 'conversation-events')) {
    const message = messageOf(value)
    if (message?.type === 'user-message') {
      const { policy } = message.settings
      if (message.agent === agent)
        return {
          own: { from: 'log', at: time, policy },
          others: [...others],
          isWhole: false,
        }
      others.add(message.agent)
    }
    read += 1
    if (read >= recordsMax) return { own: undefined, others: [...others], isWhole: false }
  }
  return { own: undefined, others: [...others], isWhole: true }
}
