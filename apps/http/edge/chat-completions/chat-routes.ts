// Chat Completions of OpenAI: `POST /v1/chat/completions` and `GET /v1/models`.

import { Hono } from 'hono'
import { answerJson } from '../../direct-answer.ts'
import { bad } from '../../http-error.ts'
import type { HttpApp, HttpContext } from '../../server.ts'
import type { EdgeWeir } from '../access/own-weir.ts'
import { conversationIn, type Principal, shownConversation } from '../access/principal.ts'
import { type AnswerPiece, createAnswerFold } from '../chat/answer-pieces.ts'
import { type CallAnswer, clientToolsOf, sendResults } from '../chat/call-results.ts'
import { type MessageContent, questionFields } from '../chat/request-message.ts'
import { forkError, isFork } from '../chat/resent-history.ts'
import { sentTurn } from '../chat/sent-turn.ts'
import { placeOfCall } from '../chat/turn-calls.ts'
import { turnChunks } from '../chat/turn-chunks.ts'
import { outcomeHeader } from '../chat/turn-data.ts'
import { leaveHandler, whenLeft } from '../disconnect.ts'
import type { EdgeContext, Protocol } from '../edge-context.ts'
import { answeredHere, endError, interrupted } from '../edge-errors.ts'
import { modelPrefix, namedAgent } from '../named-agent.ts'
import { jsonBodyOf } from '../request-json.ts'
import { sseResponse } from '../sse.ts'
import { chatCompletion, chatStream, type LastPiece } from './chat-chunks.ts'
import {
  type ChatRequest,
  chatRequestOf,
  exchangesOf,
  type Resent,
  transcriptOf,
} from './chat-request.ts'
import { createKnownHistories, type KnownHistories } from './known-histories.ts'
import { callNamed, toolResultForm } from './tool-call-id.ts'

export const chatProtocol: Protocol = { name: 'chat-completions', routes }

function routes(context: EdgeContext): HttpApp {
  const app: HttpApp = new Hono()
  const histories = createKnownHistories()

  app.get('/v1/models', (http) =>
    answerJson(http, { object: 'list', data: [...context.agents.keys()].map(modelOf) }),
  )
  app.get('/v1/models/:model{.+}', (http) =>
    answerJson(http, modelOf(namedAgent(context.agents, http.req.param('model'), 'model'))),
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
  const principal = context.principalOf(http.req.raw, 'ask')
  const { value, bytes } = await jsonBodyOf(http)
  const request = chatRequestOf(value)
  const agent = namedAgent(context.agents, request.model, 'model')
  const asked = { principal, agent, request, body: bytes }
  const answering =
    request.message === undefined
      ? await resumed(context, asked)
      : await begun(context, histories, http, { ...asked, message: request.message })
  return answer(context, histories, http, { ...asked, ...answering })
}

type Asked = { principal: Principal; agent: string; request: ChatRequest; body: Uint8Array }

/** `shown`: the conversation as the principal names it. `said`: the messages in front of the answer. */
type Answering = {
  messageId: string
  shown: string
  said: Resent[]
  pieces: AsyncIterable<AnswerPiece[]>
  leave: () => void
}

/** The turn of the message, or of an equal one. */
async function begun(
  context: EdgeContext,
  histories: KnownHistories,
  http: HttpContext,
  { principal, agent, request, body, message: content }: Asked & { message: MessageContent },
): Promise<Answering> {
  const weir = context.weirOf(principal)
  const { history, system } = request
  const { text } = content
  const named = headerText(http, 'x-weir-conversation') ?? request.conversation
  const known = named ?? histories.find(principal, history) ?? conversationCalled(request)
  const idIn = async (conversation: string | undefined) => {
    const key = http.req.header('idempotency-key')
    const request = { principal, conversation, key, body, text }
    return context.messageIds.of({ ...request, isPlaced: history.length > 0 })
  }
  let { message, earlier, author } = await idIn(known)
  let start = await startOf(weir, message, request, named !== undefined)
  if (start === 'fork') {
    if (named !== undefined) throw forkError('the messages differ from those of the conversation')
    ;({ message, earlier, author } = await idIn(undefined))
    start = 'new'
  }
  const shown = shownConversation(principal, message.conversation)
  if (earlier === undefined)
    await sendResults(context, principal, {
      conversation: shown,
      form: toolResultForm(shown),
      isHistory: true,
      results: ownResults(request, shown),
      with: 'new message',
    })
  const instructions = [system, start === 'new' ? transcriptOf(history) : ''].filter(
    (one) => one !== '',
  )
  const events = await sentTurn(context.weirOf(author), {
    agent,
    ...questionFields(content),
    ...message,
    ...(instructions.length > 0 && { system: instructions.join('\n\n') }),
  })
  return {
    messageId: message.messageId,
    shown,
    said: [...history, { role: 'user', text }],
    pieces: turnChunks({ weir, events, fold: createAnswerFold(), decides: false }),
    leave: leaveHandler(context, principal, message),
  }
}

/** A turn that waits for its client has no answer yet, so the history does not find it: its calls do. */
function conversationCalled({ called = '' }: ChatRequest): string | undefined {
  const { callId, conversation } = called.includes('.') ? callNamed(called) : { callId: '' }
  return placeOfCall(callId) === undefined ? undefined : conversation
}

/** The results of the history for calls of this conversation. A client may have been elsewhere before. */
function ownResults({ results }: ChatRequest, conversation: string): CallAnswer[] {
  return results.flatMap(({ callId, text }) => {
    const named = callId.includes('.') ? callNamed(callId) : undefined
    return named?.conversation === conversation ? [{ callId: named.callId, text }] : []
  })
}

/** The rest of a turn, after the results of calls that the client ran. Throws 400, 404 and 409. */
async function resumed(
  context: EdgeContext,
  { principal, request: { results, history } }: Asked,
): Promise<Answering> {
  const named = results.map(({ callId, text }) => ({ ...callNamed(callId), text }))
  const [first] = named
  if (first === undefined || named.some((one) => one.conversation !== first.conversation))
    throw bad('the results must be those of one conversation')
  const shown = first.conversation
  const form = toolResultForm(shown)
  const answers = { conversation: shown, results: named, form }
  const answered = await sendResults(context, principal, answers)
  const id = conversationIn(principal, shown)
  const weir = context.weirOf(principal)
  const turn = placeOfCall(answered[0] ?? '')?.turn ?? 0
  const turns = await weir.conversation(id).turns({ limit: 64, ends: false })
  const { messageId = '' } = turns.find((one) => one.turn === turn) ?? {}
  const leaving = new AbortController()
  const events = weir.conversation(id).events({ turn, reasoning: true, signal: leaving.signal })
  const chunks = { weir, events, turn, fold: createAnswerFold(), decides: false }
  const leave = leaveHandler(context, principal, { conversation: id, messageId })
  return {
    messageId,
    shown,
    said: history,
    pieces: turnChunks({ ...chunks, answered: new Set(answered) }),
    leave() {
      leaving.abort()
      leave()
    },
  }
}

async function answer(
  context: EdgeContext,
  histories: KnownHistories,
  http: HttpContext,
  { principal, agent, request, messageId, shown, said, pieces, leave }: Asked & Answering,
): Promise<Response> {
  const head = {
    id: `chatcmpl-${messageId}`,
    model: modelPrefix + agent,
    conversation: shown,
    created: Math.floor(context.clock.now() / 1_000),
    includesUsage: request.includesUsage,
  }
  const leftOut = leftOutOf(request.tools, clientToolsOf(context.agents, agent))
  const headers = {
    'x-weir-conversation': encodeURIComponent(shown),
    ...(leftOut !== '' && { 'x-weir-tools-left-out': leftOut }),
  }
  const keep = (text: string) =>
    histories.keep(principal, [...said, { role: 'assistant', text }], shown)
  if (request.streams)
    return sseResponse(context, http.env.outgoing, {
      items: pieces,
      headers,
      onLeave: leave,
      ...chatStream(head, keep),
    })
  whenLeft(http, leave)
  const { last, ...texts } = await answeredHere(context, wholeAnswer(pieces))
  const body = chatCompletion(last, texts, head)
  if (last.kind === 'calls') return answerJson(http, body, { headers })
  keep(last.finished.reply)
  const ended = { ...headers, ...outcomeHeader(last.data) }
  const error = endError(last.data, { headers: ended, fields: { weir: last.data } })
  if (error !== undefined) throw error
  return answerJson(http, body, { headers: ended })
}

/** Throws 503 without an end. */
async function wholeAnswer(
  pieces: AsyncIterable<AnswerPiece[]>,
): Promise<{ text: string; reasoning: string; last: LastPiece }> {
  let text = ''
  let reasoning = ''
  for await (const some of pieces)
    for (const piece of some)
      if (piece.kind === 'text') text += piece.text
      else if (piece.kind === 'reasoning') reasoning += piece.text
      else return { text, reasoning, last: piece }
  throw interrupted()
}

/**
 * Chat clients such as Open WebUI declare their tools in each request. The model gets none of them.
 * The names fit in a header that all clients can read.
 */
function leftOutOf(declared: readonly string[], known: ReadonlySet<string>): string {
  let text = ''
  for (const name of declared) {
    if (known.has(name)) continue
    const next = `${text === '' ? '' : `${text},`}${encodeURIComponent(name.toWellFormed())}`
    if (next.length > leftOutCharactersMax) break
    text = next
  }
  return text
}

const leftOutCharactersMax = 4096

/**
 * `held`: the conversation has the resent history. `new`: it begins with it. `fork`: it has another
 * one. A repeated message is not compared.
 */
async function startOf(
  weir: Pick<EdgeWeir, 'conversation'>,
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
