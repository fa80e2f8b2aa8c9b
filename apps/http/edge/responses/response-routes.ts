// The Responses API: create, retrieve with `starting_after`, and cancel.

import { Hono } from 'hono'
import type { ConversationTurn, TurnEvent } from '../../../../client/weir.ts'
import type { SentMessage } from '../../../../shared/contract/ids.ts'
import type { Json } from '../../../../shared/wire/format.ts'
import { errorEvent } from '../../../../shared/wire/openai-responses/answer.ts'
import { resultName } from '../../../../shared/wire/openai-responses/sent-item.ts'
import { answerJson } from '../../direct-answer.ts'
import { bad, HttpError } from '../../http-error.ts'
import type { HttpApp, HttpContext } from '../../server.ts'
import type { EdgeWeir } from '../access/own-weir.ts'
import { conversationIn, type Principal, shownConversation } from '../access/principal.ts'
import { waitingFor } from '../approval-decisions.ts'
import { assertClientTools, sendResults } from '../chat/call-results.ts'
import { decideOfTurn } from '../chat/chat-request.ts'
import { questionFields } from '../chat/request-message.ts'
import { sentTurn } from '../chat/sent-turn.ts'
import { callIdOf, placeOfCall } from '../chat/turn-calls.ts'
import { turnChunks } from '../chat/turn-chunks.ts'
import { leaveHandler, whenLeft } from '../disconnect.ts'
import type { EdgeContext, Protocol } from '../edge-context.ts'
import { answeredHere, httpErrorOf, interrupted } from '../edge-errors.ts'
import { modelPrefix, namedAgent } from '../named-agent.ts'
import { jsonBodyOf } from '../request-json.ts'
import { type ServerSentEvent, sseResponse } from '../sse.ts'
import {
  beginOf,
  createResponseFold,
  type ResponseEvent,
  wholeResponse,
} from './response-events.ts'
import { type NamedResponse, responseIdOf, responseNamed, unknownResponse } from './response-id.ts'
import {
  endHeaders,
  errorOfResponse,
  type ResponseHead,
  type ResponseObject,
  responseObject,
} from './response-object.ts'
import { type ResponseRequest, responseRequestOf } from './response-request.ts'

const resultForm = { name: resultName }

export const responsesProtocol: Protocol = { name: 'responses', routes }

function routes(context: EdgeContext): HttpApp {
  const app: HttpApp = new Hono()
  app.post('/v1/responses', (http) => create(context, http))
  app.get('/v1/responses/:id', (http) => retrieve(context, http))
  app.post('/v1/responses/:id/cancel', async (http) => {
    const principal = context.principalOf(http.req.raw, 'ask')
    const found = await foundResponse(context, principal, http.req.param('id'))
    const { conversation, turn } = found
    if (turn.end === undefined)
      await context.weirOf(principal).cancel({ conversation, messageId: turn.messageId })
    const end = await endOf(context, http, found, principal)
    return answerJson(http, end, { headers: endHeaders(end) })
  })
  return app
}

async function create(context: EdgeContext, http: HttpContext): Promise<Response> {
  const principal = context.principalOf(http.req.raw, 'ask')
  const weir = context.weirOf(principal)
  const { value, bytes } = await jsonBodyOf(http)
  const request = responseRequestOf(value)
  const previous = request.previous === undefined ? undefined : responseNamed(request.previous)
  const { message: content, system } = request
  if (content === undefined) return resume(context, http, request, previous)
  const agent = namedAgent(context.agents, request.model, 'model')
  assertClientTools(context.agents, agent, request.tools)
  const { message, earlier, author } = await context.messageIds.of({
    principal,
    conversation: request.conversation ?? previous?.conversation,
    key: http.req.header('idempotency-key'),
    body: bytes,
    text: content.text,
    isPlaced: previous !== undefined,
  })
  const shown = shownConversation(principal, message.conversation)
  if (earlier === undefined) {
    if (previous !== undefined) await assertLast(weir, message, previous.messageId)
    const answers = { conversation: shown, results: [], form: resultForm }
    await sendResults(context, principal, { ...answers, with: 'new message' })
    await assertDecided(context, principal, shown)
  }
  const fields = { ...questionFields(content), ...(system !== '' && { system }) }
  const question = { agent, ...fields, ...message }
  const isUnread = request.isBackground && !request.streams
  const events = await sentTurn(context.weirOf(author), question, { isUnread })
  const { messageId, conversation } = message
  const head: ResponseHead = {
    id: responseIdOf({ conversation: shown, messageId, answered: [] }),
    model: modelPrefix + agent,
    conversation: shown,
    createdAt: Math.floor(context.clock.now() / 1_000),
    previous: request.previous ?? null,
  }
  const leave = leaveHandler(context, principal, message)
  const found = { conversation, head, answered: [] }
  if (earlier === undefined)
    return answer(context, http, request, { ...found, principal, events, leave })
  const again = logged(context, { ...found, turn: earlier }, principal)
  const leaveAgain = (): void => {
    again.leave()
    leave()
  }
  return answer(context, http, request, { ...again, leave: leaveAgain })
}

/** Throws 400 for a message after a turn that waits for a decision of its author. */
async function assertDecided(
  context: EdgeContext,
  principal: Principal,
  conversation: string,
): Promise<void> {
  if (!principal.roles.has('decide')) return
  const weir = context.weirOf(principal)
  const log = weir.conversation(conversationIn(principal, conversation))
  const [newest] = await log.turns({ limit: 1 })
  if (newest === undefined || newest.end !== undefined) return
  const calls = (await waitingFor(context, principal))
    .filter((call) => call.conversation === conversation && call.turn === newest.turn)
    .map(({ id, name }) => ({ id, name }))
  if (calls.length === 0) return
  const listed = calls.map(({ id, name }) => `${id} (${name})`).join(', ')
  const text = `the turn waits for decisions on ${listed}: send an mcp_approval_response for each of them, or cancel the turn`
  throw new HttpError(400, 'approval.unanswered', text, { fields: { calls } })
}

/** The rest of a turn, after answers to its waiting calls. */
async function resume(
  context: EdgeContext,
  http: HttpContext,
  { answers, results, streams, isBackground, ...request }: ResponseRequest,
  previous: NamedResponse | undefined,
): Promise<Response> {
  const principal = context.principalOf(http.req.raw)
  const given = request.conversation ?? previous?.conversation ?? ''
  const conversation = conversationIn(principal, given)
  const read = { limit: previous === undefined ? 1 : 64, ends: false }
  const turns = await context.weirOf(principal).conversation(conversation).turns(read)
  const isNamed = ({ messageId }: ConversationTurn) => messageId === previous?.messageId
  const turn = previous === undefined ? turns[0] : turns.find(isNamed)
  if (turn === undefined) throw unknownResponse()
  assertClientTools(context.agents, turn.agent, request.tools)
  // A repeated request may come after the next message. It can answer nothing of that one's turn.
  const isLast = turn === turns[0]
  if (!isLast && results.some(({ callId }) => placeOfCall(callId)?.turn !== turn.turn))
    throw notLast()
  await decideOfTurn(context, principal, { of: { conversation, turn: turn.turn }, answers })
  const own = { conversation: given, results, form: resultForm }
  const sent = await sendResults(context, principal, own)
  const answered = [...answers.map(({ id }) => id), ...sent]
  const head = headOf(turn, { conversation: given, answered })
  const found = logged(context, { conversation, turn, head, answered }, principal)
  return answer(context, http, { streams, isBackground }, found)
}

/** A response with the events of its turn. `leave`: the client disconnects. */
type Answering = Pick<FoundResponse, 'head' | 'answered'> & {
  principal: Principal
  events: AsyncIterable<TurnEvent>
  turn?: number
  leave: () => void
}

async function answer(
  context: EdgeContext,
  http: HttpContext,
  { streams, isBackground }: Pick<ResponseRequest, 'streams' | 'isBackground'>,
  answering: Answering,
): Promise<Response> {
  const { head, leave } = answering
  const begun = responseObject(head, { status: 'in_progress', output: [] })
  if (streams) return streamed(context, http, answering, -1)
  if (isBackground) return answerJson(http, { ...begun, background: true })
  whenLeft(http, leave)
  const end = wholeResponse(responseEvents(context, answering))
  const whole = (await answeredHere(context, end)) ?? begun
  const error = errorOfResponse(whole)
  if (error !== undefined) throw error
  return answerJson(http, whole, { headers: endHeaders(whole) })
}

/**
 * A call that waits for the client, or for a decision that the principal may make, is the end of a
 * response. Throws 404 if `answered` names none of the turn's calls: the turn waits still, and the client
 * must not take that for an end.
 */
function responseEvents(
  { weirOf }: EdgeContext,
  { principal, events, turn, head, answered }: Omit<Answering, 'leave'>,
): AsyncGenerator<ResponseEvent[]> {
  const whole = createResponseFold(head)
  let isBehind = answered.length === 0
  const fold: typeof whole = {
    ...whole,
    start() {
      isBehind = true
      return whole.start()
    },
    pause(calls) {
      if (isBehind) return whole.pause(calls)
      throw new HttpError(404, 'approval.unknown', 'no call of this turn waits for this answer')
    },
  }
  const decides = principal.roles.has('decide')
  const weir = weirOf(principal)
  return turnChunks({ weir, events, answered: new Set(answered), fold, decides, turn })
}

/** Throws 400 for a response that is not the last one: a conversation has no branches. */
async function assertLast(
  weir: Pick<EdgeWeir, 'conversation'>,
  { conversation, messageId }: SentMessage,
  previous: string,
): Promise<void> {
  const turns = await weir.conversation(conversation).turns({ limit: 2, ends: false })
  const [last] = turns[0]?.messageId === messageId ? turns.slice(1) : turns
  if (last?.messageId === previous) return
  throw last === undefined ? unknownResponse() : notLast()
}

function notLast(): HttpError {
  return bad(
    'previous_response_id must be the last response of its conversation: a conversation has no branches',
  )
}

async function retrieve(context: EdgeContext, http: HttpContext): Promise<Response> {
  const principal = context.principalOf(http.req.raw, 'read')
  const after = http.req.query('starting_after')
  if (after !== undefined && !/^\d{1,16}$/.test(after))
    throw bad('starting_after must be the sequence_number of an event')
  const found = await foundResponse(context, principal, http.req.param('id') ?? '')
  if (http.req.query('stream') !== 'true') {
    const response = (await isRunning(context, principal, found))
      ? responseObject(found.head, { status: 'in_progress', output: [] })
      : await endOf(context, http, found, principal)
    return answerJson(http, response, { headers: endHeaders(response) })
  }
  const from = after === undefined ? -1 : Number(after)
  return streamed(context, http, logged(context, found, principal), from)
}

/** A turn whose call waits for the client or for the principal is not running. */
async function isRunning(
  { weirOf }: EdgeContext,
  principal: Principal,
  { conversation, turn, answered }: FoundResponse,
): Promise<boolean> {
  if (turn.end !== undefined) return false
  const weir = weirOf(principal)
  const offered = await weir.conversation(conversation).offeredCalls()
  const waiting = principal.roles.has('decide') ? await weir.approvals() : []
  const ids = [
    ...offered.filter((call) => call.turn === turn.turn).map(callIdOf),
    ...waiting
      .filter((call) => call.conversation === conversation && call.turn === turn.turn)
      .map(({ id }) => id),
  ]
  return ids.every((id) => answered.includes(id))
}

/** `conversation`: in the log. */
type FoundResponse = {
  conversation: string
  turn: ConversationTurn
  head: ResponseHead
  answered: string[]
}

/** Throws 404. */
async function foundResponse(
  { weirOf }: EdgeContext,
  principal: Principal,
  id: string,
): Promise<FoundResponse> {
  const named = responseNamed(id)
  const conversation = conversationIn(principal, named.conversation)
  const turns = await weirOf(principal).conversation(conversation).turns({ limit: 64 })
  const turn = turns.find(({ messageId }) => messageId === named.messageId)
  if (turn === undefined) throw unknownResponse()
  return { conversation, turn, head: headOf(turn, named), answered: named.answered }
}

/** `conversation`: as the principal names it. */
function headOf(
  { messageId, agent, since }: ConversationTurn,
  { conversation, answered }: Pick<NamedResponse, 'conversation' | 'answered'>,
): ResponseHead {
  return {
    id: responseIdOf({ conversation, messageId, answered }),
    model: modelPrefix + agent,
    conversation,
    createdAt: Math.floor(since / 1_000),
    previous: null,
  }
}

/** The response of a turn in the log. `leave` ends its events. */
function logged(
  { weirOf }: EdgeContext,
  { conversation, turn: { turn }, head, answered }: FoundResponse,
  principal: Principal,
): Answering {
  const leaving = new AbortController()
  const options = { turn, reasoning: true, signal: leaving.signal }
  const events = weirOf(principal).conversation(conversation).events(options)
  return { head, answered, principal, turn, events, leave: () => leaving.abort() }
}

async function endOf(
  context: EdgeContext,
  http: HttpContext,
  found: FoundResponse,
  principal: Principal,
): Promise<ResponseObject> {
  const { leave, ...answering } = logged(context, found, principal)
  whenLeft(http, leave)
  const end = wholeResponse(responseEvents(context, answering))
  const whole = await answeredHere(context, end)
  if (whole?.status !== 'in_progress' && whole !== undefined) return whole
  throw interrupted()
}

/** `after`: the number of the last event that the client has. */
function streamed(
  context: EdgeContext,
  http: HttpContext,
  { leave, ...answering }: Answering,
  after: number,
): Response {
  let number = 0
  const eventsOf = (events: readonly ResponseEvent[]): ServerSentEvent[] => {
    number = events.at(-1)?.sequence_number ?? number
    return behind(events, after).map(sent)
  }
  return sseResponse(context, http.env.outgoing, {
    items: responseEvents(context, answering),
    begin: eventsOf(beginOf(answering.head)),
    eventsOf,
    /** A client must not take the end of the events for one of the response. */
    failed(error) {
      const { code, message } = httpErrorOf(error)
      return [sent({ sequence_number: number + 1, ...errorEvent(code, message) })]
    },
    onLeave: leave,
  })
}

function sent(event: Json): ServerSentEvent {
  return { event: String(event.type), data: JSON.stringify(event) }
}

/** A piece of text that the client has in part begins after that part. */
function behind(events: readonly ResponseEvent[], after: number): ResponseEvent[] {
  return events.flatMap((event) => {
    const left = event.sequence_number - after
    if (left <= 0) return []
    const { delta } = event
    const isPart = typeof delta === 'string' && delta.length > left
    return [isPart ? { ...event, delta: delta.slice(-left) } : event]
  })
}
