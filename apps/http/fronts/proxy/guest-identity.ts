// The conversation and the turn of a request. The first that it has decides: Weir's own headers, the
// ids that its host's profile names, the beginning of its history.
// GUEST-IDENTITY-1. A client's key only enters as an HMAC with a random key of this process.
// GUEST-IDENTITY-2. Without headers, the first text of the user and the first calls name the
//     conversation. Call ids are random, so two runs with one question are two conversations.
// GUEST-IDENTITY-3. Models with fixed call ids repeat such a name. A first answer under a known name
//     begins another conversation.

import { createHash, createHmac, randomBytes, randomUUID } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { withoutReminders } from '../../../../client/guard/reminders.ts'
import { limits } from '../../../../shared/contract/limits.ts'
import {
  headerText,
  type RequestSender,
  senderOf,
} from '../../../../shared/hosts/request-sender.ts'
import { isObject } from '../../../../shared/lib/json/json-object.ts'
import { newest } from '../../../../shared/lib/newest.ts'
import { type Json, listIn, type ProxyApi } from './api.ts'

/** `turn` undefined: the history decides. */
export type GuestIdentity = { conversation: string; turn: string | undefined }

export type GuestIdentities = {
  /**
   * The conversation of a request. Undefined: no header names it, and the history has no answer of
   * a model yet, so there is nothing to judge.
   */
  ofRequest(api: ProxyApi, headers: IncomingHttpHeaders, body: Json): GuestIdentity | undefined
  /** The conversation of a request that has got this answer. The next request will be of it too. */
  ofAnswer(api: ProxyApi, headers: IncomingHttpHeaders, body: Json, answer: Json): GuestIdentity
  /** The next request shows this answer and not the one that named the conversation. */
  goesOn(
    api: ProxyApi,
    headers: IncomingHttpHeaders,
    body: Json,
    answer: Json,
    of: GuestIdentity,
  ): void
}

/** The identities of one server. */
export function guestIdentities(): GuestIdentities {
  const processKey = randomBytes(32)
  /** The newest conversation of a name (GUEST-IDENTITY-3). */
  const conversations = newest<string>(limits.frontConversationsMax)

  function nameOf(
    headers: IncomingHttpHeaders,
    api: ProxyApi,
    history: readonly Json[],
  ): string | undefined {
    const first = firstText(api, history)
    const calls = history.find(api.isCall)
    if (calls !== undefined) return digest(JSON.stringify([first, callsOf(calls)]), 32)
    const text = history.find(api.isOfModel)
    if (text === undefined) return undefined
    const key = createHmac('sha256', processKey)
      .update(headerText(headers, 'authorization') ?? headerText(headers, 'x-api-key') ?? '')
      .digest('hex')
    return digest(JSON.stringify([first, key, wordsOf(text)]), 32)
  }

  function conversationOf(name: string, isFirst: boolean): string {
    const known = conversations.get(name)
    const isNew = known !== undefined && isFirst
    const conversation = isNew ? `${name}-${randomUUID().slice(0, 8)}` : (known ?? name)
    conversations.set(name, conversation)
    return conversation
  }

  return {
    ofRequest(api, headers, body) {
      const history = historyOf(api, body)
      const named = namedBy(headers, () => firstText(api, history))
      if (named !== undefined) return named
      const name = nameOf(headers, api, history)
      return name === undefined
        ? undefined
        : { conversation: conversationOf(name, false), turn: headerText(headers, 'x-weir-turn') }
    },
    ofAnswer(api, headers, body, answer) {
      const before = historyOf(api, body)
      const named = namedBy(headers, () => firstText(api, before))
      if (named !== undefined) return named
      const name = nameOf(headers, api, [...before, ...answersIn(api, answer)]) ?? ''
      const isFirst = !before.some(api.isOfModel)
      return {
        conversation: conversationOf(name, isFirst),
        turn: headerText(headers, 'x-weir-turn'),
      }
    },
    goesOn(api, headers, body, answer, { conversation }) {
      const history = [...historyOf(api, body), ...answersIn(api, answer)]
      const name = nameOf(headers, api, history)
      if (name !== undefined) conversations.set(name, conversation)
    },
  }
}

function namedBy(
  headers: IncomingHttpHeaders,
  firstWords: () => string,
): GuestIdentity | undefined {
  const turn = headerText(headers, 'x-weir-turn')
  const given = headerText(headers, 'x-weir-conversation')
  if (given !== undefined) return { conversation: given, turn }
  const sender = senderOf(headers)
  return sender && { conversation: nameOfSender(sender, firstWords), turn: turn ?? sender.turn }
}

/** Hooks name a sub-agent in the same way. */
function nameOfSender(
  { session, agent, hasSideRequests }: RequestSender,
  firstWords: () => string,
): string {
  if (agent !== undefined) return `${session}:${agent}`
  return hasSideRequests ? `${session}:${digest(firstWords())}` : session
}

/** The ids of the calls of an answer, in order. */
export function callIdsIn(api: ProxyApi, answer: Json): string[] {
  return answersIn(api, answer).flatMap((message) => callsOf(message).map(([id]) => `${id}`))
}

/** The messages of a request, in order. */
export function historyOf(api: ProxyApi, body: Json): Json[] {
  const history = body[api.history]
  return typeof history === 'string' ? [{ role: 'user', content: history }] : listIn(history)
}

function answersIn(api: ProxyApi, { choices, output, ...answer }: Json): Json[] {
  if (api.history === 'input') return listIn(output)
  return choices === undefined
    ? [answer]
    : listIn(choices).flatMap(({ message }) => (isObject(message) ? [message] : []))
}

/** Reminders of the host change from request to request. */
function firstText(api: ProxyApi, history: readonly Json[]): string {
  for (const message of history) {
    const text = api.userText(message)
    const own = text === undefined ? undefined : withoutReminders(text)
    if (own !== undefined && own !== '') return own
  }
  return ''
}

function callsOf({ content, tool_calls: calls, ...message }: Json): [id: unknown, name: unknown][] {
  const sent = [
    ...listIn(content).filter(({ type }) => type === 'tool_use'),
    ...listIn(calls),
    ...(typeof message.call_id === 'string' ? [message] : []),
  ]
  return sent.map(({ id, call_id: callId, name, function: named }) => [
    callId ?? id,
    isObject(named) ? named.name : name,
  ])
}

/** Hosts change the blanks. */
function wordsOf({ content }: Json): string {
  const texts = typeof content === 'string' ? [content] : listIn(content).map(({ text }) => text)
  return texts.join(' ').replaceAll(/\s+/g, ' ').trim()
}

function digest(text: string, digits = 12): string {
  return createHash('sha256').update(text).digest('hex').slice(0, digits)
}
