// The id of a response: its conversation, as the principal names it, and its message.

import { HttpError } from '../../http-error.ts'

export type NamedMessage = { conversation: string; messageId: string }

const prefix = 'resp_'

export function responseIdOf({ conversation, messageId }: NamedMessage): string {
  const text = JSON.stringify([conversation, messageId])
  return prefix + Buffer.from(text).toString('base64url')
}

/** Throws 404 for a text that is no id of a response. */
export function messageOfResponse(id: string): NamedMessage {
  try {
    const text = Buffer.from(id.slice(prefix.length), 'base64url').toString('utf8')
    const value: unknown = JSON.parse(text)
    const [conversation, messageId] = Array.isArray(value) ? (value as unknown[]) : []
    if (typeof conversation === 'string' && typeof messageId === 'string' && id.startsWith(prefix))
      return { conversation, messageId }
  } catch {} // reported below
  throw unknownResponse()
}

export function unknownResponse(): HttpError {
  return new HttpError(404, 'response.unknown', 'there is no such response')
}
