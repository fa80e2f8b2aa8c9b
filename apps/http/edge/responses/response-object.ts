// The response object of the Responses API.

import type { TurnFinished } from '../../../../client/weir.ts'
import { noUsage } from '../../../../shared/contract/turn/no-usage.ts'
import type { ErrorCode } from '../../../../shared/lib/errors.ts'
import type { Json } from '../../../../shared/wire/format.ts'
import { responseBody, writeUsage } from '../../../../shared/wire/openai-responses/answer.ts'
import type { HttpError } from '../../http-error.ts'
import { outcomeHeader, type TurnData } from '../chat/turn-data.ts'
import { endError } from '../edge-errors.ts'

/** `createdAt`: seconds since 1970. `conversation`: as the principal names it. */
export type ResponseHead = {
  id: string
  model: string
  conversation: string
  createdAt: number
  previous: string | null
}

type Status = 'in_progress' | 'completed' | 'incomplete' | 'failed' | 'cancelled'
export type ResponseObject = {
  id: string
  status: Status
  error: { code: ErrorCode | 'server_error'; message: string } | null
  metadata: Record<string, string>
  [field: string]: unknown
}

export type OutputItem = Json

export function responseObject(
  { conversation, previous, ...head }: ResponseHead,
  state: { status: Status; output: readonly OutputItem[]; [field: string]: unknown },
): ResponseObject {
  const own = { conversation: { id: conversation }, store: true, previous_response_id: previous }
  return responseBody(head, { ...own, ...state }) as ResponseObject
}

/** The response of a turn that is over. A cap makes the response incomplete, a failure class makes it failed. */
export function endOfResponse(
  { outcome, reason, cap, totals: { inputTokens, outputTokens } }: TurnFinished,
  data: TurnData,
  head: ResponseHead,
  output: readonly OutputItem[],
): ResponseObject {
  const usage = writeUsage({ ...noUsage, inputTokens, outputTokens })
  const metadata = metadataOf(data)
  const ended = (status: Status, more: object = {}) =>
    responseObject(head, { status, output: [...output], usage, metadata, ...more })
  switch (outcome) {
    case 'answered':
      return ended('completed')
    case 'capped':
      return ended('incomplete', {
        incomplete_details: { reason: cap === 'tokens' ? 'max_output_tokens' : (cap ?? 'cap') },
      })
    case 'cancelled':
      return ended('cancelled')
    case 'failed':
      return ended('failed', { error: { code: data.code ?? 'server_error', message: reason } })
  }
}

/** Texts: SDKs know no other values there. */
function metadataOf({ turn: _, reason, ...data }: TurnData): Record<string, string> {
  const given = Object.entries({ ...data, reason: reason.slice(0, metadataCharactersMax) })
  return Object.fromEntries(
    given.flatMap(([name, value]) => (value === null ? [] : [[`weir_${name}`, value]])),
  )
}

/** The headers of a whole response. */
export function endHeaders({ metadata }: ResponseObject): Record<string, string> {
  const { weir_outcome: outcome, weir_class, weir_cap, weir_rule } = metadata
  if (outcome === undefined) return {}
  return outcomeHeader({ outcome, class: weir_class, cap: weir_cap, rule: weir_rule })
}

/** Of a response to the request that created it. Undefined: no budget and no stop ended its turn. */
export function errorOfResponse(response: ResponseObject): HttpError | undefined {
  const { error } = response
  if (error === null || error.code === 'server_error') return undefined
  const about = { headers: endHeaders(response), fields: { response } }
  return endError({ code: error.code, reason: error.message }, about)
}

/** Of the protocol. */
const metadataCharactersMax = 512
