// A request of a guest behind the proxy, for its conversation.

import type { IncomingHttpHeaders } from 'node:http'
import type { GuestRequest } from '../../../../../client/guard/guest-conversation.ts'
import { hostOfRequest } from '../../../../../shared/hosts/hosts.ts'
import type { ModelFormat } from '../../../../../shared/wire/formats.ts'

export function guestRequest(
  { name: format }: Pick<ModelFormat, 'name'>,
  headers: IncomingHttpHeaders,
  body: unknown,
): GuestRequest {
  return { format, body, host: hostOfRequest(headers)?.name }
}
