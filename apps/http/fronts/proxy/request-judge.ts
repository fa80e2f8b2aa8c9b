// The judgement of a guest's request on its way to the upstream, without a veto.
// Reads: advice. Owns: which requests are judged, and which pass as they are.

import type { IncomingHttpHeaders } from 'node:http'
import type { Logger } from 'pino'
import type { Advice, GuestRequest } from '../../../../client/guard/guest-conversation.ts'
import { senderOf } from '../../../../shared/hosts/request-sender.ts'
import type { ModelFormat } from '../../../../shared/wire/proxied.ts'
import { HttpError } from '../../http-error.ts'
import type { HostSessions } from '../hooks/host-sessions.ts'
import { advisedBytes, noteOf } from './advised-request.ts'
import type { GuestIdentities, GuestIdentity } from './identity/guest-identity.ts'
import type { ConversationOf, ProxiedConversation } from './request-budget.ts'
import { guestRequest, mayCall, type SentRequest } from './sent-request.ts'
import type { UnjudgedTally } from './unjudged/unjudged-tally.ts'

/** A judged request. `note`: the value of the header `x-weir`. */
export type JudgedRequest = {
  kind: 'send'
  body: Buffer
  note: string | undefined
  /** The request without the action that a server may refuse. */
  retry: Buffer | undefined
  sent: SentRequest | undefined
  isChanged: boolean
  /** Undefined: it has no conversation yet, or is not judged. */
  guest?: ProxiedConversation | undefined
}

/** Weir ends the turn of this guest, and answers in the place of the model. */
export type EndedRequest = {
  kind: 'end'
  advice: Advice
  conversation: string
  guest: ProxiedConversation | undefined
}

/** The request to send, or the end of the turn. `sent` undefined: only its bytes can be read. */
export type RequestJudge = (
  of: { agent: string; path: string; api: ModelFormat },
  request: {
    headers: IncomingHttpHeaders
    bytes: Buffer
    sent: SentRequest | undefined
    signal: AbortSignal
  },
) => Promise<JudgedRequest | EndedRequest>

export type RequestJudgeOptions = {
  conversationOf: ConversationOf
  identities: GuestIdentities
  sessions: HostSessions
  unjudged: Pick<UnjudgedTally, 'add'>
  log: Logger
}

export function createRequestJudge({
  conversationOf,
  identities,
  sessions,
  unjudged,
  log,
}: RequestJudgeOptions): RequestJudge {
  return judge

  async function judge(
    { agent, path, api }: Parameters<RequestJudge>[0],
    { headers, bytes, sent, signal }: Parameters<RequestJudge>[1],
  ): Promise<JudgedRequest | EndedRequest> {
    const unchanged = (
      note: string | undefined,
      judgeable: SentRequest | undefined,
    ): JudgedRequest => ({
      kind: 'send',
      body: bytes,
      note,
      retry: undefined,
      sent: judgeable,
      isChanged: false,
    })
    const unread = sent === undefined ? 'unreadable body' : api.request.elsewhere(sent.body)
    if (sent === undefined || unread !== undefined) {
      unjudged.add(agent, unread ?? 'unreadable body')
      return unchanged('unjudged', undefined)
    }
    if (!mayCall(api, sent)) return unchanged(undefined, undefined)
    const identity = identities.ofRequest({ agent, api, path, headers, body: sent.body })
    if (identity === undefined) return unchanged(undefined, sent)
    const session = senderOf(headers)?.session
    if (session !== undefined) sessions.sawProxy({ agent, session })
    const holds = session !== undefined && sessions.hasHooks(session)
    const request = guestRequest(api, headers, sent)
    const { advice, guest } = await adviceOn(agent, { ...identity, holds }, request, signal)
    if (advice?.judged !== true) unjudged.add(agent, 'failed judgement')
    if (advice === undefined) return { ...unchanged('unjudged', undefined), guest }
    const { action, rule, cap, reason } = advice
    if (!advice.judged) {
      log.info({ agent, conversation: identity.conversation, reason }, 'a request passes unjudged')
      return { ...unchanged('unjudged', sent), guest }
    }
    if (action !== 'none')
      log.info({ agent, conversation: identity.conversation, action, rule, cap }, 'advice')
    if (action === 'none') return { ...unchanged(undefined, sent), guest }
    if (action === 'end') return { kind: 'end', advice, conversation: identity.conversation, guest }
    return {
      kind: 'send',
      note: noteOf(advice),
      sent,
      isChanged: true,
      guest,
      ...advisedBytes(api, sent, advice),
    }
  }

  /** Undefined: Weir cannot judge the request. */
  async function adviceOn(
    agent: string,
    identity: GuestIdentity & { holds: boolean },
    request: GuestRequest,
    signal: AbortSignal,
  ): Promise<{ advice: Advice | undefined; guest: ProxiedConversation | undefined }> {
    let guest: ProxiedConversation | undefined
    try {
      guest = await conversationOf(agent, { ...identity, hides: false })
      return { advice: await guest.beforeModel(request, signal), guest }
    } catch (error) {
      if (signal.aborted || error instanceof HttpError) throw error
      const { conversation } = identity
      log.warn({ err: error, agent, conversation }, 'a request passes unjudged')
      return { advice: undefined, guest }
    }
  }
}
