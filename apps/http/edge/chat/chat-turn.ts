// The turn of a chat request, as the response of its protocol: a new message, the repeat of one, or
// the answers to waiting calls of the newest turn.

import { limits } from '../../../../shared/contract/limits.ts'
import { HttpError } from '../../http-error.ts'
import type { HttpContext } from '../../server.ts'
import { conversationIn, type Principal } from '../access/principal.ts'
import { leaveHandler } from '../disconnect.ts'
import type { EdgeContext } from '../edge-context.ts'
import { httpErrorOf } from '../edge-errors.ts'
import { sseResponse } from '../sse.ts'
import { sendResults } from './call-results.ts'
import { type ChatRequest, decideAnswers, placeOf } from './chat-request.ts'
import { questionFields } from './request-message.ts'
import { sentTurn } from './sent-turn.ts'
import { type TurnFold, turnChunks } from './turn-chunks.ts'

/** The stream of a protocol. `failed`: the chunk of an error. `end`: the data after the last one.
 * `result`: the name of a result of a call in it. */
export type ChatStream<Chunk> = {
  fold: TurnFold<Chunk>
  failed(error: HttpError): Chunk
  end?: string
  result: string
  headers?: Record<string, string>
}

/** `body`: as it arrived. */
export type ChatTurn<Chunk> = {
  principal: Principal
  agent: string
  request: ChatRequest
  body: Uint8Array
  stream: ChatStream<Chunk>
}

/** The caller checks the role `ask`. Throws 403, 404, 409 and 422 before anything is written. */
export async function chatTurn<Chunk>(
  context: EdgeContext,
  http: HttpContext,
  { principal, agent, request, body, stream }: ChatTurn<Chunk>,
): Promise<Response> {
  const { messageIds } = context
  const weir = context.weirOf(principal)
  const { conversation, message, answers, abandoned } = request
  const id = conversationIn(principal, conversation)
  const turns = await weir.conversation(id).turns({ limit: limits.recentMessageIdsMax })
  const sending = message && placeOf({ ...request, message }, turns)
  const [newest] = turns
  if (message === undefined && newest === undefined)
    throw new HttpError(404, 'conversation.unknown', 'there is no such conversation')
  const { isAbandoned } = await decideAnswers(context, principal, request)
  if (isAbandoned && newest !== undefined)
    await weir.cancel({ conversation: id, messageId: newest.messageId })
  const isOnlyAnswer = message === undefined && answers.length + abandoned.length === 0
  const afterTurn = sending?.kind === 'new' ? sending.afterTurn : undefined
  // The page shows the answers of these turns no more.
  const isReplaced = afterTurn !== undefined && newest !== undefined && newest.turn > afterTurn
  const rest = sending?.kind === 'new' && !isReplaced ? 'new message' : 'other'
  const sent = await sendResults(context, principal, {
    conversation,
    results: request.results,
    isHistory: true,
    form: { name: stream.result },
    with: isOnlyAnswer ? 'nothing' : rest,
  })
  if (message === undefined || sending === undefined) {
    const answered = new Set([...answers.map((answer) => answer.id), ...abandoned, ...sent])
    return joinedTurn(context, http, stream, { principal, id, turn: newest?.turn ?? 0, answered })
  }
  if (sending.kind === 'repeated') {
    const { turn, conversation: of } = sending.turn
    return joinedTurn(context, http, stream, { principal, id: of, turn })
  }
  const { text } = message
  const key = sending.id
  const { message: own, author } = await messageIds.of({ principal, conversation, key, body, text })
  if (isReplaced && newest.end === undefined)
    await weir.cancel({ conversation: id, messageId: newest.messageId })
  const after = afterTurn === undefined ? {} : { afterTurn }
  const asking = context.weirOf(author)
  const events = await sentTurn(asking, { agent, ...questionFields(message), ...own, ...after })
  const leave = leaveHandler(context, principal, own)
  const items = turnChunks({ weir, events, fold: stream.fold })
  return streamed(context, http, stream, { items, onLeave: leave })
}

/** `id`: in the log. `answered`: see turnChunks. */
export type JoinedTurn = {
  principal: Principal
  id: string
  turn: number
  answered?: ReadonlySet<string>
}

/** The stream of a turn that began before this request. */
export function joinedTurn<Chunk>(
  context: EdgeContext,
  http: HttpContext,
  stream: ChatStream<Chunk>,
  { principal, id, turn, answered }: JoinedTurn,
): Response {
  const weir = context.weirOf(principal)
  const leaving = new AbortController()
  const events = weir.conversation(id).events({ turn, reasoning: true, signal: leaving.signal })
  const items = turnChunks({ weir, events, turn, fold: stream.fold, answered })
  return streamed(context, http, stream, { items, onLeave: () => leaving.abort() })
}

function streamed<Chunk>(
  context: EdgeContext,
  http: HttpContext,
  { headers = {}, failed, end }: ChatStream<Chunk>,
  { items, onLeave }: { items: AsyncIterable<Chunk[]>; onLeave: () => void },
): Response {
  const eventsOf = (chunks: Chunk[]) => chunks.map((chunk) => ({ data: JSON.stringify(chunk) }))
  return sseResponse(context, http.env.outgoing, {
    items,
    eventsOf,
    headers,
    onLeave,
    failed: (error) => eventsOf([failed(httpErrorOf(error))]),
    end: end === undefined ? [] : [{ data: end }],
  })
}
