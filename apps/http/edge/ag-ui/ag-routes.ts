// AG-UI 1.0, for HttpAgent of `@ag-ui/client` and programs on it: a run is a turn, or the rest of a
// turn after its approvals.
// The id of the thread is the conversation, and the id of a run with a message is the
// message's: a repeated run is the same turn, from its start.

import { Hono } from 'hono'
import type { HttpApp } from '../../server.ts'
import { assertClientTools } from '../chat/call-results.ts'
import { type ChatStream, chatTurn } from '../chat/chat-turn.ts'
import type { EdgeContext, Protocol } from '../edge-context.ts'
import { namedAgent } from '../named-agent.ts'
import { jsonBodyOf } from '../request-json.ts'
import type { AgEvent } from './ag-event.ts'
import { createAgFold } from './ag-fold.ts'
import { agRequestIn } from './ag-request.ts'

export const agUiProtocol: Protocol = { name: 'ag-ui', routes }

function routes(context: EdgeContext): HttpApp {
  const app: HttpApp = new Hono()
  app.post('/v1/ag-ui/:agent', async (http) => {
    const principal = context.principalOf(http.req.raw, 'ask')
    const agent = namedAgent(context.agents, http.req.param('agent'), 'agent')
    const { value, bytes } = await jsonBodyOf(http)
    const { run, request, tools } = agRequestIn(value, http.req.header('idempotency-key'))
    assertClientTools(context.agents, agent, tools)
    const stream: ChatStream<AgEvent> = {
      fold: createAgFold(run),
      result: 'a message of the role tool with its toolCallId',
      failed: ({ message, code }) => ({ type: 'RUN_ERROR', message, code }),
    }
    return chatTurn(context, http, { principal, agent, request, body: bytes, stream })
  })
  return app
}
