// Chat Completions of OpenAI: `POST /v1/chat/completions` and `GET /v1/models`.

import { Hono } from 'hono'
import { HttpError } from '../../http-error.ts'
import type { HttpApp, HttpContext } from '../../server.ts'
import { type AnswerPiece, answerPieces } from '../answer-pieces.ts'
import { leaveHandler, whenLeft } from '../disconnect.ts'
import type { EdgeContext, Protocol } from '../edge-context.ts'
import { modelPrefix, namedAgent } from '../named-agent.ts'
import { conversationFor, requireRole } from '../principal.ts'
import { jsonBodyOf } from '../request-json.ts'
import { questionFields } from '../request-message.ts'
import { forkError, isFork } from '../resent-history.ts'
import { sentTurn } from '../sent-turn.ts'
import { sseResponse } from '../sse.ts'
import { chatChunks, chatCompletion } from './chat-chunks.ts'
import { type ChatRequest, chatRequestOf, exchangesOf, transcriptOf } from './chat-request.ts'
import { createKnownHistories, type KnownHistories } from './known-histories.ts'

export const chatProtocol: Protocol = { name: 'chat-completions', routes }

function routes(context: EdgeContext): HttpApp {
  const app: HttpApp = new Hono()
  const histories = createKnownHistories()

  app.get('/v1/models', (http) =>
    http.json({ object: 'list', data: [...context.agents.keys()].map(modelOf) }),
  )
  app.get('/v1/models/:model{.+}', (http) =>
    http.json(modelOf(namedAgent(context.agents, http.req.param('model')))),
  )
  app.post('/v1/chat/completions', (http) => complete(context, histories, http))
  return app
}

function modelOf(agent: string): object {
  return { id: modelPrefix + agent, object: 'model', created: 0, owned_by: 'weir' }
}

async function complete(
  context: EdgeContext,
  histories: KnownHistories,
  http: HttpContext,
): Promise<Response> {
  const { weir, clock } = context
  const principal = context.principalOf(http.req.raw)
  requireRole(principal, 'ask')
  const { value, bytes } = await jsonBodyOf(http)
  const request = chatRequestOf(value)
  const agent = namedAgent(context.agents, request.model)
  const { history, system } = request
  const { text } = request.message
  const named = headerText(http, 'x-weir-conversation') ?? request.conversation
  const known = named ?? histories.find(principal, history)
  const idIn = async (conversation: string | undefined) => {
    const key = http.req.header('idempotency-key')
    return (await context.messageIds.of({ principal, conversation, key, body: bytes, text }))
      .message
  }
  let message = await idIn(known)
  let start = await startOf(context, message, request, named !== undefined)
  if (start === 'fork') {
    if (named !== undefined) throw forkError('the messages differ from those of the conversation')
    message = await idIn(undefined)
    start = 'new'
  }
  const instructions = [system, start === 'new' ? transcriptOf(history) : ''].filter(
    (one) => one !== '',
  )
  const events = await sentTurn(weir, {
    ...{ agent, ...questionFields(request.message), ...message },
    ...(instructions.length > 0 && { system: instructions.join('\n\n') }),
  })
  const shown = conversationFor(principal, message.conversation) ?? ''
  const head = {
    ...{ id: `chatcmpl-${message.messageId}`, model: modelPrefix + agent },
    ...{ created: Math.floor(clock.now() / 1_000), includesUsage: request.includesUsage },
  }
  const headers = { 'x-weir-conversation': encodeURIComponent(shown) }
  const pieces = kept(answerPieces(events), (answer) =>
    histories.keep(
      principal,
      [...history, { role: 'user', text }, { role: 'assistant', text: answer }],
      shown,
    ),
  )
  const onLeave = leaveHandler(context, principal, message)
  if (request.streams)
    return sseResponse(context, chatChunks(pieces, head), {
      headers,
      onLeave,
    })
  whenLeft(http, onLeave)
  let reasoning = ''
  for await (const piece of pieces) {
    if (piece.kind === 'reasoning') reasoning += piece.text
    if (piece.kind !== 'end') continue
    const { reply } = piece.finished
    const answer = { role: 'assistant', text: reply } as const
    histories.keep(principal, [...history, { role: 'user', text }, answer], shown)
    return http.json(chatCompletion(piece.finished, reasoning, head), 200, headers)
  }
  throw new HttpError(503, 'edge.interrupted', 'the turn has no end: send the request again')
}

/** Calls `end` with the whole text in front of the end. */
async function* kept(
  pieces: AsyncIterable<AnswerPiece>,
  end: (answer: string) => void,
): AsyncGenerator<AnswerPiece> {
  let answer = ''
  for await (const piece of pieces) {
    if (piece.kind === 'text') answer += piece.text
    if (piece.kind === 'end') end(answer)
    yield piece
  }
}

/**
 * `held`: the conversation has the resent history. `new`: it begins with it. `fork`: it has another
 * one. A repeated message is not compared.
 */
async function startOf(
  { weir }: EdgeContext,
  { conversation, messageId }: { conversation: string; messageId: string },
  { history }: ChatRequest,
  isNamed: boolean,
): Promise<'held' | 'new' | 'fork'> {
  const turnsOf = (ends: boolean) => weir.conversation(conversation).turns({ limit: 64, ends })
  const turns = await turnsOf(false)
  const isRepeated = turns.some((turn) => turn.messageId === messageId)
  if (turns.length === 0) return 'new'
  // A client that names the conversation may leave its history out.
  const isLeftOut = isNamed && history.length === 0
  if (isRepeated || isLeftOut) return 'held'
  return isFork(exchangesOf(history), await turnsOf(true)) ? 'fork' : 'held'
}

function headerText(http: HttpContext, name: string): string | undefined {
  const given = http.req.header(name)
  try {
    return given === undefined ? undefined : decodeURIComponent(given)
  } catch {
    return given
  }
}
