// Sends the demo's message through Weir, shows each activity as it comes, and returns the end.

import type { Edge } from '../../client/edge/edge.ts'
import type { Agent } from '../../shared/agents/agents.ts'
import type { ConversationId } from '../../shared/contract/ids.ts'
import { question } from './agent.ts'
import type { LoopEnd } from './plain-loop.ts'
import type { Screen } from './screen.ts'

/** `failed`: rejects if the turn can no longer end. */
export type DemoTurn = {
  edge: Edge
  agent: Agent
  conversation: ConversationId
  failed: Promise<never>
  screen: Pick<Screen, 'activity'>
}

export async function playTurn({
  edge,
  agent,
  conversation,
  failed,
  screen,
}: DemoTurn): Promise<LoopEnd> {
  let toolStarts = 0
  const turn = edge.ask({ agent, conversation, messageId: 'demo-1', text: question })
  for (;;) {
    const { value: activity, done } = await Promise.race([turn.next(), failed])
    if (done) throw new Error('the events of the turn ended without a turn-finished')
    screen.activity(activity)
    if (activity.type === 'tool-started') toolStarts++
    if (activity.type === 'turn-finished') {
      const { totals, outcome, reason } = activity
      return {
        rounds: totals.rounds,
        toolStarts,
        tokens: totals.inputTokens + totals.outputTokens,
        end: `${outcome}: ${reason}`,
      }
    }
  }
}
