// The conversation and the turn of a request. The first that it has decides: Weir's own headers, the
// ids that its host's profile names, the beginning of its history.
// A client's key only enters as an HMAC with a random key of this process.
// Without headers, the first text of the user and the first calls name the
// conversation. Call ids are random, so two runs with one question are two conversations.
// Models with fixed call ids repeat such a name. A first answer under a known name
// begins another conversation.
// Requests under a client's own name that add texts and show no calls are one turn:
// the texts are results, and no new messages of the user.

import { hash, randomUUID } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { GuestPlaceOptions } from '../../../../../client/guard/guest-conversation.ts'
import { withoutReminders } from '../../../../../client/guard/history/reminders.ts'
import { secretsOfRequest } from '../../../../../shared/agents/secrets.ts'
import { limits } from '../../../../../shared/contract/limits.ts'
import {
  headerText,
  type RequestSender,
  senderOf,
} from '../../../../../shared/hosts/request-sender.ts'
import { newest } from '../../../../../shared/lib/newest.ts'
import type { Json } from '../../../../../shared/wire/format.ts'
import type { ModelFormat } from '../../../../../shared/wire/proxied.ts'
import { firstCallsIn, historyOf } from '../sent-request.ts'
import type { ClientRequest, GuestSessions } from './guest-sessions.ts'

/**
 * `turn` undefined: the history decides. `isUnshown`: the requests of this turn show no calls of earlier
 * answers.
 */
type NamedTurn = {
  conversation: string
  turn: string | undefined
  isUnshown?: boolean
} & Pick<GuestPlaceOptions, 'parent' | 'root'>

/** `secrets`: those of the request, which its records hide. */
export type GuestIdentity = NamedTurn & { secrets?: () => readonly string[] }

export type GuestIdentities = {
  /**
   * The conversation of a request. Undefined: no header names it, and the history has no answer of
   * a model yet, so there is nothing to judge.
   */
  ofRequest(request: ClientRequest): GuestIdentity | undefined
  /** The conversation of a request that has got this answer. The next request will be of it too. */
  ofAnswer(request: ClientRequest, answer: Json): GuestIdentity
  /** The next request shows this answer and not the one that named the conversation. */
  goesOn(request: ClientRequest, answer: Json, of: GuestIdentity): void
}

/** The identities of one server. */
export function guestIdentities(sessions: GuestSessions): GuestIdentities {
  /** The newest conversation of a name, for each guest and key of a client. */
  const conversations = newest<string>(limits.frontConversationsMax)
  /** The names that any client has. */
  const names = newest<true>(limits.frontConversationsMax)

  /** By the headers of a request. */
  const secrets = new WeakMap<IncomingHttpHeaders, readonly string[]>()

  function secretsIn(request: ClientRequest): readonly string[] {
    const found = secrets.get(request.headers) ?? secretsOfRequest(request)
    secrets.set(request.headers, found)
    return found
  }

  function nameOf(request: ClientRequest, history: readonly Json[]): string | undefined {
    const { api } = request
    const first = firstText(api, history)
    const calls = firstCallsIn(api, history)
    if (calls !== undefined) return digest(JSON.stringify([first, calls]), 32)
    const text = history.find(api.request.isOfModel)
    if (text === undefined) return undefined
    return digest(
      JSON.stringify([first, sessions.ownerOf(request), wordsOf(api.request.modelText(text))]),
      32,
    )
  }

  function conversationOf(request: ClientRequest, name: string, isFirst: boolean): string {
    const isNew = isFirst && names.get(name) === true
    const conversation = isNew
      ? `${name}-${randomUUID().slice(0, 8)}`
      : (conversations.get(ownedName(request, name)) ?? name)
    keep(request, name, conversation)
    return conversation
  }

  /** Two clients may have one name, if their model has fixed call ids. */
  function ownedName(request: ClientRequest, name: string): string {
    return `${sessions.ownerOf(request)} ${name}`
  }

  function keep(request: ClientRequest, name: string, conversation: string): void {
    names.set(name, true)
    conversations.set(ownedName(request, name), conversation)
  }

  function namedByHeaders(request: ClientRequest): NamedTurn | undefined {
    const { api, headers, body } = request
    const named = namedBy(headers, () => firstText(api, historyOf(api, body)))
    if (named === undefined || named.turn !== undefined) return named
    if (headerText(headers, 'x-weir-conversation') === undefined) return named
    const session = sessions.find(request, named.conversation)
    return session !== undefined && session.unshown > 0 && sessions.isContinued(request, session)
      ? { ...named, turn: session.turn, isUnshown: true }
      : named
  }

  function namedByHistory(request: ClientRequest): NamedTurn | undefined {
    const { api, headers, body } = request
    const name = nameOf(request, historyOf(api, body))
    if (name === undefined) return undefined
    const conversation = conversationOf(request, name, false)
    return { conversation, turn: headerText(headers, 'x-weir-turn') }
  }

  function namedByAnswer(request: ClientRequest, answer: Json): NamedTurn {
    const { api, headers, body } = request
    const before = historyOf(api, body)
    const name = nameOf(request, [...before, ...api.answer.messages(answer)]) ?? ''
    const isFirst = !before.some(api.request.isOfModel)
    const conversation = conversationOf(request, name, isFirst)
    return { conversation, turn: headerText(headers, 'x-weir-turn') }
  }

  return {
    ofRequest(request) {
      const named = namedByHeaders(request) ?? namedByHistory(request)
      return named && { ...named, secrets: () => secretsIn(request) }
    },
    ofAnswer(request, answer) {
      const named = namedByHeaders(request) ?? namedByAnswer(request, answer)
      return { ...named, secrets: () => secretsIn(request) }
    },
    goesOn(request, answer, { conversation }) {
      const { api, body } = request
      const name = nameOf(request, [...historyOf(api, body), ...api.answer.messages(answer)])
      if (name !== undefined) keep(request, name, conversation)
    },
  }
}

function namedBy(headers: IncomingHttpHeaders, firstWords: () => string): NamedTurn | undefined {
  const turn = headerText(headers, 'x-weir-turn')
  const given = headerText(headers, 'x-weir-conversation')
  if (given !== undefined) {
    const [parent, root] = ['x-weir-parent', 'x-weir-root'].map((name) => headerText(headers, name))
    return { conversation: given, turn, ...(parent && { parent }), ...(root && { root }) }
  }
  const sender = senderOf(headers)
  if (sender === undefined) return undefined
  const conversation = nameOfSender(sender, firstWords)
  return { conversation, turn: turn ?? sender.turn, ...placeOf(sender) }
}

/** Any agent of a session may have begun a sub-agent of that session. */
function placeOf({ session, agent, parent }: RequestSender): Pick<NamedTurn, 'parent' | 'root'> {
  if (parent !== undefined && parent !== session) return { parent }
  return agent === undefined ? {} : { root: session }
}

/** Hooks name a sub-agent in the same way. */
function nameOfSender(
  { session, agent, hasSideRequests }: RequestSender,
  firstWords: () => string,
): string {
  if (agent !== undefined) return `${session}:${agent}`
  return hasSideRequests ? `${session}:${digest(firstWords())}` : session
}

/** Reminders of the host change from request to request. */
function firstText(api: ModelFormat, history: readonly Json[]): string {
  for (const message of history) {
    const text = api.request.userText(message)
    const own = text === undefined ? undefined : withoutReminders(text)
    if (own !== undefined && own !== '') return own
  }
  return ''
}

/** Hosts change the blanks. */
function wordsOf(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim()
}

function digest(text: string, digits = 12): string {
  return hash('sha256', text).slice(0, digits)
}
