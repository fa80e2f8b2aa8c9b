// The AI SDK's UI message stream v1, for `useChat` with its default transport: a message or the
// answers to approvals go in, and the turn comes back as a stream. A page joins a running turn, and a
// page that is loaded again gets the messages of the chat.
// The chat's id is the conversation, and the id of the user's message is the message's:
// a repeated request is the same message, and yields the same stream.

import { Hono } from 'hono'
import { limits } from '../../../../shared/contract/limits.ts'
import { answerJson } from '../../direct-answer.ts'
import type { HttpApp } from '../../server.ts'
import { conversationIn } from '../access/principal.ts'
import { clientToolsOf } from '../chat/call-results.ts'
import { type ChatStream, chatTurn, joinedTurn } from '../chat/chat-turn.ts'
import type { EdgeContext, Protocol } from '../edge-context.ts'
import { namedAgent } from '../named-agent.ts'
import { jsonBodyOf, optionalText } from '../request-json.ts'
import type { UiChunk } from './ui-chunk.ts'
import { createUiFold } from './ui-fold.ts'
import { uiMessagesOf } from './ui-history.ts'
import { uiRequestIn } from './ui-request.ts'

export const uiStreamProtocol: Protocol = { name: 'ui-stream', routes }

function routes(context: EdgeContext): HttpApp {
  const app: HttpApp = new Hono()

  app.post('/v1/ui-stream', async (http) => {
    const principal = context.principalOf(http.req.raw, 'ask')
    const { value, bytes } = await jsonBodyOf(http)
    const request = uiRequestIn(value, http.req.header('idempotency-key'))
    const agent = namedAgent(context.agents, optionalText(value, 'agent'), 'agent')
    const stream = uiStream(context, agent)
    return chatTurn(context, http, { principal, agent, request, body: bytes, stream })
  })

  app.get('/v1/ui-stream/:chat', async (http) => {
    const principal = context.principalOf(http.req.raw, 'read')
    const id = conversationIn(principal, http.req.param('chat'))
    const conversation = context.weirOf(principal).conversation(id)
    // The turns first: a turn that ends meanwhile is shown as running, and the page joins it.
    const turns = await conversation.turns({ limit: limits.recentMessageIdsMax })
    const messages = await conversation.messages()
    const toolsOf = (agent: string) => clientToolsOf(context.agents, agent)
    return answerJson(http, uiMessagesOf(messages, turns, toolsOf))
  })

  app.get('/v1/ui-stream/:chat/stream', async (http) => {
    const principal = context.principalOf(http.req.raw, 'read')
    const id = conversationIn(principal, http.req.param('chat'))
    const [last] = await context.weirOf(principal).conversation(id).turns({ limit: 1 })
    if (last === undefined || last.end !== undefined) return http.body(null, 204)
    return joinedTurn(context, http, uiStream(context, last.agent), {
      principal,
      id,
      turn: last.turn,
    })
  })
  return app
}

function uiStream({ agents }: EdgeContext, agent: string): ChatStream<UiChunk> {
  return {
    fold: createUiFold(clientToolsOf(agents, agent)),
    failed: ({ message }) => ({ type: 'error', errorText: message }),
    result: 'its output (addToolOutput)',
    end: '[DONE]',
    headers: { 'x-vercel-ai-ui-message-stream': 'v1' },
  }
}
