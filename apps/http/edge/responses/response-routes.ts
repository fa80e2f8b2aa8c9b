// The Responses API: create, retrieve with `starting_after`, and cancel.

import { Hono } from 'hono'
import type { ConversationTurn, TurnEvent } from '../../../../client/weir.ts'
import { HttpError } from '../../http-error.ts'
import type { HttpApp, HttpContext } from '../../server.ts'
import { cancelIfLeft, leaveHandler } from '../disconnect.ts'
import type { EdgeContext, Protocol } from '../edge-context.ts'
import { modelPrefix, namedAgent } from '../named-agent.ts'
import { conversationFor, conversationIn, type Principal, requireRole } from '../principal.ts'
import { jsonBodyOf } from '../request-json.ts'
import { bad } from '../request-message.ts'
import { type ServerSentEvent, sseResponse } from '../sse.ts'
import { type ResponseEvent, responseEvents, wholeResponse } from './response-events.ts'
import { messageOfResponse, responseIdOf, unknownResponse } from './response-id.ts'
import { type ResponseHead, responseObject } from './response-object.ts'
import { responseRequestOf } from './response-request.ts'

export const responsesProtocol: Protocol = { name: 'responses', routes }

function routes(context: EdgeContext): HttpApp {
  const app: HttpApp = new Hono()
  app.post('/v1/responses', (http) => create(context, http))
  app.get('/v1/responses/:id', (http) => retrieve(context, http))
  app.post('/v1/responses/:id/cancel', async (http) => {
    const principal = context.principalOf(http.req.raw)
    requireRole(principal, 'ask')
    const found = await turnOf(context, principal, http.req.param('id'))
    const { conversation, turn } = found
    if (turn.end === undefined)
      await context.weir.cancel({ conversation, messageId: turn.messageId })
    return http.json(await endOf(context, found, http.req.raw.signal))
  })
  return app
}

async function create(context: EdgeContext, http: HttpContext): Promise<Response> {
  const { weir, clock } = context
  const principal = context.principalOf(http.req.raw)
  requireRole(principal, 'ask')
  const { value, bytes } = await jsonBodyOf(http)
  const { model, text, system, streams, isBackground, ...request } = responseRequestOf(value)
  const agent = namedAgent(context.agents, model)
  const { previous } = request
  const before = previous === undefined ? undefined : messageOfResponse(previous)
  const message = await context.messageIds.of({
    ...{ principal, conversation: request.conversation ?? before?.conversation },
    ...{ key: http.req.header('idempotency-key'), body: bytes, text },
  })
  if (before !== undefined) await assertLast(context, message, before.messageId)
  const turn = weir.ask({ agent, text, ...message, ...(system !== '' && { system }) })
  await turn.sent
  const shown = conversationFor(principal, message.conversation) ?? ''
  const head: ResponseHead = {
    ...{ id: responseIdOf({ ...message, conversation: shown }), model: modelPrefix + agent },
    ...{ conversation: shown, createdAt: Math.floor(clock.now() / 1_000) },
    previous: previous ?? null,
  }
  if (streams)
    return sseResponse(context, sent(responseEvents(turn, head)), {
      onLeave: leaveHandler(context, principal, message),
    })
  if (isBackground)
    return http.json(responseObject(head, { status: 'in_progress', output: [], background: true }))
  cancelIfLeft(http, context, principal, message)
  const whole = await wholeResponse(turn, head)
  return http.json(whole ?? responseObject(head, { status: 'in_progress', output: [] }))
}

/** Throws 400 for a response that is not the last one: a conversation has no branches. */
async function assertLast(
  { weir }: EdgeContext,
  { conversation, messageId }: { conversation: string; messageId: string },
  previous: string,
): Promise<void> {
  const turns = await weir.conversation(conversation).turns({ limit: 2, ends: false })
  const [last] = turns[0]?.messageId === messageId ? turns.slice(1) : turns
  if (last?.messageId === previous) return
  throw bad(
    last === undefined
      ? 'previous_response_id names no response'
      : 'previous_response_id must be the last response of its conversation: a conversation has no branches',
  )
}

async function retrieve(context: EdgeContext, http: HttpContext): Promise<Response> {
  const principal = context.principalOf(http.req.raw)
  requireRole(principal, 'read')
  const after = http.req.query('starting_after')
  if (after !== undefined && !/^\d{1,16}$/.test(after))
    throw bad('starting_after must be the sequence_number of an event')
  const found = await turnOf(context, principal, http.req.param('id') ?? '')
  if (http.req.query('stream') !== 'true')
    return http.json(
      found.turn.end === undefined
        ? responseObject(found.head, { status: 'in_progress', output: [] })
        : await endOf(context, found, http.req.raw.signal),
    )
  const leaving = new AbortController()
  const events = eventsOf(context, found, leaving.signal)
  const from = after === undefined ? -1 : Number(after)
  return sseResponse(context, sent(behind(responseEvents(events, found.head), from)), {
    onLeave: () => leaving.abort(),
  })
}

type FoundTurn = { conversation: string; turn: ConversationTurn; head: ResponseHead }

/** Throws 404. */
async function turnOf({ weir }: EdgeContext, principal: Principal, id: string): Promise<FoundTurn> {
  const named = messageOfResponse(id)
  const conversation = conversationIn(principal, named.conversation)
  const turns = await weir.conversation(conversation).turns({ limit: 64 })
  const turn = turns.find(({ messageId }) => messageId === named.messageId)
  if (turn === undefined) throw unknownResponse()
  const head = {
    ...{ id, model: modelPrefix + turn.agent, conversation: named.conversation },
    ...{ createdAt: Math.floor(turn.since / 1_000), previous: null },
  }
  return { conversation, turn, head }
}

async function endOf(context: EdgeContext, found: FoundTurn, signal: AbortSignal): Promise<object> {
  const whole = await wholeResponse(eventsOf(context, found, signal), found.head)
  if (whole?.status !== 'in_progress' && whole !== undefined) return whole
  throw new HttpError(503, 'edge.interrupted', 'the end of the response cannot be read: try again')
}

/** The events of one turn, from the log. */
async function* eventsOf(
  { weir }: EdgeContext,
  { conversation, turn: { turn } }: FoundTurn,
  signal: AbortSignal,
): AsyncGenerator<TurnEvent> {
  for await (const event of weir.conversation(conversation).events({ signal }))
    if ('turn' in event && event.turn === turn) yield event
}

/** A piece of text that the client has in part begins behind that part. */
async function* behind(
  events: AsyncIterable<ResponseEvent>,
  after: number,
): AsyncGenerator<ResponseEvent> {
  for await (const event of events) {
    const left = event.sequence_number - after
    if (left <= 0) continue
    const { delta } = event
    yield typeof delta === 'string' && delta.length > left
      ? { ...event, delta: delta.slice(-left) }
      : event
  }
}

async function* sent(events: AsyncIterable<ResponseEvent>): AsyncGenerator<ServerSentEvent> {
  for await (const event of events) yield { event: event.type, data: JSON.stringify(event) }
}
