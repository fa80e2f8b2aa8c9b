// The request with the advice of Weir in it, for this request only. The client does not keep it.
// ADVISED-REQUEST-1. At rung none the request is not touched. Otherwise one element is spliced into
//     its text, and all other bytes stay.

import type { Advice } from '../../../../client/guard/guest-conversation.ts'
import { type Splice, spliced, withMember } from '../../../../shared/lib/json/spliced.ts'
import { spaceEnd } from '../../../../shared/lib/json/tokens.ts'
import type { ProxyApi, SentRequest } from './api.ts'

/** `forbidsCalls`: false for a server that refuses requests that forbid calls. */
export function advisedRequest(
  api: ProxyApi,
  request: SentRequest,
  { rung, text }: Pick<Advice, 'rung' | 'text'>,
  { forbidsCalls }: { forbidsCalls: boolean },
): string {
  const splices: Splice[] = text === '' ? [] : (api.withText(request, text) ?? [])
  const member = rung === 'text_only' && forbidsCalls ? api.noCalls(request.body) : undefined
  if (member !== undefined) {
    const whole = { from: spaceEnd(request.text, 0), to: request.text.length }
    splices.push(withMember(request.text, whole, ...member))
  }
  return spliced(request.text, splices)
}
