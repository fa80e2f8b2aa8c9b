// The protocol of Weir itself: messages, the events of a conversation, cancel, forks, results of calls
// that the client runs, and approvals.

import { Hono } from 'hono'
import { positionIn } from '../../../../client/turn/event-resume.ts'
import type { CallPlace, TurnEvent } from '../../../../client/weir.ts'
import type { SentMessage } from '../../../../shared/contract/ids.ts'
import { answerJson } from '../../direct-answer.ts'
import { bad, errorBody, HttpError } from '../../http-error.ts'
import type { HttpApp, HttpContext } from '../../server.ts'
import {
  conversationIn,
  type Principal,
  type Role,
  shownConversation,
} from '../access/principal.ts'
import { decideFor, waitingFor } from '../approval-decisions.ts'
import { messageOfFields, questionFields } from '../chat/request-message.ts'
import { endCode } from '../chat/turn-data.ts'
import type { EdgeContext, Protocol } from '../edge-context.ts'
import { namedAgent } from '../named-agent.ts'
import { fieldsOf, optionalText, textIfGiven } from '../request-json.ts'
import { sseResponse } from '../sse.ts'

export const nativeProtocol: Protocol = { name: 'native', routes }

const messageFields = [
  'text',
  'agent',
  'system',
  'messageId',
  'images',
  'files',
  'afterTurn',
  'user',
]

function routes(context: EdgeContext): HttpApp {
  const { weirOf, agents } = context
  const app: HttpApp = new Hono()
  const author = ({ req }: HttpContext, role: Role) => context.principalOf(req.raw, role)

  app.post('/v1/conversations/:id/messages', async (http) => {
    const principal = author(http, 'ask')
    const { value, bytes } = await fieldsOf(http, messageFields)
    const given = http.req.param('id')
    const content = messageOfFields(requiredText(value, 'text'), value)
    const { text } = content
    const agent = namedAgent(agents, optionalText(value, 'agent'), 'agent')
    const system = optionalText(value, 'system')
    const user = optionalText(value, 'user')
    const { afterTurn } = value
    if (afterTurn !== undefined && typeof afterTurn !== 'number')
      throw bad('afterTurn must be the number of a turn, or -1')
    const after = afterTurn === undefined ? {} : { afterTurn }
    const { message, author: asker } = await context.messageIds.of({
      principal,
      conversation: given,
      body: bytes,
      text,
      key: http.req.header('idempotency-key') ?? optionalText(value, 'messageId'),
    })
    const question = { agent, ...questionFields(content), ...message, system, user, ...after }
    const turn = weirOf(asker).ask(question)
    await turn.sent
    return answerJson(http, { conversation: given, messageId: message.messageId }, { status: 202 })
  })

  app.delete('/v1/conversations/:id', async (http) => {
    const principal = author(http, 'operate')
    const conversation = conversationIn(principal, http.req.param('id'))
    const { id: by, identity } = principal
    const forgotten = await weirOf(principal).forget({ conversation, by, identity })
    const { records, isOverwritten, isUnreadable, until } = forgotten
    return answerJson(http, { records, isOverwritten, isUnreadable, until })
  })

  app.put('/v1/conversations/:id/title', async (http) => {
    const principal = author(http, 'ask')
    const { value } = await fieldsOf(http, ['title'])
    const { title } = value
    if (typeof title !== 'string') throw bad('title must be a text; an empty one removes the title')
    const id = conversationIn(principal, http.req.param('id'))
    await weirOf(principal).conversation(id).setTitle(title)
    return answerJson(http, { title }, { status: 202 })
  })

  app.get('/v1/conversations/:id/events', async (http) => {
    const principal = author(http, 'read')
    const given = http.req.param('id')
    await assertExists(context, principal, given)
    const after = http.req.header('last-event-id') ?? http.req.query('after')
    if (after !== undefined) positionIn(after) // throws 400
    return feedOf(context, http, { principal, conversation: given, after })
  })

  app.post('/v1/conversations/:id/cancel', async (http) => {
    const principal = author(http, 'ask')
    const { value } = await fieldsOf(http, ['messageId'])
    const conversation = conversationIn(principal, http.req.param('id'))
    const messageId = optionalText(value, 'messageId')
    const weir = weirOf(principal)
    const turns = await weir.conversation(conversation).turns({ limit: 1, ends: false })
    const [newest] = turns
    if (newest === undefined) throw unknownConversation()
    const message: SentMessage = { conversation, messageId: messageId ?? newest.messageId }
    await weir.cancel(message)
    return answerJson(http, { messageId: message.messageId }, { status: 202 })
  })

  app.post('/v1/conversations/:id/fork', async (http) => {
    const principal = author(http, 'ask')
    const { value } = await fieldsOf(http, ['turn'])
    const { turn } = value
    if (turn !== undefined && typeof turn !== 'number')
      throw bad('turn must be the number of a turn, as its events have it')
    const id = conversationIn(principal, http.req.param('id'))
    const fork = await weirOf(principal)
      .conversation(id)
      .fork({ ...(turn !== undefined && { turn }) })
    const conversation = shownConversation(principal, fork.id)
    return answerJson(http, { conversation }, { status: 201 })
  })

  app.post('/v1/conversations/:id/results', async (http) => {
    const principal = author(http, 'ask')
    const { value } = await fieldsOf(http, ['turn', 'round', 'ordinal', 'text', 'isError'])
    const { turn, round, ordinal, isError = false } = value
    const isPlace = [turn, round, ordinal].every((one) => Number.isSafeInteger(one))
    if (!isPlace || typeof isError !== 'boolean')
      throw bad(
        'turn, round and ordinal must be the numbers of a call-offered event, isError true or false',
      )
    const place = { turn, round, ordinal } as CallPlace
    const id = conversationIn(principal, http.req.param('id'))
    const conversation = weirOf(principal).conversation(id)
    await conversation.sendResult(place, { text: requiredText(value, 'text'), isError })
    return answerJson(http, place)
  })

  app.get('/v1/approvals', async (http) => {
    const principal = author(http, 'read')
    return answerJson(http, { approvals: await waitingFor(context, principal) })
  })

  for (const answer of ['allow', 'deny'] as const)
    app.post(`/v1/approvals/:id/${answer}`, async (http) => {
      const principal = author(http, 'decide')
      const { value } = await fieldsOf(http, ['reason', 'hash', 'values'])
      const outcome = await decideFor(context, principal, {
        id: http.req.param('id'),
        answer,
        reason: optionalText(value, 'reason'),
        hash: textIfGiven(value, 'hash'),
        values: JSON.stringify(value.values),
      })
      if (outcome.counted) return answerJson(http, outcome)
      const error = new HttpError(409, 'approval.decided', outcome.text)
      return answerJson(http, { ...errorBody(error), ...outcome }, { status: 409 })
    })
  return app
}

/** Throws 404. A message counts from the time on at which its turn begins. */
async function assertExists(
  { weirOf }: EdgeContext,
  principal: Principal,
  given: string,
): Promise<void> {
  const log = weirOf(principal).conversation(conversationIn(principal, given))
  const turns = await log.turns({ limit: 1, ends: false })
  if (turns.length === 0) throw unknownConversation()
}

function unknownConversation(): HttpError {
  return new HttpError(404, 'conversation.unknown', 'there is no such conversation')
}

function requiredText(body: Record<string, unknown>, name: string): string {
  const text = optionalText(body, name)
  if (text === undefined) throw bad(`${name} is missing`)
  return text
}

const retryMs = 2_000

/** `conversation`: as the principal names it. `after`: a position; undefined: from the beginning. */
type FeedRequest = { principal: Principal; conversation: string; after: string | undefined }

/** Goes on until the client leaves. */
function feedOf(
  context: EdgeContext,
  http: HttpContext,
  { principal, conversation, after }: FeedRequest,
): Response {
  const leaving = new AbortController()
  const log = context.weirOf(principal).conversation(conversationIn(principal, conversation))
  const events = log.events({ signal: leaving.signal, after })
  return sseResponse(context, http.env.outgoing, {
    items: events,
    eventsOf: (event) => [
      { id: event.position, event: event.type, data: JSON.stringify(sent(event, conversation)) },
    ],
    preamble: `retry: ${retryMs}`,
    onLeave: () => leaving.abort(),
  })
}

/** The end of a turn also has the code of the budget or the stop that caused it. */
function sent(event: TurnEvent, conversation: string): object {
  const end = event.type === 'turn-finished' ? { code: endCode(event) } : {}
  return { ...event, ...end, conversation }
}
