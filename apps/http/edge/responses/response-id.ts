// A response's id: the conversation, as the principal names it, the message, and the approvals that
// the request answered.

import { HttpError } from '../../http-error.ts'

/** `answered`: ids of approvals. Empty: the response to the message. */
export type NamedResponse = { conversation: string; messageId: string; answered: string[] }

const prefix = 'resp_'

export function responseIdOf({ conversation, messageId, answered }: NamedResponse): string {
  const text = JSON.stringify([conversation, messageId, ...answered])
  return prefix + Buffer.from(text).toString('base64url')
}

/** Throws 404 for a text that is no id of a response. */
export function responseNamed(id: string): NamedResponse {
  try {
    const text = Buffer.from(id.slice(prefix.length), 'base64url').toString('utf8')
    const value: unknown = JSON.parse(text)
    const texts = Array.isArray(value) ? value.filter((one) => typeof one === 'string') : []
    const [conversation, messageId, ...answered] = texts
    if (conversation !== undefined && messageId !== undefined && id.startsWith(prefix))
      return { conversation, messageId, answered }
  } catch {} // reported below
  throw unknownResponse()
}

export function unknownResponse(): HttpError {
  return new HttpError(404, 'response.unknown', 'there is no such response')
}
