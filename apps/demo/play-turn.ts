// Sends the demo's message through Weir, shows each activity as it comes, and returns the end.

import type { Edge } from '../../client/edge/edge.ts'
import type { Agent } from '../../shared/agents/agents.ts'
import type { ConversationId } from '../../shared/contract/ids.ts'
import type { TurnFinished } from '../../shared/contract/messages.ts'
import { question } from './agent.ts'
import type { LoopEnd } from './plain-loop.ts'
import type { Screen } from './screen.ts'

/** `failed`: rejects if the turn can no longer end. */
export type DemoTurn = {
  edge: Pick<Edge, 'onActivity' | 'send'>
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
  const { promise: ended, resolve, reject } = Promise.withResolvers<TurnFinished>()
  let toolStarts = 0
  const { stop } = await edge.onActivity(conversation, {
    onRecord({ message }) {
      screen.activity(message)
      if (message.type === 'tool-started') toolStarts++
      if (message.type === 'turn-finished') resolve(message)
    },
    onFailure: reject,
  })
  try {
    await edge.send({ agent, conversation, messageId: 'demo-1', text: question })
    const { totals, outcome, reason } = await Promise.race([ended, failed])
    const tokens = totals.inputTokens + totals.outputTokens
    return { rounds: totals.rounds, toolStarts, tokens, end: `${outcome}: ${reason}` }
  } finally {
    stop()
  }
}
