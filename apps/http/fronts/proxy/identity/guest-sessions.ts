// The sessions of clients, as far as their requests tell. A session remembers the calls that no later
// request has shown, and the requests whose answers were all denied.
// Owns: the warning about a client that never shows its calls.
// A session belongs to one guest and one key of a client. A request continues the
// session of its conversation, of a call that it shows, or of the request whose text it extends.
// A session merges no conversations: two users of one key may begin with one text.
// Only the header `x-weir-conversation` joins requests without a history of calls.
// The memory is bounded by frontSessionsMax, and keeps hashes of texts only.

import { createHmac, hash, randomBytes, randomUUID } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { Logger } from 'pino'
import { withoutReminders } from '../../../../../client/guard/history/reminders.ts'
import { hostOfRequest, isHostText } from '../../../../../shared/hosts/hosts.ts'
import { headerText } from '../../../../../shared/hosts/request-sender.ts'
import { isObject } from '../../../../../shared/lib/json/json-object.ts'
import { newest } from '../../../../../shared/lib/newest.ts'
import type { Json } from '../../../../../shared/wire/format.ts'
import type { ModelFormat } from '../../../../../shared/wire/proxied.ts'
import { HttpError } from '../../../http-error.ts'
import { clientKey } from '../client-key.ts'
import { firstCallsIn, historyOf } from '../sent-request.ts'

/**
 * Sessions of clients that a proxy remembers by their conversation, by a call and by their first
 * text, oldest first out, and the first texts of one client.
 */
const frontSessionsMax = 10_000
const frontBeginningsMax = 16
/** Answers with calls in a row that no request has shown, until a proxy warns. */
export const unshownAnswersMax = 10
/** Denied requests in a row of a client that requires calls, until not each one reaches the model. */
const deniedRequestsMax = 4
/** Texts at the end of a turn for a client that goes on without its user. Then it gets an error. */
export const endsShownMax = 3

/** A request of a client of this guest. */
export type ClientRequest = {
  agent: string
  api: ModelFormat
  /** At the upstream, with the query, which may have the client's key. */
  path: string
  headers: IncomingHttpHeaders
  body: Json
}

export type GuestSession = {
  /** Answers with calls in a row that no later request has shown. */
  unshown: number
  /** Requests in a row whose answers were all denied, and the reason of the newest end. */
  denied: number
  end: string
  /** Requests in a row that Weir answered, because their turn is over. */
  ends: number
  /** The name of the turn of requests that show no calls. */
  turn: string
  /** The user's texts in the newest request. */
  texts: Texts
}

/** `hash` of the first `length` characters. */
type Texts = { length: number; hash: string }

export type GuestSessions = {
  /** An HMAC of the client's key, for this guest. The key of each memory begins with it. */
  ownerOf(request: Pick<ClientRequest, 'agent' | 'headers'>): string
  /** `conversation` undefined: nothing names it yet. Undefined: no known session. */
  find(request: ClientRequest, conversation: string | undefined): GuestSession | undefined
  /** Whether the request shows no call, and adds text to the session's newest request. */
  isContinued(request: ClientRequest, session: GuestSession): boolean
  /** The client has an answer with these calls. */
  answered(request: ClientRequest, conversation: string, callIds: readonly string[]): void
  /** All answers to the request were denied, or none was requested (endWithoutModel). */
  denied(request: ClientRequest, conversation: string, end: string): void
  /** Weir answers the request itself: its turn is over. Throws 400 if the client goes on after that. */
  ended(request: ClientRequest, conversation: string, userText: string): void
}

export function guestSessions(log: Logger): GuestSessions {
  const processKey = randomBytes(32)
  const byConversation = newest<GuestSession>(frontSessionsMax)
  const byCall = newest<GuestSession>(frontSessionsMax)
  /** The sessions of a client whose newest request shows no call, the newest last. */
  const beginnings = newest<GuestSession[]>(frontSessionsMax)
  const warned = newest<true>(frontSessionsMax)

  /** By the headers of a request, which all memories ask for their owner. */
  const owners = new WeakMap<IncomingHttpHeaders, { agent: string; owner: string }>()

  function ownerOf({ agent, headers }: Pick<ClientRequest, 'agent' | 'headers'>): string {
    const known = owners.get(headers)
    if (known?.agent === agent) return known.owner
    const { key } = clientKey((name) => headerText(headers, name))
    const owner = createHmac('sha256', processKey)
      .update(JSON.stringify([agent, key]))
      .digest('hex')
    owners.set(headers, { agent, owner })
    return owner
  }

  /** The same program: its system prompt and its tools stay from run to run. */
  function clientOf(request: ClientRequest): string {
    const { api, body } = request
    const system = historyOf(api, body).filter(
      ({ role }) => role === 'system' || role === 'developer',
    )
    const program = [api.name, api.request.program.map((name) => body[name]), system]
    return `${ownerOf(request)} ${hashOf(JSON.stringify(program))}`
  }

  function find(
    request: ClientRequest,
    conversation: string | undefined,
  ): GuestSession | undefined {
    const { api, body } = request
    const owner = ownerOf(request)
    const known =
      conversation === undefined ? undefined : byConversation.get(`${owner} ${conversation}`)
    if (known !== undefined) return known
    const history = historyOf(api, body)
    const first = firstCallsIn(api, history)?.[0]
    if (first?.[0]) return byCall.get(`${owner} ${first[0]}`)
    const text = textsIn(request)
    return beginnings
      .get(clientOf(request))
      ?.filter(({ texts }) => isExtended(texts, text))
      .toSorted((a, b) => a.texts.length - b.texts.length)
      .at(-1)
  }

  /** The request's session, which its conversation names from now on. */
  function sessionOf(request: ClientRequest, conversation: string): GuestSession {
    const text = textsIn(request)
    const session = find(request, conversation) ?? {
      unshown: 0,
      denied: 0,
      end: '',
      ends: 0,
      turn: `run-${randomUUID()}`,
      texts: textsOf(text),
    }
    session.texts = textsOf(text)
    byConversation.set(`${ownerOf(request)} ${conversation}`, session)
    if (showsCalls(request)) return session
    const client = clientOf(request)
    const others = (beginnings.get(client) ?? []).filter((one) => one !== session)
    beginnings.set(client, [...others.slice(1 - frontBeginningsMax), session])
    return session
  }

  /** Once for each client. One that sends the header needs no warning. */
  function warn(request: ClientRequest, text: string): void {
    if (headerText(request.headers, 'x-weir-conversation') !== undefined) return
    const client = clientOf(request)
    if (warned.get(client)) return
    warned.set(client, true)
    const { agent } = request
    log.warn({ agent, answers: unshownAnswersMax }, text)
  }

  return {
    ownerOf,
    find,
    isContinued(request, { texts }) {
      return !showsCalls(request) && isExtended(texts, textsIn(request))
    },
    answered(request, conversation, callIds) {
      const owner = ownerOf(request)
      const isKnown = byConversation.get(`${owner} ${conversation}`) !== undefined
      const session = sessionOf(request, conversation)
      session.denied = 0
      session.ends = 0
      const isShown = isKnown && showsCalls(request)
      if (isShown) session.unshown = 0
      if (callIds.length === 0) return
      session.unshown += 1
      for (const id of callIds.filter((one) => one !== '')) byCall.set(`${owner} ${id}`, session)
      if (session.unshown >= unshownAnswersMax) warn(request, unshownText)
    },
    denied(request, conversation, end) {
      const session = sessionOf(request, conversation)
      session.denied += 1
      session.end = end
      if (session.denied >= unshownAnswersMax) warn(request, deniedText)
    },
    ended(request, conversation, userText) {
      const session = sessionOf(request, conversation)
      session.ends += 1
      if (session.ends > endsShownMax) throw new HttpError(400, 'guest.over', userText)
    },
  }
}

function showsCalls({ api, body }: ClientRequest): boolean {
  return firstCallsIn(api, historyOf(api, body)) !== undefined
}

const unshownText =
  'this client has got answers with calls, and no request shows them in the conversation of those before, so Weir cannot see its progress: send the header x-weir-conversation with one id for each run'

const deniedText =
  'this client goes on after the end of its turn, and all answers to its last requests were denied: limit its steps, and send the header x-weir-conversation with one id for each run'

/**
 * The reason of a request that does not reach the model. A client that goes on after a text takes no
 * text for an end, but an error. If it goes on after that, its requests 9, 17, 33 and so on reach the
 * model.
 */
export function endWithoutModel(
  session: GuestSession | undefined,
  request: Pick<ClientRequest, 'api' | 'headers' | 'body'>,
): string | undefined {
  if (session === undefined || session.denied <= deniedRequestsMax) return undefined
  const isPowerOfTwo = Number.isInteger(Math.log2(session.denied))
  return goesOnAfterText(request) && !isPowerOfTwo ? session.end : undefined
}

/** It requires a call, or its host has written the last message itself. */
function goesOnAfterText({
  api,
  headers,
  body,
}: Pick<ClientRequest, 'api' | 'headers' | 'body'>): boolean {
  const { tool_choice: choice } = body
  const kind = isObject(choice) ? choice.type : choice
  if (kind !== undefined && kind !== 'auto' && kind !== 'none') return true
  const last = historyOf(api, body).at(-1)
  const text = last && api.request.userText(last)
  return text !== undefined && isHostText(hostOfRequest(headers)?.name, text)
}

/** The texts of the user, as one. Some clients add a result to the text of their user. */
function textsIn({ api, body }: ClientRequest): string {
  return historyOf(api, body)
    .flatMap((message) => withoutReminders(api.request.userText(message) ?? '') || [])
    .join('\n')
}

function textsOf(text: string): Texts {
  return { length: text.length, hash: hashOf(text) }
}

/** Whether the text goes on in a new line after the known one. */
function isExtended({ length, hash }: Texts, text: string): boolean {
  return text.length > length && text[length] === '\n' && hashOf(text.slice(0, length)) === hash
}

function hashOf(text: string): string {
  return hash('sha256', text, 'base64')
}
