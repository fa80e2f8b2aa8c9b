// The conversations in which agents worked on calls of a conversation, as a tree: an agent that is
// a tool may call further agents.

import { newestIds, type ReadableTopics } from '../../../client/history/newest-records.ts'
import {
  type CallId,
  type ConversationId,
  callOfConversation,
} from '../../../shared/contract/ids.ts'
import type { Timeline } from '../../../shared/view/timeline.ts'
import type { Page } from './page.ts'

export type AgentOfCall = Omit<CallId, 'conversation'> & {
  conversation: ConversationId
  agents: AgentOfCall[]
}

/** Newest conversations among which to look: an inspection must not read the whole log. */
const idsLookedThrough = 1_000

/** Empty without a call that ran. */
export async function agentsOfCalls(
  { conversation, turns }: Timeline,
  log: ReadableTopics,
): Promise<AgentOfCall[]> {
  const ran = turns.some(({ rounds }) =>
    rounds.some(({ calls }) => calls.some(({ tries }) => tries.length > 0)),
  )
  return ran ? below(conversation, await newestIds(log, idsLookedThrough)) : []
}

function below(parent: ConversationId, ids: readonly string[]): AgentOfCall[] {
  return ids
    .flatMap((id) => {
      const call = callOfConversation(id)
      if (call?.conversation !== parent) return []
      return [{ ...call, conversation: id, agents: below(id, ids) }]
    })
    .sort((a, b) => a.turn - b.turn || a.round - b.round || a.ordinal - b.ordinal)
}

export function printAgents(page: Page, agents: readonly AgentOfCall[], depth = 0): void {
  if (depth === 0 && agents.length > 0) {
    page.blank()
    page.line(0, 'Conversations of agents that its calls asked', 'title')
  }
  for (const { conversation, turn, round, ordinal, agents: further } of agents) {
    const call = `turn at offset ${turn}, round ${round}, call ${ordinal}`
    page.line(2 * (depth + 1), `${conversation} (${call})`)
    printAgents(page, further, depth + 1)
  }
}
