// A request of a guest behind the proxy, for its conversation.

import type { IncomingHttpHeaders } from 'node:http'
import type { GuestRequest } from '../../../../../client/guard/guest-conversation.ts'
import { hostOfRequest } from '../../../../../shared/hosts/hosts.ts'
import type { ModelFormat } from '../../../../../shared/wire/formats.ts'
import type { SentRequest } from '../sent-request.ts'

export function guestRequest(
  { name: format, request }: ModelFormat,
  headers: IncomingHttpHeaders,
  { body, model }: Pick<SentRequest, 'body' | 'model'>,
): GuestRequest {
  const host = hostOfRequest(headers)?.name
  if (request.model === undefined) return { format, body, host }
  return { format, body, host, model: { provider: format, name: model } }
}
