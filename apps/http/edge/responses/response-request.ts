// The body of `POST /v1/responses`.

import { isObject } from '../../../../shared/lib/json/json-object.ts'
import { sentItem } from '../../../../shared/wire/openai-responses/sent-item.ts'
import { bad } from '../../http-error.ts'
import type { CallAnswer } from '../chat/call-results.ts'
import type { Answer } from '../chat/chat-request.ts'
import {
  isSwitch,
  type MessageContent,
  messageOfContent,
  refuseFields,
  textOfContent,
  toolChoice,
  toolNames,
} from '../chat/request-message.ts'

/**
 * `message` undefined: the request answers waiting calls only. `tools`: the names of those that the
 * client declares. `system`: the instructions of the client,
 * or ''. `previous`: the id of a response.
 */
export type ResponseRequest = {
  model: string | undefined
  message: MessageContent | undefined
  answers: Answer[]
  results: CallAnswer[]
  tools: string[]
  system: string
  conversation: string | undefined
  previous: string | undefined
  streams: boolean
  isBackground: boolean
}

/** Throws 400 with the field. Settings of the sampling belong to the agent and have no effect. */
export function responseRequestOf(body: Record<string, unknown>): ResponseRequest {
  refuseFields(body, {
    store: {
      accepts: (value) => value === true,
      advice: 'the log keeps every answer. Leave it out',
    },
    truncation: {
      accepts: (value) => value === 'disabled',
      advice: 'the agent bounds its history',
    },
    prompt: { advice: 'give input and instructions' },
    tool_choice: toolChoice,
    max_tool_calls: { advice: 'the caps of the agent bound its calls. Leave it out' },
    stream: isSwitch,
    background: isSwitch,
    text: {
      accepts: (value) =>
        isObject(value) &&
        (value.format === undefined || (isObject(value.format) && value.format.type === 'text')),
      advice: 'an answer is plain text. Leave it out',
    },
  })
  const { model, input, instructions, conversation, previous_response_id: previous } = body
  if (model !== undefined && typeof model !== 'string') throw bad('model must be a text')
  const { message, answers, results, system } = inputOf(input)
  const named = isObject(conversation) ? conversation.id : (conversation ?? undefined)
  if (named !== undefined && typeof named !== 'string')
    throw bad('conversation must be an id, or an object with an id')
  if (previous !== undefined && previous !== null && typeof previous !== 'string')
    throw bad('previous_response_id must be the id of a response')
  if (named !== undefined && typeof previous === 'string')
    throw bad('conversation and previous_response_id exclude each other: give one of them')
  if (message === undefined && named === undefined && typeof previous !== 'string')
    throw bad('an answer to a call needs conversation or previous_response_id')
  const own = [typeof instructions === 'string' ? instructions : '', system]
  return {
    model,
    message,
    answers,
    results,
    conversation: named,
    tools: toolNames(body.tools, (tool) => tool.name),
    system: own.filter((one) => one !== '').join('\n\n'),
    previous: typeof previous === 'string' ? previous : undefined,
    streams: body.stream === true,
    isBackground: body.background === true,
  }
}

const stay =
  'those stay in the conversation, so give conversation or previous_response_id, and the new items only'

type Input = Pick<ResponseRequest, 'message' | 'answers' | 'results' | 'system'>

/** One message of the user with system messages in front, or answers to waiting calls. Throws 400. */
function inputOf(input: unknown): Input {
  if (typeof input === 'string')
    return { message: { text: input, images: [], files: [] }, answers: [], results: [], system: '' }
  if (!Array.isArray(input)) throw bad('input must be a text or a list of items')
  const users: MessageContent[] = []
  const systems: string[] = []
  const answers: Answer[] = []
  const results: CallAnswer[] = []
  for (const [at, item] of input.entries()) {
    const where = `input[${at}]`
    const sent = sentItem(item)
    if (typeof sent === 'string') throw bad(where + sent)
    if (sent.kind === 'user') users.push(messageOfContent(sent.content, `${where}.content`))
    else if (sent.kind === 'system') systems.push(textOfContent(sent.content, `${where}.content`))
    else if (sent.kind === 'decision') answers.push(sent.decision)
    else if (sent.kind === 'result')
      results.push({ callId: sent.callId, text: textOfContent(sent.output, `${where}.output`) })
    else throw bad(`${where}${sent.mistake}: ${stay}`)
  }
  if (answers.length + results.length > 0) {
    if (users.length + systems.length === 0)
      return { message: undefined, answers, results, system: '' }
    throw bad('input must have either messages or answers to calls: send the answers first')
  }
  if (users.length === 0) throw bad('input must have a message with the role user')
  const message = {
    text: users.map(({ text }) => text).join('\n\n'),
    images: users.flatMap(({ images }) => images),
    files: users.flatMap(({ files }) => files),
  }
  return { message, answers, results, system: systems.join('\n\n') }
}
