// The body of `POST /v1/responses`.

import { isObject } from '../../../../shared/lib/json/json-object.ts'
import { bad, refuseFields, textOfContent } from '../request-message.ts'

/** `system`: the instructions of the client, or ''. `previous`: the id of a response. */
export type ResponseRequest = {
  model: string | undefined
  text: string
  system: string
  conversation: string | undefined
  previous: string | undefined
  streams: boolean
  isBackground: boolean
}

/** Throws 400 with the field. Settings of the sampling belong to the agent and have no effect. */
export function responseRequestOf(body: Record<string, unknown>): ResponseRequest {
  refuseFields(body, {
    tools: {
      accepts: (value) => Array.isArray(value) && value.length === 0,
      advice: "the agent has its own tools, and Weir runs them. Leave the client's tools out",
    },
    store: { accepts: (value) => value === true, advice: 'the log keeps every answer' },
    truncation: {
      accepts: (value) => value === 'disabled',
      advice: 'the agent bounds its history',
    },
    prompt: { advice: 'give input and instructions' },
    text: {
      accepts: (value) =>
        isObject(value) &&
        (value.format === undefined || (isObject(value.format) && value.format.type === 'text')),
      advice: 'an answer is text',
    },
  })
  const { model, input, instructions, conversation, previous_response_id: previous } = body
  if (model !== undefined && typeof model !== 'string') throw bad('model must be a text')
  const { text, system } = messageIn(input)
  const named = isObject(conversation) ? conversation.id : (conversation ?? undefined)
  if (named !== undefined && typeof named !== 'string')
    throw bad('conversation must be an id, or an object with an id')
  if (previous !== undefined && previous !== null && typeof previous !== 'string')
    throw bad('previous_response_id must be the id of a response')
  if (named !== undefined && typeof previous === 'string')
    throw bad('conversation and previous_response_id exclude each other: give one of them')
  const own = [typeof instructions === 'string' ? instructions : '', system]
  return {
    ...{ model, text, system: own.filter((one) => one !== '').join('\n\n'), conversation: named },
    ...{ previous: typeof previous === 'string' ? previous : undefined },
    ...{ streams: body.stream === true, isBackground: body.background === true },
  }
}

/** One message of the user, with system messages in front if there are any. */
function messageIn(input: unknown): { text: string; system: string } {
  if (typeof input === 'string') return { text: input, system: '' }
  if (!Array.isArray(input)) throw bad('input must be a text or a list of messages')
  const users: string[] = []
  const systems: string[] = []
  for (const [at, item] of input.entries()) {
    const where = `input[${at}]`
    if (!isObject(item) || (item.type !== undefined && item.type !== 'message'))
      throw bad(`${where} must be a message: other items are not accepted`)
    const text = textOfContent(item.content, `${where}.content`)
    if (item.role === 'user') users.push(text)
    else if (item.role === 'system' || item.role === 'developer') systems.push(text)
    else
      throw bad(
        `${where}.role must be user, system or developer: earlier answers stay in the conversation, so give conversation or previous_response_id`,
      )
  }
  if (users.length === 0) throw bad('input must have a message with the role user')
  return { text: users.join('\n\n'), system: systems.join('\n\n') }
}
